//! Whoever asks, and for what: the API of a request, its id, and whether it asks for a turn.

use callwright_relay::Surface;
use http::Request;

use crate::gemini::path::{Verb, verb};
use crate::path::below_v1;

/// A request that goes past the routes: nearly all do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A turn of a model.
    Turn(Surface),
    /// The number of tokens that the prompt of one would have.
    Count(Surface),
}

impl Asked {
    /// Reads the path of a `POST`.
    pub(crate) fn of(path: &str) -> Option<Asked> {
        match verb(path) {
            Some(Verb::Generate | Verb::Stream) => return Some(Asked::Turn(Surface::Gemini)),
            Some(Verb::Count) => return Some(Asked::Count(Surface::Gemini)),
            None => {}
        }
        match below_v1(path).trim_end_matches('/') {
            "/chat/completions" => Some(Asked::Turn(Surface::Chat)),
            "/messages" => Some(Asked::Turn(Surface::Messages)),
            "/messages/count_tokens" => Some(Asked::Count(Surface::Messages)),
            "/responses" => Some(Asked::Turn(Surface::Responses)),
            "/responses/input_tokens" => Some(Asked::Count(Surface::Responses)),
            path if path == Surface::Ollama.path() => Some(Asked::Turn(Surface::Ollama)),
            _ => None,
        }
    }
}

/// Whoever asks: the API of the request, and its id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asker {
    pub(crate) surface: Surface,
    /// The request's id.
    pub(crate) id: String,
}

impl Asker {
    /// Returns whoever asks with this request.
    pub(crate) fn of<B>(request: &Request<B>) -> Asker {
        request.extensions().get().cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_may_be_missing_or_be_there_twice() {
        for (path, is) in [
            ("/chat/completions", true),
            ("/v1/chat/completions", true),
            ("/v1/v1/chat/completions", true),
            ("/v1/chat/completions/", true),
            ("/v1beta/chat/completions", false),
            ("/v1/chat", false),
            ("/chat/completions/x", false),
        ] {
            assert_eq!(Asked::of(path) == Some(Asked::Turn(Surface::Chat)), is, "{path}");
        }
    }
}
