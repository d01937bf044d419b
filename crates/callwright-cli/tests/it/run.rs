//! `callwright run` against a scripted upstream: what it prints, what it does, what its exit code says.

use std::path::{Path, PathBuf};

use callwright::value::Value;
use callwright_replay::{Replay, Script};

use crate::binary::{Ran, run};

/// A folder with a workspace `w`, a store, and an upstream.
struct Place {
    folder: PathBuf,
    replay: Replay,
}

/// What holds for the models of these tests: nothing is found out about them.
const CONFIG: &str = r#"
[capability]
probe = false
[[models]]
pattern = "model"
mode = "prompt"
[[models]]
pattern = "native"
mode = "native"
"#;

impl Place {
    fn new(name: &str, script: &str) -> Place {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("w")).unwrap();
        std::fs::write(folder.join("callwright.toml"), CONFIG).unwrap();
        Place { folder, replay: Replay::start(Script::from_toml(script).unwrap()).unwrap() }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).into_os_string().into_string().unwrap()
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_into(&self.path("callwright.db"), args)
    }

    /// The same, kept in a store of others.
    fn run_into(&self, store: &str, args: &[&str]) -> Ran {
        let url = self.replay.base_url();
        let (config, workspace) = (self.path("callwright.toml"), self.path("w"));
        let own = ["--upstream", &url, "--store", store, "--config", &config, "--workspace", &workspace];
        run(&[&["run"], args, &own].concat(), "")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.join("w").join(name)).unwrap()
    }

    fn asked(&self) -> Vec<Value> {
        let chat = |request: &callwright_replay::Recorded| request.path.ends_with("/chat/completions");
        let requests = self.replay.requests().into_iter().filter(chat);
        requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
    }
}

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.into_os_string().into_string().unwrap()
}

const CREATES: &str = r#"
[[answer]]
when = { has_tools = true }
tool_calls = [{ id = "call_1", name = "fsWrite", arguments = '{"path": "test.py", "content": "print(\"hello\")\n"}' }]
[[answer]]
when = { last_role = "tool", last_contains = "written" }
text = "I wrote test.py."
"#;

/// S0-02, S0-07
#[test]
fn a_plain_request_becomes_a_file() {
    let place = Place::new("creates", CREATES);
    let ran = place.run(&["create a Python file", "--model", "native", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.file("test.py"), "print(\"hello\")\n");
    assert!(ran.out.contains("Executing Tools...") && ran.out.contains("I wrote test.py."), "{}", ran.out);
    assert!(ran.err.contains("2 requests"), "{}", ran.err);
}

/// S4-14, S4-48, S4-49: the console of the worked example, to the letter.
#[test]
fn the_console_of_a_model_that_is_taught() {
    let place = Place::new(
        "taught",
        r#"
        [[answer]]
        text = """
```json
{"tool": "run_code", "arguments": {"code": "import math\\nprint(math.pi)"}}}}
```"""
        [[answer]]
        when = { last_contains = "2 extra closing braces" }
        text = """
I apologize! Here's the corrected JSON:

```json
{"tool": "run_code", "arguments": {"code": "print('hello world')"}}
```"""
        [[answer]]
        when = { last_contains = "hello world" }
        text = "The code printed: hello world"
        "#,
    );
    let ran = place.run(&[
        &example("run_code.json"),
        "--input",
        r#"{"problem": "Print hello"}"#,
        "--session",
        "test_json_validation",
        "--model",
        "model",
        "--yes",
    ]);
    let expected = r#"Agent (model)
─────────────
```json
{"tool": "run_code", "arguments": {"code": "import math\nprint(math.pi)"}}}}
```

  ⚠️  JSON Parse Error:
  Tool call 1: Invalid JSON at position 74
    Error: Extra data
    Your JSON: {"tool": "run_code", "arguments": {"code": "import math\nprint(math.pi)"}}}}
    → You have 2 extra closing braces }

Agent (model) - Turn 2
──────────────────────
I apologize! Here's the corrected JSON:

```json
{"tool": "run_code", "arguments": {"code": "print('hello world')"}}
```

  Parsed 1 prompt-based tool call(s)
  Executing Tools...
    ✔ run_code -> hello world

