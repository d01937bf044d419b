//! Passes requests on that the relay does not read.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

use crate::api::Surface;
use crate::relay::{Relay, SMALL};
use crate::reply::{BodySender, Reply, ReplyBody};
use crate::upstream::{Candidate, Response, Secrets, Tail};
use crate::wire::{Document, WireError, string_of};

impl Relay {
    /// Passes another request on as it is: `GET /models`, `POST /embeddings`. `path` follows the base URL.
    pub async fn pass(
        self: &Arc<Relay>,
        method: Method,
        path: &str,
        body: Bytes,
        headers: &HeaderMap,
    ) -> Reply {
        let route = self.upstreams.route(&self.model_in(&body).await);
        // What belongs to an API is for whoever speaks it.
        let kind = [Surface::Messages, Surface::Responses].into_iter().find(|it| path.starts_with(it.path()));
        let speaks = |candidate: &Candidate| kind.is_none_or(|kind| candidate.kind == kind.into());
        let at = route.candidates.iter().position(speaks).unwrap_or_default();
        let Some(candidate) = route.candidates.into_iter().nth(at) else {
            let message = String::from("no upstream serves this request");
            return Reply::error(&WireError::bad_request(Some("model"), "model_not_found", message));
        };
        match candidate.upstream.pass(method, path, body, headers).await {
            Ok(response) => passed(response, Arc::clone(candidate.upstream.secrets())),
            Err(error) => Reply::error(&WireError::upstream(
                StatusCode::BAD_GATEWAY,
                "upstream_unavailable",
                error.to_string(),
            )),
        }
    }

    /// Returns the model that a body names, or an empty text.
    pub(crate) async fn model_in(&self, body: &Bytes) -> String {
        let asked = body.clone();
        let document = self.readers.run(asked.len() <= SMALL, |_| Document::parse(asked)).await;
        let named = document
            .ok()
            .and_then(|document| string_of(document.root(), "model").map(|model| model.into_owned()));
        named.unwrap_or_default()
    }
}

/// Makes a reply that passes an answer on piece by piece, as it is.
pub(crate) fn passed(response: Response, secrets: Arc<Secrets>) -> Reply {
    let Response { status, headers, mut body } = response;
    let sender = BodySender::default();
    let to = sender.clone();
    let work = async move {
        let mut tail = Tail::default();
        while let Some(piece) = body.next().await {
            let Ok(piece) = piece else { return to.breaks() };
            let hidden = if secrets.is_empty() { None } else { tail.push(&secrets, &piece) };
            to.write(hidden.as_deref().unwrap_or(&piece));
            to.room().await;
        }
        to.write(&tail.rest(&secrets));
    };
    Reply { status, headers, body: ReplyBody::running(sender, work) }
}
