//! The reasons for which no readable answer came.

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use crate::log::Log;
use crate::record::TurnEnd;
use crate::reply::{Reply, ReplyBody};
use crate::wire::WireError;

/// The code of an error about the key that an upstream wants.
pub(crate) const KEY: &str = "upstream_key";

/// No answer that could be read.
pub(crate) enum NoAnswer {
    /// No answer came, or no usable one.
    Error(WireError),
    /// The upstream's own error, which the client gets as it is.
    Upstream(StatusCode, HeaderMap, Bytes),
}

impl NoAnswer {
    /// Makes the error of a question without anyone left to ask.
    pub(crate) fn nobody() -> NoAnswer {
        let message = String::from("no upstream answered");
        NoAnswer::Error(WireError::upstream(StatusCode::BAD_GATEWAY, "no_answer", message))
    }

    /// Returns whether another upstream of the model could still answer.
    pub(crate) fn is_worth_another_upstream(&self) -> bool {
        match self {
            NoAnswer::Error(error) => {
                let is_final = matches!(error.status, StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED);
                !is_final && error.code != KEY
            }
            NoAnswer::Upstream(status, ..) => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
        }
    }

    /// Returns whether the upstream does not know the path of the question.
    pub(crate) fn is_unknown_path(&self) -> bool {
        let (NoAnswer::Error(WireError { status, .. }) | NoAnswer::Upstream(status, ..)) = self;
        matches!(*status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
    }

    /// Adds advice to a sentence of ours. The upstream's own words stay as they are.
    pub(crate) fn advise(&mut self, advice: &str) {
        match self {
            NoAnswer::Error(error) => error.message.push_str(advice),
            NoAnswer::Upstream(..) => {}
        }
    }

    /// Returns the error in a line for the log.
    pub(crate) fn sentence(&self) -> String {
        match self {
            NoAnswer::Error(error) => error.message.clone(),
            NoAnswer::Upstream(status, _, body) => format!("{status}: {}", error_line(body)),
        }
    }

    /// Returns the client's reply.
    pub(crate) fn reply(self, log: &mut Log) -> Reply {
        match self {
            NoAnswer::Error(error) => {
                log.fault(&error.message);
                log.end(TurnEnd::UpstreamError, error.status.as_u16());
                Reply::error(&error)
            }
            NoAnswer::Upstream(status, headers, body) => {
                log.end(TurnEnd::UpstreamError, status.as_u16());
                Reply { status, headers, body: ReplyBody::whole(body) }
            }
        }
    }
}

/// Makes the error of an answer that did not come, or cannot be used.
pub(crate) fn unreachable(error: &crate::upstream::UpstreamError) -> WireError {
    use crate::upstream::Failure;
    let status = match error.failure {
        Failure::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    WireError::upstream(status, "upstream_unavailable", error.to_string())
}

/// Returns the first line of an error's body, for the log.
pub(crate) fn error_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2048)]);
    text.lines().next().unwrap_or("").chars().take(300).collect()
}