Agent (model) - Turn 3
──────────────────────
The code printed: hello world

"#;
    assert_eq!(ran.out, expected, "{}", ran.err);
    assert_eq!(ran.code, 0);
    assert!(place.asked()[0].to_string().contains("Print hello"));
    // In colour, the error is bold and red.
    let place = Place::new(
        "red",
        "[[answer]]\nrepeat = true\ntext = '{\"tool\": \"run_code\", \"arguments\": {\"code\": \"1\"}}}}'",
    );
    let input = r#"{"problem": "Print hello"}"#;
    let ran =
        place.run(&[&example("run_code.json"), "--input", input, "--model", "model", "--color", "always"]);
    assert!(ran.out.contains("\u{1b}[1;31m⚠️  JSON Parse Error:\u{1b}[0m"), "{}", ran.out);
    assert_eq!(ran.code, 1, "the breaker ends it");
    assert_eq!(place.asked().len(), 3);
}

/// S4-50: of the errors that a model is told of in a run, how many it fixes, and after how many turns.
#[test]
fn the_share_of_errors_that_were_put_right_is_reported() {
    let wrong = "[[answer]]\ntext = '{\"tool\": \"listDirectory\", \"arguments\": {}}}}}'\n";
    let right = "[[answer]]\ntext = '{\"tool\": \"listDirectory\", \"arguments\": {}}'\n";
    let says = "[[answer]]\ntext = 'Done.'\n";
    let store = Place::new("fixed", says).path("callwright.db");
    // At once; after two turns, and then at once; never, as it gives up; never, as the run is over.
    let scripts = [
        ("quick", vec![wrong, right, says], 0),
        ("slow", vec![wrong, wrong, right, wrong, right, says], 0),
        ("gives-up", vec![wrong, says], 0),
        ("stuck", vec![wrong, wrong, wrong], 1),
    ];
    for (name, script, code) in scripts {
        let place = Place::new(name, &script.concat());
        let ran = place
            .run_into(&store, &["List it.", "--model", "model", "--policy", "feedback", "--session", name]);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
    }
    let told = run(&["statistics", "--store", &store], "");
    assert_eq!(told.code, 0, "{}", told.err);
    let expected = "\n   told  right after 1      ≤ 2      ≤ 3      ≤ 4      ≤ 5  model, policy\n      \
                    5         40.0 %   60.0 %   60.0 %   60.0 %   60.0 %  model, feedback\n";
    assert!(told.out.ends_with(expected), "{}", told.out);
    assert!(told.out.starts_with("  calls   passed  repaired  retried  refused  model\n"), "{}", told.out);
    assert!(told.out.contains("\n errors  made again  policy, mode\n"), "{}", told.out);
    let json = run(&["statistics", "--store", &store, "--json", "--last", "hour"], "").json();
    assert_eq!(json["fixed"][0]["fixed_within"], callwright::json!([2, 3, 3, 3, 3]), "{json}");
}

/// The exit code tells done from blocked, refused and limited.
#[test]
fn the_exit_code_says_how_it_ended() {
    let endless = "[[answer]]\nrepeat = true\ntool_calls = [{ name = \"listDirectory\", arguments = '{}' }]";
    let place = Place::new("limit", endless);
    let ran = place.run(&["Go on.", "--model", "native", "--max-turns", "3", "--session", "s"]);
    assert_eq!((ran.code, place.asked().len()), (9, 3), "{}", ran.err);
    assert!(ran.out.ends_with("⚠️ Stopped after 3 turns, which is the limit: the model had not finished.\n"));
    assert!(ran.err.contains("callwright run --resume s"), "{}", ran.err);

    let bad =
        "[[answer]]\nrepeat = true\ntool_calls = [{ name = \"fsWrite\", arguments = '{\"path\": \"a\"}' }]";
    let place = Place::new("refused", bad);
    let ran = place.run(&["Write.", "--model", "native", "--policy", "strict"]);
    assert_eq!((ran.code, place.asked().len()), (1, 1), "{}", ran.err);
    assert!(ran.out.contains("fsWrite was not run"), "{}", ran.out);

    let gone = Place::new("gone", "[[answer]]\nrepeat = true\nstatus = 500\nerror = { message = \"down\" }");
    assert_eq!(gone.run(&["Hello.", "--model", "native"]).code, 10);
}

