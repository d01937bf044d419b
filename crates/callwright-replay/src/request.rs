//! What a request asks for, as far as a script can depend on it. A body that is no JSON asks for nothing.

use std::sync::OnceLock;

use callwright::value::Value;

use crate::conversation::Conversation;

/// A request for a completion.
pub(crate) struct Request<'a> {
    pub(crate) path: &'a str,
    /// Which request for a completion it is, counted from 1.
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

    pub(crate) fn is_chat(&self) -> bool {
        is_chat(self.path)
    }

    pub(crate) fn model(&self) -> &str {
        self.json["model"].as_str().unwrap_or("replay")
    }

    pub(crate) fn wants_stream(&self) -> bool {
        self.json["stream"] == Value::Bool(true)
    }

    pub(crate) fn wants_usage(&self) -> bool {
        self.json["stream_options"]["include_usage"] == Value::Bool(true)
    }

    /// Does it have this field, and something in it?
    pub(crate) fn has(&self, field: &str) -> bool {
        !self.json[field].is_null()
    }

    pub(crate) fn body(&self) -> &Value {
        &self.json
    }

    /// What the conversation has come to. Few scripts ask.
    pub(crate) fn conversation(&self) -> &Conversation {
        self.conversation.get_or_init(|| Conversation::of(&self.json))
    }

    pub(crate) fn last_message(&self) -> Option<&Value> {
        self.json["messages"].as_array().and_then(|messages| messages.last())
    }
}

/// Is it the path of chat completions, whatever stands before it?
pub(crate) fn is_chat(path: &str) -> bool {
    path.ends_with("/chat/completions")
}
