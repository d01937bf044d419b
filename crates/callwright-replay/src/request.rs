//! A request, as far as a script can depend on it. A body that is not JSON asks for nothing.

use std::sync::OnceLock;

use callwright_value::Value;

use crate::api::Api;
use crate::conversation::Conversation;

/// A request for a completion.
pub(crate) struct Request<'a> {
    pub(crate) path: &'a str,
    /// Its number among the requests for a completion, counted from 1.
    pub(crate) nth: usize,
    pub(crate) bytes: &'a [u8],
    json: Value,
    conversation: OnceLock<Conversation>,
}

impl<'a> Request<'a> {
    pub(crate) fn new(path: &'a str, nth: usize, bytes: &'a [u8]) -> Request<'a> {
        let json = serde_json::from_slice(bytes).unwrap_or_default();
        Request { path, nth, bytes, json, conversation: OnceLock::new() }
    }

    /// The API that it is one of.
    pub(crate) fn api(&self) -> Option<Api> {
        Api::of(self.path)
    }

    pub(crate) fn model(&self) -> &str {
        self.json["model"].as_str().unwrap_or("replay")
    }

    pub(crate) fn wants_stream(&self) -> bool {
        match self.api() {
            // It streams where nothing is said.
            Some(Api::Ollama) => self.json["stream"] != Value::Bool(false),
            Some(Api::Chat | Api::Messages | Api::Responses) | None => {
                self.json["stream"] == Value::Bool(true)
            }
        }
    }

    pub(crate) fn wants_usage(&self) -> bool {
        self.json["stream_options"]["include_usage"] == Value::Bool(true)
    }

    /// The most tokens that the answer may have.
    pub(crate) fn bound(&self) -> Option<usize> {
        let keys = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
        let bound = keys.iter().find_map(|key| self.json[*key].as_u64());
        bound.or_else(|| self.json["options"]["num_predict"].as_u64()).and_then(|n| usize::try_from(n).ok())
    }

    /// Returns whether it has this field, and something in it.
    pub(crate) fn has(&self, field: &str) -> bool {
        !self.json[field].is_null()
    }

    pub(crate) fn body(&self) -> &Value {
        &self.json
    }

    /// The state of the conversation. Few scripts ask.
    pub(crate) fn conversation(&self) -> &Conversation {
        self.conversation.get_or_init(|| Conversation::of(&self.json))
    }

    pub(crate) fn last_message(&self) -> Option<&Value> {
        let said = ["messages", "input"].into_iter().find_map(|key| self.json[key].as_array());
        said.and_then(|messages| messages.last())
    }

    /// Who said it. What a tool says is a block in the words of a user to some APIs, and an item without a role to others.
    pub(crate) fn last_role(&self) -> Option<&str> {
        let last = self.last_message()?;
        let is_result = |block: &Value| {
            block["type"].as_str().is_some_and(|kind| kind == "tool_result" || kind.ends_with("_output"))
        };
        let blocks = last["content"].as_array().into_iter().flatten();
        match is_result(last) || blocks.into_iter().any(is_result) {
            true => Some("tool"),
            false => last["role"].as_str(),
        }
    }
}
