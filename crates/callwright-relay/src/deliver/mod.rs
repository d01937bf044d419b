//! Answers on their way to the client: whole, streamed, or passed through as they come.
//!
//! Prose goes on at once, calls when they are certain, and nothing is ever taken back.

mod whole;
mod stream;
mod sink;
mod passthrough;
mod pulse;
mod events;
mod sse;

use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::reply::{BodySender, Reply, ReplyBody};
use crate::report;
use crate::turn::{AnswerSource, OpenAnswer, Turn};

pub(crate) use events::{Events, is_error};

/// The answer to a request. Where the client wants a stream, it is one as it comes if the upstream streams, too.
pub(crate) async fn reply(turn: Box<Turn>, open_answer: OpenAnswer) -> Reply {
    match turn.ask.stream && open_answer.is_stream() {
        true => streamed(turn, open_answer),
        false => whole::reply(turn, open_answer).await,
    }
}

/// The answer to a request that wants a stream, from an upstream that streams.
fn streamed(turn: Box<Turn>, open_answer: OpenAnswer) -> Reply {
    let mut headers = match &open_answer.source {
        AnswerSource::Upstream(answer) => answer.headers.clone(),
        AnswerSource::Recovered(_) => HeaderMap::new(),
    };
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    report::head(turn.log.record(), &mut headers);
    let sender = BodySender::default();
    let to = sender.clone();
    let body = match turn.is_read() {
        true => ReplyBody::running(sender, stream::heal(turn, open_answer, to)),
        false => ReplyBody::running(sender, passthrough::pass(turn, open_answer, to)),
    };
    Reply { status: StatusCode::OK, headers, body }
}
