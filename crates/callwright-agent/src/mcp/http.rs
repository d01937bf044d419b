//! Speaks to a server that listens: MCP's streamable HTTP, over the same connections as those to models.
//!
//! Requests go to the configured address and nowhere else: no redirect is followed. No message holds the request's
//! headers, because one may be a key. Bodies and events are bounded before they are kept.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use callwright_relay::sse::Decoder;
use callwright_relay::upstream::Connector;
use futures_core::Stream;
use futures_core::stream::BoxStream;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::written::sealed;

/// The longest answer outside a stream, in bytes.
const MAX_ANSWER: usize = 8 << 20;
/// The longest event of a stream, in bytes.
pub(super) const MAX_EVENT: usize = 8 << 20;
/// The most bytes of an error's answer that are read.
const MAX_ERROR: usize = 64 << 10;
/// The most bytes of it that are shown.
const TOLD: usize = 200;
/// The most time to open a connection.
const TO_CONNECT: Duration = Duration::from_secs(10);

const SESSION: &str = "mcp-session-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Sends requests to one server.
#[derive(Clone)]
pub(super) struct Http {
    uri: Uri,
    headers: HeaderMap,
    client: Client<Connector, Full<Bytes>>,
}

/// The reason for a missing answer.
#[derive(Debug)]
pub(super) struct HttpError(String);

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HttpError {}

type Error = StreamableHttpError<HttpError>;

impl Http {
    /// Prepares requests to `uri` with these headers. It connects nowhere yet.
    pub(super) fn new(uri: Uri, headers: HeaderMap) -> Http {
        let client = Client::builder(TokioExecutor::new())
            // Servers close silent connections after five seconds, and a request that meets the closing is lost.
            .pool_idle_timeout(Duration::from_secs(4))
            .pool_timer(TokioTimer::new())
            .build(Connector::new(Arc::default(), TO_CONNECT));
        Http { uri, headers, client }
    }

    async fn ask(
        &self,
        method: Method,
        body: Option<Bytes>,
        accept: &'static str,
        session: Option<&str>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<Response<Incoming>, Error> {
        let has_body = body.is_some();
        let mut request = Request::new(Full::new(body.unwrap_or_default()));
        *request.method_mut() = method;
        *request.uri_mut() = self.uri.clone();
        let headers = request.headers_mut();
        *headers = self.headers.clone();
        // The protocol's own headers: its version, the method, the tool.
        headers.extend(more);
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        if has_body {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
        }
        if let Some(session) = session {
            let session = HeaderValue::from_str(session);
            headers.insert(
                SESSION,
                session.map_err(|_| failed("its session is not a valid value of a header"))?,
            );
        }
        self.client.request(request).await.map_err(|error| failed(innermost(&error)))
    }
}

fn failed(why: impl Into<String>) -> Error {
    StreamableHttpError::Client(HttpError(why.into()))
}

/// Returns the innermost reason: `Connection refused (os error 111)`, without the chain of callers.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

impl StreamableHttpClient for Http {
    type Error = HttpError;

