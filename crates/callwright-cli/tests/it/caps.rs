//! What the gateway finds out about a model is there for `caps`, without any configuration.
#![cfg(unix)]
use std::path::PathBuf;

use crate::binary::serving::Serving;
use crate::binary::{Ran, callwright};
use callwright::json;
use callwright_replay::{Replay, Script};

fn caps(state: &str, args: &[&str]) -> Ran {
    let mut command = callwright(&[&["caps", "m"], args].concat());
    command
        .env_remove("CALLWRIGHT_STORE_AT")
        .env("XDG_STATE_HOME", state)
        .env("CALLWRIGHT_FIND_LOCAL", "false");
    let output = command.env_remove("OPENROUTER_API_KEY").output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn what_the_gateway_found_out_is_shown() {
    let state = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("caps-state");
    let _ = std::fs::remove_dir_all(&state);
    let state = state.into_os_string().into_string().unwrap();
    // Nothing is kept, and the built-in upstream is nobody to be asked.
    let ran = caps(&state, &[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains("nothing is kept of m: name one with --upstream URL"), "{}", ran.err);

    let script =
        "models = [{ id = 'm' }]\n[[answer]]\nrepeat = true\ntool_calls = [{ name = 'f', arguments = '{}' }]";
    let upstream = Replay::start(Script::from_toml(script).unwrap()).unwrap();
    let url = upstream.base_url();
    let store = format!("{state}/callwright/callwright.db");
    let env = [("CALLWRIGHT_STORE_AT", store.as_str()), ("XDG_STATE_HOME", &state)];
    let gateway = Serving::start(&["--upstream", &url], &env);
    let tool = json!({"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}});
    let answer =
        gateway.chat(&json!({"model": "m", "messages": [{"role": "user", "content": "f"}], "tools": [tool]}));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    gateway.end();

    let asked = upstream.requests().len();
    let ran = caps(&state, &[]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.contains("tools      native       it made a native call (seen"), "{}", ran.out);
    assert!(
        ran.out.contains(&format!(
            "?    not asked, as no upstream is configured here: --upstream {url} asks it"
        )),
        "{}",
        ran.out
    );
    assert_eq!(upstream.requests().len(), asked, "nobody was asked");
    // With the upstream it is asked whether it answers, and what is known holds.
    let ran = caps(&state, &["--upstream", &url]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(
        ran.out.contains("it made a native call (seen") && ran.out.contains("ok   m is listed"),
        "{}",
        ran.out
    );
    // What is known is no answer of an upstream that gives none.
    drop(upstream);
    assert_eq!(caps(&state, &["--upstream", &url]).code, 1);
    assert_eq!(caps(&state, &[]).code, 0);
}

#[test]
fn an_upstream_that_does_not_answer_is_told_at_the_start() {
    let gateway = Serving::start(&["--upstream", "http://127.0.0.1:9/v1"], &[]);
    let told = gateway.log.iter().find(|line| line.contains("[serve]"));
    let told = told.unwrap();
    assert!(
        told.contains("WARN") && told.contains("is the server running, and are host and port right?"),
        "{told}"
    );
    gateway.end();
}
