//! The APIs that clients and upstreams speak, and the path of each.

use serde::Deserialize;

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

/// The bound that a request of the API of messages gets where the client sets none: the API demands one, and each of its models
/// takes this one.
pub(crate) const MESSAGES_TOKENS: u64 = 8192;

/// An API that an upstream speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpstreamKind {
    /// OpenAI's chat completions.
    #[default]
    Chat,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// Ollama's own chats, `/api/chat`.
    Ollama,
}

impl UpstreamKind {
    /// Its name in the configuration and in logs.
    pub fn name(self) -> &'static str {
        match self {
            UpstreamKind::Chat => Surface::Chat.name(),
            UpstreamKind::Messages => Surface::Messages.name(),
            UpstreamKind::Responses => Surface::Responses.name(),
            UpstreamKind::Ollama => Surface::Ollama.name(),
        }
    }

    /// Returns the bound on an answer's tokens that a request without one gets, where the API demands a bound.
    pub(crate) fn usual_most_tokens(self) -> Option<u64> {
        match self {
            UpstreamKind::Messages => Some(MESSAGES_TOKENS),
            UpstreamKind::Chat | UpstreamKind::Responses | UpstreamKind::Ollama => None,
        }
    }
}

impl From<Surface> for UpstreamKind {
    /// That of an upstream that speaks what clients of this API do. None speaks Gemini's: it is asked in chats.
    fn from(surface: Surface) -> UpstreamKind {
        match surface {
            Surface::Chat | Surface::Gemini => UpstreamKind::Chat,
            Surface::Messages => UpstreamKind::Messages,
            Surface::Responses => UpstreamKind::Responses,
            Surface::Ollama => UpstreamKind::Ollama,
        }
    }
}
