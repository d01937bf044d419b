//! Who is let in, and how a request is refused: over real sockets, in OpenAI's form.

use std::io::Write;
use std::time::{Duration, Instant};

use callwright::json;
use callwright::value::Value;
use callwright_gateway::{ClientKey, Gateway, GatewayConfig, ServerConfig, StartError};
use callwright_relay::config::{Mode, ModelConfig};
use callwright_replay::Ending;

use crate::running::{Connection, Running, last_asked, relay_to, replay};

const HELLO: &str = r#"
[[answer]]
text = "Hello."
repeat = true
"#;

fn hello() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "Hi."}]})
}

#[test]
fn a_request_that_is_not_meant_is_refused_in_openais_form() {
    let replay = replay(HELLO);
    let mut relay = relay_to(&replay.base_url());
    relay.limits.body = 1000;
    relay.capability.probe = false;
    let running = Running::start(GatewayConfig::default(), relay);
    let long = "x".repeat(1001);
    let chat = "POST /v1/chat/completions";
    for (head, body, status, code) in [
        ("GET /nowhere", "", 404, "unknown_url"),
        ("GET /v2/models", "", 404, "unknown_url"),
        ("GET /v1/../admin", "", 404, "unknown_url"),
        ("GET /v1/%2e%2e/admin", "", 404, "unknown_url"),
        ("GET /v1/chat/completions", "", 405, "method_not_allowed"),
        ("PUT /v1/models/m", "", 405, "method_not_allowed"),
        // A browser asks first whether a page may; what a page can send without asking is not taken.
        ("OPTIONS /v1/models\norigin: https://evil.example", "", 403, "foreign_origin"),
        (
            "POST /v1/files\norigin: https://evil.example\ncontent-type: text/plain",
            "{}",
            415,
            "unsupported_media_type",
        ),
        ("POST /livez", "{}", 405, "method_not_allowed"),
        (&format!("{chat}\ncontent-type: text/plain"), "{}", 415, "unsupported_media_type"),
        (&format!("{chat}\nx-callwright-policy: lax"), "{}", 400, "unknown_policy"),
        (&format!("{chat}\nhost: evil.example"), "{}", 403, "foreign_host"),
        (chat, &long, 413, "request_too_large"),
        ("POST /v1/embeddings", &long, 413, "request_too_large"),
    ] {
        let answer = running.ask(head, body);
        assert_eq!(answer.status, status, "{head}: {answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], code, "{head}");
        assert!(error["message"].is_string() && error["type"].is_string(), "{head}: {error}");
        assert!(error.get("param").is_some(), "{head}: {error}");
        assert!(answer.headers["x-callwright-request"].starts_with("cw-"), "{head}");
    }
    assert_eq!(
        running.ask(&format!("{chat}\nx-callwright-policy: lax"), "{}").json()["error"]["param"],
        "x-callwright-policy"
    );
    assert_eq!(running.ask("PUT /v1/chat/completions", "").headers["allow"], "POST");
    // A body without an announced length is measured as it comes.
    let chunked = format!("{chat}\ntransfer-encoding: chunked");
    assert_eq!(running.ask(&chunked, &format!("3e9\r\n{long}\r\n0\r\n\r\n")).status, 413);
    assert_eq!(replay.requests().len(), 0, "none of it reached the upstream");
}

#[test]
fn a_chat_and_all_else_below_v1_reach_the_upstream() {
    let replay = replay(&format!(
        "{HELLO}\n[[answer]]\nbody = '{{\"data\": [1]}}'\n[answer.when]\npath = \"/v1/embeddings\"\n"
    ));
    let running = Running::before(&replay, ServerConfig::default());
    let answer = running.chat(&hello());
    assert_eq!(
        (answer.status, answer.json()["choices"][0]["message"]["content"].as_str()),
        (200, Some("Hello."))
    );
    assert!(answer.headers["x-callwright-request"].starts_with("cw-"));
    let list = running.get("/v1/models?x=1");
    assert_eq!((list.status, list.json()["object"].as_str()), (200, Some("list")));
    let embeddings = running.ask("POST /v1/embeddings", r#"{"model": "m", "input": "a"}"#);
    assert_eq!(embeddings.json(), json!({"data": [1]}));
    // One connection serves many requests, and each answer has an id of its own.
    let mut connection = Connection::to(running.address);
    let ids: std::collections::BTreeSet<String> = (0..3)
        .map(|_| {
            connection.send("POST /v1/chat/completions", &hello().to_string());
            connection.answer().headers["x-callwright-request"].clone()
        })
        .collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn other_methods_types_and_spellings_of_a_path_reach_the_upstream() {
    let replay = replay(&format!(
        "{HELLO}\n[[answer]]\nrepeat = true\nbody = '{{}}'\n[answer.when]\npath = \"/v1/files\"\n"
    ));
    let running = Running::before(&replay, ServerConfig::default());
    for head in [
        "POST /v1/files\ncontent-type: multipart/form-data; boundary=x",
        "DELETE /v1/files",
        "OPTIONS /v1/files",
        "POST /v1/files/",
    ] {
        running.ask(head, if head.starts_with("POST") { "--x--" } else { "" });
    }
    // What a gateway asks on its own is for other paths.
    let mut asked = replay.requests();
    asked.retain(|request| request.path.starts_with("/v1/files"));
    let lines: Vec<String> = asked.iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect();
    assert_eq!(lines, ["POST /v1/files", "DELETE /v1/files", "OPTIONS /v1/files", "POST /v1/files"]);
    assert_eq!(asked[0].header("content-type"), Some("multipart/form-data; boundary=x"));
    for path in ["/v1/chat/completions/", "/chat/completions", "/chat/completions/"] {
        assert_eq!(running.ask(&format!("POST {path}"), &hello().to_string()).status, 200, "{path}");
    }
}

#[test]
fn pages_of_the_origins_that_are_configured_may_ask() {
    let replay = replay(HELLO);
    let server = ServerConfig { cors_origins: vec!["https://app.example".into()], ..ServerConfig::default() };
    let running = Running::before(&replay, server);
    let asks =
        "OPTIONS /v1/chat/completions\naccess-control-request-headers: authorization, content-type\norigin:";
    let answer = running.ask(&format!("{asks} https://app.example"), "");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["access-control-allow-origin"], "https://app.example");
    assert_eq!(answer.headers["access-control-allow-headers"], "authorization, content-type");
    assert_eq!(running.ask(&format!("{asks} https://evil.example"), "").status, 403);
    let chat = "POST /v1/chat/completions\norigin:";
    let answer = running.ask(&format!("{chat} https://app.example"), &hello().to_string());
    assert_eq!(answer.headers["access-control-allow-origin"], "https://app.example");
    let answer = running.ask(&format!("{chat} https://evil.example"), &hello().to_string());
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
}

#[test]
fn a_container_is_told_how_it_may_ask() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig::default());
    let answer = running.ask("POST /v1/chat/completions\nhost: host.docker.internal:4000", "{}");
    let error = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(error.contains("--key-hash") && error.contains("host.docker.internal"), "{error}");
}

