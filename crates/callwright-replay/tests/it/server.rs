//! The server over real sockets, as a client without manners sees it: bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use callwright_replay::{Answer, Ending, Recorded, Replay, Script, Setup};

/// A connection that has sent its request.
fn sent(replay: &Replay, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(replay.addr()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\
        Authorization: Bearer sk-secret\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).unwrap();
    stream
}

fn asked(replay: &Replay, head: &str, body: &str) -> String {
    let mut answer = Vec::new();
    sent(replay, head, body).read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

fn chat(replay: &Replay, body: &str) -> String {
    asked(replay, "POST /v1/chat/completions", body)
}

fn started(script: &str) -> Replay {
    Replay::start(Script::from_toml(script).unwrap()).unwrap()
}

fn until(replay: &Replay, enough: impl Fn(&[Recorded]) -> bool) -> Vec<Recorded> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(20), replay.until(enough)).await.unwrap()
    })
}

#[test]
fn it_answers_and_records() {
    let replay = Replay::start(Script::of([Answer::text("Hello."), Answer::call("f", "{}")])).unwrap();
    let plain = chat(&replay, r#"{"model": "m"}"#);
    assert!(plain.starts_with("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"), "{plain}");
    assert!(plain.contains(r#""content":"Hello.""#), "{plain}");
    let streamed = chat(&replay, r#"{"model": "m", "stream": true}"#);
    assert!(streamed.contains("content-type: text/event-stream\r\n"), "{streamed}");
    assert!(streamed.contains("data: [DONE]\n\n"), "{streamed}");
    let over = chat(&replay, "{}");
    assert!(over.starts_with("HTTP/1.1 501 "), "{over}");

    let requests = until(&replay, |all| all.len() == 3 && all.iter().all(|r| r.ending == Ending::Complete));
    assert_eq!(requests[0].json()["model"], "m");
    assert_eq!(requests[1].body.as_ref(), br#"{"model": "m", "stream": true}"#);
    assert_eq!(requests.iter().map(|r| r.answer).collect::<Vec<_>>(), [Some(1), Some(2), None]);
    assert_eq!(requests[0].header("authorization"), Some("***"));
    assert!(requests.iter().all(|r| !r.line().contains("secret")));
    assert_eq!(
        requests[2].line(),
        r#"{"number":3,"method":"POST","path":"/v1/chat/completions","headers":{"host":"x","connection":"close","content-length":"2","authorization":"***"},"answer":null,"body":{}}"#
    );
}

#[test]
fn it_tells_about_itself() {
    let replay = started(
        "models = [{ id = \"m\", supported_parameters = [\"tools\"] }]\nprops = { chat_template = \"x\" }\nhealth = 503\n\
         refuses_tools = \"m does not support tools\"\n[show.m]\ncapabilities = [\"tools\"]\n[[answer]]\ntext = \"Hi.\"",
    );
    for (head, body, answer) in [
        ("GET /v1/models", "", r#"{"object":"list","data":[{"id":"m","supported_parameters":["tools"]}]}"#),
        ("GET /props", "", r#"{"chat_template":"x"}"#),
        ("POST /api/show", r#"{"model": "m"}"#, r#"{"capabilities":["tools"]}"#),
        ("POST /api/show", r#"{"model": "n"}"#, "nothing at POST /api/show"),
        ("GET /health", "", "HTTP/1.1 503"),
        ("GET /else", "", "HTTP/1.1 404"),
        ("POST /v1/chat/completions", r#"{"tools": []}"#, "HTTP/1.1 400"),
        (
            "POST /v1/chat/completions",
            r#"{"tools": []}"#,
            r#"{"error":{"message":"m does not support tools","type""#,
        ),
        ("POST /v1/chat/completions", "{}", r#""content":"Hi.""#),
    ] {
        let got = asked(&replay, head, body);
        assert!(got.contains(answer), "{head}: {got}");
    }
}

#[test]
fn raw_answers_are_written_as_they_are() {
    let replay = started(
        r#"
        [[answer]]
        body = '{ "odd" : 1.0e2 }'
        [[answer]]
        raw_events = ["data: {\"a\"", ": 1}\n\n"]
        [[answer]]
        status = 429
        error = { message = "slow down", code = "rate_limited" }
        headers = { "Retry-After" = "7", "content-type" = "application/problem+json" }
        "#,
    );
    assert!(chat(&replay, r#"{"stream": true}"#).ends_with("\r\n\r\n{ \"odd\" : 1.0e2 }"));
    let events = chat(&replay, "{}");
    assert!(events.ends_with("\r\n\r\nA\r\ndata: {\"a\"\r\n6\r\n: 1}\n\n\r\n0\r\n\r\n"), "{events}");
    let error = chat(&replay, "{}");
    assert!(error.starts_with("HTTP/1.1 429 Too Many Requests\r\n"), "{error}");
    assert!(error.contains("retry-after: 7\r\n") && error.contains("content-type: application/problem+json"));
    assert!(error.contains(
        r#""message":"slow down","type":"invalid_request_error","param":null,"code":"rate_limited""#
    ));
}

#[test]
fn bodies_break_off_as_they_are_told() {
    let cut = |how: &str| {
        started(&format!(
            "[[answer]]\nraw_events = [\"data: 1\", \"234\"]\nfault = {{ cut = {{ after = 8, how = \"{how}\" }} }}"
        ))
    };
    let end = chat(&cut("end"), "{}");
    assert!(end.ends_with("7\r\ndata: 1\r\n1\r\n2\r\n0\r\n\r\n"), "{end}");
    let close = chat(&cut("close"), "{}");
    assert!(close.ends_with("7\r\ndata: 1\r\n1\r\n2\r\n"), "{close}");
    let mut answer = Vec::new();
    let error = sent(&cut("reset"), "POST /v1/chat/completions", "{}").read_to_end(&mut answer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    // A body of a known length lacks its end.
    let replay = started("[[answer]]\nbody = \"123456\"\nfault = { cut = { after = 3, how = \"close\" } }");
    let short = chat(&replay, "{}");
    assert!(short.contains("content-length: 6\r\n") && short.ends_with("\r\n\r\n123"), "{short}");
}

#[test]
fn a_hang_up_is_noticed_at_once() {
    for fault in ["silent = true", "stall_after = 20", "delay_ms = 100000", "between_ms = 100000"] {
        let replay = started(&format!("[[answer]]\ntext = \"Hello.\"\nfault = {{ {fault} }}"));
        let stream = sent(&replay, "POST /v1/chat/completions", r#"{"stream": true}"#);
        until(&replay, |all| all.len() == 1);
        let hung_up = Instant::now();
        stream.shutdown(Shutdown::Both).unwrap();
        drop(stream);
        let requests = until(&replay, |all| all[0].ending != Ending::Open);
        let Ending::HungUp(at) = requests[0].ending else { panic!("{fault}: {:?}", requests[0].ending) };
        let late = at.saturating_duration_since(hung_up);
        assert!(late < Duration::from_millis(100), "{fault}: {late:?}");
    }
}

#[test]
fn delays_are_kept() {
    let replay =
        started("[[answer]]\nraw_events = [\"a\", \"b\", \"c\"]\nfault = { delay_ms = 40, between_ms = 30 }");
    let begun = Instant::now();
    chat(&replay, "{}");
    assert!(Duration::from_millis(100) <= begun.elapsed());
}

#[test]
fn each_request_is_noted_and_only_the_last_ones_are_kept() {
    let (noted, notes) = std::sync::mpsc::channel();
    let note = Box::new(move |request: &Recorded| noted.send(request.number).unwrap());
    let setup = Setup { keep: 2, note: Some(note), ..Setup::default() };
    let replay = Replay::start_with(Script::built_in(), setup).unwrap();
    let addr = replay.addr();
    for _ in 0..3 {
        assert!(chat(&replay, "{}").contains("This is the built-in upstream"));
    }
    assert_eq!(replay.requests().iter().map(|r| r.number).collect::<Vec<_>>(), [2, 3]);
    drop(replay);
    assert_eq!(notes.iter().collect::<Vec<_>>(), [1, 2, 3]);
    assert!(TcpStream::connect(addr).is_err());
}

#[test]
fn the_readme_shows_a_script() {
    let readme = include_str!("../../README.md");
    let script = readme.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert_eq!(Script::from_toml(script).unwrap().answers.len(), 8);
}

/// The types of the events of a stream, those that follow each other once.
fn types(stream: &str) -> Vec<&str> {
    let mut types: Vec<&str> =
        stream.lines().filter_map(|line| line.strip_prefix("event: ").map(str::trim)).collect();
    types.dedup();
    types
}

const SAYS_AND_CALLS: &str = r#"
[[answer]]
repeat = true
form = { pieces = 3, argument_pieces = 4 }
reasoning = "Let me see."
text = "I look."
tool_calls = [{ id = "c1", name = "f", arguments = '{"a": 1,}' }]
"#;

#[test]
fn an_answer_is_said_in_the_api_of_the_request() {
    let replay = started(SAYS_AND_CALLS);
    let message = asked(&replay, "POST /v1/messages", r#"{"model": "m"}"#);
    assert!(
        message.contains(r#""content":[{"type":"thinking","thinking":"Let me see.","signature":"c2lnbmVk"},{"type":"text","text":"I look."},{"type":"tool_use","id":"c1","name":"f","input":"{\"a\": 1,}"}],"stop_reason":"tool_use""#),
        "{message}"
    );
    let stream = asked(&replay, "POST /v1/messages?beta=true", r#"{"stream": true}"#);
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected: Vec<&str> = ["message_start", "ping"]
        .into_iter()
        .chain([block; 3].concat())
        .chain(["message_delta", "message_stop"])
        .collect();
    assert_eq!(types(&stream), expected);
    assert!(stream.contains(r#""delta":{"type":"input_json_delta","partial_json":"{\"a\""}"#), "{stream}");
    let stream = asked(&replay, "POST /v1/responses", r#"{"stream": true}"#);
    let kinds: Vec<&str> = types(&stream).iter().map(|kind| kind.trim_start_matches("response.")).collect();
    assert_eq!(
        kinds,
        [
            "created",
            "in_progress",
            "output_item.added",
            "reasoning_text.delta",
            "reasoning_text.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
    );
    assert!(stream.ends_with("data: [DONE]\n\n\r\n0\r\n\r\n"), "{stream}");
    let numbers = stream.matches("\"sequence_number\":").count();
    assert!(stream.contains(&format!("\"sequence_number\":{}", numbers - 1)), "{stream}");
    let response = asked(&replay, "POST /v1/responses", "{}");
    assert!(
        response.contains(r#""status":"completed""#) && response.contains(r#""arguments":"{\"a\": 1,}""#)
    );
}

#[test]
fn ollama_says_it_in_lines() {
    let replay = started(SAYS_AND_CALLS);
    let message = r#""message":{"role":"assistant","content":"I look.","thinking":"Let me see.","tool_calls":[{"id":"c1","function":{"index":0,"name":"f","arguments":"{\"a\": 1,}"}}]},"done":true,"done_reason":"stop","#;
    let whole = asked(&replay, "POST /api/chat", r#"{"model": "m", "stream": false}"#);
    assert!(whole.contains(message) && whole.contains("application/json"), "{whole}");
    let stream = asked(&replay, "POST /api/chat", r#"{"model": "m"}"#);
    assert!(stream.contains("content-type: application/x-ndjson"), "{stream}");
    let thought = r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Let"},"done":false}"#;
    assert!(stream.contains(&format!("{thought}\n")), "{stream}");
    // Four pieces of the thought, three of the text, and a call.
    assert_eq!(stream.matches("\"done\":false").count(), 8, "{stream}");
    assert!(
        stream.contains(
            r#""content":""},"done":true,"done_reason":"stop","prompt_eval_count":4,"eval_count":"#
        ),
        "{stream}"
    );
}

#[test]
fn an_api_that_is_not_spoken_is_not_there() {
    let replay = started(
        "speaks = [\"messages\"]\n[[answer]]\nwhen = { last_role = \"tool\" }\ntext = \"x\"\nfinish_reason = \"length\"",
    );
    assert!(chat(&replay, "{}").starts_with("HTTP/1.1 404 "));
    assert!(asked(&replay, "POST /v1/responses", "{}").starts_with("HTTP/1.1 404 "));
    assert!(asked(&replay, "POST /v1/messages", "{}").starts_with("HTTP/1.1 501 "));
    let result =
        r#"{"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}]}"#;
    let answer = asked(&replay, "POST /v1/messages", result);
    assert!(answer.contains(r#""stop_reason":"max_tokens""#), "{answer}");
}
