//! The door: a gateway is bound, says where, and runs until it is told to stop.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use callwright_relay::config::RelayConfig;
use callwright_relay::upstream::ConfigError;
use callwright_relay::{Nobody, Relay};
use callwright_store::{Secrets, Store, StoreError};
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::admission::Admission;
use crate::api::{Api, Ids, Kept, Shared};
use crate::body::Open;
use crate::config::{GatewayConfig, KeepConfig, seconds};
use crate::health::HealthCheck;
use crate::metrics::Metrics;
use crate::observer::Observers;
use crate::phase::{Phase, reached};
use crate::room::Room;
use crate::traces::{Exporter, traces};
use crate::worker::{Worker, accept, runtime};

/// A server that is bound to its address and not yet running.
pub struct Gateway {
    listener: TcpListener,
    runtime: Runtime,
    shared: Arc<Shared>,
    relay: Arc<Relay>,
    exporter: Option<Exporter>,
    stop: Stop,
}

/// The reaction to the signals that ask the process to stop, SIGINT and SIGTERM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// It drains at the first one, and closes at the second.
    Heed,
    /// No: whoever holds its [`Stop`] says so.
    Ignore,
}

/// Ends a running gateway.
#[derive(Clone, Debug)]
pub struct Stop(Arc<watch::Sender<Phase>>);

/// Why there is no server.
#[derive(Debug)]
pub enum StartError {
    /// The relay's configuration cannot be used.
    Config(ConfigError),
    /// The traces' configuration cannot be used.
    Traces(ConfigError),
    /// Others than this machine could ask, and no key is needed.
    Open(SocketAddr),
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
    /// The system gives no thread or no runtime.
    Threads(io::Error),
    /// The store cannot be opened.
    Store(StoreError),
}

/// The time that the last spans may take.
const LAST_SPANS: Duration = Duration::from_secs(3);
/// The time that waiting records may take to be written.
const LAST_RECORDS: Duration = Duration::from_secs(10);

impl Gateway {
    /// Binds to the address of `config`. `env` is asked for the keys of upstreams, by name.
    ///
    /// # Errors
    /// A configuration that cannot be used, an address that is open to strangers, or is taken.
    pub fn new(
        config: GatewayConfig,
        relay: RelayConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Gateway, StartError> {
        let admission = Admission::of(&config).ok_or(StartError::Open(config.listen))?;
        let env = |name: &str| {
            let value = env(name)?;
            config.secrets.keep(&value);
            Some(value)
        };
        let metrics = Arc::new(Metrics::new());
        let traces = traces(&config.traces, &env, &metrics.spans_dropped, &config.secrets);
        let (spans, exporter) = traces.map_err(StartError::Traces)?.unzip();
        let kept = keep(config.keep, &config.secrets)?;
        let store = kept.as_ref().map(|kept| kept.store.clone());
        let observer = Arc::new(Observers { metrics: metrics.clone(), spans, store });
        let room = Room::of(relay.limits.bodies);
        let (max_body, health_check) = (relay.limits.body, HealthCheck::new(relay.default_model.clone()));
        let relay = Relay::new(relay, &env, observer).map_err(StartError::Config)?;
        let runtime = runtime().map_err(StartError::Threads)?;
        let failed = |error| StartError::Listen(config.listen, error);
        let listener = bind(&runtime, config.listen).map_err(failed)?;
        let (phase, told) = watch::channel(Phase::Serving);
        let shared = Shared {
            admission,
            open: Open::default(),
            room,
            server: config.server,
            max_body,
            ids: Ids::new(),
            phase: told,
            metrics,
            health_check,
            secrets: config.secrets,
            kept,
        };
        let (shared, stop) = (Arc::new(shared), Stop(Arc::new(phase)));
        Ok(Gateway { listener, runtime, shared, relay, exporter, stop })
    }

    /// Checks whether [`Gateway::new`] would take this configuration. Listens nowhere and asks nobody.
    ///
    /// # Errors
    /// A configuration that cannot be used, or an address that is open to strangers.
    pub fn check(
        config: &GatewayConfig,
        relay: &RelayConfig,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), StartError> {
        Admission::of(config).ok_or(StartError::Open(config.listen))?;
        let traces = traces(&config.traces, env, &Metrics::new().spans_dropped, &config.secrets);
        traces.map_err(StartError::Traces)?;
        Relay::new(relay.clone(), env, Arc::new(Nobody)).map(|_| ()).map_err(StartError::Config)
    }

    /// Returns the answerer of its requests.
    #[cfg(test)]
    pub(crate) fn api(&self) -> Api {
        Api { shared: self.shared.clone(), relay: self.relay.clone() }
    }

    /// Returns the address on which it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the handle that ends it.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Answers requests until it is stopped and drained.
    ///
    /// # Errors
    /// The system gives no thread or no runtime.
    pub fn run(self, signals: Signals) -> Result<(), StartError> {
        let workers = match self.shared.server.workers {
            0 => thread::available_parallelism().map_or(1, NonZeroUsize::get),
            workers => workers,
        };
        let Gateway { listener, runtime, shared, relay, exporter, stop } = self;
        let start = |number| Worker::start(number, Api { shared: shared.clone(), relay: relay.clone() });
        let workers: Vec<Worker> =
            (0..workers).map(start).collect::<io::Result<_>>().map_err(StartError::Threads)?;
        let meeting = relay.meet_upstreams();
        // The workers have it: once they are gone, nobody makes spans any more.
        drop(relay);
        let ended = runtime.block_on(async {
            let exporter = exporter.map(|exporter| tokio::spawn(exporter.run()));
            let meeting = tokio::spawn(meeting);
            if signals == Signals::Heed {
                stop.heed_signals()?;
            }
            let mut phase = shared.phase.clone();
            let noticed = async {
                reached(&mut phase, Phase::Noticed).await;
                let notice = tokio::time::sleep(seconds(shared.server.notice_seconds));
                tokio::select! { () = notice => {}, () = reached(&mut phase, Phase::Closing) => {} }
            };
            tokio::select! {
                () = accept(&listener, &workers) => {}
                () = noticed => {}
            }
            drop(listener);
            meeting.abort();
            stop.advance(Phase::Draining);
            let joined = tokio::task::spawn_blocking(|| workers.into_iter().for_each(Worker::join));
            joined.await.map_err(io::Error::other)?;
            if let Some(exporter) = exporter {
                // What it cannot deliver by then is lost.
                let _ = tokio::time::timeout(LAST_SPANS, exporter).await;
            }
            if let Some(Kept { store, .. }) = shared.kept.clone() {
                let written = tokio::task::spawn_blocking(move || store.close());
                // What it cannot write in this time is lost, too.
                let _ = tokio::time::timeout(LAST_RECORDS, written).await;
            }
            Ok(())
        });
        ended.map_err(StartError::Threads)
    }
}

impl Stop {
    /// Takes no more connections, finishes the answers that are open, and ends.
    pub fn drain(&self) {
        self.advance(Phase::Noticed);
    }