#[test]
fn with_keys_only_their_owners_are_answered() {
    let replay = replay(HELLO);
    let keys = vec![ClientKey::of("cw-one"), ClientKey::of("cw-two")];
    let config = GatewayConfig { keys, ..GatewayConfig::default() };
    let mut relay = relay_to(&replay.base_url());
    relay.upstreams[0].key_env = None;
    relay.capability.probe = false;
    let running = Running::start(config, relay);
    for path in ["POST /v1/chat/completions", "POST /v1/embeddings", "GET /v1/models", "GET /metrics"] {
        let body = if path.starts_with("POST") { hello().to_string() } else { String::new() };
        for key in ["", "\nauthorization: Bearer cw-three", "\nauthorization: Basic cw-one"] {
            let answer = running.ask(&format!("{path}{key}"), &body);
            assert_eq!(answer.status, 401, "{path}{key}");
            assert_eq!(answer.json()["error"]["code"], "invalid_api_key");
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
    }
    assert_eq!(replay.requests().len(), 0);
    let answer = running.ask("POST /v1/chat/completions\nauthorization: Bearer cw-two", &hello().to_string());
    assert_eq!(answer.status, 200);
    for name in ["x-api-key", "api-key"] {
        let chat = format!("POST /v1/chat/completions\nanthropic-version: 2023-06-01\n{name}: cw-two");
        assert_eq!(running.ask(&chat, &hello().to_string()).status, 200, "{name}");
        let asked = last_asked(&replay);
        assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(asked.header(name), None);
    }
    assert_eq!(running.get("/livez").status, 200);
    assert_eq!(running.get("/health").status, 200);
    // The client's key stays here: an upstream that has none of its own gets none.
    let asked = replay.requests().into_iter().find(|request| request.method == "POST").unwrap();
    assert_eq!(asked.header("authorization"), None);
}

#[test]
fn strangers_are_not_let_in_by_accident() {
    let relay = relay_to("http://127.0.0.1:9/v1");
    let env = |_: &str| Some("sk-1".into());
    let listen = "0.0.0.0:0".parse().unwrap();
    let open = GatewayConfig { listen, ..GatewayConfig::default() };
    assert!(matches!(Gateway::new(open.clone(), relay.clone(), &env), Err(StartError::Open(_))));
    assert!(Gateway::new(GatewayConfig { allow_open: true, ..open.clone() }, relay.clone(), &env).is_ok());
    let keys = vec![ClientKey::of("cw-1")];
    assert!(Gateway::new(GatewayConfig { keys, ..open }, relay, &env).is_ok());
}

#[test]
fn a_full_server_says_when_to_come_back() {
    let replay = replay("[[answer]]\ntext = \"late\"\nfault = { silent = true }\nrepeat = true\n");
    let running = Running::before(&replay, ServerConfig { open_requests: 1, ..ServerConfig::default() });
    let mut first = Connection::to(running.address);
    first.send("POST /v1/chat/completions", &hello().to_string());
    // The upstream has it: the place is taken.
    asked(&replay, 1);
    let answer = running.chat(&hello());
    assert_eq!((answer.status, answer.headers["retry-after"].as_str()), (503, "1"));
    assert_eq!(answer.json()["error"]["code"], "overloaded");
    assert_eq!(running.get("/livez").status, 200, "whoever looks after it is still answered");
    drop(first);
    eventually(|| running.get("/metrics").body.contains("callwright_open_requests 0"));
}

#[test]
fn a_slow_client_does_not_hold_a_place() {
    let replay = replay(HELLO);
    let server = ServerConfig { header_seconds: 0.2, body_seconds: 0.2, ..ServerConfig::default() };
    let running = Running::before(&replay, server);
    let mut headers = Connection::to(running.address);
    headers.write("POST /v1/chat/completions HTTP/1.1\r\nhost: loc");
    assert!(headers.is_closed() || headers.line().contains("408"));
    let mut body = Connection::to(running.address);
    body.send("POST /v1/chat/completions\ncontent-length: 100", "{\"mod");
    let answer = body.answer();
    assert_eq!((answer.status, answer.json()["error"]["code"].as_str()), (408, Some("request_timeout")));
}

#[test]
fn headers_are_bounded() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig::default());
    let long = format!("x-long: {}\r\n", "x".repeat(200_000));
    let many: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
    for headers in [long, many] {
        let mut connection = Connection::to(running.address);
        let request = format!("GET /livez HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        // The server may have closed before all of it is sent.
        let _ = connection.stream.get_mut().write_all(request.as_bytes());
        assert_eq!(connection.head().status, 431, "{}", headers.len());
    }
}

