//! The server: takes requests on a socket, records them, and answers as the script says.
//!
//! It runs on a thread of its own, so that it answers whatever the caller's thread or runtime does.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use bytes::Bytes;
use callwright_value::Value;
use callwright_value::json;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::answer::Response;
use crate::api::Api;
use crate::line::{Line, ResetSwitch};
use crate::record::{Ending, Log, Note, Recorded, harmless};
use crate::request::Request;
use crate::script::{Answer, Script};
use crate::select::{Selected, select};
use crate::tape::Tape;

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 256 << 20;

/// A running upstream. It stops when it is dropped.
pub struct Replay {
    addr: SocketAddr,
    log: Arc<Log>,
    /// Dropping it stops the server.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The settings of an upstream.
pub struct Setup {
    /// The address on which it listens; with port 0 the system chooses.
    pub listen: SocketAddr,
    /// The number of requests that [`Replay::requests`] goes back.
    pub keep: usize,
    /// Called with each request, before it is answered.
    pub note: Option<Note>,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup { listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), keep: usize::MAX, note: None }
    }
}

impl Replay {
    /// Starts on a free port of 127.0.0.1, and keeps all requests.
    ///
    /// # Errors
    /// The socket cannot be bound, or the thread not be started.
    pub fn start(script: Script) -> io::Result<Replay> {
        Replay::start_with(script, Setup::default())
    }

