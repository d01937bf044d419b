//! One upstream: asks it, with its key, its headers and its patience.
//!
//! The configuration alone decides the place of a request. A request to a model is sent again only before the first byte of an
//! answer: to write an answer twice changes nothing. Any other one may make something, a batch, a file, a picture, and is sent
//! again only if nothing of it went out. A redirect is never followed.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::uri::{Scheme, Uri};
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use super::connect::{self, ConnectFailure, Connector, Roots};
use super::deadline::Deadline;
use super::error::{ConfigError, Failure, UpstreamError, Which};
use super::headers;
use super::link::Link;
use super::load::OpenRequest;
use super::origin::Origin;
use super::pools::Pools;
use super::response::Response;
use super::secrets::Secrets;
use crate::api::{Surface, UpstreamKind};
use crate::config::{Timeouts, UpstreamConfig};

/// An upstream as configured, with its connections.
pub struct Upstream {
    link: Arc<Link>,
    config: UpstreamConfig,
    origin: Origin,
    /// The headers of each request: the key, the content type, the configured ones.
    headers: HeaderMap,
    /// The parts of them that no client may read.
    secrets: Arc<Secrets>,
    pools: Pools,
    /// The upstream has refused `stream_options`.
    refuses_stream_options: AtomicBool,
    /// The API that it turned out to speak in place of chat completions.
    found_to_speak: OnceLock<UpstreamKind>,
}

/// The condition under which a request is sent again, and the most repetitions.
#[derive(Clone, Copy)]
enum Again {
    /// No answer has begun.
    Unanswered(u32),
    /// There was no connection that it could have gone out on (RFC 9110, 9.2.2).
    Unsent(u32),
}

impl Again {
    fn most(self) -> u32 {
        match self {
            Again::Unanswered(most) | Again::Unsent(most) => most,
        }
    }

    fn takes(self, outcome: &Result<http::Response<Incoming>, Failure>) -> bool {
        match self {
            Again::Unanswered(_) => true,
            Again::Unsent(_) => {
                matches!(outcome, Err(Failure::Connect(_) | Failure::Timeout(Which::Connect)))
            }
        }
    }
}

/// The longest wait before a request is sent again. An upstream that asks for more gets its answer passed on.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(200);

impl Upstream {
    /// Reads `config`; `env` looks up a variable. Connects nowhere.
    pub(super) fn new(
        config: &UpstreamConfig,
        env: &dyn Fn(&str) -> Option<String>,
        roots: &Roots,
    ) -> Result<Upstream, ConfigError> {
        let origin = Origin::new(config)?;
        // Whatever is put in from the environment may be a key.
        let put_in = RefCell::new(Vec::new());
        let noted = |name: &str| env(name).inspect(|value| put_in.borrow_mut().push(value.clone()));
        let headers = own_headers(config, &noted)?;
        let secrets = Arc::new(Secrets::of(put_in.into_inner()));
        let roots = connect::trusted(config, roots)?;
        let connector = Connector::new(roots, Timeouts::duration(config.timeouts.connect));
        // Python's and llama.cpp's servers close a connection after five silent seconds, and a request that
        // meets the closing is lost. Far away, behind `https`, a connection is dear and lives longer.
        let pool_idle = if origin.scheme == Scheme::HTTPS { 50 } else { 4 };
        let pools = Pools::new(move || {
            Client::builder(TokioExecutor::new())
                .pool_idle_timeout(Duration::from_secs(pool_idle))
                .pool_max_idle_per_host(512)
                .pool_timer(TokioTimer::new())
                .build(connector.clone())
        });
        let name = Arc::from(config.name.as_str());
        let link = Arc::new(Link { name, load: Arc::default(), epoch: Instant::now() });
        Ok(Upstream {
            link,
            config: config.clone(),
            origin,
            headers,
            secrets,
            pools,
            refuses_stream_options: AtomicBool::new(false),
            found_to_speak: OnceLock::new(),
        })
    }

    /// Returns the API that it speaks, as far as anybody knows.
    pub(crate) fn kind(&self) -> UpstreamKind {
        self.config.kind.or_else(|| self.found_to_speak.get().copied()).unwrap_or_default()
    }

    /// Returns whether its API is neither configured nor known from an answer.
    pub(crate) fn may_speak_another(&self) -> bool {
        self.config.kind.is_none() && self.found_to_speak.get().is_none()
    }

