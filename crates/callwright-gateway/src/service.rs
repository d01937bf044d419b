//! Answers one request: straight to the relay where it is a chat, over the routes where it is anything else.

use std::convert::Infallible;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use axum::Router;
use bytes::Bytes;
use callwright::Policy;
use callwright_relay::{Relay, Reply, Surface, error_body};
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tokio::sync::watch;
use tower_service::Service as _;

use crate::admission::{Admission, Admitted, is_json, is_json_of_a_page};
use crate::api::Kept;
use crate::body::{Body, Open, Permit, collect, parsed_size, unpacked};
use crate::config::{ServerConfig, seconds};
use crate::cors;
use crate::gemini::{self, Verb};
use crate::health::HealthCheck;
use crate::metrics::Metrics;
use crate::models::models;
use crate::ollama;
use crate::problem::Problem;
use crate::room::Room;
use crate::routes::{Door, routes};
use crate::worker::Phase;
use callwright_store::Secrets;

/// What does not go over the routes: nearly all requests are for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// A turn of a model.
    Turn(Surface),
    /// How many tokens the prompt of one would have.
    Count(Surface),
}

impl Asked {
    /// What a `POST` to this path asks for.
    fn of(path: &str) -> Option<Asked> {
        match gemini::verb(path) {
            Some(Verb::Generate | Verb::Stream) => return Some(Asked::Turn(Surface::Gemini)),
            Some(Verb::Count) => return Some(Asked::Count(Surface::Gemini)),
            None => {}
        }
        match below_v1(path).trim_end_matches('/') {
            "/chat/completions" => Some(Asked::Turn(Surface::Chat)),
            "/messages" => Some(Asked::Turn(Surface::Messages)),
            "/messages/count_tokens" => Some(Asked::Count(Surface::Messages)),
            "/responses" => Some(Asked::Turn(Surface::Responses)),
            "/responses/input_tokens" => Some(Asked::Count(Surface::Responses)),
            path if path == Surface::Ollama.path() => Some(Asked::Turn(Surface::Ollama)),
            _ => None,
        }
    }
}

/// The API that a request is one of, as far as its path and its headers tell.
fn surface_of(path: &str, headers: &HeaderMap) -> Surface {
    let below = below_v1(path);
    let is_messages = below == "/messages" || below.starts_with("/messages/");
    let lists_models = || below == "/models" || below.starts_with("/models/");
    if is_messages || headers.contains_key("anthropic-version") && lists_models() {
        Surface::Messages
    } else if gemini::is_path(path) || headers.contains_key("x-goog-api-client") && lists_models() {
        Surface::Gemini
    } else if ollama::is_path(below) {
        Surface::Ollama
    } else {
        Surface::Chat
    }
}

/// Whoever asks: in which API, and with which request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asker {
    pub(crate) surface: Surface,
    /// The request's id.
    pub(crate) id: String,
}

impl Asker {
    /// Who asks with this request.
    pub(crate) fn of<B>(request: &Request<B>) -> Asker {
        request.extensions().get().cloned().unwrap_or_default()
    }
}

/// What of a path stands below `/v1`. Clients differ in whether their base URL has it or they add it themselves, so it
/// may be missing, or be there twice.
pub(crate) fn below_v1(path: &str) -> &str {
    let mut below = path;
    while let Some(rest) = below.strip_prefix("/v1").filter(|rest| rest.starts_with('/')) {
        below = rest;
    }
    below
}

/// A path without slashes behind it, which servers take for another path.
fn without_trailing_slash(path: &str) -> String {
    let (path, query) = path.split_once('?').map_or((path, None), |(path, query)| (path, Some(query)));
    let path = path.trim_end_matches('/');
    query.map_or(path.to_owned(), |query| format!("{path}?{query}"))
}

/// The longest error of an upstream that is passed on, in bytes.
const MAX_ERROR: usize = 1 << 20;

/// The longest list of models that is put into another form, in bytes: those of the largest brokers have some hundred KiB.
pub(crate) const MAX_LIST: usize = 16 << 20;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-callwright-request");
const POLICY: HeaderName = HeaderName::from_static("x-callwright-policy");
const REPORT: HeaderName = HeaderName::from_static("x-callwright-report");