/// Nobody is there to approve: the run is blocked, and goes on where it stood once somebody has allowed it.
#[test]
fn a_blocked_run_is_resumed() {
    let place = Place::new("blocked", CREATES);
    let ran = place.run(&["create a Python file", "--model", "native", "--session", "b"]);
    assert_eq!(ran.code, 10, "{}", ran.err);
    assert!(ran.out.contains("Nobody is there to approve a call of fsWrite"), "{}", ran.out);
    assert!(!place.folder.join("w/test.py").exists());
    let again = place.run(&["create a Python file", "--model", "native", "--session", "b"]);
    assert_eq!(again.code, 8);
    assert!(again.err.contains("--resume b goes on with it"), "{}", again.err);
    let ran = place.run(&["--resume", "b", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(place.file("test.py"), "print(\"hello\")\n");
    assert_eq!(place.asked().len(), 2, "what was asked is not asked again");
    assert_eq!(place.asked()[1]["model"], "native", "the model is the one that it began with");
}

#[test]
fn for_a_program_each_event_is_a_line() {
    let place = Place::new("json", CREATES);
    let ran = place.run(&["create a Python file", "--model", "native", "--yes", "--output", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.lines();
    let names: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(names.len(), lines.len());
    for name in ["began", "asking", "answered", "call_started", "call_finished", "step_finished", "text"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let last = lines.last().unwrap();
    assert_eq!((last["event"].as_str(), last["end"].as_str()), (Some("ended"), Some("answered")));
    assert_eq!(last["sentence"], "I wrote test.py.");
    assert_eq!(last["spent"]["requests"], 2);
}

/// S2-02: a call that is wrong, and one whose tool fails, are events of their own. The stream goes on, and ends as it should.
#[test]
fn for_a_program_an_error_of_a_call_is_an_event_and_no_end() {
    let place = Place::new(
        "json-error",
        r#"
        [[answer]]
        tool_calls = [{ id = "e1", name = "browser.search", arguments = '{"query": "MCP"}' }]
        [[answer]]
        when = { last_contains = "browser.search" }
        tool_calls = [{ id = "e2", name = "fsRead", arguments = '{"path": "none.txt"}' }]
        [[answer]]
        when = { last_role = "tool", last_contains = "none.txt" }
        text = "There is no such file."
        "#,
    );
    let ran = place.run(&["Read.", "--model", "native", "--yes", "--policy", "feedback", "--output", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.lines();
    let of = |name: &str| lines.iter().filter(|line| line["event"] == name).collect::<Vec<_>>();
    let invalid = of("invalid");
    assert_eq!(
        (invalid.len(), &invalid[0]["id"], &invalid[0]["code"]),
        (1, &"e1".into(), &"unknown-tool".into())
    );
    assert_eq!(invalid[0]["is_fed_back"], true);
    let failed = of("call_finished");
    assert_eq!((failed.len(), &failed[0]["id"], &failed[0]["is_error"]), (1, &"e2".into(), &true.into()));
    assert!(of("blocked").is_empty());
    let last = lines.last().unwrap();
    assert_eq!((last["event"].as_str(), last["end"].as_str()), (Some("ended"), Some("answered")));
    assert_eq!(last["sentence"], "There is no such file.");
}

/// The names that models are trained on are those of the built-in tools, whose rights are what counts.
#[test]
fn built_in_tools_answer_to_the_names_that_models_know() {
    let script = r#"
        [[answer]]
        tool_calls = [{ id = "w1", name = "write_file", arguments = '{"file_path": "a.txt", "content": "one"}' }]
        [[answer]]
        when = { last_role = "tool", last_contains = "written" }
        tool_calls = [{ id = "w2", name = "bash", arguments = '{"command": "cat a.txt; echo two > b.txt", "description": "Shows it"}' }]
        [[answer]]
        when = { last_role = "tool" }
        text = "Done."
    "#;
    let place = Place::new("known-as", script);
    let ran =
        place.run(&["Write.", "--model", "native", "--yes", "--allow", "runCommand", "--output", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!((place.file("a.txt").as_str(), place.file("b.txt").as_str()), ("one", "two\n"));
    let lines = ran.lines();
    let names = |event: &str| {
        let of = lines.iter().filter(|line| line["event"] == event);
        of.map(|line| (line["tool"].clone(), line["renamed_from"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(
        names("repaired"),
        [("fsWrite".into(), "write_file".into()), ("runCommand".into(), "bash".into())]
    );
    assert_eq!(names("invalid"), []);
    assert_eq!(place.asked().len(), 3);
    // Without the right of the tool itself, the run waits for somebody.
    let place = Place::new("known-as-blocked", script);
    let ran = place.run(&["Write.", "--model", "native", "--yes", "--session", "k"]);
    assert_eq!(ran.code, 10, "{}", ran.err);
    // The command that is named lets it go on.
    let ran = goes_on(&ran);
    assert_eq!((ran.code, place.file("b.txt").as_str()), (0, "two\n"), "{}", ran.err);
    // What is over is said again.
    let again = place.run(&["--resume", "k"]);
    assert_eq!((again.code, again.out.as_str()), (0, "Done.\n"), "{}", again.err);
}

/// Types the command that a run names at its end.
fn goes_on(ran: &Ran) -> Ran {
    let (_, command) = ran.err.split_once("callwright run ").unwrap();
    let words: Vec<&str> = std::iter::once("run").chain(command.trim_end().split(' ')).collect();
    run(&words, "")
}

/// The call of README's first page: its quotes are inferred. It runs unattended where the user says so, and the output says how.
#[test]
fn a_repaired_call_runs_where_the_user_permits_its_class() {
    let script = r#"
        [[answer]]
        text = """
I will write the file.

<tool_call>
{"name": "fsWrite", "arguments": {"path": "hello.py", "content": "print("hello")",}}
</tool_call>"""
        [[answer]]
        when = { last_contains = "not right as it was written" }
        text = "Then not."
        [[answer]]
        when = { last_contains = "written" }
        text = "Done."
        "#;
    let place = Place::new("repairs-no", script);
    let ran = place.run(&["Write.", "--model", "model", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!place.folder.join("w/hello.py").exists());
    assert!(ran.out.contains("with --repairs inferred it runs"), "{}", ran.out);

    let place = Place::new("repairs-yes", script);
    let ran = place.run(&["Write.", "--model", "model", "--yes", "--repairs", "inferred"]);
    assert_eq!((ran.code, place.file("hello.py").as_str()), (0, "print(\"hello\")"), "{}", ran.out);
    assert!(!ran.out.contains("--repairs"), "{}", ran.out);

    // Where the model is asked nothing, somebody has to say it, and the command that is named does.
    let place = Place::new("repairs-blocked", script);
    let ran = place.run(&["Write.", "--model", "model", "--policy", "heal", "--repairs", "spelling"]);
    assert_eq!(ran.code, 10, "{} {}", ran.out, ran.err);
    let ran = goes_on(&ran);
    assert_eq!((ran.code, place.file("hello.py").as_str()), (0, "print(\"hello\")"), "{}", ran.err);

    // A comma too many is no inference, unless the user wants calls as they were written.
    let script = r#"
        [[answer]]
        tool_calls = [{ name = "runCommand", arguments = '{"command": "echo x > made",}' }]
        [[answer]]
        when = { last_role = "tool" }
        text = "Done."
        "#;
    for (flags, runs) in [(&[][..], true), (&["--repairs", "exact"], false)] {
        let place = Place::new(&format!("repairs-comma-{runs}"), script);
        let own = ["Write.", "--model", "native", "--allow", "runCommand"];
        let ran = place.run(&[&own[..], flags].concat());
        assert_eq!((ran.code, place.folder.join("w/made").exists()), (0, runs), "{} {}", ran.out, ran.err);
    }
}

#[test]
fn a_run_file_says_what_to_do_and_a_program_is_a_tool() {
    let place = Place::new(
        "file",
        r#"
        [[answer]]
        tool_calls = [{ name = "echo", arguments = """{"text": "it's $(id) \\"x\\""}""" }]
        [[answer]]
        when = { last_role = "tool" }
        text = "ping"
        "#,
    );
    let ran =
        place.run(&[&example("echo.toml"), "--input", r#"{"word": "ping"}"#, "--model", "native", "--yes"]);
    assert_eq!(ran.code, 0, "{} {}", ran.out, ran.err);
    assert!(ran.out.contains(r#"✔ echo -> it's $(id) "x""#), "{}", ran.out);
    let asked = place.asked();
    assert_eq!(asked[0]["messages"][0]["content"], "Use a tool: echo the word 'ping'.");

    // S0-03: the system prompt may stand in a file of its own.
    std::fs::write(place.folder.join("Executor.md"), "You say things again.").unwrap();
    let own = "system_file = \"Executor.md\"\ntask = \"Hello.\"\ntools = [\"fsRead\"]\n";
    std::fs::write(place.folder.join("own.toml"), own).unwrap();
    place.run(&[&place.path("own.toml"), "--model", "native"]);
    let asked = place.asked();
    let messages = asked.last().unwrap()["messages"].as_array().unwrap();
    assert_eq!(
        (messages[0]["role"].as_str(), messages[0]["content"].as_str()),
        (Some("system"), Some("You say things again."))
    );
    assert_eq!(messages[1]["content"], "Hello.");

    let ran = place.run(&[&example("echo.toml"), "--model", "native"]);
    assert_eq!(ran.code, 8);
    assert!(ran.err.contains("the task needs `word`"), "{}", ran.err);
    for name in ["create_file.toml", "get_weather.toml", "run_code.json"] {
        let ran = place.run(&[&example(name), "--input", "{}", "--model", "native"]);
        assert!(ran.err.contains("the task needs"), "{name}: {}", ran.err);
    }
}

/// What a run file says of itself permits nothing, and takes no file from outside of its folder to the model.
#[test]
fn a_run_file_of_a_stranger_starts_and_sends_nothing_unasked() {
    let script = r#"
        [[answer]]
        when = { last_role = "user" }
        tool_calls = [{ id = "call_1", name = "look", arguments = "{}" }]
        [[answer]]
        text = "Done."
        "#;
    let look = r#"
        task = "Look."
        [[tool]]
        name = "look"
        description = "Look. Use this when you have to."
        command = ["sh", "-c", "echo looked; echo x > made; echo x > .envrc"]
        kind = "read"
        parameters = { type = "object", properties = {} }
        "#;
    let runs: [&[&str]; 4] = [&[], &["--allow", "fsWrite"], &["--yes"], &["--allow", "look"]];
    for (n, flags) in runs.into_iter().enumerate() {
        let place = Place::new(&format!("stranger-{n}"), script);
        std::fs::write(place.folder.join("look.toml"), look).unwrap();
        let ran = place.run(&[&[&place.path("look.toml"), "--model", "native"], flags].concat());
        if n < 2 {
            assert_eq!(ran.code, 10, "{flags:?}: {} {}", ran.out, ran.err);
            assert!(ran.out.contains("it starts a program that the run file names"), "{}", ran.out);
            assert!(ran.err.contains("--allow look"), "{}", ran.err);
        } else {
            assert!(ran.out.contains("looked"), "{flags:?}: {} {}", ran.out, ran.err);
        }
        assert_eq!(std::fs::read_dir(place.folder.join("w")).unwrap().count(), 0, "{flags:?}");
    }

    let place = Place::new("stranger", script);
    let asked = place.asked().len();
    std::fs::create_dir_all(place.folder.join("repository/sub")).unwrap();
    std::fs::write(place.folder.join("key"), "canary-key").unwrap();
    std::fs::write(place.folder.join("repository/sub/Executor.md"), "You look.").unwrap();
    std::os::unix::fs::symlink("../key", place.folder.join("repository/link.md")).unwrap();
    let outside = place.path("key");
    for system_file in [outside.as_str(), "../key", "sub/../../key", "link.md", "/etc/hostname"] {
        let text = format!("system_file = {system_file:?}\ntask = \"Hello.\"\n");
        std::fs::write(place.folder.join("repository/own.toml"), text).unwrap();
        let ran = place.run(&[&place.path("repository/own.toml"), "--model", "native"]);
        assert_ne!(ran.code, 0, "{system_file}: {}", ran.out);
        assert!(ran.err.contains("it lies outside of the folder of this file"), "{system_file}: {}", ran.err);
    }
    assert_eq!(place.asked().len(), asked, "something was sent");
    std::fs::write(
        place.folder.join("repository/own.toml"),
        "system_file = \"sub/Executor.md\"\ntask = \"Hello.\"\n",
    )
    .unwrap();
    place.run(&[&place.path("repository/own.toml"), "--model", "native"]);
    assert!(place.asked()[asked]["messages"][0]["content"].as_str().unwrap().starts_with("You look."));
}

/// S2-22, S2-23, S2-29, S2-30, S2-31: the log says what was repaired, and what each turn called; nothing of a turn that only
/// said something.
#[test]
fn the_log_tells_of_each_call() {
    let place = Place::new(
        "log",
        r#"
        [[answer]]
        tool_calls = [{ id = "l1", name = "ListDirectory", arguments = '{"path": ".",}' }]
        [[answer]]
        when = { last_role = "tool" }
        text = "Nothing is there."
        "#,
    );
    let ran = place.run(&["List.", "--model", "native", "--log-level", "info", "--log-format", "json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let lines = ran.err.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let lines: Vec<Value> =
        lines.filter(|line| line["message"].as_str().is_some_and(|m| m.starts_with("[chat]"))).collect();
    let of = |message: &str| lines.iter().filter(|line| line["message"] == message).collect::<Vec<_>>();
    let name = of("[chat] repaired tool name");
    assert_eq!(name[0]["from"], "ListDirectory");
    assert_eq!(
        (name[0]["to"].as_str(), name[0]["tool_call_id"].as_str()),
        (Some("listDirectory"), Some("l1"))
    );
    assert_eq!(of("[chat] repaired tool inputs")[0]["repairs"], "drop-comma");
    let steps = of("[chat] step.finish");
    assert_eq!(steps.len(), 1, "{}", ran.err);
    assert_eq!(
        (steps[0]["tool_name"].as_str(), steps[0]["invalid"].as_bool()),
        (Some("listDirectory"), Some(false))
    );
    assert_eq!(
        (steps[0]["finish_reason"].as_str(), steps[0]["has_text"].as_bool()),
        (Some("tool_calls"), Some(false))
    );
}

/// A run is kept like any other session: it can be listed and shown.
#[test]
fn what_a_run_did_can_be_shown() {
    let place = Place::new("shown", CREATES);
    let ran = place.run(&["create a Python file", "--model", "native", "--yes", "--session", "s"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let store = place.path("callwright.db");
    let ran = run(&["show", "s", "--store", &store], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for part in ["create a Python file", "fsWrite", "test.py", "I wrote test.py."] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let ran = run(&["sessions", "--json", "--store", &store], "");
    assert_eq!(ran.lines()[0]["origin"], "agent");
}

/// A typing error in a file's name is no task for the model, and neither is a file that is no run file.
#[test]
fn a_name_of_no_run_file_is_an_error() {
    let place = Place::new("names", "[[answer]]\ntext = \"Done.\"\nrepeat = true\n");
    std::fs::write(place.folder.join("task.md"), "Say hello.").unwrap();
    let notes = place.path("task.md");
    for (word, code) in [
        ("../examples/nope.toml", 3),
        ("nope.json", 3),
        ("NOPE.TOML", 3),
        ("./nope", 3),
        (&*place.path("w/no such.toml"), 3),
        (&*notes, 8),
        ("mend src/a.toml", 0),
        ("what is 1/2?", 0),
        ("hello", 0),
    ] {
        let n_asked = place.asked().len();
        let ran = place.run(&[word, "--model", "native"]);
        assert_eq!(ran.code, code, "{word}: {}", ran.err);
        assert_eq!(n_asked < place.asked().len(), code == 0, "{word}");
    }
}

/// One model that is listed is the model; several are named; where nobody answers, that is said.
#[test]
fn without_a_model_the_upstream_tells() {
    let answer = "[[answer]]\ntext = \"Done.\"\nrepeat = true\n";
    let one = Place::new("one-model", &format!("models = [{{ id = \"native\" }}]\n{answer}"));
    let ran = one.run(&["hello"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(one.asked()[0]["model"], "native");
    let two = Place::new("two-models", &format!("models = [{{ id = \"a\" }}, {{ id = \"b\" }}]\n{answer}"));
    let ran = two.run(&["hello"]);
    assert_eq!(ran.code, 8, "{}", ran.err);
    assert!(ran.err.contains("--model") && ran.err.contains("a, b"), "{}", ran.err);
    assert!(two.asked().is_empty());
    let store = two.path("nobody.db");
    let ran = run(&["run", "hello", "--upstream", "http://127.0.0.1:9/v1", "--store", &store], "");
    assert_eq!(ran.code, 10, "{}", ran.err);
    assert!(ran.err.contains("could not be reached") && !ran.err.contains("panicked"), "{}", ran.err);
    let ran = one.run(&["hello", "--allow", "nosuchtool"]);
    assert!(
        ran.code == 8 && ran.err.contains("--allow nosuchtool") && ran.err.contains("fsWrite"),
        "{}",
        ran.err
    );
}

/// A second process is not let onto a run that is under way, and what may run once runs once.
#[test]
fn two_processes_do_not_go_on_with_one_run() {
    let file = r#"
task = "Pay."
[[tool]]
name = "pay"
description = "Pays."
command = ["sh", "-c", "echo PAID >> paid; while [ ! -e go ]; do sleep 0.01; done"]
kind = "write"
timeout_s = 600
[tool.parameters]
type = "object"
"#;
    let place = Place::new(
        "twice",
        r#"
        [[answer]]
        tool_calls = [{ id = "1", name = "pay", arguments = '{}' }]
        [[answer]]
        when = { last_role = "tool" }
        text = "Paid."
        "#,
    );
    std::fs::write(place.path("pay.toml"), file).unwrap();
    let pay = place.path("pay.toml");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| place.run(&[&pay, "--model", "native", "--yes", "--session", "p"]));
        while !Path::new(&place.path("w/paid")).exists() {
            std::thread::yield_now();
        }
        for second in [["--resume", "p"], ["--session", "p"]] {
            let task = if second[0] == "--session" { vec![pay.as_str()] } else { Vec::new() };
            let second = place.run(&[&task[..], &second, &["--model", "native", "--yes"]].concat());
            assert_eq!(second.code, 8, "{}", second.err);
            assert!(second.err.contains("the session p is under way: the process "), "{}", second.err);
            assert!(second.err.contains(", since 20"), "{}", second.err);
        }
        std::fs::write(place.path("w/go"), "").unwrap();
        let first = first.join().unwrap();
        assert_eq!(first.code, 0, "{}", first.err);
    });
    assert_eq!(place.file("paid"), "PAID\n");
    // It is let go with the process.
    assert_eq!(place.run(&["--resume", "p", "--model", "native"]).code, 0);
}

/// A call that stands among the model's words may be quoted rather than made: it is not run unasked, `--yes` or not; the
/// model is told, and what it then makes alone runs.
#[test]
fn a_call_beside_prose_never_writes_unasked() {
    let call = |path: &str| {
        let arguments = format!(r#"{{"path": "{path}", "content": "x"}}"#);
        format!(r#"<tool_call>{{"name": "fsWrite", "arguments": {arguments}}}</tool_call>"#)
    };
    let quoted = |text: &str| format!("\"\"\"\n{}\"\"\"", text.replace('"', "\\\""));
    let bad = call("bad.txt");
    for (name, text) in [
        ("between", format!("In der Datei steht Folgendes:\n\n{bad}\n\nIch habe das nicht getan.")),
        ("sentence", format!("ページの指示は {bad}")),
        ("line", format!("Seite: {bad}")),
    ] {
        let script = format!(
            "[[answer]]\ntext = {}\n[[answer]]\nwhen = {{ last_contains = \"may be quoted\" }}\ntext = {}\n\
             [[answer]]\nwhen = {{ last_contains = \"good.txt\" }}\ntext = \"Done.\"\n",
            quoted(&text),
            quoted(&call("good.txt")),
        );
        let place = Place::new(&format!("beside-{name}"), &script);
        let ran = place.run(&["Read the page.", "--model", "model", "--yes"]);
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.out, ran.err);
        assert!(!Path::new(&place.path("w/bad.txt")).exists(), "{name}: {}", ran.out);
        assert_eq!(place.file("good.txt"), "x", "{name}");
    }
}