    /// Learns that it speaks this API and no chat completions, for the life of this process.
    pub(crate) fn learn_kind(&self, kind: UpstreamKind) {
        tracing::info!(upstream = self.name(), kind = kind.name(), "[relay] the upstream speaks another API");
        self.found_to_speak.get_or_init(|| kind);
    }

    /// Returns its name in the configuration.
    pub fn name(&self) -> &str {
        &self.link.name
    }

    /// Returns whether it may be asked to count the tokens of a stream.
    pub(crate) fn counts_streams(&self) -> bool {
        !self.refuses_stream_options.load(Ordering::Relaxed)
    }

    /// Learns that it does not know that question, for the life of this process.
    pub(crate) fn learn_no_stream_options(&self) {
        self.refuses_stream_options.store(true, Ordering::Relaxed);
    }

    /// Returns its configuration.
    pub fn config(&self) -> &UpstreamConfig {
        &self.config
    }

    /// Returns its place, as messages may show it: scheme, host, port and path, no query.
    pub fn location(&self) -> String {
        self.location_of(&self.origin.path)
    }

    /// Returns the name or address of its host.
    pub(crate) fn host(&self) -> &str {
        self.origin.authority.host()
    }

    /// Returns the path of its base URL, without a slash at its end: `/v1`.
    pub(crate) fn path(&self) -> &str {
        &self.origin.path
    }

    /// Returns its place with another path, as messages may show it.
    pub(crate) fn location_of(&self, path: &str) -> String {
        format!("{}://{}{path}", self.origin.scheme, self.origin.authority)
    }

    /// Takes the secrets out of a body that it sent.
    pub(crate) fn without_secrets(&self, body: Bytes) -> Bytes {
        self.secrets.hidden(&body).map_or(body, Bytes::from)
    }

    /// Returns the secrets, which no client may read.
    pub(crate) fn secrets(&self) -> &Arc<Secrets> {
        &self.secrets
    }

    /// Returns the number of open requests there.
    pub fn open_requests(&self) -> usize {
        self.link.load.open()
    }

    /// Returns the part of the requests that failed of late, in 0..=1.
    pub fn error_rate(&self) -> f32 {
        self.link.load.error_rate(self.link.now())
    }

    /// Returns whether so many requests failed of late that others should be asked first.
    pub fn is_failing(&self) -> bool {
        self.link.load.is_failing(self.link.now())
    }

    /// Sends `body`, which is JSON, to `path` below the base URL: `/chat/completions`.
    ///
    /// Only a short list of `client_headers`, the headers of the client's request, goes with it. The request is sent again while
    /// the upstream cannot be reached, breaks off before the first byte, or answers 429, 502, 503 or 504. The configuration
    /// bounds the repetitions, and each pause honours `retry-after`. The last answer is returned whatever its status.
    ///
    /// # Errors
    /// No answer came, or one that cannot be used.
    pub async fn post(
        &self,
        path: &str,
        body: Bytes,
        client_headers: &HeaderMap,
    ) -> Result<Response, UpstreamError> {
        let (uri, headers) = self.forwarded(self.kind(), self.origin.below(path), client_headers)?;
        self.ask(Method::POST, uri, headers, body, Again::Unanswered(self.config.retries)).await
    }

    /// Sends a question in this API to the path of models in it.
    ///
    /// # Errors
    /// As [`Upstream::post`].
    pub(crate) async fn question(
        &self,
        kind: UpstreamKind,
        body: Bytes,
        client_headers: &HeaderMap,
    ) -> Result<Response, UpstreamError> {
        let uri = match kind {
            UpstreamKind::Chat => self.origin.below(Surface::Chat.path()),
            UpstreamKind::Messages => self.origin.below(Surface::Messages.path()),
            UpstreamKind::Responses => self.origin.below(Surface::Responses.path()),
            UpstreamKind::Ollama => self.origin.beside(Surface::Ollama.path()),
        };
        let (uri, headers) = self.forwarded(kind, uri, client_headers)?;
        self.ask(Method::POST, uri, headers, body, Again::Unanswered(self.config.retries)).await
    }

    /// Passes a request of another kind on, whatever its method and the type of its body. It is sent again only if the upstream
    /// cannot be reached: nobody here knows what it makes.
    ///
    /// # Errors
    /// As [`Upstream::post`].
    pub async fn pass(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        client_headers: &HeaderMap,
    ) -> Result<Response, UpstreamError> {
        self.pass_to(self.origin.below(path), method, body, client_headers).await
    }

