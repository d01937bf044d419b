//! The software of an upstream, told by its answers.

use serde::{Deserialize, Serialize};

use crate::config::Constrain;

/// The server of an upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Server {
    LlamaCpp,
    Ollama,
    Vllm,
    Sglang,
    LmStudio,
    LiteLlm,
    /// A server whose list of models tells their abilities.
    Lists,
    /// A server that tells nothing of its models.
    Silent,
}

impl Server {
    /// Returns whether it describes each model by its name, and nowhere all of them.
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

    /// Returns its name if it refuses tools in words, or makes calls of them, for any model.
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

    /// Returns its name if it enforces any schema for a `strict` tool.
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

    /// Returns the same server among those that read calls by flags.
    pub(super) fn by_flags(self) -> Option<callwright_template::Server> {
        match self {
            Server::LlamaCpp => Some(callwright_template::Server::LlamaCpp),
            Server::Vllm => Some(callwright_template::Server::Vllm),
            Server::Sglang => Some(callwright_template::Server::Sglang),
            Server::Ollama | Server::LmStudio | Server::LiteLlm | Server::Lists | Server::Silent => None,
        }
    }

    /// Returns the constraint that it supports for any model, and its name.
    pub(super) fn constrain(self) -> Option<(Constrain, &'static str)> {
        let name = self.refuses_in_words()?;
        Some((if self == Server::LlamaCpp { Constrain::Grammar } else { Constrain::JsonSchema }, name))
    }
}
