//! One dumped session on pages of its own, on loopback: nothing is kept, and nobody is asked.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use callwright_store::{Dump, Session};
use http::{HeaderMap, Request, StatusCode};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use maud::html;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tower_service::Service as _;

use super::layout::{Kind, answer, asset, page};
use super::opened::Opened;
use super::view::{attached, view};
use crate::admission::Admission;
use crate::query::Query;

/// A server that shows one dump, bound to its address and not yet running.
pub struct Viewer {
    listener: TcpListener,
    runtime: Runtime,
    session: Arc<Session>,
}

/// Why there is no viewer.
#[derive(Debug)]
pub enum ViewerError {
    /// Others than this machine could look: what was said is shown on loopback only.
    Open(SocketAddr),
    /// The address cannot be listened on.
    Listen(SocketAddr, io::Error),
}

/// A client that sends no whole request within this time is left.
const PATIENCE: Duration = Duration::from_secs(60);

impl Viewer {
    /// Binds to `listen`, which must be an address of loopback; port 0 takes any that is free.
    ///
    /// # Errors
    /// The address is open to others, or taken.
    pub fn new(dump: Dump, listen: SocketAddr) -> Result<Viewer, ViewerError> {
        if !listen.ip().is_loopback() {
            return Err(ViewerError::Open(listen));
        }
        let failed = |error| ViewerError::Listen(listen, error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let listener = runtime.block_on(TcpListener::bind(listen)).map_err(failed)?;
        Ok(Viewer { listener, runtime, session: Arc::new(dump.into_session()) })
    }

    /// Returns the address on which it listens.
    ///
    /// # Errors
    /// The system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Shows the dump until the process is told to stop.
    pub fn run(self) {
        let Viewer { listener, runtime, session } = self;
        let routes = routes(session);
        runtime.block_on(async {
            tokio::select! {
                () = accept(&listener, &routes) => {}
                _ = tokio::signal::ctrl_c() => {}
            }
        });
    }
}

async fn accept(listener: &TcpListener, routes: &Router) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely; some are given back soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let routes = routes.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let mut routes = routes.clone();
            async move {
                Ok::<Response, Infallible>(routes.call(request).await.unwrap_or_else(|never| match never {}))
            }
        });
        tokio::spawn(async move {
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(PATIENCE);
            // A client that goes away has nothing to be told.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

fn routes(session: Arc<Session>) -> Router {
    Router::new()
        .route("/", get(opened))
        .route("/sessions", get(opened))
        .route("/session", get(opened))
        .route("/session/share", get(shared))
        .route("/page/{name}", get(loaded))
        .fallback(async || gone())
        .with_state(session)
}

async fn opened(
    State(session): State<Arc<Session>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    if !is_admitted(&headers) {
        return foreign();
    }
    let query = Query::of(query.as_deref());
    let opened = query.number("node").map(|number| Opened::of(&session, number));
    let Some(opened) = opened.map_or(Some(None), |opened| opened.map(Some)) else { return gone() };
    let main = html! { main.columns { (view(Kind::Dump, &session, opened.as_ref(), &query)) } };
    answer(page(Kind::Dump, &session.summary.title, "opened dumped", &main))
}

async fn shared(State(session): State<Arc<Session>>, headers: HeaderMap) -> Response {
    if is_admitted(&headers) { attached(&session) } else { foreign() }
}

async fn loaded(Path(name): Path<String>) -> Response {
    asset(&name).unwrap_or_else(gone)
}

fn is_admitted(headers: &HeaderMap) -> bool {
    Admission::Loopback.check_page(headers).is_ok()
}

fn foreign() -> Response {
    (
        StatusCode::FORBIDDEN,
        "This answers to the names of this machine only, and to no page of another site.\n",
    )
        .into_response()
}

fn gone() -> Response {
    (StatusCode::NOT_FOUND, "There is nothing at this path.\n").into_response()
}

impl fmt::Display for ViewerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewerError::Open(address) => {
                write!(f, "anyone could look at {address}: a dump is shown on 127.0.0.1 only")
            }
            ViewerError::Listen(address, error) => write!(f, "cannot listen on {address}: {error}"),
        }
    }
}

impl std::error::Error for ViewerError {}
