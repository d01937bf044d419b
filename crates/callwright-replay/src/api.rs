//! The APIs that the server speaks, and which of them a request is one of.

use serde::Deserialize;

/// An API that a model is asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// OpenAI's chat completions.
    Chat,
    /// Anthropic's messages.
    Messages,
    /// OpenAI's responses.
    Responses,
    /// Ollama's own chats.
    Ollama,
}

impl Api {
    /// All of them.
    pub const ALL: [Api; 4] = [Api::Chat, Api::Messages, Api::Responses, Api::Ollama];

    /// The API of this path, whatever stands before it.
    pub(crate) fn of(path: &str) -> Option<Api> {
        Api::ALL.into_iter().find(|api| path.ends_with(api.path()))
    }

    fn path(self) -> &'static str {
        match self {
            Api::Chat => "/chat/completions",
            Api::Messages => "/messages",
            Api::Responses => "/responses",
            Api::Ollama => "/api/chat",
        }
    }
}
