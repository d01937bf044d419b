//! The settings of the server itself. Plain data with defaults.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::key::ClientKey;
use crate::traces::TraceConfig;
use callwright_store::{Secrets, StoreConfig};

/// Everything that a [`Gateway`](crate::Gateway) needs to know, apart from its relay.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// The address on which it listens. Port 0 takes any that is free.
    pub listen: SocketAddr,
    /// Who may ask. Without any, everyone who reaches the address.
    pub keys: Vec<ClientKey>,
    /// It may listen on other addresses than loopback without keys.
    pub allow_open: bool,
    /// The threads, bounds and times of the server.
    pub server: ServerConfig,
    /// The collector of traces.
    pub traces: TraceConfig,
    /// The store that keeps requests; `None` keeps nothing.
    pub keep: Option<KeepConfig>,
    /// The secrets that nobody must see, in traces or elsewhere. The environment's own come to them.
    pub secrets: Secrets,
}

impl Default for GatewayConfig {
    fn default() -> GatewayConfig {
        GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 4000)),
            keys: Vec::new(),
            allow_open: false,
            server: ServerConfig::default(),
            traces: TraceConfig::default(),
            keep: None,
            secrets: Secrets::default(),
        }
    }
}

/// The store that keeps requests.
#[derive(Clone, Debug)]
pub struct KeepConfig {
    /// The store. What the gateway knows to be secret is masked in it.
    pub store: StoreConfig,
    /// The folder that dumps are written to.
    pub dumps: PathBuf,
    /// A store that cannot be opened is a reason not to start. Else nothing is kept then.
    pub is_needed: bool,
}

/// Threads, bounds and times of the server. Times are in seconds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The number of threads that answer requests; 0 stands for one per core.
    pub workers: usize,
    /// The most requests that may be open at once. Any more are answered 503.
    pub open_requests: usize,
    /// The origins whose pages may ask from a browser, `https://app.example`; `*` stands for any. Without one, none may.
    pub cors_origins: Vec<String>,
    /// The time that a connection may take for a request's headers, its idle time before them included.
    pub header_seconds: f64,
    /// The time that a request's body may take.
    pub body_seconds: f64,
    /// The time for which a client may leave its answer unread.
    pub stall_seconds: f64,
    /// Once asked to stop: how long `/readyz` says so before no more connections are taken.
    pub notice_seconds: f64,
    /// After that: how long open answers may take to end.
    pub drain_seconds: f64,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            workers: 0,
            open_requests: 16_384,
            cors_origins: Vec::new(),
            header_seconds: 60.0,
            body_seconds: 60.0,
            stall_seconds: 60.0,
            notice_seconds: 0.0,
            drain_seconds: 30.0,
        }
    }
}

/// A number of seconds as a duration; any other number is a day.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(86_400))
}
