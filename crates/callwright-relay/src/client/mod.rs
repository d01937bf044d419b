//! The turn for Rust programs: a request goes in, the model's words and right calls come out.

mod ask;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use callwright::value::Value;
use futures_core::Stream;
use http::HeaderMap;
use http_body::Body;

use crate::api::Surface;
use crate::config::{RelayConfig, UpstreamConfig};
use crate::owner::Owner;
use crate::record::{Nobody, Observer};
use crate::relay::Relay;
use crate::reply::{Reply, ReplyBody};
use crate::request::Request;
use crate::sse::Decoder;
use crate::upstream::ConfigError;

pub use ask::{Answer, AnswerDelta, AskOptions, error_fingerprint};

/// Asks models, and gets only right calls.
///
/// ```no_run
/// use callwright_relay::Client;
/// use callwright::json;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::to("http://127.0.0.1:8080/v1")?;
/// let answer = client
///     .chat(&json!({
///         "model": "qwen2.5-7b-instruct",
///         "messages": [{"role": "user", "content": "What is the weather in Paris?"}],
///         "tools": [{"type": "function", "function": {
///             "name": "get_weather",
///             "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
///         }}],
///     }))
///     .await?;
/// for call in &answer.calls {
///     // The tool is declared, and the arguments fit its schema.
///     println!("{}({})", call.name, call.arguments);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    relay: Arc<Relay>,
}

/// A model's whole answer.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The words; empty if the model only called.
    pub text: String,
    /// Its calls, in order.
    pub calls: Vec<ToolCall>,
    /// The reason for which it stopped: `stop`, `tool_calls`, `length`, ….
    pub finish_reason: Option<String>,
    /// The answer as it stands on the wire, with a report under `callwright`.
    pub response: Value,
}

/// A right call: a declared tool, and arguments that fit its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The id that the result has to name.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The JSON text of an object.
    pub arguments: String,
}

/// No answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatError {
    /// The HTTP status, which tells the kind of error.
    pub status: u16,
    /// The error in one sentence.
    pub message: String,
}

impl fmt::Display for ChatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ChatError {}

impl Client {
    /// Makes a client for one upstream without a key, by the URL before `/chat/completions`, with defaults for all else.
    ///
    /// # Errors
    /// The URL is not valid.
    pub fn to(base_url: &str) -> Result<Client, ConfigError> {
        let upstream = UpstreamConfig::new("upstream", base_url);
        Client::new(RelayConfig { upstreams: vec![upstream], ..RelayConfig::default() }, &|_| None)
    }

    /// Makes a client for a configuration; `env` looks up the variables that it names.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub fn new(config: RelayConfig, env: &dyn Fn(&str) -> Option<String>) -> Result<Client, ConfigError> {
        Client::observed(config, env, Arc::new(Nobody))
    }

    /// Makes a client whose `observer` is told of each request.
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn observed(
        config: RelayConfig,
        env: &dyn Fn(&str) -> Option<String>,
        observer: Arc<dyn Observer>,
    ) -> Result<Client, ConfigError> {
        Ok(Client { relay: Relay::new(config, env, observer)? })
    }

    pub(crate) fn relay(&self) -> &Arc<Relay> {
        &self.relay
    }

    /// Asks, and waits for the whole answer. `request` is the body of a chat request.
    ///
    /// # Errors
    /// The request cannot be used, or no upstream answered.
    pub async fn chat(&self, request: &Value) -> Result<Completion, ChatError> {
        let reply = self.relay.chat(chat_request(request, false)).await;
        let status = reply.status;
        let mut body = BytesMut::new();
        let mut pieces = Pieces(reply.body);
        while let Some(piece) = next(&mut pieces).await {
            body.extend_from_slice(&piece);
        }
        let response: Value = serde_json::from_slice(&body).map_err(|error| ChatError {
            status: 502,
            message: format!("the answer is not JSON: {error}"),
        })?;
        if !status.is_success() {
            return Err(error(status.as_u16(), &response));
        }
        Ok(Completion::of(response))
    }

    /// Asks, and gives the chunks of the answer as they come. Calls come when they are right.
    ///
    /// # Errors
    /// As [`Client::chat`]; a later error is an item of the stream.
    pub async fn stream(&self, request: &Value) -> Result<Chunks, ChatError> {
        let Reply { status, body, .. } = self.relay.chat(chat_request(request, true)).await;
        let mut pieces = Pieces(body);
        if !status.is_success() {
            let body = next(&mut pieces).await.unwrap_or_default();
            return Err(error(status.as_u16(), &serde_json::from_slice(&body).unwrap_or_default()));
        }
        Ok(Chunks { pieces, decoder: Decoder::new(64 << 20), is_over: false })
    }
}

fn chat_request(request: &Value, stream: bool) -> Request {
    let mut request = request.clone();
    if let Value::Object(members) = &mut request {
        members.insert(String::from("stream"), Value::Bool(stream));
    }
    Request {
        id: String::from("client"),
        body: Bytes::from(request.to_string()),
        policy: None,
        wants_report: !stream,
        headers: HeaderMap::new(),
        owner: Owner::default(),
        surface: Surface::Chat,
        gemini: None,
    }
}

fn error(status: u16, response: &Value) -> ChatError {
    let message = response["error"]["message"].as_str().unwrap_or("the upstream answered with an error");
    ChatError { status, message: message.to_owned() }
}

impl Completion {
    fn of(response: Value) -> Completion {
        let choice = &response["choices"][0];
        let message = &choice["message"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| ToolCall {
            id: text(&call["id"]),
            name: text(&call["function"]["name"]),
            arguments: text(&call["function"]["arguments"]),
        });
        Completion {
            text: text(&message["content"]),
            calls: calls.collect(),
            finish_reason: choice["finish_reason"].as_str().map(str::to_owned),
            response,
        }
    }
}

/// The chunks of a streamed answer: `chat.completion.chunk` objects. Dropping it ends the request at the upstream.
pub struct Chunks {
    pieces: Pieces,
    decoder: Decoder,
    is_over: bool,
}

impl Chunks {
    /// Returns the next chunk; none after the last.
    pub async fn next(&mut self) -> Option<Result<Value, ChatError>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for Chunks {
    type Item = Result<Value, ChatError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match self.decoder.next() {
                Err(error) => {
                    self.is_over = true;
                    return Poll::Ready(Some(Err(ChatError { status: 502, message: error.to_string() })));
                }
                Ok(Some(event)) => {
                    let Some(data) = event.data.filter(|data| &data[..] != b"[DONE]") else { continue };
                    let Ok(chunk) = serde_json::from_slice::<Value>(&data) else { continue };
                    return Poll::Ready(Some(match chunk.get("error") {
                        Some(_) => Err(error(502, &chunk)),
                        None => Ok(chunk),
                    }));
                }
                Ok(None) if self.is_over => return Poll::Ready(None),
                Ok(None) => {}
            }
            match Pin::new(&mut self.pieces.0).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(piece) = frame.into_data() {
                        self.decoder.push(piece);
                    }
                }
                Poll::Ready(Some(Err(broken))) => {
                    self.is_over = true;
                    return Poll::Ready(Some(Err(ChatError { status: 502, message: broken.to_string() })));
                }
                Poll::Ready(None) => self.is_over = true,
            }
        }
    }
}

struct Pieces(ReplyBody);

async fn next(pieces: &mut Pieces) -> Option<Bytes> {
    let frame = std::future::poll_fn(|context| Pin::new(&mut pieces.0).poll_frame(context)).await;
    frame?.ok()?.into_data().ok()
}
