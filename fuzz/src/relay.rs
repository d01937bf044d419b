//! Any bytes as the answer of an upstream, through a whole turn: no panic, an answer that a strict client can read, and no
//! call that is not right or that depends on how the bytes were cut.
//!
//! The first byte chooses what the rest is: a body that came plain, a body that came as events, or a text that a model
//! wrote, which comes both as a plain answer and as events. The second one chooses the cuts, and whether the body ends.

use std::io::{BufRead, BufReader, Read as _, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;

use callwright::json;
use callwright::value::Value;
use callwright::{Policy, ToolSet, Verdict, parse};
use callwright_relay::config::{Constrain, Mode, ModelConfig, RelayConfig, UpstreamConfig};
use callwright_relay::{Nobody, Relay, Request};
use http_body_util::BodyExt;
use tokio::runtime::Runtime;

const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "required": ["city"],
        "properties": {"city": {"type": "string"}, "unit": {"enum": ["c", "f"]}, "days": {"type": "integer"}}}}},
    {"type": "function", "function": {"name": "run_code", "parameters": {"type": "object", "required": ["code"],
        "properties": {"code": {"type": "string"}}}}}
]"#;
/// An answer is held in whole only up to here.
const LONGEST: usize = 64 << 10;

static TOOL_SET: LazyLock<ToolSet> =
    LazyLock::new(|| ToolSet::from_json(TOOLS).expect("the definitions above are right"));
static SETTING: LazyLock<Setting> = LazyLock::new(Setting::new);

/// What the upstream answers next.
#[derive(Clone, Default)]
struct Scripted {
    content_type: &'static str,
    /// What is written at once, each piece by itself.
    pieces: Vec<Vec<u8>>,
    /// It ends as an answer should.
    is_whole: bool,
}

/// An upstream that answers as it was told last, and a relay before it.
struct Setting {
    runtime: Runtime,
    relay: Arc<Relay>,
    next: Arc<Mutex<Scripted>>,
    /// One input at a time.
    turn: Mutex<()>,
}

impl Setting {
    fn new() -> Setting {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
        let address = listener.local_addr().expect("it is bound");
        let next: Arc<Mutex<Scripted>> = Arc::default();
        let scripted = Arc::clone(&next);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let scripted = Arc::clone(&scripted);
                thread::spawn(move || serve(stream, &scripted));
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let relay =
            Relay::new(config(address), &|_| None, Arc::new(Nobody)).expect("the configuration is right");
        Setting { runtime, relay, next, turn: Mutex::default() }
    }

    /// What a client gets.
    fn ask(&self, stream: bool, scripted: Scripted) -> (u16, Vec<u8>) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = scripted;
        let tools: Value = serde_json::from_str(TOOLS).expect("the definitions above are JSON");
        let body = json!({"model": "m", "stream": stream, "tools": tools, "messages": [{"role": "user", "content": "Go."}]});
        let request = Request {
            id: String::from("fuzz"),
            body: body.to_string().into(),
            policy: None,
            wants_report: false,
            headers: Default::default(),
            surface: Default::default(),
            owner: Default::default(),
            gemini: None,
        };
        self.runtime.block_on(async {
            let reply = self.relay.chat(request).await;
            let status = reply.status.as_u16();
            let body = reply.body.collect().await.expect("no answer of ours breaks off").to_bytes();
            (status, body.to_vec())
        })
    }
}

fn config(address: SocketAddr) -> RelayConfig {
    let mut upstream = UpstreamConfig::new("fuzz", &format!("http://{address}/v1"));
    upstream.constrain = Some(Constrain::None);
    upstream.retries = 0;
    let models = vec![ModelConfig { mode: Some(Mode::Native), ..ModelConfig::new("m") }];
    let mut config = RelayConfig { upstreams: vec![upstream], models, ..RelayConfig::default() };
    // What is refused stays refused: another question would get the same answer.
    config.policy = Policy::Heal;
    config.limits.answer = LONGEST;
    config.limits.event = LONGEST;
    config
}

fn serve(stream: TcpStream, scripted: &Mutex<Scripted>) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.trim_end().is_empty() {
                break;
            }
        }
        reader.read_exact(&mut vec![0; length]).ok()?;
        let Scripted { content_type, pieces, is_whole } =
            scripted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stream = reader.get_mut();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        .ok()?;
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            stream.write_all(&chunk).ok()?;
        }
        if !is_whole {
            return None;
        }
        stream.write_all(b"0\r\n\r\n").ok()?;
    }
}

/// What a client puts together of an answer.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    text: String,
    /// Names and arguments.
    calls: Vec<(String, String)>,
    finish: Option<String>,
    /// It is an error, or ends with one.
    is_error: bool,
}