#[test]
fn events_go_out_as_they_come() {
    // The second event would come after a minute; the first is there at once.
    let replay = replay(
        "[[answer]]\nraw_events = ['''data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"one\"}}]}\n\n''', '''data: [DONE]\n\n''']\nfault = { between_ms = 60000 }\n",
    );
    let running = Running::before(&replay, ServerConfig::default());
    let mut connection = Connection::to(running.address);
    let mut body = hello();
    body["stream"] = true.into();
    connection.send("POST /v1/chat/completions", &body.to_string());
    let head = connection.head();
    assert_eq!((head.status, head.headers["content-type"].as_str()), (200, "text/event-stream"));
    assert!(connection.chunk().unwrap().contains("one"));
}

#[test]
fn a_client_that_hangs_up_ends_the_upstreams_work() {
    let paths = ["chat/completions", "messages", "responses"];
    let scripts = [
        ("[[answer]]\ntext = \"x\"\nfault = { silent = true }\n", false),
        (
            "[[answer]]\ntext = \"a long answer in many pieces\"\nform = { pieces = 1 }\nfault = { stall_after = 900 }\n",
            true,
        ),
    ];
    for (path, (script, stream)) in paths.iter().flat_map(|path| scripts.map(|script| (path, script))) {
        let replay = replay(script);
        let running = Running::before(&replay, ServerConfig::default());
        let mut connection = Connection::to(running.address);
        // A text is all that a message or a response needs; each API takes its own from it.
        let mut body = json!({
            "model": "gpt-4o", "max_tokens": 100, "input": "Hi.", "messages": [{"role": "user", "content": "Hi."}],
        });
        body["stream"] = stream.into();
        connection.send(&format!("POST /v1/{path}"), &body.to_string());
        if stream {
            connection.head();
            connection.chunk().unwrap();
        }
        asked(&replay, 1);
        let at = Instant::now();
        drop(connection);
        let mut hung_up = None;
        eventually(|| {
            hung_up = replay.requests().iter().find_map(|request| match request.ending {
                Ending::HungUp(at) => Some(at),
                Ending::Open | Ending::Complete => None,
            });
            hung_up.is_some()
        });
        let after = hung_up.unwrap().saturating_duration_since(at);
        // At once, on a machine that has other work to do.
        assert!(after < Duration::from_secs(2), "{after:?}");
    }
}

