//! Connections to upstreams: TCP without delay, and TLS with the system's roots where the URL says `https`.
//!
//! The roots are read at the first `https` connection: a machine that has none still reaches a local server.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper_rustls::{ConfigBuilderExt, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tower_service::Service;

/// What TLS needs, read once for all who share it.
pub type Roots = Arc<OnceCell<Arc<ClientConfig>>>;

/// Makes the connections of one upstream, or of whoever else asks servers that are configured.
#[derive(Clone)]
pub struct Connector {
    http: HttpConnector,
    roots: Roots,
    timeout: Duration,
}

impl Connector {
    /// Connections that must stand within `timeout`.
    pub fn new(roots: Roots, timeout: Duration) -> Connector {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        // A model may think for minutes without a byte: routers on the way forget silent connections.
        http.set_keepalive(Some(Duration::from_secs(30)));
        Connector { http, roots, timeout }
    }
}

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectFailure {
    /// Nobody listens there, or the name is not known.
    Tcp(String),
    /// The other side cannot be trusted, or understood.
    Tls(String),
    /// It took too long.
    Timeout,
}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectFailure::Tcp(why) | ConnectFailure::Tls(why) => f.write_str(why),
            ConnectFailure::Timeout => f.write_str("timed out"),
        }
    }
}

impl std::error::Error for ConnectFailure {}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = ConnectFailure;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, ConnectFailure>> + Send>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), ConnectFailure>> {
        Poll::Ready(Ok(())) // What it is made of is always ready.
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Connector { http, roots, timeout } = self.clone();
        Box::pin(async move {
            let stream = tokio::time::timeout(timeout, connect(http, roots, uri)).await;
            stream.unwrap_or(Err(ConnectFailure::Timeout))
        })
    }
}

async fn connect(mut http: HttpConnector, roots: Roots, uri: Uri) -> Result<Stream, ConnectFailure> {
    if uri.scheme_str() != Some("https") {
        let stream = http.call(uri).await.map_err(|error| ConnectFailure::Tcp(innermost(&error)))?;
        return Ok(MaybeHttpsStream::Http(stream));
    }
    let tls = roots.get_or_try_init(system_roots).await?;
    let mut https = HttpsConnector::from((http, Arc::clone(tls)));
    https.call(uri).await.map_err(|error| {
        // The handshake's errors arrive as `io::Error`, those of the TCP connection in the connector's own type.
        let why = innermost(error.as_ref());
        if error.is::<std::io::Error>() { ConnectFailure::Tls(why) } else { ConnectFailure::Tcp(why) }
    })
}

async fn system_roots() -> Result<Arc<ClientConfig>, ConnectFailure> {
    let read = || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let config = config.map_err(|error| error.to_string())?;
        let config = config.with_native_roots().map_err(|error| error.to_string())?;
        Ok::<_, String>(Arc::new(config.with_no_client_auth()))
    };
    // Some hundred certificates in files: not on a thread that serves others.
    let config = tokio::task::spawn_blocking(read).await;
    config.map_err(|error| error.to_string()).and_then(|config| config).map_err(ConnectFailure::Tls)
}

/// The innermost reason: `Connection refused (os error 111)`, not the tale of who called whom.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
