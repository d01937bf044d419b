//! `serve` keeps what happens; `sessions`, `show`, `view` and `export` read it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;

use callwright::json;
use callwright::value::Value;
use callwright_replay::{Replay, Script};

use crate::binary::{Ran, callwright, file, run};

const ANSWERS: &str = r#"
[[answer]]
tool_calls = [{ id = "call_1", name = "run_code", arguments = '{"code": "1",}' }]
[answer.when]
contains = "comma"

[[answer]]
tool_calls = [{ id = "call_2", name = "run_code", arguments = '{"code": {}}' }]
[answer.when]
contains = "schema"

[[answer]]
tool_calls = [{ id = "call_3", name = "run_code", arguments = '{"code": "2"}' }]
repeat = true
[answer.when]
contains = "schema"

[[answer]]
text = "Only \u001b[31mtext."
repeat = true
"#;

fn folder(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder.into_os_string().into_string().unwrap()
}

/// Serves with `env` before an upstream, asks for each of these, and ends.
fn served(says: &[(&str, &str)], args: &[&str], env: &[(&str, &str)]) -> String {
    let upstream = Replay::start(Script::from_toml(ANSWERS).unwrap()).unwrap();
    let url = upstream.base_url();
    let args = [&["serve", "--listen", "127.0.0.1:0", "--upstream", &url], args].concat();
    let mut command = callwright(&args);
    command.env_remove("CALLWRIGHT_STORE_AT").envs(env.iter().copied());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    for (session, says) in says {
        let parameters =
            json!({"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]});
        let function = json!({"name": "run_code", "description": "Run code.", "parameters": parameters});
        let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": says}],
            "tools": [{"type": "function", "function": function}]})
        .to_string();
        let mut stream = TcpStream::connect(&address).unwrap();
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-callwright-session: \
             {session}\r\nx-callwright-policy: feedback\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let request =
            if *says == "comma" { request.replace("policy: feedback", "policy: heal") } else { request };
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    // What waits is written before it ends.
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

fn of(store: &str, args: &[&str]) -> Ran {
    run(&[args, &["--store", store]].concat(), "")
}

#[test]
fn what_was_served_is_listed_shown_and_exported() {
    let store = folder("listed") + "/callwright.db";
    let said = [("a", "comma"), ("b", "schema"), ("c", "Hello.")];
    let log = served(&said, &["--store", &store], &[]);
    assert!(log.contains("requests are kept") && log.contains(&store), "{log}");

    let ran = of(&store, &["sessions"]);
    assert_eq!((ran.code, ran.out.lines().count()), (0, 4), "{}{}", ran.out, ran.err);
    let ids = |args: &[&str]| -> String {
        let ran = of(&store, &[&["sessions", "--json"], args].concat());
        let mut ids: Vec<String> = ran.lines().iter().map(|s| s["id"].as_str().unwrap().to_owned()).collect();
        ids.sort();
        ids.join(" ")
    };
    assert_eq!(ids(&[]), "a b c");
    assert_eq!(ids(&["--outcome", "repaired"]), "a");
    assert_eq!(ids(&["--outcome", "healed"]), "a", "the name that an earlier version gave it");
    assert_eq!(ids(&["--error", "invalid"]), "b");
    assert_eq!(ids(&["--text", "hello"]), "c");
    assert_eq!(ids(&["--mode", "prompt"]), "");
    let listed = of(&store, &["sessions", "--limit", "1"]).out;
    assert_eq!(listed.lines().count(), 2);
    // Words stand above what they name.
    let at = |line: &str, word: &str| line.find(word).unwrap();
    let (head, row) = listed.split_once('\n').unwrap();
    assert_eq!((at(head, "outcome"), at(head, "model ")), (at(row, "passed"), at(row, "gpt-4o")), "{listed}");

    let shown = of(&store, &["show", "a"]);
    assert_eq!(shown.code, 0, "{}", shown.err);
    // The repaired place stands over its reason.
    let lines: Vec<&str> = shown.out.lines().collect();
    let caret = lines.iter().position(|line| line.ends_with("^ a comma too many")).unwrap();
    assert_eq!(lines[caret].find('^'), lines[caret - 1].rfind(','), "{}", shown.out);
    assert!(shown.out.contains("repaired run_code"), "{}", shown.out);
    // S4-16
    let shown = of(&store, &["show", "b"]);
    assert!(shown.out.contains("validation_error run_code"), "{}", shown.out);
    assert!(shown.out.contains("code must be a string"), "{}", shown.out);
    let shown = of(&store, &["show", "c"]);
    assert!(!shown.out.contains('\u{1b}') && shown.out.contains("text."), "{}", shown.out);
    assert_eq!(of(&store, &["show", "nobody"]).code, 3);

    // A dump is shown alike elsewhere.
    let dump = of(&store, &["show", "a", "--json"]).out;
    let path = file("kept-dump.json", &dump);
    let viewed = run(&["view", &path], "");
    assert_eq!((viewed.code, &viewed.out), (0, &of(&store, &["show", "a"]).out));
    assert_eq!(run(&["view", "-"], "{}").code, 5);
    // One of the first version is shown by every later one.
    let first = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/dump/session-1.json");
    let viewed = run(&["view", first], "");
    assert!(
        viewed.code == 0 && viewed.out.contains("Print hello.") && viewed.out.contains("run_code"),
        "{}",
        viewed.out
    );

    // S1-33: the prompt, and the call as it should have been.
    let examples = of(&store, &["export", "sft"]).lines();
    assert_eq!(examples.len(), 2, "{examples:#?}");
    let of_text = |says: &str| examples.iter().find(|e| e["messages"][0]["content"] == says).unwrap();
    for (says, code) in [("comma", "1"), ("schema", "2")] {
        let example = of_text(says);
        let answer = &example["messages"][1];
        assert_eq!((answer["role"].as_str(), &answer["content"]), (Some("assistant"), &Value::Null));
        let function = &answer["tool_calls"][0]["function"];
        assert_eq!(function["name"], "run_code");
        let arguments: Value = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(arguments, json!({"code": code}));
        assert_eq!(example["tools"][0]["function"]["name"], "run_code");
    }
    let all = of(&store, &["export", "jsonl"]).lines();
    assert_eq!(all.len(), 3);
    assert!(all.iter().all(
        |dump| dump["entry_count"].as_u64().unwrap() == dump["entries"].as_array().unwrap().len() as u64
    ));
}

#[test]
fn without_being_told_it_is_kept_in_the_users_own_folder() {
    let home = folder("home");
    let log = served(&[("a", "Hello.")], &[], &[("XDG_STATE_HOME", &home)]);
    assert!(PathBuf::from(&home).join("callwright/callwright.db").exists(), "{log}");
    assert!(log.contains(&format!("{home}/callwright/callwright.db")), "{log}");
    // Where models are remembered, sessions are as well.
    let log = served(&[("a", "Hello.")], &["--set", &format!("capability.dir={home}/known")], &[]);
    assert!(PathBuf::from(&home).join("known/callwright.db").exists(), "{log}");
    // Off is off, and a place that is asked for is needed.
    let log = served(&[("a", "Hello.")], &["--store", "off"], &[("XDG_STATE_HOME", &format!("{home}/none"))]);
    assert!(!log.contains("kept") && !PathBuf::from(&home).join("none").exists(), "{log}");
    let ran = run(&["serve", "--listen", "127.0.0.1:0", "--store", "/dev/null/x.db"], "");
    assert!(ran.code == 3 && ran.err.contains("/dev/null/x.db"), "{} {}", ran.code, ran.err);
    assert_eq!(run(&["sessions", "--store", &format!("{home}/nowhere.db")], "").code, 3);
    assert_eq!(run(&["sessions", "--store", "off"], "").code, 8);
    // A password is not shown.
    let ran = run(&["serve", "--check", "--store", "postgres://me:hunter22@db/x"], "");
    assert!(ran.out.contains("store          postgres://db/x  (--store)"), "{}", ran.out);
    assert!(!format!("{}{}", ran.out, ran.err).contains("hunter22"));
}
