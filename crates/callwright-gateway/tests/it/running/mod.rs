//! A gateway on a real socket, in front of an upstream that answers from a script, and a client that sees every
//! byte.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use callwright::value::Value;
use callwright_gateway::{Gateway, GatewayConfig, ServerConfig, Signals, StartError, Stop};
use callwright_relay::config::{RelayConfig, UpstreamConfig};
use callwright_replay::{Recorded, Replay, Script};

/// A gateway that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) stop: Stop,
    thread: Option<JoinHandle<Result<(), StartError>>>,
}

impl Running {
    /// Starts one with this configuration on a free port.
    pub(crate) fn start(config: GatewayConfig, relay: RelayConfig) -> Running {
        let listen = "127.0.0.1:0".parse().unwrap();
        let env = |name: &str| (name == "UPSTREAM_KEY").then(|| String::from("sk-canary-0123456789"));
        let gateway = Gateway::new(GatewayConfig { listen, ..config }, relay, &env).unwrap();
        let (address, stop) = (gateway.address().unwrap(), gateway.stop());
        let thread = std::thread::spawn(move || gateway.run(Signals::Ignore));
        Running { address, stop, thread: Some(thread) }
    }

    /// One with these bounds in front of `replay`.
    pub(crate) fn before(replay: &Replay, server: ServerConfig) -> Running {
        let config = GatewayConfig { server, ..GatewayConfig::default() };
        Running::start(config, relay_to(&replay.base_url()))
    }

    /// Waits until it has ended by itself.
    pub(crate) fn ended(mut self) {
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    /// Asks, with a connection of its own, and reads the whole answer.
    pub(crate) fn ask(&self, head: &str, body: &str) -> Answer {
        let mut connection = Connection::to(self.address);
        connection.send(head, body);
        connection.answer()
    }

    /// The same for a chat.
    pub(crate) fn chat(&self, body: &Value) -> Answer {
        self.ask("POST /v1/chat/completions", &body.to_string())
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), "")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The configuration for one upstream.
pub(crate) fn relay_to(base_url: &str) -> RelayConfig {
    let upstream = UpstreamConfig {
        key_env: Some("UPSTREAM_KEY".into()),
        retries: 0,
        ..UpstreamConfig::new("replay", base_url)
    };
    RelayConfig { upstreams: vec![upstream], ..RelayConfig::default() }
}

/// An upstream that answers as this TOML says.
pub(crate) fn replay(script: &str) -> Replay {
    Replay::start(Script::from_toml(script).unwrap()).unwrap()
}

/// Returns the last request that the script answered; a gateway's own probes (`POST /api/show`) may come after it.
pub(crate) fn last_asked(replay: &Replay) -> Recorded {
    replay.requests().into_iter().rev().find(|request| request.answer.is_some()).unwrap()
}

/// One connection of a client.
pub(crate) struct Connection {
    pub(crate) stream: BufReader<TcpStream>,
}

impl Connection {
    pub(crate) fn to(address: SocketAddr) -> Connection {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        // Longer than anything here takes: what hangs fails.
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Connection { stream: BufReader::new(stream) }
    }

    pub(crate) fn write(&mut self, bytes: &str) {
        self.stream.get_mut().write_all(bytes.as_bytes()).unwrap();
    }

    /// Sends a request: `head` is its first line without the version, and further headers in lines after it.
    pub(crate) fn send(&mut self, head: &str, body: &str) {
        let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
        let mut request = format!("{line} HTTP/1.1\r\n");
        let has = |name: &str| headers.to_ascii_lowercase().contains(name);
        if !has("host:") {
            request.push_str("host: localhost\r\n");
        }
        if !has("content-type:") && !body.is_empty() {
            request.push_str("content-type: application/json\r\n");
        }
        if !has("content-length:") && !has("transfer-encoding:") {
            request.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        for header in headers.lines().filter(|header| !header.trim().is_empty()) {
            request.push_str(&format!("{}\r\n", header.trim()));
        }
        self.write(&format!("{request}\r\n{body}"));
    }

    /// Reads the head of an answer.
    pub(crate) fn head(&mut self) -> Answer {
        let line = self.line();
        let status = line.split(' ').nth(1).unwrap_or_default().parse().unwrap_or(0);
        let mut headers = BTreeMap::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        Answer { status, headers, body: String::new(), is_whole: true }
    }

    /// Reads a whole answer.
    pub(crate) fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        if let Some(length) = answer.headers.get("content-length") {
            let mut body = vec![0; length.parse().unwrap()];
            answer.is_whole = self.stream.read_exact(&mut body).is_ok();
            answer.body = String::from_utf8(body).unwrap();
            return answer;
        }
        while let Some(chunk) = self.chunk() {
            if chunk.is_empty() {
                return answer;
            }
            answer.body.push_str(&chunk);
        }
        answer.is_whole = false;
        answer
    }

    /// Reads a chunk: empty at the end, none where the answer broke off.
    pub(crate) fn chunk(&mut self) -> Option<String> {
        let length = usize::from_str_radix(&self.line(), 16).ok()?;
        let mut bytes = vec![0; length + 2];
        self.stream.read_exact(&mut bytes).ok()?;
        bytes.truncate(length);
        Some(String::from_utf8(bytes).unwrap())
    }

    /// Reads a line; empty at the end of the connection.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(_) => line.trim_end().to_owned(),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => String::new(),
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// Is the connection closed by the other side, with nothing more to read?
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(n) => n == 0,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
    /// Did the body end as it should?
    pub(crate) is_whole: bool,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}
