//! A server that does exactly what a test says, byte for byte, and the configuration that points at it.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callwright_relay::config::{RelayConfig, UpstreamConfig};
use callwright_relay::upstream::{Candidate, ConfigError, Upstreams};
use callwright_relay::{GeminiAsk, GeminiForm, Owner, Request, Surface};
use http::HeaderMap;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};

/// A client's request, of nobody in particular.
pub(crate) fn request(surface: Surface, body: String, headers: HeaderMap) -> Request {
    // The body of Gemini's has no model, and does not say that it wants a stream.
    let gemini = GeminiAsk { model: "m".into(), form: GeminiForm::Events };
    Request {
        id: "r".into(),
        body: body.into(),
        policy: None,
        wants_report: false,
        headers,
        owner: Owner::default(),
        surface,
        gemini: (surface == Surface::Gemini).then_some(gemini),
    }
}

/// A request as it came over the wire.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// `POST /v1/chat/completions`.
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// What the server does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Sends these bytes and takes the next request.
    Bytes(String),
    /// Sends these bytes and closes the connection.
    Last(String),
    /// Sends these bytes and then says nothing more until the client goes away.
    Hold(String),
    /// Sends these bytes, each so long after the ones before, and closes the connection.
    Paced(Vec<(Duration, String)>),
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
    /// Gets a permit each time that a client leaves a held answer.
    pub(crate) hang_ups: Arc<Semaphore>,
    /// Is told of each request.
    pub(crate) arrived: Arc<Notify>,
}

impl Server {
    /// Answers the request of number n, from 0 on, with `reply(request, n)`.
    pub(crate) async fn start(reply: impl Fn(&Seen, usize) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Server {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            hang_ups: Arc::new(Semaphore::new(0)),
            arrived: Arc::default(),
        };
        let (seen, hang_ups, arrived) =
            (Arc::clone(&server.seen), Arc::clone(&server.hang_ups), Arc::clone(&server.arrived));
        let reply = Arc::new(reply);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                // Else the kernel holds small pieces back for longer than a clock that jumps waits for them.
                stream.set_nodelay(true).unwrap();
                let (seen, hang_ups, arrived, reply) =
                    (Arc::clone(&seen), Arc::clone(&hang_ups), Arc::clone(&arrived), Arc::clone(&reply));
                tokio::spawn(async move {
                    let mut unread = Vec::new();
                    while let Some(request) = read(&mut stream, &mut unread).await {
                        let n = {
                            let mut seen = seen.lock().unwrap();
                            seen.push(request.clone());
                            seen.len() - 1
                        };
                        arrived.notify_one();
                        let (bytes, goes_on) = match reply(&request, n) {
                            Reply::Bytes(bytes) => (bytes, true),
                            Reply::Last(bytes) => (bytes, false),
                            Reply::Paced(pieces) => {
                                for (pause, bytes) in pieces {
                                    tokio::time::sleep(pause).await;
                                    if stream.write_all(bytes.as_bytes()).await.is_err() {
                                        return;
                                    }
                                }
                                return;
                            }
                            Reply::Hold(bytes) => {
                                let _ = stream.write_all(bytes.as_bytes()).await;
                                // The client sends nothing more: to read is to wait for its leaving.
                                let _ = stream.read(&mut [0]).await;
                                hang_ups.add_permits(1);
                                return;
                            }
                        };
                        if stream.write_all(bytes.as_bytes()).await.is_err() || !goes_on {
                            return;
                        }
                    }
                });
            }
        });
        server
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The lines of all requests.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.line).collect()
    }
}

async fn read(stream: &mut TcpStream, unread: &mut Vec<u8>) -> Option<Seen> {
    let mut piece = [0; 4096];
    loop {
        if let Some(seen) = take(unread) {
            return Some(seen);
        }
        let length = stream.read(&mut piece).await.ok().filter(|length| 0 < *length)?;
        unread.extend_from_slice(&piece[..length]);
    }
}

fn take(unread: &mut Vec<u8>) -> Option<Seen> {
    let text = String::from_utf8_lossy(unread).into_owned();
    let (head, rest) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let body = rest.get(..length)?.to_owned();
    unread.drain(..head.len() + 4 + length);
    Some(Seen { line, headers, body })
}

/// A whole JSON answer.
pub(crate) fn json(status: u16, body: &str) -> Reply {
    with_headers(status, "content-type: application/json\r\n", body)
}

/// A whole answer with further header lines.
pub(crate) fn with_headers(status: u16, headers: &str, body: &str) -> Reply {
    Reply::Bytes(format!("HTTP/1.1 {status} X\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()))
}

/// An upstream named `name` at this URL that does not ask twice.
pub(crate) fn upstream(name: &str, base_url: &str) -> UpstreamConfig {
    let text = format!("name = '{name}'\nbase_url = '{base_url}'\nretries = 0");
    toml::from_str(&text).unwrap()
}

pub(crate) fn upstreams(configs: &[UpstreamConfig]) -> Result<Upstreams, ConfigError> {
    let config = RelayConfig { upstreams: configs.to_vec(), ..RelayConfig::default() };
    Upstreams::new(&config, &|_| None)
}

/// The first upstream to ask for `model`.
pub(crate) fn candidate(upstreams: &Upstreams, model: &str) -> Candidate {
    upstreams.route(model).candidates.into_iter().next().unwrap()
}
