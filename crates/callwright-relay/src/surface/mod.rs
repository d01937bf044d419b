//! The APIs that clients may speak. A request of any of them comes to a chat request, which is what the turn knows; how its
//! answer is said is the matter of a voice in `deliver`.

mod conversation;
mod failure;
pub(crate) mod messages;

use http::HeaderMap;

use crate::wire::{Document, WireError};

pub use failure::error_body;
pub(crate) use failure::{Failure, messages_error};

/// An API that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Surface {
    /// OpenAI's chat completions.
    #[default]
    Chat,
    /// Anthropic's messages.
    Messages,
}

impl Surface {
    /// All of them.
    pub const ALL: [Surface; 2] = [Surface::Chat, Surface::Messages];

    /// Its name in records, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Chat => "chat",
            Surface::Messages => "messages",
        }
    }
}

/// What an answer has to know of a request that the chat request does not say.
#[derive(Clone, Debug)]
pub(crate) enum Door {
    /// The request is a chat request.
    Chat,
    /// The request was one for messages.
    Messages(messages::Wanted),
}

/// A request of any API, as the chat request that it comes to.
#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) document: Document,
    pub(crate) door: Door,
    /// Tools that no chat server runs, by name: the model is not told of them.
    pub(crate) dropped: Vec<String>,
    /// The session that the client names in its request.
    pub(crate) session: Option<String>,
}

impl Translated {
    /// The chat request that a request of this API comes to.
    ///
    /// # Errors
    /// What in the request cannot be used.
    pub(crate) fn of(
        surface: Surface,
        document: Document,
        headers: &HeaderMap,
    ) -> Result<Translated, WireError> {
        match surface {
            Surface::Chat => {
                Ok(Translated { document, door: Door::Chat, dropped: Vec::new(), session: None })
            }
            Surface::Messages => messages::translated(document.root(), headers),
        }
    }
}

/// So many bytes of a request make a token, about: the mean of English text and code in common tokenisers.
const BYTES_PER_TOKEN: f64 = 3.5;

/// About how many tokens a chat request has.
pub(crate) fn estimated_tokens(document: &Document) -> u64 {
    (document.text().len() as f64 / BYTES_PER_TOKEN).ceil() as u64
}
