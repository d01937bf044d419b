//! The requests of Ollama's API besides chats. An upstream that is an Ollama answers them itself.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use crate::api::Surface;
use crate::pass::passed;
use crate::relay::Relay;
use crate::reply::Reply;
use crate::surface::ollama;
use crate::wire::{Document, WireError};

/// The most bytes of a request that only has a model loaded: it has a name and a time.
const LONGEST_LOAD: usize = 4 << 10;

impl Relay {
    /// Passes a request on to the upstream of its model, if that is an Ollama. `path` begins with `/api/`.
    pub async fn pass_to_ollama(
        self: &Arc<Relay>,
        method: Method,
        path: &str,
        body: Bytes,
        headers: &HeaderMap,
    ) -> Option<Reply> {
        let model = self.model_in(&body).await;
        let first = self.upstreams().route(&model).candidates.into_iter().next()?;
        let candidate = self.capabilities().is_ollama(&first).then_some(first)?;
        Some(match candidate.upstream.pass_beside(method, path, body, headers).await {
            Ok(response) => passed(response, Arc::clone(candidate.upstream.secrets())),
            Err(error) => {
                let why = error.to_string();
                let error = WireError::upstream(StatusCode::BAD_GATEWAY, "upstream_unavailable", why);
                Reply::error(&error).error_of(Surface::Ollama, "")
            }
        })
    }

    /// Answers `POST /api/generate` for an upstream of another kind. Its models need no loading, and the API has no other such
    /// request.
    pub fn generated(&self, body: Bytes) -> Reply {
        loaded(body, "response").unwrap_or_else(|| {
            let message = "the upstream of this model has no /api/generate: ask it with /api/chat";
            Reply::json(StatusCode::NOT_FOUND, ollama::error(message))
        })
    }

    /// Answers a chat of Ollama's that only has its model loaded. None for any other request.
    pub(crate) async fn loaded(self: &Arc<Relay>, body: Bytes, headers: &HeaderMap) -> Option<Reply> {
        let reply = loaded(body.clone(), "message")?;
        let passed = self.pass_to_ollama(Method::POST, Surface::Ollama.path(), body, headers).await;
        Some(passed.unwrap_or(reply))
    }
}

fn loaded(body: Bytes, answer: &'static str) -> Option<Reply> {
    let document = (body.len() <= LONGEST_LOAD).then(|| Document::parse(body).ok()).flatten()?;
    ollama::loaded(document.root(), answer).map(|text| Reply::json(StatusCode::OK, text))
}
