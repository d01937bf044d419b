//! Upstreams that speak another API than chat completions, messages or responses: each is asked in its own, and answers as a
//! chat server would.
//!
//! In goes a chat request, which is all that a turn knows. It is written as a request of the upstream's API; of the answer comes
//! a chat answer, whole or event by event as it came, so that whatever reads, repairs and asks again need not know who was asked.
//! What an API has no place for is left out; what would change the answer if it were left out is refused.

mod answer;
mod conversation;
mod messages;
mod responses;

use bytes::Bytes;
use http::{HeaderMap, header};

use self::answer::{Answer, ErrorAnswer};
use crate::config::Limits;
use crate::surface::Surface;
use crate::upstream::{Response, Upstream, UpstreamError};
use crate::wire::{Document, WireError};

/// Why a question was not answered at all.
pub(crate) enum Unasked {
    /// The upstream gave no answer.
    Upstream(UpstreamError),
    /// The upstream's API has no such question.
    Question(WireError),
}

/// Asks an upstream what this chat request asks, in the API that it speaks; its answer is that of a chat server.
///
/// # Errors
/// No answer came, or there is no such question in its API.
pub(crate) async fn ask(
    upstream: &Upstream,
    question: Bytes,
    client_headers: &HeaderMap,
    limits: &Limits,
) -> Result<Response, Unasked> {
    let kind = upstream.kind();
    let question = match kind {
        Surface::Chat => question,
        Surface::Messages => written(question, messages::question)?,
        Surface::Responses => written(question, responses::question)?,
    };
    let answer = upstream.post(kind.path(), question, client_headers).await.map_err(Unasked::Upstream)?;
    Ok(if kind == Surface::Chat { answer } else { read(answer, kind, limits) })
}

fn written(
    question: Bytes,
    write: fn(callwright_json::Value<'_>) -> Result<String, WireError>,
) -> Result<Bytes, Unasked> {
    let invalid = |why| WireError::bad_request(None, "invalid_json", why);
    let document = Document::parse(question).map_err(invalid).map_err(Unasked::Question)?;
    write(document.root()).map(Bytes::from).map_err(Unasked::Question)
}

/// The answer of an upstream of this kind, as that of a chat server.
fn read(answer: Response, kind: Surface, limits: &Limits) -> Response {
    let content_type = answer.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let is_stream = content_type.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"));
    let mut answer = answer;
    answer.body = match answer.status.is_success() {
        true => answer.body.through(Box::new(Answer::of(kind, is_stream, limits))),
        false => answer.body.through(Box::new(ErrorAnswer::of(answer.status, limits))),
    };
    answer
}

/// The most tokens that an answer may have where nobody says it, in an API that has no request without such a bound.
pub(crate) fn most_tokens(kind: Surface) -> Option<u64> {
    match kind {
        Surface::Messages => Some(messages::MOST_TOKENS),
        Surface::Chat | Surface::Responses => None,
    }
}

/// What the API of the upstream has no place for.
fn unsupported(param: &'static str, api: &str) -> WireError {
    let message = format!("the upstream of this model is asked in the API of {api}, which has no `{param}`");
    WireError::bad_request(Some(param), "unsupported_parameter", message)
}
