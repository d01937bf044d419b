//! The upstream: answers at once, with what was made before.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Result;
use memchr::memmem;
use tokio::net::TcpSocket;
use tokio::sync::watch;
use tokio::task::LocalSet;
use tokio::time::sleep;

use crate::case::{Case, event};
use crate::http::Connection;
use crate::streams::{AFTER, MODEL, NONCE_DIGITS, NONCE_MARK};

/// The time between the events of a model that makes a thousand tokens a second.
const PACE: Duration = Duration::from_millis(1);

const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// What it answers, case by case, as bytes for the wire.
struct Canned {
    whole: HashMap<&'static str, Vec<u8>>,
    /// Event by event; the first one with the answer's head.
    streams: HashMap<&'static str, Vec<Vec<u8>>>,
    models: Vec<u8>,
}

/// Serves until the process ends.
pub(crate) async fn serve(at: SocketAddr) -> Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(at)?;
    let listener = socket.listen(16_384)?;
    let canned = Rc::new(Canned::new());
    let go = Rc::new(watch::Sender::new(0_u64));
    let accept = async {
        loop {
            let (stream, _) = listener.accept().await?;
            let (connection, canned, go) = (Connection::of(stream)?, Rc::clone(&canned), Rc::clone(&go));
            tokio::task::spawn_local(async move {
                // A connection that breaks is the asker's to complain about.
                let _ = answer_all(connection, &canned, &go).await;
            });
        }
    };
    LocalSet::new().run_until(accept).await
}

async fn answer_all(mut connection: Connection, canned: &Canned, go: &watch::Sender<u64>) -> Result<()> {
    while let Some((first, rest)) = connection.head().await? {
        connection.whole(rest).await?;
        if first.starts_with("GET") {
            connection.send(&canned.models).await?;
        } else if first.contains("/go") {
            go.send_modify(|n| *n += 1);
            connection.send(&whole("{}")).await?;
        } else {
            let model = between(&connection.body, b"\"model\":\"", b'"').unwrap_or_default();
            if model == MODEL {
                hold(&mut connection, go).await?;
            } else if let Some(events) = canned.streams.get(model.as_str()) {
                for event in events {
                    connection.send(event).await?;
                    if model == Case::Paced.name() {
                        sleep(PACE).await;
                    }
                }
            } else if let Some(answer) = canned.whole.get(model.as_str()) {
                connection.send(answer).await?;
            } else {
                connection.send(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n").await?;
            }
        }
    }
    Ok(())
}

/// Begins a stream that names its question's nonce in each event, and goes on with it at the next `/go`.
async fn hold(connection: &mut Connection, go: &watch::Sender<u64>) -> Result<()> {
    let mut told = go.subscribe();
    let at = memmem::find(&connection.body, NONCE_MARK.as_bytes()).map_or(0, |at| at + NONCE_MARK.len());
    let nonce = connection.body.get(at..at + NONCE_DIGITS).unwrap_or_default();
    let nonce = String::from_utf8_lossy(nonce).into_owned();
    let said = |n: usize| event(MODEL, &format!("{{\"content\":\" {NONCE_MARK}{nonce}.{n:04};\"}}"), "null");
    connection.send(format!("{STREAM}{}", chunk(&said(0))).as_bytes()).await?;
    told.changed().await?;
    for n in 1..=AFTER {
        connection.send(chunk(&said(n)).as_bytes()).await?;
        // The others have their turn: their events come in between.
        tokio::task::yield_now().await;
    }
    let end = format!("{}{}0\r\n\r\n", chunk(&event(MODEL, "{}", "\"stop\"")), chunk("data: [DONE]\n\n"));
    connection.send(end.as_bytes()).await
}

impl Canned {
    fn new() -> Canned {
        let (streamed, whole_cases): (Vec<Case>, Vec<Case>) =
            Case::ALL.into_iter().partition(|case| case.is_stream());
        let names = Case::ALL.into_iter().map(Case::name).chain([MODEL]);
        let models: Vec<String> = names
            .map(|name| {
                format!(
                    r#"{{"id":"{name}","object":"model","supported_parameters":["tools","tool_choice"]}}"#
                )
            })
            .collect();
        Canned {
            whole: whole_cases.into_iter().map(|case| (case.name(), whole(&case.answer()))).collect(),
            streams: streamed.into_iter().map(|case| (case.name(), stream(case))).collect(),
            models: whole(&format!(r#"{{"object":"list","data":[{}]}}"#, models.join(","))),
        }
    }
}

fn stream(case: Case) -> Vec<Vec<u8>> {
    let mut events: Vec<Vec<u8>> = case.events().iter().map(|event| chunk(event).into_bytes()).collect();
    if let Some(first) = events.first_mut() {
        first.splice(0..0, STREAM.bytes());
    }
    if let Some(last) = events.last_mut() {
        last.extend_from_slice(b"0\r\n\r\n");
    }
    events
}

fn whole(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn chunk(event: &str) -> String {
    format!("{:x}\r\n{event}\r\n", event.len())
}

/// What stands behind `mark`, up to `end`.
fn between(text: &[u8], mark: &[u8], end: u8) -> Option<String> {
    let rest = text.get(memmem::find(text, mark)? + mark.len()..)?;
    let word = rest.split(|b| *b == end).next()?;
    Some(String::from_utf8_lossy(word).into_owned())
}