    /// Ends at once. Open answers break off.
    pub fn close(&self) {
        self.advance(Phase::Closing);
    }

    fn advance(&self, to: Phase) {
        self.0.send_if_modified(|phase| {
            let is_further = *phase < to;
            *phase = to.max(*phase);
            is_further
        });
    }

    /// Drains at the first signal that asks the process to end, closes at the second.
    fn heed_signals(&self) -> io::Result<()> {
        let mut asked = Asked::new()?;
        let stop = self.clone();
        tokio::spawn(async move {
            asked.again().await;
            tracing::info!("draining; a second signal closes at once");
            stop.drain();
            asked.again().await;
            stop.close();
        });
        Ok(())
    }
}

/// Opens the store, and says where.
fn keep(config: Option<KeepConfig>, secrets: &Secrets) -> Result<Option<Kept>, StartError> {
    let Some(KeepConfig { mut store, dumps, is_needed }) = config else { return Ok(None) };
    store.masking.secrets = secrets.clone();
    let retention = store.retention;
    match Store::open(store) {
        Ok(store) => {
            tracing::info!(store = %store.location(), days = retention.days, bytes = retention.bytes, "[store] requests are kept");
            Ok(Some(Kept { store, dumps }))
        }
        Err(error) if is_needed => Err(StartError::Store(error)),
        Err(error) => {
            tracing::warn!(%error, "[store] nothing is kept");
            Ok(None)
        }
    }
}

/// The process was asked to end.
#[cfg(unix)]
struct Asked {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Asked {
    fn new() -> io::Result<Asked> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Asked { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn again(&mut self) {
        tokio::select! { _ = self.interrupt.recv() => {}, _ = self.terminate.recv() => {} }
    }
}

/// The process was asked to end.
#[cfg(not(unix))]
struct Asked;

#[cfg(not(unix))]
impl Asked {
    fn new() -> io::Result<Asked> {
        Ok(Asked)
    }

    async fn again(&mut self) {
        // Where nobody can ask, nobody does.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Binds with a backlog that takes thousands of clients who come at once; the standard library's takes 128.
fn bind(runtime: &Runtime, address: SocketAddr) -> io::Result<TcpListener> {
    let _entered = runtime.enter();
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that starts again must not wait for the old one's connections to be forgotten.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(4096)
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Config(error) => write!(f, "{error}"),
            // A collector is asked like an upstream, but nobody configured one.
            StartError::Traces(error) => match error {
                ConfigError::Url { why, .. } => write!(f, "traces.otlp_endpoint {why}"),
                ConfigError::MissingVariable { variable, .. } => {
                    write!(f, "traces.headers: the environment variable {variable} is not set")
                }
                ConfigError::Header { header, why, .. } => write!(f, "traces.headers: `{header}` {why}"),
                other => write!(f, "traces: {other}"),
            },
            StartError::Open(address) => write!(
                f,
                "anyone could ask at {address}: configure keys (`callwright key` makes one), listen on \
                 127.0.0.1, or say --allow-open"
            ),
            StartError::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
            StartError::Threads(error) => write!(f, "cannot start a thread: {error}"),
            StartError::Store(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for StartError {}
