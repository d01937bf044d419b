//! The APIs that clients may speak. A request of any of them comes to a chat request, which is what the turn knows; how its
//! answer is said is the matter of a voice in `deliver`.

pub(crate) mod conversation;
mod failure;
pub(crate) mod gemini;
pub(crate) mod messages;
pub(crate) mod ollama;
mod openapi;
pub(crate) mod responses;

use std::sync::Arc;

use http::HeaderMap;

use self::responses::kept::KeptResponses;

use crate::owner::Owner;
use crate::wire::{Document, WireError};

pub use failure::error_body;
pub(crate) use failure::{CONTEXT, Failure, MostTokens, messages_error, most_tokens};
pub use gemini::{GeminiAsk, GeminiForm};
pub use responses::ItemsWanted;

/// An API that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Surface {
    /// OpenAI's chat completions.
    #[default]
    Chat,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// Ollama's own chats.
    Ollama,
    /// Gemini's `generateContent`.
    Gemini,
}

impl Surface {
    /// All of them.
    pub const ALL: [Surface; 5] =
        [Surface::Chat, Surface::Messages, Surface::Responses, Surface::Ollama, Surface::Gemini];

    /// Its name in records, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Chat => "chat",
            Surface::Messages => "messages",
            Surface::Responses => "responses",
            Surface::Ollama => "ollama",
            Surface::Gemini => "gemini",
        }
    }

    /// Does what an upstream that speaks it says pass to its client, but for calls?
    pub(crate) fn has_lane(self) -> bool {
        matches!(self, Surface::Messages | Surface::Responses)
    }

    /// Where a model is asked in it, below a base URL; Ollama and Gemini are asked beside the one that ends in `/v1`, Gemini with
    /// the model and a verb behind the path: `/v1beta/models/gemini-2.5-pro:generateContent`.
    pub fn path(self) -> &'static str {
        match self {
            Surface::Chat => "/chat/completions",
            Surface::Messages => "/messages",
            Surface::Responses => "/responses",
            Surface::Ollama => "/api/chat",
            Surface::Gemini => "/v1beta/models",
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
    /// The request was one for a response.
    Responses(Box<responses::Wanted>),
    /// The request was one of Ollama's.
    Ollama(ollama::Wanted),
    /// The request was one of Gemini's.
    Gemini(gemini::Wanted),
}

impl Door {
    /// The content type of an answer: a stream of it, or a whole one.
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

/// A request of any API, as the chat request that it comes to.
#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) document: Document,
    pub(crate) door: Door,
    /// Tools that no chat server runs, by name: the model is not told of them.
    pub(crate) dropped: Vec<String>,
    /// How many items of its conversation have no place in a chat.
    pub(crate) dropped_items: usize,
    /// The only tools that may be called, where the request says so apart from `tool_choice`, and whether one must be.
    pub(crate) allowed: Option<(Vec<String>, bool)>,
    /// Tools whose arguments may be the bare text of their only member, `input`.
    pub(crate) bare_inputs: Vec<String>,
    /// The session that the client names in its request.
    pub(crate) session: Option<String>,
}

impl Translated {
    /// The chat request that a request of this API comes to. What is `kept` for its owner may be gone on from.
    ///
    /// # Errors
    /// What in the request cannot be used.
    pub(crate) fn of(
        surface: Surface,
        document: Document,
        beside: Beside<'_>,
        kept: &Arc<KeptResponses>,
    ) -> Result<Translated, WireError> {
        match surface {
            Surface::Chat => Ok(Translated::plain(document, Door::Chat)),
            Surface::Messages => messages::translated(document.root(), beside.headers),
            Surface::Responses => {
                responses::translated(document.root(), (beside.headers, beside.owner), kept)
            }
            Surface::Ollama => ollama::translated(document.root()),
            Surface::Gemini => gemini::translated(document.root(), beside.gemini),
        }
    }

    /// A chat request, with nothing beside it.
    fn plain(document: Document, door: Door) -> Translated {
        Translated {
            document,
            door,
            dropped: Vec::new(),
            dropped_items: 0,
            allowed: None,
            bare_inputs: Vec::new(),
            session: None,
        }
    }
}

/// How much is to be thought, in a word that servers of chats know.
fn chat_effort(effort: &str) -> &str {
    match effort {
        "xhigh" | "max" => "high",
        other => other,
    }
}

/// Up to so many tokens for thoughts are a low effort, and a medium one.
const LOW_BUDGET: u64 = 4096;
const MEDIUM_BUDGET: u64 = 16_384;

/// Returns the effort for a budget of tokens for thoughts.
fn budget_effort(budget: u64) -> &'static str {
    match budget {
        0..LOW_BUDGET => "low",
        LOW_BUDGET..MEDIUM_BUDGET => "medium",
        _ => "high",
    }
}

/// The error where nobody here runs any of a request's tools.
fn unsupported(names: &[String]) -> WireError {
    let message = format!("no upstream here runs these tools: {}", names.join(", "));
    WireError::bad_request(Some("tools"), "unsupported_tool", message)
}

/// So many bytes of a request make a token, about: the mean of English text and code in common tokenisers.
const BYTES_PER_TOKEN: f64 = 3.5;

/// About how many tokens a chat request has.
pub(crate) fn estimated_tokens(document: &Document) -> u64 {
    (document.text().len() as f64 / BYTES_PER_TOKEN).ceil() as u64
}
