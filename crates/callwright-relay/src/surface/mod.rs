//! The APIs that clients may speak. Each translates its requests into chat requests, the only form that the turn knows. A voice
//! in `deliver` says the answer.

pub(crate) mod conversation;
mod effort;
mod error;
mod failure;
pub(crate) mod gemini;
pub(crate) mod messages;
pub(crate) mod ollama;
mod openapi;
pub(crate) mod responses;
mod translated;

use std::sync::Arc;

use http::HeaderMap;

use self::responses::kept::KeptResponses;
use crate::api::Surface;
use crate::owner::Owner;
use crate::wire::{Document, WireError};

pub use error::error_body;
pub(crate) use failure::{CONTEXT, Failure, MostTokens, messages_error, most_tokens};
pub use gemini::{GeminiAsk, GeminiForm};
pub use responses::ItemsWanted;
pub(crate) use translated::Translated;

/// The parts of a request that its answer needs, and that the chat request lacks.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    /// The request is a chat request.
    Chat,
    /// The request was one for messages.
    Messages(messages::Wanted),
    /// The request was one for a response.
    Responses(Box<responses::Wanted>),
    /// The request was one of Ollama's.
    Ollama(ollama::Wanted),
    /// The request was one of Gemini's.
    Gemini(gemini::Wanted),
}

impl Door {
    /// Returns the content type of an answer: a stream of it, or a whole one.
    pub(crate) fn content_type(&self, is_stream: bool) -> &'static str {
        match self {
            _ if !is_stream => "application/json",
            Door::Gemini(wanted) if wanted.form != GeminiForm::Events => "application/json",
            Door::Chat | Door::Messages(_) | Door::Responses(_) | Door::Gemini(_) => "text/event-stream",
            Door::Ollama(_) => "application/x-ndjson",
        }
    }

    /// Returns whether its API has no form for a part of a call.
    pub(crate) fn holds_calls(&self) -> bool {
        match self {
            Door::Ollama(_) | Door::Gemini(_) => true,
            Door::Chat | Door::Messages(_) | Door::Responses(_) => false,
        }
    }
}

/// The parts of a request beside its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside<'r> {
    pub(crate) headers: &'r HeaderMap,
    pub(crate) owner: &'r Owner,
    pub(crate) gemini: Option<&'r GeminiAsk>,
}

impl Translated<Door> {
    /// Returns the chat request of a request of this API. It may go on from a response that is `kept` for its owner.
    ///
    /// # Errors
    /// The request cannot be used.
    pub(crate) fn of(
        surface: Surface,
        document: Document,
        beside: Beside<'_>,
        kept: &Arc<KeptResponses>,
    ) -> Result<Translated<Door>, WireError> {
        Ok(match surface {
            Surface::Chat => Translated::plain(document, Door::Chat),
            Surface::Messages => {
                messages::translated(document.root(), beside.headers)?.with_door(Door::Messages)
            }
            Surface::Responses => {
                let asked = (beside.headers, beside.owner);
                responses::translated(document.root(), asked, kept)?
                    .with_door(Box::new)
                    .with_door(Door::Responses)
            }
            Surface::Ollama => ollama::translated(document.root())?.with_door(Door::Ollama),
            Surface::Gemini => gemini::translated(document.root(), beside.gemini)?.with_door(Door::Gemini),
        })
    }
}
