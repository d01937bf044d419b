//! `callwright replay` as another program uses it: it waits for the first line, then asks over HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout};

use callwright::json;
use callwright::value::Value;

use crate::binary::{callwright, file, run};

/// A running upstream, ended with the test.
struct Upstream {
    child: Child,
    address: String,
    /// Kept open, as by a program that reads on.
    _out: BufReader<ChildStdout>,
}

impl Upstream {
    fn start(args: &[&str]) -> Upstream {
        let mut child = callwright(&[&["replay"], args].concat()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("listening on http://").unwrap().to_owned();
        Upstream { child, address, _out: out }
    }

    fn ask(&self, body: &Value) -> String {
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer sk-x";
        stream.write_all(format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_script_is_played_and_requests_are_recorded() {
    let script =
        file("script.toml", "[[answer]]\ntext = \"One.\"\n[[answer]]\nstatus = 503\nerror = \"busy\"");
    let record = file("record.jsonl", "");
    let upstream = Upstream::start(&["--script", &script, "--record", &record]);
    assert!(upstream.ask(&json!({ "model": "a" })).contains("One."));
    assert!(upstream.ask(&json!({ "model": "b" })).starts_with("HTTP/1.1 503 "));
    let recorded = std::fs::read_to_string(&record).unwrap();
    let lines: Vec<Value> = recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let bodies: Vec<&Value> = lines.iter().map(|line| &line["body"]).collect();
    assert_eq!(bodies, [&json!({ "model": "a" }), &json!({ "model": "b" })]);
    assert_eq!(lines[1]["answer"], 2);
    assert!(!recorded.contains("sk-x"), "{recorded}");
}

#[test]
fn without_a_script_there_is_something_to_see() {
    let upstream = Upstream::start(&[]);
    let schema =
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    let tools = json!([{ "type": "function", "function": { "name": "fsWrite", "parameters": schema } }]);
    let said = json!([{ "role": "user", "content": "Write notes.md." }]);
    let answer = upstream.ask(&json!({ "model": "m", "tools": tools, "messages": said }));
    assert!(answer.contains(r#"{\"path\":\"notes.md\",}"#), "{answer}");
    assert!(upstream.ask(&json!({})).contains("built-in upstream"));
}

#[test]
fn what_cannot_be_played_is_said() {
    let script = file("broken.json", r#"{"answer": [{"txet": "x"}]}"#);
    for (args, code, said) in [
        (["--script", &script], 5, "answer 1: unknown key `txet`"),
        (["--script", "nowhere.toml"], 3, "cannot read nowhere.toml: "),
        (["--record", "nowhere/else.jsonl"], 3, "cannot write nowhere/else.jsonl: "),
        (["--listen", "192.0.2.1:1"], 3, "cannot listen on 192.0.2.1:1: "),
    ] {
        let ran = run(&[&["replay"], &args[..]].concat(), "");
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains(said), "{}", ran.err);
    }
}
