//! Why there is no answer that could be read.

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
    /// Nothing came, or nothing that can be used.
    Error(WireError),
    /// The upstream's own error, which the client gets as it is.
    Upstream(StatusCode, HeaderMap, Bytes),
}

impl NoAnswer {
    /// Nobody was left to be asked.
    pub(crate) fn nobody() -> NoAnswer {
        let message = String::from("no upstream answered");
        NoAnswer::Error(WireError::upstream(StatusCode::BAD_GATEWAY, "no_answer", message))
    }

    /// Could another upstream of the model still answer?
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

    /// Does the upstream not know the path that it was asked at?
    pub(crate) fn is_unknown_path(&self) -> bool {
        let (NoAnswer::Error(WireError { status, .. }) | NoAnswer::Upstream(status, ..)) = self;
        matches!(*status, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED)
    }

    /// Adds what may help to a sentence of ours. What the upstream says itself stays as it is.
    pub(crate) fn advise(&mut self, advice: &str) {
        match self {
            NoAnswer::Error(error) => error.message.push_str(advice),
            NoAnswer::Upstream(..) => {}
        }
    }

    /// What went wrong, in a line for the log.
    pub(crate) fn sentence(&self) -> String {
        match self {
            NoAnswer::Error(error) => error.message.clone(),
            NoAnswer::Upstream(status, _, body) => format!("{status}: {}", error_line(body)),
        }
    }

    /// What the client gets.
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

/// No answer came, or one that cannot be used.
pub(crate) fn unreachable(error: &crate::upstream::UpstreamError) -> WireError {
    use crate::upstream::Failure;
    let status = match error.failure {
        Failure::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    WireError::upstream(status, "upstream_unavailable", error.to_string())
}

/// The first line of an error's body, for the log.
pub(crate) fn error_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2048)]);
    text.lines().next().unwrap_or("").chars().take(300).collect()
}