    async fn post_message(
        &self,
        _uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let body = Bytes::from(serde_json::to_vec(&message)?);
        let accept = "application/json, text/event-stream";
        let response = self.ask(Method::POST, Some(body), accept, session.as_deref(), more).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            let text = refusal(response).await;
            return match (&message, session) {
                // A server of an older protocol refuses the question for its version: that refusal is the answer.
                (ClientJsonRpcMessage::Request(request), None)
                    if matches!(request.request, ClientRequest::DiscoverRequest(_))
                        && status.is_client_error()
                        && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
                {
                    let error = match serde_json::from_str(&text) {
                        Ok(ServerJsonRpcMessage::Error(error)) => error.error,
                        _ => ErrorData::invalid_request(told(status, &text), None),
                    };
                    let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    Ok(StreamableHttpPostResponse::Json(error, None))
                }
                _ => Err(failed(told(status, &text))),
            };
        }
        let is_question = matches!(message, ClientJsonRpcMessage::Request(_));
        let own = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        match kind(&response) {
            Some(EVENTS) => Ok(StreamableHttpPostResponse::Sse(events(response), own)),
            Some(_) => {
                let body = whole(response, MAX_ANSWER).await?;
                match serde_json::from_str(&sealed(&String::from_utf8_lossy(&body))) {
                    Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, own)),
                    Err(_) if !is_question => Ok(StreamableHttpPostResponse::Accepted),
                    Err(error) => Err(error.into()),
                }
            }
            None if !is_question => Ok(StreamableHttpPostResponse::Accepted),
            None => Err(failed("it answered with neither JSON nor events")),
        }
    }

    async fn delete_session(
        &self,
        _uri: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Error> {
        let response = self.ask(Method::DELETE, None, JSON, Some(&session), more).await?;
        match response.status() {
            status if status.is_success() || status == StatusCode::METHOD_NOT_ALLOWED => Ok(()),
            status => Err(failed(told(status, ""))),
        }
    }

    async fn get_stream(
        &self,
        _uri: Arc<str>,
        session: Option<Arc<str>>,
        _last_event: Option<String>,
        _token: Option<String>,
        more: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Error> {
        let response = self.ask(Method::GET, None, EVENTS, session.as_deref(), more).await?;
        match (response.status(), kind(&response)) {
            (status, Some(EVENTS)) if status.is_success() => Ok(events(response)),
            _ => Err(StreamableHttpError::ServerDoesNotSupportSse),
        }
    }
}

/// Returns the kind of the body: JSON or events.
fn kind(response: &Response<Incoming>) -> Option<&'static str> {
    let kind = response.headers().get(header::CONTENT_TYPE)?.to_str().ok()?;
    let kind = kind.split(';').next().unwrap_or_default().trim();
    [EVENTS, JSON].into_iter().find(|known| kind.eq_ignore_ascii_case(known))
}

async fn whole(response: Response<Incoming>, limit: usize) -> Result<Bytes, Error> {
    if (limit as u64) < response.body().size_hint().lower() {
        return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: limit });
    }
    let body = Limited::new(response.into_body(), limit).collect().await;
    let too_long = |error: Box<dyn std::error::Error + Send + Sync>| match error
        .is::<http_body_util::LengthLimitError>(
    ) {
        true => StreamableHttpError::ResponseBodyTooLarge { max_size: limit },
        false => failed(innermost(error.as_ref())),
    };
    Ok(body.map_err(too_long)?.to_bytes())
}

/// Returns the text of an unsuccessful answer; empty if it cannot be read.
async fn refusal(response: Response<Incoming>) -> String {
    let body = whole(response, MAX_ERROR).await.unwrap_or_default();
    String::from_utf8_lossy(&body).into_owned()
}

/// Returns the sentence of an unsuccessful answer: `it answered 403 Forbidden: no such token`
fn told(status: StatusCode, text: &str) -> String {
    let text = text.trim();
    let said: String = text.chars().take(TOLD).collect();
    let said = if text.len() == said.len() { said } else { said + "…" };
    if said.is_empty() { format!("it answered {status}") } else { format!("it answered {status}: {said}") }
}

fn events(response: Response<Incoming>) -> BoxStream<'static, Result<Sse, SseError>> {
    Box::pin(Events { body: Some(response.into_body()), decoder: Decoder::new(MAX_EVENT) })
}

/// The events of an answer, without their ids: a broken stream is not resumed, because nobody would know its call.
struct Events {
    /// `None` after the end.
    body: Option<Incoming>,
    decoder: Decoder,
}

impl Stream for Events {
    type Item = Result<Sse, SseError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            match this.decoder.next() {
                Ok(Some(event)) => {
                    let Some(data) = event.data else { continue };
                    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
                    let name = (!event.name.is_empty()).then(|| text(&event.name));
                    let data = Some(sealed(&text(&data)).into_owned());
                    return Poll::Ready(Some(Ok(Sse { event: name, data, id: None, retry: None })));
                }
                Ok(None) => {}
                Err(error) => {
                    this.body = None;
                    this.decoder = Decoder::new(MAX_EVENT);
                    return Poll::Ready(Some(Err(SseError::Body(Box::new(error)))));
                }
            }
            let Some(body) = &mut this.body else { return Poll::Ready(None) };
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        this.decoder.push(piece);
                    }
                }
                Some(Err(error)) => {
                    this.body = None;
                    return Poll::Ready(Some(Err(SseError::Body(Box::new(error)))));
                }
                None => this.body = None,
            }
        }
    }
}