/// Bodies that come to more than all of them may have wait, and are refused then; what an answered one had is free again.
#[test]
fn the_bodies_of_open_requests_share_a_room() {
    let silent = "[[answer]]\nwhen = { contains = \"wait\" }\ntext = \"x\"\nfault = { silent = true }\nrepeat = true\n";
    let replay = replay(&format!("{silent}{HELLO}"));
    let mut relay = relay_to(&replay.base_url());
    (relay.limits.body, relay.limits.bodies) = (64 << 10, 100 << 10);
    let running = Running::start(GatewayConfig::default(), relay);
    let long = |word: &str| {
        let content = format!("{word} {}", "x".repeat(60 << 10));
        json!({"model": "m", "messages": [{"role": "user", "content": content}]})
    };
    let mut first = Connection::to(running.address);
    first.send("POST /v1/chat/completions", &long("wait").to_string());
    asked(&replay, 1);
    let refused = running.chat(&long("Hello."));
    assert_eq!((refused.status, refused.headers.get("retry-after").map(String::as_str)), (503, Some("1")));
    assert_eq!(running.chat(&hello()).status, 200, "there is room for a small one");
    drop(first);
    assert_eq!(running.chat(&long("Hello.")).status, 200);
}

/// A client that reads nothing holds neither its answer nor the upstream's for ever.
#[test]
fn a_client_that_does_not_read_is_left() {
    let text = "word ".repeat(4 << 20);
    let replay = replay(&format!("[[answer]]\ntext = \"{text}\"\nform = {{ pieces = 65536 }}\n"));
    let running = Running::before(&replay, ServerConfig { stall_seconds: 0.1, ..ServerConfig::default() });
    let mut connection = Connection::to(running.address);
    let mut body = hello();
    body["stream"] = true.into();
    connection.send("POST /v1/chat/completions", &body.to_string());
    eventually(|| replay.requests().iter().any(|request| matches!(request.ending, Ending::HungUp(_))));
    assert_eq!(running.get("/livez").status, 200);
}

#[test]
fn a_drain_finishes_what_is_open() {
    let replay =
        replay("[[answer]]\ntext = \"one two three four\"\nfault = { between_ms = 50 }\nrepeat = true\n");
    let running = Running::before(&replay, ServerConfig { workers: 2, ..ServerConfig::default() });
    let mut connection = Connection::to(running.address);
    let mut body = hello();
    body["stream"] = true.into();
    connection.send("POST /v1/chat/completions", &body.to_string());
    assert_eq!(connection.head().status, 200);
    let mut text = connection.chunk().unwrap();
    let mut idle = Connection::to(running.address);
    idle.send("GET /livez", "");
    assert_eq!(idle.answer().status, 200);
    running.stop.drain();
    assert!(idle.is_closed(), "an idle connection has nothing to wait for");
    eventually(|| std::net::TcpStream::connect(running.address).is_err());
    loop {
        let chunk = connection.chunk().expect("the stream is finished, not broken off");
        if chunk.is_empty() {
            break;
        }
        text.push_str(&chunk);
    }
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    running.ended();
}

