//! The software of an upstream, told by what it answers.

use serde::{Deserialize, Serialize};

use crate::config::Constrain;

/// Which server an upstream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Server {
    LlamaCpp,
    Ollama,
    Vllm,
    Sglang,
    LmStudio,
    LiteLlm,
    /// One whose list of models says what they can do.
    Lists,
    /// One that tells nothing of its models.
    Silent,
}

impl Server {
    /// Does it say of each model by its name, and nowhere of all, what it can do?
    pub(super) fn is_asked_by_name(self) -> bool {
        match self {
            Server::LlamaCpp | Server::Ollama => true,
            Server::Vllm
            | Server::Sglang
            | Server::LmStudio
            | Server::LiteLlm
            | Server::Lists
            | Server::Silent => false,
        }
    }

    /// Its name, where it is one that refuses tools in words, or makes calls of them, whatever the model.
    pub(super) fn refuses_in_words(self) -> Option<&'static str> {
        match self {
            Server::LlamaCpp => Some("llama.cpp"),
            Server::Ollama => Some("Ollama"),
            Server::Vllm => Some("vLLM"),
            Server::Sglang => Some("SGLang"),
            Server::LmStudio => Some("LM Studio"),
            Server::LiteLlm | Server::Lists | Server::Silent => None,
        }
    }

    /// Its name, where it holds a tool of any schema to that, if the tool says `strict`.
    pub(super) fn takes_strict(self) -> Option<&'static str> {
        match self {
            Server::Vllm => Some("vLLM"),
            Server::Sglang => Some("SGLang"),
            Server::LlamaCpp
            | Server::Ollama
            | Server::LmStudio
            | Server::LiteLlm
            | Server::Lists
            | Server::Silent => None,
        }
    }

    /// The same server among those that read calls by flags.
    pub(super) fn by_flags(self) -> Option<callwright_template::Server> {
        match self {
            Server::LlamaCpp => Some(callwright_template::Server::LlamaCpp),
            Server::Vllm => Some(callwright_template::Server::Vllm),
            Server::Sglang => Some(callwright_template::Server::Sglang),
            Server::Ollama | Server::LmStudio | Server::LiteLlm | Server::Lists | Server::Silent => None,
        }
    }

    /// How it can constrain any model, and its name.
    pub(super) fn constrain(self) -> Option<(Constrain, &'static str)> {
        let name = self.refuses_in_words()?;
        Some((if self == Server::LlamaCpp { Constrain::Grammar } else { Constrain::JsonSchema }, name))
    }
}
