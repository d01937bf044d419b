//! Answers on their way to the client: whole, streamed, or passed through as they come.
//!
//! Prose goes on at once, calls when they are certain, and nothing is ever taken back.

mod whole;
mod stream;
mod sink;
mod voice;
mod passthrough;
mod pulse;
mod told;
mod events;
mod sse;

use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode, header};

use self::voice::{ChatVoice, GeminiParts, MessageBlocks, OllamaLines, ResponseItems, Serial, Voice};
use crate::reply::{BodySender, Reply, ReplyBody};
use crate::report;
use crate::surface::Door;
use crate::turn::{AnswerSource, OpenAnswer, Turn};
use crate::wire::WireError;

pub(crate) use events::{Came, Ending, Events, Json};

/// Answers a request in the form of the client's API. A client that wants a stream gets it as it comes if the upstream streams,
/// too.
pub(crate) async fn reply(turn: Box<Turn>, open_answer: OpenAnswer, door: Door) -> Reply {
    match turn.ask.answer.stream && open_answer.is_stream() {
        true => streamed(turn, open_answer, door).await,
        false => whole::reply(turn, open_answer, door).await,
    }
}

/// The longest time that an answer of another API is held back before anything comes. As long as the client has nothing, a
/// failure has a status of its own, and clients know what to do about that.
const PATIENCE: Duration = Duration::from_secs(2);

/// Answers a request that wants a stream, from an upstream that streams.
async fn streamed(mut turn: Box<Turn>, open_answer: OpenAnswer, door: Door) -> Reply {
    let mut headers = match &open_answer.source {
        AnswerSource::Upstream(answer) => answer.headers.clone(),
        AnswerSource::Recovered(_) => HeaderMap::new(),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(door.content_type(true)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    report::head(turn.log.record(), &mut headers);
    let sender = BodySender::default();
    let to = sender.clone();
    if door.holds_calls() {
        // Held to its end, a call may be asked for again.
        turn.stream_arguments = Some(false);
    }
    let voice: Box<dyn Voice> = match door {
        Door::Chat if turn.is_read() => Box::new(ChatVoice::new(&turn, to.clone())),
        Door::Chat => {
            let body = ReplyBody::running(sender, passthrough::pass(turn, open_answer, to));
            return Reply { status: StatusCode::OK, headers, body };
        }
        Door::Messages(wanted) => Box::new(Serial::new(MessageBlocks::streamed(wanted), to.clone())),
        Door::Responses(wanted) => Box::new(Serial::new(ResponseItems::new(*wanted, true), to.clone())),
        Door::Ollama(wanted) => Box::new(Serial::new(OllamaLines::new(wanted, true), to.clone())),
        Door::Gemini(wanted) => Box::new(Serial::new(GeminiParts::new(wanted), to.clone())),
    };
    let holds = voice.beats_in_silence();
    let mut body = match turn.is_read() {
        true => ReplyBody::running(sender, stream::heal(turn, open_answer, to, voice)),
        false => ReplyBody::running(sender, told::tell(turn, open_answer, to, voice)),
    };
    if holds && let Err(failure) = body.begin(PATIENCE).await {
        let error = WireError::upstream(failure.status, "upstream_error", failure.message);
        return Reply::error(&error);
    }
    Reply { status: StatusCode::OK, headers, body }
}
