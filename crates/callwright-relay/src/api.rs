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
    /// All surfaces.
    pub const ALL: [Surface; 5] =
        [Surface::Chat, Surface::Messages, Surface::Responses, Surface::Ollama, Surface::Gemini];

    /// Returns its name in records, logs and metrics.
    pub fn name(self) -> &'static str {
        match self {
            Surface::Chat => "chat",
            Surface::Messages => "messages",
            Surface::Responses => "responses",
            Surface::Ollama => "ollama",
            Surface::Gemini => "gemini",
        }
    }

    /// Returns whether the words of an upstream that speaks it pass to the client unchanged, but for calls.
    pub(crate) fn has_lane(self) -> bool {
        matches!(self, Surface::Messages | Surface::Responses)
    }

    /// Returns the path, below a base URL, at which a model is asked. Ollama and Gemini are asked beside the base URL that ends
    /// in `/v1`. Gemini has the model and a verb behind the path: `/v1beta/models/gemini-2.5-pro:generateContent`.
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
    /// Returns its name in the configuration and in logs.
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
    /// Returns the kind of an upstream that speaks the API of such clients. No upstream speaks Gemini's: it is asked in chats.
    fn from(surface: Surface) -> UpstreamKind {
        match surface {
            Surface::Chat | Surface::Gemini => UpstreamKind::Chat,
            Surface::Messages => UpstreamKind::Messages,
            Surface::Responses => UpstreamKind::Responses,
            Surface::Ollama => UpstreamKind::Ollama,
        }
    }
}
