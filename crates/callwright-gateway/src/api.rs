//! Answers the requests of one worker: asks the relay within the bounds that all workers share.

use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use callwright::Policy;
use callwright::value::Value;
use callwright_relay::{Relay, Reply, Surface, error_body};
use callwright_store::{Secrets, Store};
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderName};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use tokio::sync::watch;

use crate::admission::{Admission, Admitted, is_json, is_json_of_a_page};
use crate::asked::{Asked, Asker};
use crate::body::{Body, Open, Permit, collect, parsed_size, unpacked};
use crate::config::{ServerConfig, seconds};
use crate::cors;
use crate::gemini::path::ask;
use crate::health::HealthCheck;
use crate::metrics::Metrics;
use crate::models::models;
use crate::path::{below_v1, stays_below, without_trailing_slash};
use crate::phase::Phase;
use crate::problem::Problem;
use crate::room::Room;

/// The longest error of an upstream that is passed on, in bytes.
const MAX_ERROR: usize = 1 << 20;

/// The longest list of models that is put into another form, in bytes: those of the largest brokers have some hundred KiB.
const MAX_LIST: usize = 16 << 20;

const POLICY: HeaderName = HeaderName::from_static("x-callwright-policy");
const REPORT: HeaderName = HeaderName::from_static("x-callwright-report");

/// The state that all workers share.
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
    /// Requests are kept here.
    pub(crate) kept: Option<Kept>,
}

/// Answers the requests of one worker.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) shared: Arc<Shared>,
    pub(crate) relay: Arc<Relay>,
}

/// The store that keeps requests, and its dumps.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) store: Store,
    /// The folder into which dumps are written.
    pub(crate) dumps: PathBuf,
}

impl Api {
    pub(crate) async fn turn(
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
            gemini: ask(&head.uri).filter(|_| surface == Surface::Gemini),
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

    /// Answers with a reply that no upstream was asked for.
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

    /// The store, as whoever asks may see it.
    ///
    /// # Errors
    /// There is none, or the request may not see it.
    pub(crate) fn kept(&self, headers: &HeaderMap) -> Result<Kept, Problem> {
        let admitted = self.shared.admission.check_page(headers)?;
        let Kept { store, dumps } = self.shared.kept.as_ref().ok_or_else(Problem::no_store)?;
        Ok(Kept { store: admitted.sees(store), dumps: dumps.clone() })
    }

    /// The models that the upstream lists, in OpenAI's form.
    pub(crate) async fn listed(&self, headers: &HeaderMap) -> Result<Vec<Value>, Problem> {
        let reply = self.relay.pass(Method::GET, "/models", Bytes::new(), headers).await;
        let status = reply.status;
        let body = whole(reply).await.ok_or_else(|| Problem::unreadable_error(status))?;
        let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
        match body["data"].take() {
            Value::Array(models) => Ok(models),
            _ => Err(Problem::unreadable_error(status)),
        }
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
        problem.into_response(asker).map(Body::from)
    }

    /// Lets a request in, whatever it asks for.
    ///
    /// # Errors
    /// It may not ask.
    pub(crate) fn admit(&self, method: &Method, headers: &HeaderMap) -> Result<Admitted, Problem> {
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

    pub(crate) fn next(&self) -> String {
        format!("cw-{:08x}-{:06x}", self.run, self.next.fetch_add(1, Ordering::Relaxed))
    }
}

/// A reply's body; none where it breaks off, or is too long.
pub(crate) async fn whole(reply: Reply) -> Option<Bytes> {
    Some(Limited::new(reply.body, MAX_LIST).collect().await.ok()?.to_bytes())
}

fn policy(headers: &HeaderMap) -> Result<Option<Policy>, Problem> {
    let Some(name) = headers.get(POLICY) else { return Ok(None) };
    let policy = name.to_str().ok().and_then(Policy::named);
    policy.map(Some).ok_or_else(Problem::unknown_policy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_not_used_twice() {
        let (ids, others) = (Ids::new(), Ids::new());
        let seen: std::collections::BTreeSet<String> =
            (0..100).flat_map(|_| [ids.next(), others.next()]).collect();
        assert_eq!(seen.len(), 200);
    }
}
