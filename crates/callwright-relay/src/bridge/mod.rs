//! Upstreams that speak messages, responses or Ollama's own API instead of chat completions. Each is asked in its own API, and
//! answers as a chat server would.
//!
//! In goes a chat request, the only form that a turn knows. The bridge writes it as a request of the upstream's API. Out comes a
//! chat answer, whole or event by event as it came: no reader needs to know who was asked. A member without a place in that API
//! is left out, or refused if the answer would change without it.

mod answer;
mod conversation;
mod lines;
mod messages;
mod ollama;
mod responses;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};

use self::answer::{Answer, ErrorAnswer, Framing};
use self::ollama::Ollama;
use crate::api::{Surface, UpstreamKind};
use crate::config::Limits;
use crate::lane::wire;
use crate::lane::wire::told::Reader;
use crate::upstream::{Candidate, Response, UpstreamError};
use crate::wire::{Document, WireError};

/// The reasons for which a question has no answer at all.
pub(crate) enum Unasked {
    /// The upstream gave no answer.
    Upstream(UpstreamError),
    /// The upstream's API has no such question.
    Question(WireError),
}

/// Asks a model at its upstream in the API that the upstream speaks. The answer is that of a chat server.
///
/// # Errors
/// No answer came, or the API has no such question.
pub(crate) async fn ask(
    Candidate { upstream, kind, config, .. }: &Candidate,
    question: Bytes,
    client_headers: &HeaderMap,
    limits: &Limits,
) -> Result<Response, Unasked> {
    let (question, reader): (Bytes, Box<dyn Reader>) = match *kind {
        UpstreamKind::Chat => {
            return upstream.question(*kind, question, client_headers).await.map_err(Unasked::Upstream);
        }
        UpstreamKind::Messages => (written(question, messages::question)?, wire::of(Surface::Messages)),
        UpstreamKind::Responses => (written(question, responses::question)?, wire::of(Surface::Responses)),
        UpstreamKind::Ollama => {
            let num_ctx = config.as_deref().and_then(|set| set.num_ctx);
            let question = written(question, |root| ollama::question(root, num_ctx))?;
            (question, Box::new(Ollama::default()))
        }
    };
    let answer = upstream.question(*kind, question, client_headers).await.map_err(Unasked::Upstream)?;
    Ok(read(answer, reader, limits))
}

fn written(
    question: Bytes,
    write: impl FnOnce(callwright_json::Value<'_>) -> Result<String, WireError>,
) -> Result<Bytes, Unasked> {
    let invalid = |why| WireError::bad_request(None, "invalid_json", why);
    let document = Document::parse(question).map_err(invalid).map_err(Unasked::Question)?;
    write(document.root()).map(Bytes::from).map_err(Unasked::Question)
}

/// Reads an answer with `reader`, as that of a chat server.
fn read(mut answer: Response, reader: Box<dyn Reader>, limits: &Limits) -> Response {
    let content_type = answer.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let framing = Framing::of(content_type.unwrap_or_default());
    if framing == Framing::Lines {
        answer.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    }
    answer.body = match answer.status.is_success() {
        true => answer.body.through(Box::new(Answer::of(reader, framing, limits))),
        false => answer.body.through(Box::new(ErrorAnswer::of(answer.status, limits))),
    };
    answer
}