    /// Passes the same outside of the server's OpenAI-like part: `/api/tags` if the base URL ends in `/v1`.
    pub(crate) async fn pass_beside(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        client_headers: &HeaderMap,
    ) -> Result<Response, UpstreamError> {
        self.pass_to(self.origin.beside(path), method, body, client_headers).await
    }

    async fn pass_to(
        &self,
        uri: Option<Uri>,
        method: Method,
        body: Bytes,
        client_headers: &HeaderMap,
    ) -> Result<Response, UpstreamError> {
        let (uri, mut headers) = self.forwarded(self.kind(), uri, client_headers)?;
        if let Some(kind) = client_headers.get(header::CONTENT_TYPE) {
            headers.insert(header::CONTENT_TYPE, kind.clone());
        }
        self.ask(method, uri, headers, body, Again::Unsent(self.config.retries)).await
    }

    /// Returns the address of a client's request, if there is one, and its headers.
    fn forwarded(
        &self,
        kind: UpstreamKind,
        uri: Option<Uri>,
        client_headers: &HeaderMap,
    ) -> Result<(Uri, HeaderMap), UpstreamError> {
        let uri = uri.ok_or_else(|| self.link.error(Failure::Path))?;
        let mut headers = self.headers.clone();
        headers::forward(client_headers, &mut headers);
        date(kind, &mut headers);
        Ok((uri, headers))
    }

    /// Asks for `path` below the base URL: `/models`. Never asks twice.
    ///
    /// # Errors
    /// As [`Upstream::post`].
    pub async fn get(&self, path: &str) -> Result<Response, UpstreamError> {
        let uri = self.origin.below(path).ok_or_else(|| self.link.error(Failure::Path))?;
        let mut headers = self.headers.clone();
        date(self.kind(), &mut headers);
        self.ask(Method::GET, uri, headers, Bytes::new(), Again::Unanswered(0)).await
    }

    /// Asks for `path` below `base`, another path of the server than that of its base URL.
    pub(crate) async fn get_below(&self, base: &str, path: &str) -> Result<Response, UpstreamError> {
        let uri = self.origin.uri(&[base, path]).ok_or_else(|| self.link.error(Failure::Path))?;
        self.ask(Method::GET, uri, self.headers.clone(), Bytes::new(), Again::Unanswered(0)).await
    }

    /// Asks the server outside of its OpenAI-like part: `/props` if the base URL ends in `/v1`. A request with a body is a POST.
    pub(crate) async fn ask_server(
        &self,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<Response, UpstreamError> {
        let uri = self.origin.beside(path).ok_or_else(|| self.link.error(Failure::Path))?;
        let method = if body.is_some() { Method::POST } else { Method::GET };
        self.ask(method, uri, self.headers.clone(), body.unwrap_or_default(), Again::Unanswered(0)).await
    }

    async fn ask(
        &self,
        method: Method,
        uri: Uri,
        headers: HeaderMap,
        body: Bytes,
        again: Again,
    ) -> Result<Response, UpstreamError> {
        let open = OpenRequest::new(&self.link.load);
        let mut deadline = Deadline::new(&self.config.timeouts);
        let mut n_retries = 0;
        loop {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = headers.clone();
            let outcome = self.send(request, &mut deadline).await;
            self.link.record(is_failure(&outcome));
            let is_again = n_retries < again.most() && again.takes(&outcome);
            let pause = if is_again { pause(&outcome, n_retries) } else { None };
            if let Some(pause) = pause.filter(|pause| !deadline.ends_within(*pause)) {
                drop(outcome);
                tokio::time::sleep(pause).await;
                deadline.sent_again();
                n_retries += 1;
                continue;
            }
            let response = outcome.map_err(|failure| self.link.error(failure))?;
            return Response::new(response.into_parts(), deadline, (&self.link, &self.secrets), open);
        }
    }

    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        deadline: &mut Deadline,
    ) -> Result<http::Response<Incoming>, Failure> {
        let mut response = pin!(self.pools.request(request));
        std::future::poll_fn(|cx| {
            if let Poll::Ready(outcome) = response.as_mut().poll(cx) {
                deadline.heard();
                return Poll::Ready(outcome.map_err(|error| failure(&error)));
            }
            deadline.poll(cx).map(|which| Err(Failure::Timeout(which)))
        })
        .await
    }
}

impl fmt::Debug for Upstream {
    /// Leaves out the headers: a key is among them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("name", &self.name()).field("location", &self.location()).finish()
    }
}