#[test]
fn a_drain_ends_in_time() {
    let replay = replay("[[answer]]\ntext = \"x\"\nfault = { silent = true }\nrepeat = true\n");
    let running = Running::before(&replay, ServerConfig { drain_seconds: 0.1, ..ServerConfig::default() });
    let mut connection = Connection::to(running.address);
    connection.send("POST /v1/chat/completions", &hello().to_string());
    asked(&replay, 1);
    running.stop.drain();
    assert!(connection.is_closed());
    running.ended();
}

#[test]
fn readiness_ends_before_the_server_does() {
    let replay = replay(HELLO);
    let running = Running::before(&replay, ServerConfig { notice_seconds: 60.0, ..ServerConfig::default() });
    assert_eq!(running.get("/readyz").status, 200);
    running.stop.drain();
    assert_eq!(running.get("/readyz").status, 503);
    assert_eq!(running.get("/livez").status, 200);
    assert_eq!(running.chat(&hello()).status, 200, "until then it answers");
}

/// Waits until the upstream was asked for so many completions.
fn asked(replay: &callwright_replay::Replay, n: usize) {
    let is_chat = |request: &&callwright_replay::Recorded| request.path.ends_with("/chat/completions");
    eventually(|| n <= replay.requests().iter().filter(is_chat).count());
}