/// Panics if a law does not hold for `data`.
pub fn check(data: &[u8]) {
    let [what, cuts, body @ ..] = data else { return };
    let is_whole = cuts & 1 == 0;
    let cut = |bytes: &[u8]| pieces(bytes, usize::from(cuts >> 1));
    let setting = &*SETTING;
    let asked = |stream, content_type, pieces| {
        let (status, answer) = setting.ask(stream, Scripted { content_type, pieces, is_whole });
        // What goes out again is what came in, in frames of our own: no input makes much of little.
        let most = 4 * LONGEST + 600 * body.len();
        assert!(answer.len() <= most, "{} bytes became {}", body.len(), answer.len());
        if stream && status == 200 { streamed(&answer) } else { whole(status, &answer) }
    };
    const PLAIN: &str = "application/json";
    const EVENTS: &str = "text/event-stream";
    match what % 4 {
        0 => {
            let wants_stream = what & 4 != 0;
            let at_once = asked(wants_stream, PLAIN, vec![body.to_vec()]);
            assert_eq!(asked(wants_stream, PLAIN, cut(body)), at_once, "the cuts of a body were seen");
        }
        1 => {
            let at_once = asked(true, EVENTS, vec![body.to_vec()]);
            assert_eq!(asked(true, EVENTS, cut(body)), at_once, "the cuts of a stream were seen");
        }
        _ => {
            let text = String::from_utf8_lossy(body);
            let finish = if what & 4 != 0 { "length" } else { "stop" };
            let plain = asked(false, PLAIN, vec![answer(&text, finish).into_bytes()]);
            let events =
                asked(true, EVENTS, vec![events(&text, finish, usize::from(cuts >> 1)).into_bytes()]);
            if !is_whole {
                return;
            }
            assert_eq!(events.calls, plain.calls, "the calls of a stream are not those of the text");
            // A native model's text is read with more care than a text alone: what has no marks is no call beside prose.
            let context =
                callwright::Context { finish_reason: Some(finish), native: true, ..Default::default() };
            let right = parse(&TOOL_SET, &text, &[], &context);
            let mut right = right.calls().map(|call| (call.name.as_str(), call.arguments.as_str()));
            for (name, arguments) in &plain.calls {
                let is_there = right.any(|right| right == (name.as_str(), arguments.as_str()));
                assert!(is_there, "{name}({arguments}) does not stand in the text");
            }
        }
    }
}

/// `bytes` in pieces of 1 to 13 bytes, and longer ones between them.
fn pieces(bytes: &[u8], seed: usize) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for n in 0.. {
        if rest.is_empty() {
            break;
        }
        // Many small writes would measure the system, not us.
        let length = if n < 64 { 1 + (n * 7 + seed) * 31 % 13 } else { rest.len() };
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        pieces.push(piece.to_vec());
        rest = behind;
    }
    pieces
}

fn answer(text: &str, finish: &str) -> String {
    json!({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}]})
    .to_string()
}

/// The same, a few letters in each event.
fn events(text: &str, finish: &str, seed: usize) -> String {
    let mut out = String::new();
    let mut event = |delta: Value, finish: Value| {
        let chunk = json!({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        out.push_str(&format!("data: {chunk}\n\n"));
    };
    event(json!({"role": "assistant", "content": ""}), Value::Null);
    let mut chars = text.chars();
    for n in 0.. {
        let piece: String = chars.by_ref().take(1 + (n * 7 + seed) * 31 % 13).collect();
        if piece.is_empty() {
            break;
        }
        event(json!({"content": piece}), Value::Null);
    }
    event(json!({}), finish.into());
    out.push_str("data: [DONE]\n\n");
    out
}

/// A plain answer, as a strict client reads it.
fn whole(status: u16, body: &[u8]) -> Seen {
    let body: Value = serde_json::from_slice(body).unwrap_or_else(|error| panic!("no JSON: {error}"));
    if status != 200 {
        assert!(body["error"]["message"].is_string(), "an error without a message: {body}");
        return Seen { is_error: true, ..Seen::default() };
    }
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let call = |call: &Value| {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let function = &call["function"];
        text(&function["name"]).zip(text(&function["arguments"])).unwrap_or_else(|| panic!("a call: {call}"))
    };
    let read = Seen {
        text: message["content"].as_str().unwrap_or("").to_owned(),
        calls: message["tool_calls"].as_array().into_iter().flatten().map(call).collect(),
        finish: choice["finish_reason"].as_str().map(str::to_owned),
        is_error: false,
    };
    read.hold();
    read
}

/// A stream, as a strict client reads it: the first choice of each event that is JSON.
fn streamed(body: &[u8]) -> Seen {
    let body = std::str::from_utf8(body).unwrap_or_else(|error| panic!("no UTF-8: {error}"));
    let mut read = Seen::default();
    let mut is_done = false;
    for data in body.split(['\n', '\r']).filter_map(|line| line.strip_prefix("data:")) {
        assert!(!is_done, "behind the end: {data}");
        if data.trim() == "[DONE]" {
            is_done = true;
            continue;
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else { continue };
        read.is_error |= !chunk["error"].is_null();
        for choice in chunk["choices"].as_array().into_iter().flatten().filter(|choice| choice["index"] == 0)
        {
            let delta = &choice["delta"];
            read.text.push_str(delta["content"].as_str().unwrap_or(""));
            for piece in delta["tool_calls"].as_array().into_iter().flatten() {
                let at =
                    piece["index"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
                if at == read.calls.len() {
                    let name =
                        piece["function"]["name"].as_str().unwrap_or_else(|| panic!("no name: {piece}"));
                    read.calls.push((name.to_owned(), String::new()));
                }
                let call = read.calls.get_mut(at).unwrap_or_else(|| panic!("an index out of turn: {piece}"));
                call.1.push_str(piece["function"]["arguments"].as_str().unwrap_or(""));
            }
            if let Some(finish) = choice["finish_reason"].as_str() {
                read.finish = Some(finish.to_owned());
            }
        }
    }
    assert!(is_done || read.is_error, "a stream without an end");
    // A call whose name went out at once and that stays refused ends in an error: nothing of it may run.
    if read.is_error && read.finish.is_none() {
        read.calls.clear();
    }
    read.hold();
    read
}

impl Seen {
    /// Each call is one of a declared tool, right against its schema.
    fn hold(&self) {
        for (name, arguments) in &self.calls {
            let native = callwright::NativeCall { id: None, name, arguments };
            let outcome = parse(&TOOL_SET, "", &[native], &Default::default());
            let is_right =
                matches!(&outcome.verdicts[..], [Verdict::Accepted(call)] if Policy::Strict.admits(call));
            assert!(is_right, "{name}({arguments}): {:?}", outcome.verdicts);
        }
    }
}
