//! The APIs that upstreams speak, and where a model is asked in each.

use serde::Deserialize;

use crate::surface::Surface;

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
