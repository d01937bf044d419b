//! A client that hangs up: its upstream is not kept at work.

use std::time::{Duration, Instant};

use callwright::json;
use callwright_replay::{Ending, Replay, Script};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::case::tools;
use crate::served::Served;

/// What may pass between the client's hang-up and that of the gateway.
const AT_ONCE: Duration = Duration::from_millis(100);

/// After this long something is lost.
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn a_hang_up_reaches_the_upstream_at_once() {
    let text = "text = \"A text that takes its time.\"";
    let call = "tool_calls = [{ name = \"get_weather\", arguments = '{\"city\": \"Paris\"}' }]";
    let slow = "form = { pieces = 1 }\nfault = { between_ms = 60000 }";
    let stalled = "fault = { stall_after = 330 }";
    for (said, fault, streamed, has_begun) in [
        (text, "fault = { silent = true }", false, false),
        (text, "fault = { silent = true }", true, false),
        (text, slow, true, true),
        (text, stalled, true, true),
        (text, "fault = { stall_after = 100 }", false, false),
        (call, "fault = { delay_ms = 60000 }", true, false),
        (call, "fault = { stall_after = 480 }", true, true),
    ] {
        let script = Script::from_toml(&format!("[[answer]]\n{said}\n{fault}")).unwrap();
        let replay = Replay::start(script).unwrap();
        let gateway = Served::in_front_of(&replay.base_url());
        let mut client = asking(&gateway.base_url, streamed).await;
        if has_begun {
            tokio::time::timeout(PATIENCE, client.read_u8()).await.unwrap().unwrap();
        }
        tokio::time::timeout(PATIENCE, replay.until(|asked| !asked.is_empty())).await.unwrap();
        let hung_up = Instant::now();
        drop(client);
        let ended = replay.until(|asked| asked.iter().all(|request| request.ending != Ending::Open));
        let asked = tokio::time::timeout(PATIENCE, ended).await.unwrap();
        let Ending::HungUp(at) = asked[0].ending else { panic!("{fault}: {:?}", asked[0].ending) };
        let late = at.saturating_duration_since(hung_up);
        assert!(late < AT_ONCE, "{said} {fault}: {late:?}");
    }
}

/// A connection on which a request was sent.
async fn asking(base_url: &str, streamed: bool) -> TcpStream {
    let body = json!({ "model": "m", "stream": streamed, "tools": tools(), "messages": [{ "role": "user", "content": "Go." }] });
    let body = body.to_string();
    let address = base_url.trim_start_matches("http://").trim_end_matches("/v1");
    let mut client = TcpStream::connect(address).await.unwrap();
    let length = body.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    client.write_all((head + &body).as_bytes()).await.unwrap();
    client
}
