//! The session at the terminal, and through pipes: the real binary against a scripted upstream.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use callwright_replay::{Replay, Script};

use crate::binary::{Ran, callwright};

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("chat-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("w")).unwrap();
    folder
}

/// Says `input` to a session in `folder`, whose model answers from `script`.
fn chat(folder: &Path, script: &str, args: &[&str], input: &str) -> Ran {
    let replay = Replay::start(Script::from_toml(script).unwrap()).unwrap();
    let url = replay.base_url();
    let all = [&["chat", "--upstream", &url, "--model", "scripted"], args].concat();
    let mut command = callwright(&all);
    command.current_dir(folder.join("w")).env("XDG_STATE_HOME", folder.join("state"));
    command.env_remove("CALLWRIGHT_STORE_AT");
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

const WRITES: &str = r#"
[[answer]]
text = "I write it."
tool_calls = [{ id = "c1", name = "fsWrite", arguments = '{"path": "test.py", "content": "print(\"hello\")"}' }]
[[answer]]
text = "Done: **test.py**."
"#;

/// S0-63, S0-64: through a pipe, plain, with the box to the byte.
#[test]
fn verbose_shows_the_box() {
    let folder = folder("box");
    let input = "verbose on\nwrite a file\nverbose off\ncost\nexit\nnever heard\n";
    let ran = chat(&folder, WRITES, &["--yes", "--session", "s1"], input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let frame = "─".repeat(70);
    let golden = format!(
        "scripted, policy auto, session s1\n\
         verbose is on\n\
         I write it.\n  Executing Tools...\n\
         ▸ fsWrite(path='test.py', content='print(\"hello\")')\n\
         ╭{frame}\n\
         │ FILE: test.py\n\
         │ CONTENT (14 chars):\n\
         ├{frame}\n\
         │    1 print(\"hello\")\n\
         ├{frame}\n\
         │ RESULT:\n\
         │ {{\"written\": \"test.py\", \"bytes\": 14}}\n\
         ╰{frame}\n\
         Done: **test.py**.\n\
         verbose is off\n\
         2 requests, "
    );
    assert!(ran.out.starts_with(&golden), "{}", ran.out);
    assert!(!ran.out.contains("never heard") && !ran.out.contains('\u{1b}'));
    assert_eq!(fs::read_to_string(folder.join("w/test.py")).unwrap(), "print(\"hello\")");
}

#[test]
fn a_call_is_told_in_a_line_with_its_diff_and_can_be_undone() {
    let folder = folder("undo");
    fs::write(folder.join("w/test.py"), "old\n").unwrap();
    let script = format!(
        "{WRITES}\n[[answer]]\nwhen = {{ last_contains = \"has taken back: change 1 of test.py\" }}\ntext = \"I see.\"\n"
    );
    let ran = chat(&folder, &script, &["--yes"], "write a file\nundo\nundo\nand now?\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let told = "    ✔ fsWrite -> {\"written\":\"test.py\",\"bytes\":14}\n      test.py\n      @@ -1,1 +1,1 @@\n      -old\n      +print(\"hello\")\n";
    assert!(ran.out.contains(told), "{}", ran.out);
    assert!(ran.out.contains("\nundone: change 1 of test.py\n"), "{}", ran.out);
    assert!(ran.out.ends_with("I see.\n"), "{}", ran.out);
    assert_eq!(fs::read_to_string(folder.join("w/test.py")).unwrap(), "old\n");
}

#[test]
fn the_user_sees_each_byte_and_says_yes_or_no() {
    let folder = folder("approve");
    let script = r#"
[[answer]]
tool_calls = [{ id = "c1", name = "fsWrite", arguments = '{"path": "a.txt", "content": "x\u001b[2J\u202e"}' }]
[[answer]]
when = { last_contains = "did not allow" }
text = "As you wish."
[[answer]]
tool_calls = [{ id = "c2", name = "fsWrite", arguments = '{"path": "a.txt", "content": "y"}' }]
[[answer]]
text = "Written."
"#;
    let ran = chat(&folder, script, &[], "write\nn\nagain\ny\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let asked = r#"fsWrite {"path": "a.txt", "content": "x\u001b[2J\u202e"}"#;
    assert!(ran.out.contains(asked) && ran.out.contains("it changes something"), "{}", ran.out);
    assert!(ran.out.contains("+x⟨U+001B⟩[2J⟨U+202E⟩"), "the diff shows what would stand there: {}", ran.out);
    assert!(ran.out.contains("As you wish.") && ran.out.ends_with("Written.\n"), "{}", ran.out);
    assert_eq!(fs::read_to_string(folder.join("w/a.txt")).unwrap(), "y");
}

/// S4-14, S4-38: what was wrong is shown, and the next turn is right.
#[test]
fn an_error_is_shown_as_it_goes_back() {
    let folder = folder("error");
    let script = r#"
[[answer]]
text = """```json
{"tool": "fsWrite", "arguments": {"path": "a.txt", "content": "x"}}}}
```"""
[[answer]]
text = """```json
{"tool": "fsWrite", "arguments": {"path": "a.txt", "content": "x"}}
```"""
[[answer]]
text = "There."
"#;
    let args = ["--yes", "--policy", "feedback", "--debug-raw"];
    let ran = chat(&folder, script, &args, "write\n");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let shown = "  ⚠️  JSON Parse Error:\n  Tool call 1: Invalid JSON at position";
    assert!(ran.out.contains(shown), "{}", ran.out);
    assert!(ran.out.contains("extra closing brace"), "{}", ran.out);
    assert!(
        ran.out.contains("  Parsed 1 prompt-based tool call(s)\n  Executing Tools...\n    ✔ fsWrite -> "),
        "{}",
        ran.out
    );
    // S0-65
    assert!(ran.out.contains("[DEBUG] Raw response: ```json\n{\"tool\": \"fsWrite\""), "{}", ran.out);
    assert!(ran.out.ends_with("There.\n"), "{}", ran.out);
}

#[test]
fn nothing_of_a_model_or_a_tool_reaches_the_terminal_raw() {
    let folder = folder("hostile");
    fs::write(folder.join("w/evil.txt"), "\u{1b}]0;owned\u{7}\u{9b}2J").unwrap();
    let script = r#"
[[answer]]
text = "Look: \u001b[2J\u202e\u009b1m"
tool_calls = [{ id = "c1", name = "fsRead", arguments = '{"path": "evil.txt"}' }]
[[answer]]
text = "\u001b]8;;http://evil\u0007link"
"#;
    for (args, input) in [(&[][..], "look\n"), (&["--debug-raw"], "verbose on\nlook\n")] {
        let args = [args, &["--color", "always"]].concat();
        let ran = chat(&folder, script, &args, input);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.out.contains(['\u{9b}', '\u{202e}', '\u{7}']), "{:?}", ran.out);
        for part in ran.out.split('\u{1b}').skip(1) {
            let end = part.find('m').unwrap();
            assert!(
                part.starts_with('[') && part[1..end].chars().all(|c| c.is_ascii_digit() || c == ';'),
                "{part:?}"
            );
        }
    }
}

#[test]
fn the_session_changes_its_mind_and_is_kept() {
    let folder = folder("kept");
    let script = "[[answer]]\ntext = \"Hello.\"\n";
    let input = "policy strict\n/policy what\nmodel other/model-1\ntools\nhello\ndump\nhelp\n";
    let ran = chat(&folder, script, &["--session", "kept-1"], input);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in [
        "\npolicy strict\n",
        "\nwhat: no such policy; they are auto, heal, feedback, strict\n",
        "\nmodel other/model-1\n",
        "\nfsRead         reads ",
        "\nrunCommand     anything ",
        "\nHello.\n",
        "verbose on|off",
    ] {
        assert!(ran.out.contains(part), "{part:?} not in {}", ran.out);
    }
    let dumped = ran.out.lines().find(|line| line.ends_with(".json")).unwrap();
    let dump = fs::read_to_string(dumped).unwrap();
    assert!(dump.contains("\"hello\"") && dump.contains("other/model-1"), "{dump}");
    // Another process goes on with it.
    let again = "[[answer]]\nwhen = { contains = \"second\" }\ntext = \"Hello again.\"\n";
    let ran = chat(&folder, again, &["--resume", "kept-1"], "second\n");
    assert!(ran.out.contains("policy strict, session kept-1"), "{}{}", ran.out, ran.err);
    assert!(ran.out.ends_with("Hello again.\n"), "{}{}", ran.out, ran.err);
    assert_eq!(chat(&folder, script, &["--resume", "no-such"], "x\n").code, 3);
}