/// Sets the edition of the API, without which Anthropic's API takes no request.
fn date(kind: UpstreamKind, headers: &mut HeaderMap) {
    if kind == UpstreamKind::Messages && !headers.contains_key(headers::ANTHROPIC_VERSION) {
        headers.insert(headers::ANTHROPIC_VERSION, HeaderValue::from_static("2023-06-01"));
    }
}

fn own_headers(
    config: &UpstreamConfig,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let agent = concat!("callwright/", env!("CARGO_PKG_VERSION"));
    headers.insert(header::USER_AGENT, HeaderValue::from_static(agent));
    if let Some(variable) = &config.key_env {
        let upstream = || config.name.clone();
        let key = env(variable).filter(|key| !key.trim().is_empty());
        let key = key.ok_or_else(|| ConfigError::MissingVariable {
            upstream: upstream(),
            variable: variable.clone(),
        })?;
        // Anthropic takes an API key in a header of its own; what is sent as `Bearer` is another kind of key there.
        let (name, text) = match config.kind {
            Some(UpstreamKind::Messages) => (headers::X_API_KEY, key.trim().to_owned()),
            Some(UpstreamKind::Chat | UpstreamKind::Responses | UpstreamKind::Ollama) | None => {
                (header::AUTHORIZATION, format!("Bearer {}", key.trim()))
            }
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| ConfigError::Key { upstream: upstream(), variable: variable.clone() })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, text) in &config.headers {
        let error = |why| ConfigError::Header { upstream: config.name.clone(), header: name.clone(), why };
        let parsed: HeaderName = name.parse().map_err(|_| error("has a name that HTTP does not allow"))?;
        if !headers::is_settable(&parsed) {
            return Err(error("is not for configuration to set"));
        }
        let text = expand(text, env).map_err(|variable| match variable {
            Some(variable) => ConfigError::MissingVariable { upstream: config.name.clone(), variable },
            None => error("has a `${` without its `}`"),
        })?;
        let mut value =
            HeaderValue::from_str(&text).map_err(|_| error("has a value that HTTP does not allow"))?;
        value.set_sensitive(true); // It may be a key.
        headers.insert(parsed, value);
    }
    Ok(headers)
}

/// Puts the variable's value into `"Key ${NAME}"`.
///
/// # Errors
/// The variable is not set, or a brace is missing.
pub fn expand(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, Option<String>> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) = after.split_once('}').ok_or(None)?;
        expanded.push_str(before);
        expanded.push_str(&env(variable).ok_or_else(|| Some(variable.to_owned()))?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Returns whether this counts against the upstream. A 4xx is the request's fault; 429 says that others should be asked. 501 is
/// the honest answer to an unknown question.
fn is_failure(outcome: &Result<http::Response<Incoming>, Failure>) -> bool {
    outcome.as_ref().map_or(true, |response| match response.status() {
        StatusCode::NOT_IMPLEMENTED => false,
        status => status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS,
    })
}

/// Returns the time to wait before the request is sent again; none if it should not be.
fn pause(outcome: &Result<http::Response<Incoming>, Failure>, n_retries: u32) -> Option<Duration> {
    let usual = FIRST_PAUSE.saturating_mul(1 << n_retries.min(8)).min(LONGEST_PAUSE);
    match outcome {
        Ok(response) if matches!(response.status().as_u16(), 429 | 502 | 503 | 504) => {
            let asked_for = response.headers().get(header::RETRY_AFTER).map(HeaderValue::to_str);
            match asked_for.map(|text| text.ok().and_then(|text| text.trim().parse().ok())) {
                None => Some(usual),
                Some(Some(seconds)) => {
                    Some(Duration::from_secs(seconds)).filter(|pause| *pause <= LONGEST_PAUSE)
                }
                Some(None) => None, // A date, far off as a rule.
            }
        }
        Ok(_) => None,
        Err(Failure::Connect(_) | Failure::Reset | Failure::Timeout(Which::Connect)) => Some(usual),
        Err(_) => None,
    }
}

fn failure(error: &legacy::Error) -> Failure {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        match error.downcast_ref() {
            Some(ConnectFailure::Tcp(why)) => return Failure::Connect(why.clone()),
            Some(ConnectFailure::Tls(why)) => return Failure::Tls(why.clone()),
            Some(ConnectFailure::Timeout) => return Failure::Timeout(Which::Connect),
            None => {}
        }
        if error.downcast_ref().is_some_and(hyper::Error::is_parse) {
            return Failure::NotHttp;
        }
        source = error.source();
    }
    Failure::Reset
}