    /// Starts as `setup` says.
    ///
    /// # Errors
    /// The socket cannot be bound, or the thread not be started.
    pub fn start_with(script: Script, setup: Setup) -> io::Result<Replay> {
        let Setup { listen, keep, note } = setup;
        let listener = std::net::TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let addr = listener.local_addr()?;
        let log = Arc::new(Log::new(keep, note));
        let used = Mutex::new(Used { answers: vec![false; script.answers.len()], asked: 0 });
        let stage = Arc::new(Stage { script, used, log: Arc::clone(&log) });
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = {
            let _entered = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let thread = std::thread::Builder::new()
            .name("replay".into())
            .spawn(move || runtime.block_on(serve(listener, stage, stopped)))?;
        Ok(Replay { addr, log, stop: Some(stop), thread: Some(thread) })
    }

    /// The address on which it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL that a client is given: `http://127.0.0.1:PORT/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    /// The requests so far, in order, each as it stands now.
    pub fn requests(&self) -> Vec<Recorded> {
        self.log.requests()
    }

    /// Waits until the requests are `enough`, and returns them.
    ///
    /// It waits for ever where they never are: a test sets its own time-out around it. Any runtime will do.
    pub async fn until(&self, enough: impl Fn(&[Recorded]) -> bool) -> Vec<Recorded> {
        let mut changes = self.log.changes();
        loop {
            let requests = self.requests();
            if enough(&requests) || changes.changed().await.is_err() {
                return requests;
            }
        }
    }

    /// Answers until the process ends.
    pub fn run(mut self) {
        if let Some(thread) = self.thread.take() {
            // It only ends by being stopped, and the switch is held here.
            let _ = thread.join();
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state that all connections share.
struct Stage {
    script: Script,
    used: Mutex<Used>,
    log: Arc<Log>,
}

struct Used {
    /// The answers that were given.
    answers: Vec<bool>,
    /// The number of requests for a completion.
    asked: usize,
}

async fn serve(listener: TcpListener, stage: Arc<Stage>, stopped: oneshot::Receiver<()>) {
    let accept = async {
        loop {
            // A connection that was lost before it was taken is the client's own affair.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let stage = Arc::clone(&stage);
            tokio::spawn(async move {
                let reset = ResetSwitch::default();
                let line = Line::new(stream, reset.clone());
                let service = service_fn(|request| {
                    let (stage, reset) = (Arc::clone(&stage), reset.clone());
                    async move { Ok::<_, Infallible>(stage.answer(request, reset).await) }
                });
                // An error is a client that went away, or a line that was to be broken off.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(line), service).await;
            });
        }
    };
    tokio::select! {
        () = accept => {}
        _ = stopped => {}
    }
}

impl Stage {
    async fn answer(&self, request: hyper::Request<Incoming>, reset: ResetSwitch) -> hyper::Response<Tape> {
        let (head, body) = request.into_parts();
        let body =
            Limited::new(body, MAX_BODY).collect().await.map_or_else(|_| Bytes::new(), |b| b.to_bytes());
        let path = head.uri.path();
        let (response, answer) = self.response(head.method.as_str(), path, &body);
        let headers = head.headers.iter();
        let mut watch = self.log.add(Recorded {
            number: 0,
            at: Instant::now(),
            method: head.method.as_str().into(),
            path: head.uri.path_and_query().map_or(path, |path| path.as_str()).into(),
            headers: headers
                .map(|(name, value)| (name.as_str().into(), harmless(name.as_str(), value.as_bytes())))
                .collect(),
            body,
            answer: answer.map(|at| at + 1),
            ending: Ending::Open,
        });
        match response.delay {
            Some(delay) if delay.is_zero() => {}
            Some(delay) => tokio::time::sleep(delay).await,
            // The client's hang-up drops this future.
            None => std::future::pending().await,
        }
        if response.steps.is_empty() {
            watch.complete();
        }
        let mut out = hyper::Response::new(Tape::new(response.steps, response.length, reset, watch));
        *out.status_mut() = hyper::StatusCode::from_u16(response.status).unwrap_or_default();
        for (name, value) in response.headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) else { continue };
            out.headers_mut().entry(name).or_insert(value);
        }
        out
    }

    /// The answer, and its number where it is one of the script's.
    fn response(&self, method: &str, path: &str, body: &[u8]) -> (Response, Option<usize>) {
        let script = &self.script;
        let api =
            Api::of(path).filter(|api| script.speaks.as_ref().is_none_or(|speaks| speaks.contains(api)));
        if api.is_none() && Api::of(path).is_some() {
            return (nothing(method, path), None);
        }
        let selected = {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            let Used { answers, asked } = &mut *used;
            *asked += usize::from(api.is_some());
            let request = Request::new(path, *asked, body);
            match select(script, &request, answers) {
                Selected::Answer(at, made_up) => {
                    let answer = &script.answers[at];
                    let answer = match made_up {
                        Some(choice) => Cow::Owned(Answer { choice: *choice, ..answer.clone() }),
                        None => Cow::Borrowed(answer),
                    };
                    return (Response::of(&answer, &request, &script.form), Some(at));
                }
                selected => selected,
            }
        };
        let response = match selected {
            Selected::Refused(message) if api.is_some() => {
                Response::error(script.refuses_status.unwrap_or(400), message, api)
            }
            _ if api.is_some() => Response::error(501, "the script has no answer left for this request", api),
            _ => self.about_itself(method, path, body),
        };
        (response, None)
    }

    /// Answers a question about the server itself.
    fn about_itself(&self, method: &str, path: &str, body: &[u8]) -> Response {
        let script = &self.script;
        let nothing = || nothing(method, path);
        let told = |value: Option<&Value>| value.map_or_else(nothing, |value| Response::json(200, value));
        match (method, path) {
            ("GET", "/health") => Response::json(script.health.unwrap_or(200), &json!({ "status": "ok" })),
            ("GET", "/props") => told(script.props.as_ref()),
            ("POST", "/api/show") => {
                let asked: Value = serde_json::from_slice(body).unwrap_or_default();
                let model = asked["model"].as_str().or(asked["name"].as_str()).unwrap_or("");
                told(script.show.get(model))
            }
            ("GET", path) if path.ends_with("/models") => {
                let own = [json!({ "id": "replay", "object": "model" })];
                let models = if script.models.is_empty() { &own[..] } else { &script.models };
                Response::json(200, &json!({ "object": "list", "data": models }))
            }
            _ => nothing(),
        }
    }
}

fn nothing(method: &str, path: &str) -> Response {
    Response::error(404, &format!("nothing at {method} {path}"), None)
}
