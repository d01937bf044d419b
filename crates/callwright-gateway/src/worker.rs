//! Threads, connections, and how they end.
//!
//! Each worker is a thread with a runtime of its own: nothing that belongs to one request ever crosses to
//! another core. One acceptor deals the connections out, each to the worker that has the fewest; left to the
//! kernel, a few connections that live long could all end up with one worker.

use std::io;
use std::net::TcpStream as StdStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, watch};

use crate::api::Api;
use crate::config::seconds;
use crate::phase::{Phase, reached};
use crate::service::Service;
use crate::socket::Socket;

/// From so many bytes on, a request's line and headers are too long; one read may bring as many once more.
const MAX_HEAD: usize = 64 << 10;
/// The most headers of a request.
const MAX_HEADERS: usize = 128;

/// A thread that answers requests.
pub(crate) struct Worker {
    connections: mpsc::UnboundedSender<StdStream>,
    open: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts one.
    ///
    /// # Errors
    /// The system gives no thread, or no runtime.
    pub(crate) fn start(number: usize, api: Api) -> io::Result<Worker> {
        let runtime = runtime()?;
        let (connections, dealt) = mpsc::unbounded_channel();
        let open = Arc::new(AtomicUsize::new(0));
        let serve = Serve { phase: api.shared.phase.clone(), open: open.clone(), api };
        let thread = thread::Builder::new().name(format!("callwright-{number}")).spawn(move || {
            runtime.block_on(serve.run(dealt));
            // What is still read is for nobody.
            runtime.shutdown_background();
        })?;
        Ok(Worker { connections, open, thread })
    }

    /// Waits until it has ended.
    pub(crate) fn join(self) {
        drop(self.connections);
        // A worker that could not end well has ended all the same.
        let _ = self.thread.join();
    }
}

/// A runtime for one thread.
pub(crate) fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Takes connections and deals them out, for as long as it is polled.
pub(crate) async fn accept(listener: &TcpListener, workers: &[Worker]) {
    // Where all have the same number, they take turns.
    let mut turn = 0;
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // All descriptors are in use: some will be free again when answers have ended.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        turn += 1;
        let rotated = (turn..turn + workers.len()).filter_map(|at| workers.get(at % workers.len()));
        let Some(worker) = rotated.min_by_key(|worker| worker.open.load(Ordering::Relaxed)) else { return };
        // Events are small and must go out at once.
        if stream.set_nodelay(true).is_err() {
            continue;
        }
        if let Ok(stream) = stream.into_std() {
            worker.open.fetch_add(1, Ordering::Relaxed);
            // A worker that has ended takes none; the connection closes.
            let _ = worker.connections.send(stream);
        }
    }
}

/// The work of one worker's thread.
struct Serve {
    api: Api,
    phase: watch::Receiver<Phase>,
    open: Arc<AtomicUsize>,
}

impl Serve {
    async fn run(mut self, mut dealt: mpsc::UnboundedReceiver<StdStream>) {
        let server = &self.api.shared.server;
        let (header, stall) = (seconds(server.header_seconds), seconds(server.stall_seconds));
        let drain = seconds(server.drain_seconds);
        let service = Service::new(self.api.clone());
        let graceful = GracefulShutdown::new();
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(header)
            .max_buf_size(MAX_HEAD)
            .max_headers(MAX_HEADERS);
        let mut draining = self.phase.clone();
        let mut draining = std::pin::pin!(reached(&mut draining, Phase::Draining));
        loop {
            let stream = tokio::select! {
                stream = dealt.recv() => stream,
                () = &mut draining => break,
            };
            let Some(stream) = stream else { break };
            let slot = Slot(self.open.clone());
            let Ok(stream) = TcpStream::from_std(stream) else { continue };
            serve(&http, Socket::new(stream, stall), service.clone(), graceful.watcher(), slot);
        }
        tokio::select! {
            () = graceful.shutdown() => {}
            () = tokio::time::sleep(drain) => {}
            () = reached(&mut self.phase, Phase::Closing) => {}
        }
    }
}

/// One connection's place in the count of its worker.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(http: &http1::Builder, socket: Socket, service: Service, watcher: Watcher, slot: Slot) {
    let answer = service_fn(move |request| service.clone().answer(request));
    let connection = watcher.watch(http.serve_connection(socket, answer));
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection broke");
        }
        drop(slot);
    });
}