fn eventually(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "it never came to hold");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// S2-02: a call that is never right is a part of the stream that is named for it, and the stream ends as any other. Who did
/// not ask for that reads why in words.
#[test]
fn an_error_of_a_tool_call_is_no_error_of_the_stream() {
    let tools = json!([{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}]);
    let body = json!({
        "model": "m", "stream": true, "tools": tools, "messages": [{"role": "user", "content": "Search."}],
    });
    // From an upstream that streams, and from one that does not.
    for form in ["", "form = { stream = false }\n"] {
        let replay = replay(&format!(
            "[[answer]]\nrepeat = true\n\
             tool_calls = [{{ id = \"c1\", name = \"browser.search\", arguments = '{{\"q\": \"MCP\"}}' }}]\n{form}"
        ));
        let mut relay = relay_to(&replay.base_url());
        relay.models.push(ModelConfig { mode: Some(Mode::Native), ..ModelConfig::new("m") });
        let running = Running::start(GatewayConfig::default(), relay);
        for (header, n_parts) in [("", 0), ("\nx-callwright-report: 1", 1)] {
            let answer = running.ask(&format!("POST /v1/chat/completions{header}"), &body.to_string());
            assert_eq!(answer.status, 200);
            assert!(answer.body.ends_with("data: [DONE]\n\n"), "{}", answer.body);
            assert!(answer.body.contains("browser.search was not run"), "{}", answer.body);
            let chunks: Vec<Value> = answer
                .body
                .lines()
                .filter_map(|line| line.strip_prefix("data: "))
                .filter_map(|data| serde_json::from_str(data).ok())
                .collect();
            assert!(chunks.iter().all(|chunk| chunk["error"].is_null()), "{}", answer.body);
            assert!(chunks.iter().any(|chunk| chunk["choices"][0]["finish_reason"] == "stop"));
            let mut parts = answer.body.split("event: tool-error\ndata: ").skip(1);
            assert_eq!(parts.clone().count(), n_parts, "{}", answer.body);
            let Some(part) = parts.next().and_then(|rest| rest.lines().next()) else { continue };
            let part: Value = serde_json::from_str(part).unwrap();
            assert_eq!(part["object"], "chat.completion.chunk");
            assert_eq!(part["choices"], json!([{"index": 0, "delta": {}, "finish_reason": null}]));
            let told = &part["callwright"];
            assert_eq!((&told["type"], &told["tool_name"]), (&json!("tool-error"), &json!("browser.search")));
            assert_eq!((&told["code"], &told["input"]), (&json!("unknown-tool"), &json!(r#"{"q": "MCP"}"#)));
            assert_eq!(told["tool_call_id"], "c1");
            assert!(told["error"].as_str().is_some_and(|error| error.contains("was not run")), "{told}");
        }
    }
}

/// An upstream that repeats the key that it was sent: no client reads it, wherever it stands and however it is cut.
#[test]
fn a_key_that_the_upstream_repeats_is_not_passed_on() {
    const KEY: &str = "sk-canary-0123456789";
    let tools = json!([{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}]);
    let say = "It is sk-canary-0123456789, sk-can you see.";
    let call = r#"{ id = "c1", name = "echo", arguments = '{"key": "sk-canary-0123456789"}' }"#;
    let script = format!(
        "[[answer]]\nrepeat = true\ntext = \"{say}\"\nreasoning = \"{say}\"\ntool_calls = [{call}]\n\
         extra = {{ headers = {{ authorization = \"Bearer {KEY}\" }} }}\n[answer.when]\nhas_tools = true\n\
         [[answer]]\nrepeat = true\ntext = \"{say}\"\nextra = {{ authorization = \"Bearer {KEY}\" }}\n\
         [answer.when]\npath = \"/v1/chat/completions\"\n\
         [[answer]]\nrepeat = true\nbody = '{{\"key\": \"{KEY}\"}}'\n\
         [answer.when]\npath = \"/v1/embeddings\"\n"
    );
    // Up to three letters of it go before, where it comes in pieces.
    let hidden = |said: &str| {
        let begun = ["sk-[secret]", "sk[secret]", "s[secret]"];
        begun.iter().fold(said.to_owned(), |said, begun| said.replace(begun, "[secret]"))
    };
    for pieces in ["\"whole\"", "1", "3", "7"] {
        let replay = replay(&format!("form = {{ pieces = {pieces}, writes = {pieces} }}\n{script}"));
        let mut relay = relay_to(&replay.base_url());
        relay.models.push(ModelConfig { mode: Some(Mode::Native), ..ModelConfig::new("m") });
        let running = Running::start(GatewayConfig::default(), relay);
        for has_tools in [false, true] {
            for stream in [false, true] {
                let mut body = hello();
                body["stream"] = stream.into();
                if has_tools {
                    body["tools"] = tools.clone();
                }
                let answer = running.chat(&body);
                assert_eq!(answer.status, 200, "{}", answer.body);
                assert!(!answer.body.contains(KEY), "{}", answer.body);
                let (mut text, mut thought, mut arguments) = (String::new(), String::new(), String::new());
                let chunks: Vec<Value> = match stream {
                    false => vec![answer.json()],
                    true => {
                        assert!(answer.body.ends_with("data: [DONE]\n\n"), "{}", answer.body);
                        let data = answer.body.lines().filter_map(|line| line.strip_prefix("data: {"));
                        data.map(|data| serde_json::from_str(&format!("{{{data}")).unwrap()).collect()
                    }
                };
                for choice in chunks.iter().map(|chunk| &chunk["choices"][0]) {
                    let said = if stream { &choice["delta"] } else { &choice["message"] };
                    text.push_str(said["content"].as_str().unwrap_or(""));
                    thought.push_str(said["reasoning_content"].as_str().unwrap_or(""));
                    arguments.push_str(said["tool_calls"][0]["function"]["arguments"].as_str().unwrap_or(""));
                }
                let expected = say.replace(KEY, "[secret]");
                assert_eq!(hidden(&text), expected, "{pieces}, {stream}: {}", answer.body);
                if has_tools {
                    assert_eq!(hidden(&thought), expected, "{pieces}, {stream}: {}", answer.body);
                    assert_eq!(
                        hidden(&arguments),
                        r#"{"key": "[secret]"}"#,
                        "{pieces}, {stream}: {}",
                        answer.body
                    );
                }
            }
        }
        let embeddings = running.ask("POST /v1/embeddings", r#"{"model": "m", "input": "a"}"#);
        assert_eq!(hidden(&embeddings.body), r#"{"key": "[secret]"}"#, "{pieces}");
    }
}

/// What a chunk says beside the finish is said once.
#[test]
fn a_thought_beside_the_finish_is_passed_on_once() {
    let chunk = r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"Hm.","content":"Hi."},"finish_reason":"stop"}]}"#;
    let replay = replay(&format!(
        "[[answer]]\nraw_events = ['data: {chunk}', \"\\n\\n\", \"data: [DONE]\\n\\n\"]\nheaders = {{ content-type = \"text/event-stream\" }}\n"
    ));
    let mut relay = relay_to(&replay.base_url());
    relay.models.push(ModelConfig { mode: Some(Mode::Native), ..ModelConfig::new("m") });
    let running = Running::start(GatewayConfig::default(), relay);
    let mut body = hello();
    body["stream"] = true.into();
    body["tools"] =
        json!([{"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}]);
    let answer = running.chat(&body);
    assert_eq!(answer.body.matches("Hm.").count(), 1, "{}", answer.body);
    assert_eq!(answer.body.matches("Hi.").count(), 1, "{}", answer.body);
}