/// What all workers share.
pub(crate) struct Shared {
    pub(crate) admission: Admission,
    pub(crate) open: Open,
    /// For the bodies of all requests.
    pub(crate) room: Room,
    pub(crate) server: ServerConfig,
    /// The largest body, in bytes.
    pub(crate) max_body: usize,
    pub(crate) ids: Ids,
    pub(crate) phase: watch::Receiver<Phase>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) health_check: HealthCheck,
    pub(crate) secrets: Secrets,
    /// What requests are kept in.
    pub(crate) kept: Option<Kept>,
}

/// What answers the requests of one worker.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) shared: Arc<Shared>,
    pub(crate) relay: Arc<Relay>,
}

/// What answers the requests of one connection.
#[derive(Clone)]
pub(crate) struct Service {
    api: Api,
    routes: Router,
}

impl Service {
    pub(crate) fn new(api: Api) -> Service {
        Service { routes: routes(api.clone()), api }
    }

    /// Answers `request`. What cannot be answered as it was meant is answered with a problem.
    pub(crate) async fn answer(
        mut self,
        mut request: Request<Incoming>,
    ) -> Result<Response<Body>, Infallible> {
        let id = self.api.shared.ids.next();
        // The digits of an id are ASCII.
        let id_value = HeaderValue::try_from(&*id);
        let surface = surface_of(request.uri().path(), request.headers());
        if surface == Surface::Gemini {
            gemini::take_key(&mut request);
        }
        let asker = Asker { surface, id: id.clone() };
        let page = cors::Page::of(&self.api.shared.server.cors_origins, &request);
        let answered = unless_it_panics(async {
            if let Some(page) = &page
                && request.method() == Method::OPTIONS
            {
                return match page.is_allowed() {
                    true => page.permission(),
                    false => self.api.shared.refused_to(&asker, Problem::foreign_origin()),
                };
            }
            if Door::of(request.uri().path()) == Door::Api {
                let admitted = match self.api.shared.admit(request.method(), request.headers()) {
                    Ok(admitted) => admitted,
                    Err(problem) => return self.api.shared.refused_to(&asker, problem),
                };
                if request.method() == Method::POST
                    && let Some(asked) = Asked::of(request.uri().path())
                {
                    let answered = self.api.turn(id, asked, admitted, request).await;
                    return answered.unwrap_or_else(|problem| self.api.shared.refused_to(&asker, problem));
                }
                request.extensions_mut().insert(admitted);
            }
            request.extensions_mut().insert(asker.clone());
            match self.routes.call(request).await {
                Ok(response) => response.map(Body::Routed),
                Err(never) => match never {},
            }
        });
        let mut response = match answered.await {
            Some(response) => response,
            None => self.api.shared.refused_to(&asker, Problem::internal()),
        };
        if let Some(page) = &page {
            page.admit(response.headers_mut());
        }
        if let Ok(id) = id_value {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        Ok(response)
    }
}

impl Api {
    async fn turn(
        &self,
        id: String,
        asked: Asked,
        admitted: Admitted,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, Problem> {
        let (head, body) = request.into_parts();
        let policy = policy(&head.headers)?;
        is_json(&head.headers)?;
        let (mut permit, body) = self.taken(&head.headers, body).await?;
        permit.share.holds(parsed_size(&body)).await?;
        let (Asked::Turn(surface) | Asked::Count(surface)) = asked;
        let request = callwright_relay::Request {
            id,
            body,
            policy,
            wants_report: head.headers.get(REPORT).is_some_and(|value| value == "1"),
            owner: admitted.owner(&head.headers),
            headers: head.headers,
            surface,
            gemini: gemini::ask(&head.uri).filter(|_| surface == Surface::Gemini),
        };
        let reply = match asked {
            // A turn is large, and would be moved with each future around it.
            Asked::Turn(_) => Box::pin(self.relay.chat(request)).await,
            Asked::Count(_) => self.relay.count_tokens(request).await,
        };
        self.answer(reply, permit).await
    }

    /// Passes a request on to the upstream that its model has.
    ///
    /// # Errors
    /// A path that leaves what is below `/v1`, or a body that cannot be taken.
    pub(crate) async fn pass(&self, request: Request<axum::body::Body>) -> Result<Response<Body>, Problem> {
        let asker = Asker::of(&request);
        let (head, body) = request.into_parts();
        let below = head.uri.path_and_query().map(|path| without_trailing_slash(below_v1(path.as_str())));
        let below = below.filter(|path| stays_below(path)).ok_or_else(Problem::not_found)?;
        let (permit, body) = match head.method {
            Method::GET | Method::HEAD | Method::DELETE | Method::OPTIONS => {
                (self.shared.permit()?, Bytes::new())
            }
            Method::POST => self.taken(&head.headers, body).await?,
            _ => return Err(Problem::method_not_allowed("GET, HEAD, POST, DELETE, OPTIONS")),
        };
        let reply = self.relay.pass(head.method, &below, body, &head.headers).await;
        let response = self.answer(reply, permit).await?;
        match asker.surface == Surface::Messages && below.starts_with("/models") {
            true => self.models_of(response, head.uri.query(), &asker).await,
            false => Ok(response),
        }
    }

    /// An upstream's list of models, or its error, as clients of messages read it.
    async fn models_of(
        &self,
        response: Response<Body>,
        query: Option<&str>,
        asker: &Asker,
    ) -> Result<Response<Body>, Problem> {
        let (mut head, body) = response.into_parts();
        let collected = Limited::new(body, MAX_LIST).collect().await;
        let body = collected.map_err(|_| Problem::unreadable_error(head.status))?.to_bytes();
        let is_error = head.status.is_client_error() || head.status.is_server_error();
        let told = match is_error {
            true => error_body(asker.surface, head.status, &body, &asker.id).map(|(_, text)| text),
            false => models(&body, query).map(|list| list.to_string()),
        };
        head.headers.remove(CONTENT_LENGTH);
        Ok(Response::from_parts(head, Body::from(told.map_or(body, Bytes::from))))
    }

    /// What is told without asking an upstream.
    ///
    /// # Errors
    /// Too many requests are open.
    pub(crate) async fn told(&self, reply: Reply) -> Result<Response<Body>, Problem> {
        let permit = self.shared.permit()?;
        self.answer(reply, permit).await
    }

    /// The relay's reply as a response. Some upstreams repeat in their errors the key that they were sent: it is
    /// taken out of them.
    pub(crate) async fn answer(&self, reply: Reply, permit: Permit) -> Result<Response<Body>, Problem> {
        let Reply { status, headers, body } = reply;
        let is_error = status.is_client_error() || status.is_server_error();
        let mut headers = headers;
        cors::strip(&mut headers);
        let body = if is_error {
            let limited = Limited::new(body, MAX_ERROR);
            let bytes = limited.collect().await.map_err(|_| Problem::unreadable_error(status))?.to_bytes();
            Body::from(self.shared.secrets.hidden(&bytes).map_or(bytes, Bytes::from))
        } else {
            Body::Reply { body, _open: permit }
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// Takes a body of any type, a form with files in it among them.
    pub(crate) async fn taken<B>(&self, headers: &HeaderMap, body: B) -> Result<(Permit, Bytes), Problem>
    where
        B: http_body::Body<Data = Bytes> + Unpin,
    {
        if !cors::allows(&self.shared.server.cors_origins, headers) {
            is_json_of_a_page(headers)?;
        }
        let mut permit = self.shared.permit()?;
        let time = seconds(self.shared.server.body_seconds);
        let body = collect(body, self.shared.max_body, time, &mut permit.share).await?;
        let body = unpacked(headers, body, self.shared.max_body, &mut permit.share).await?;
        Ok((permit, body))
    }
}

impl Shared {
    /// The answer to a request that is not answered as it was meant.
    pub(crate) fn refused(&self, problem: Problem) -> Response<Body> {
        self.refused_to(&Asker::default(), problem)
    }

    /// Refuses in the API of whoever asks.
    pub(crate) fn refused_to(&self, asker: &Asker, problem: Problem) -> Response<Body> {
        self.metrics.refused(&problem);
        problem.into_response(asker)
    }

    /// Lets a request in, whatever it asks for.
    ///
    /// # Errors
    /// It may not ask.
    fn admit(&self, method: &Method, headers: &HeaderMap) -> Result<Admitted, Problem> {
        let admitted = self.admission.check(headers)?;
        // With a body it is told from a page's by its type.
        let is_blind = method != Method::POST && self.admission.is_blind(headers);
        match is_blind && !cors::allows(&self.server.cors_origins, headers) {
            true => Err(Problem::foreign_origin()),
            false => Ok(admitted),
        }
    }

    pub(crate) fn permit(&self) -> Result<Permit, Problem> {
        self.open.permit(self.server.open_requests, &self.room).ok_or_else(Problem::overloaded)
    }
}

/// The ids of requests: unlike those of other runs, and counted within this one.
pub(crate) struct Ids {
    run: u32,
    next: AtomicU64,
}

impl Ids {
    pub(crate) fn new() -> Ids {
        // The seed of each hasher is random, which is all that is asked for here.
        let run = RandomState::new().hash_one(std::process::id());
        Ids { run: run as u32, next: AtomicU64::new(1) }
    }

    fn next(&self) -> String {
        format!("cw-{:08x}-{:06x}", self.run, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// What `answer` comes to; `None` where a defect, of ours or of a library, makes it panic. Then one request is lost, and the
/// others go on: what they share is counted by guards, and a lock that was held is taken over.
async fn unless_it_panics<T>(answer: impl Future<Output = T>) -> Option<T> {
    let mut answer = pin!(answer);
    poll_fn(|context| {
        let polled = catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)));
        polled.map_or(Poll::Ready(None), |polled| polled.map(Some))
    })
    .await
}

fn policy(headers: &HeaderMap) -> Result<Option<Policy>, Problem> {
    let Some(name) = headers.get(POLICY) else { return Ok(None) };
    let policy = name.to_str().ok().and_then(Policy::named);
    policy.map(Some).ok_or_else(Problem::unknown_policy)
}

/// Does a path go nowhere but down? An upstream may resolve `..`, however it is written.
fn stays_below(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path);
    let segments = path.split(['/', '\\']);
    let mut resolved = segments.map(|s| s.replace("%2e", ".").replace("%2E", "."));
    let escaped_separator = |s: &str| s.to_ascii_lowercase().contains("%5c");
    path.starts_with('/') && resolved.all(|s| s != "." && s != ".." && !escaped_separator(&s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_may_be_missing_or_be_there_twice() {
        for (path, is) in [
            ("/chat/completions", true),
            ("/v1/chat/completions", true),
            ("/v1/v1/chat/completions", true),
            ("/v1/chat/completions/", true),
            ("/v1beta/chat/completions", false),
            ("/v1/chat", false),
            ("/chat/completions/x", false),
        ] {
            assert_eq!(Asked::of(path) == Some(Asked::Turn(Surface::Chat)), is, "{path}");
        }
        assert_eq!(below_v1("/v1/v1/models?limit=1"), "/models?limit=1");
        assert_eq!(below_v1("/models"), "/models");
        assert_eq!(below_v1("/v1"), "/v1");
    }

    #[test]
    fn paths_stay_below() {
        for (path, is_below) in [
            ("/models", true),
            ("/models/google%2Fgemma-3-27b-it:free", true),
            ("/models?limit=..", true),
            ("/models/...", true),
            ("", false),
            ("beta/models", false),
            ("/../admin", false),
            ("/models/%2e%2E/admin", false),
            ("/models/.%2e", false),
            ("/models/..\\admin", false),
            ("/models/..%5cadmin", false),
        ] {
            assert_eq!(stays_below(path), is_below, "{path}");
        }
    }

    #[tokio::test]
    async fn a_panic_ends_one_answer() {
        assert_eq!(unless_it_panics(async { 1 }).await, Some(1));
        let late = async {
            tokio::task::yield_now().await;
            panic!("a defect")
        };
        assert_eq!(unless_it_panics::<()>(late).await, None);
    }

    #[test]
    fn ids_are_not_used_twice() {
        let (ids, others) = (Ids::new(), Ids::new());
        let seen: std::collections::BTreeSet<String> =
            (0..100).flat_map(|_| [ids.next(), others.next()]).collect();
        assert_eq!(seen.len(), 200);
    }
}
