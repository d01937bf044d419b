//! A client that hangs up: its upstream is not kept at work.

use std::time::{Duration, Instant};

use callwright::json;
use callwright_relay::UpstreamKind;
use callwright_replay::{Ending, Replay, Script};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::corpus::case::{ModelMode, tools};
use crate::corpus::served::Served;
use crate::corpus::{messages, responses};

/// What may pass between the client's hang-up and that of the gateway.
const AT_ONCE: Duration = Duration::from_millis(100);

/// After this long something is lost.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_hang_up_reaches_the_upstream_at_once() {
    let call = "tool_calls = [{ name = \"get_weather\", arguments = '{\"city\": \"Paris\"}' }]";
    let stalled = "fault = { stall_after = 330 }";
    for (said, fault, streamed, has_begun) in [
        (TEXT, "fault = { silent = true }", false, false),
        (TEXT, "fault = { silent = true }", true, false),
        (TEXT, SLOW, true, true),
        (TEXT, stalled, true, true),
        (TEXT, "fault = { stall_after = 100 }", false, false),
        (call, "fault = { delay_ms = 60000 }", true, false),
        (call, "fault = { stall_after = 480 }", true, true),
    ] {
        hangs_up((said, fault), ("chat/completions", None), streamed, has_begun).await;
    }
}

/// Whichever API the client speaks, and the upstream.
#[tokio::test]
async fn a_hang_up_in_any_api_reaches_the_upstream_at_once() {
    for way in [
        ("messages", None),
        ("responses", None),
        ("messages", Some(UpstreamKind::Messages)),
        ("responses", Some(UpstreamKind::Responses)),
        ("chat/completions", Some(UpstreamKind::Messages)),
        ("messages", Some(UpstreamKind::Responses)),
        ("chat/completions", Some(UpstreamKind::Ollama)),
    ] {
        hangs_up((TEXT, "fault = { silent = true }"), way, false, false).await;
        hangs_up((TEXT, SLOW), way, true, true).await;
    }
}

const TEXT: &str = "text = \"A text that takes its time.\"";
const SLOW: &str = "form = { pieces = 1 }\nfault = { between_ms = 60000 }";

/// A client asks at `path`, before an upstream of this kind, and leaves.
async fn hangs_up(
    (said, fault): (&str, &str),
    (path, kind): (&str, Option<UpstreamKind>),
    streamed: bool,
    has_begun: bool,
) {
    let script = Script::from_toml(&format!("[[answer]]\n{said}\n{fault}")).unwrap();
    let replay = Replay::start(script).unwrap();
    let gateway = Served::of_kind(&replay.base_url(), ModelMode::Native, kind);
    let mut client = asking(&gateway.base_url, path, streamed).await;
    if has_begun {
        tokio::time::timeout(PATIENCE, client.read_u8()).await.unwrap().unwrap();
    }
    tokio::time::timeout(PATIENCE, replay.until(|asked| !asked.is_empty())).await.unwrap();
    let hung_up = Instant::now();
    drop(client);
    let ended = replay.until(|asked| asked.iter().all(|request| request.ending != Ending::Open));
    let asked = tokio::time::timeout(PATIENCE, ended).await.unwrap();
    let Ending::HungUp(at) = asked[0].ending else { panic!("{path} {fault}: {:?}", asked[0].ending) };
    let late = at.saturating_duration_since(hung_up);
    assert!(late < AT_ONCE, "{path} {said} {fault}: {late:?}");
}

/// A connection on which a request was sent.
async fn asking(base_url: &str, path: &str, streamed: bool) -> TcpStream {
    let chat = json!({ "model": "m", "max_tokens": 100, "tools": tools(), "messages": [{ "role": "user", "content": "Go." }] });
    let mut body = match path {
        "messages" => messages::asked(&chat),
        "responses" => responses::asked(&chat),
        _ => chat,
    };
    body["stream"] = streamed.into();
    let body = body.to_string();
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut client = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let head = format!(
        "POST /v1/{path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    client.write_all((head + &body).as_bytes()).await.unwrap();
    client
}
