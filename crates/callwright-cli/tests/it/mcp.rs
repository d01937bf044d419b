//! The MCP server, and the commands that look after configured ones: here our own server is one of them.

use std::fs;
use std::path::{Path, PathBuf};

use callwright::json;
use callwright::value::Value;

use crate::binary::{Ran, callwright, run};

/// A folder of its own, with a configuration whose server `own` is the binary under test.
fn folder(name: &str, more: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let program = env!("CARGO_BIN_EXE_callwright");
    let config = format!("[mcp.own]\ncommand = '{program}'\nargs = ['mcp']\nread = ['diagnose']\n{more}");
    fs::write(folder.join("callwright.toml"), config).unwrap();
    folder
}

fn command(folder: &Path, args: &[&str]) -> Ran {
    let mut command = callwright(args);
    let output = command.current_dir(folder).env("XDG_STATE_HOME", folder.join("state")).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn configured_servers_are_listed_pinned_and_accepted() {
    let folder = folder("list", "");
    let named = ["--config", "callwright.toml"];
    let listed = command(&folder, &[&["mcp", "list"], &named[..]].concat());
    assert_eq!(listed.code, 0, "{}", listed.err);
    let lines: Vec<&str> = listed.out.lines().collect();
    assert!(
        lines[0].starts_with("own__repair_tool_call  destructive  new  Finds the tool calls"),
        "{lines:?}"
    );
    assert!(lines[1].starts_with("own__diagnose          read         new  Says why a text"), "{lines:?}");

    let accepted = command(&folder, &[&["mcp", "accept", "own"], &named[..]].concat());
    assert_eq!(accepted.out, "new: repair_tool_call, diagnose\naccepted: own\n", "{}", accepted.err);
    let pinned = folder.join("state/callwright/mcp/own.json");
    let mut pins: Value = serde_json::from_str(&fs::read_to_string(&pinned).unwrap()).unwrap();
    pins["tools"]["diagnose"]["fingerprint"] = json!("0");
    pins["tools"]["diagnose"]["description"] = json!("Something\u{1b}[2J else.");
    fs::write(&pinned, pins.to_string()).unwrap();

    let listed = command(&folder, &[&["mcp", "list"], &named[..]].concat());
    assert_eq!(listed.code, 1);
    assert!(listed.out.lines().next().unwrap().contains("destructive  pinned"), "{}", listed.out);
    let says = "diagnose has changed, and is not used until `callwright mcp accept own`: the description was \
        \"Something⟨U+001B⟩[2J else.\" and is";
    assert!(listed.err.contains(says), "{}", listed.err);
    let tools = command(&folder, &[&["tools"], &named[..]].concat());
    assert!(
        tools.out.contains("\nown__repair_tool_call  ") && !tools.out.contains("own__diagnose"),
        "{}",
        tools.out
    );
    let accepted = command(&folder, &[&["mcp", "accept", "own"], &named[..]].concat());
    assert!(accepted.out.starts_with("diagnose has changed: the description was"), "{}", accepted.out);
    let tools = command(&folder, &[&["tools", "--json"], &named[..]].concat()).json();
    assert_eq!(tools[13]["function"]["name"], "own__diagnose");
}

#[test]
fn a_file_that_nobody_named_starts_nothing() {
    let folder = folder("found", "[mcp.own.env]\nA = 'b'\n");
    let tools = command(&folder, &["tools"]);
    assert_eq!(tools.out.lines().count(), 12, "{}", tools.out);
    assert!(tools.err.contains("nobody has accepted it"), "{}", tools.err);
    let trusted = command(&folder, &["trust"]);
    assert!(trusted.code == 0 && trusted.out.contains("  starts    "), "{}", trusted.out);
    assert_eq!(command(&folder, &["tools"]).out.lines().count(), 14);
}

#[test]
fn a_server_that_is_configured_wrongly_is_named() {
    let folder = folder("wrong", "url = 'http://127.0.0.1:1/mcp'\n");
    let named = ["--config", "callwright.toml"];
    let mcp = |args: &[&str]| command(&folder, &[args, &named].concat());
    let listed = mcp(&["mcp", "list"]);
    assert_eq!(listed.code, 8);
    assert_eq!(listed.err, "callwright: MCP server own: it has a `command` or a `url`, not both\n");
    fs::write(folder.join("callwright.toml"), "[mcp.own]\ncomand = 'x'\n").unwrap();
    let listed = mcp(&["mcp", "list"]);
    assert!(listed.err.contains("line 2: unknown key `comand`: did you mean `command`?"), "{}", listed.err);
    assert_eq!(mcp(&["mcp", "accept", "other"]).code, 8);
}

/// Nothing but messages is written, and the end of the input is the end.
#[test]
fn the_server_speaks_in_lines_and_ends_with_its_input() {
    let asked = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "diagnose",
            "arguments": {"text": "{\"a\": 1}}"}}}),
    ];
    let asked: String = asked.iter().map(|message| format!("{message}\n")).collect();
    let ran = run(&["mcp"], format!("no message\n{asked}"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let said = ran.lines();
    assert_eq!(said[0]["result"]["serverInfo"]["name"], "callwright");
    assert_eq!(said[1]["result"]["structuredContent"]["position"]["column"], 9);
    assert_eq!(said.len(), 2);
    let ran = run(&["mcp"], "");
    assert_eq!((ran.out.as_str(), ran.code), ("", 0), "{}", ran.err);
}

#[test]
fn a_call_takes_the_path_of_a_models() {
    let folder = folder("call", "");
    let call = |tool: &str, arguments: &str, more: &[&str]| {
        let args = [&["mcp", "call", tool, arguments, "--config", "callwright.toml"], more].concat();
        command(&folder, &args)
    };
    let repaired = r#"{'text': '{"a": 1}}',}"#;
    let ran = call("own__diagnose", repaired, &[]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains(r#""error":"Extra data: line 1 column 9 (char 8)""#), "{}", ran.out);
    // The other one may do anything, as far as the configuration knows: what was inferred is asked for.
    let inferred = r#"{"text": "{"a": 1", "schema": {}}}"#;
    let asked = call("own__repair_tool_call", inferred, &[]);
    assert_eq!(asked.code, 1, "{}", asked.out);
    assert!(asked.err.contains("the model did not write it like this"), "{}", asked.err);
    assert_eq!(call("own__repair_tool_call", inferred, &["--yes"]).code, 0);
    let refused = call("own__diagnose", r#"{"text": ["a"]}"#, &[]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("text must be a string"), "{}", refused.err);
    let failed = call("own__repair_tool_call", r#"{"text": "a"}"#, &[]);
    assert!(failed.code == 1 && failed.err.contains("give `tools`"), "{}", failed.err);
    assert_eq!(call("other__x", "{}", &[]).code, 8);
}
