//! The members of a message, whole or in pieces, as servers write them.

use std::borrow::Cow;

use callwright_json::{Kind, Value};

use super::document::string_of;

/// Returns the thought of a message, or of a piece of one: servers call it one of two names, and some send both.
pub(crate) fn reasoning(message: Value<'_>) -> Option<Cow<'_, str>> {
    string_of(message, "reasoning_content").or_else(|| string_of(message, "reasoning"))
}

/// Returns whether a message, or a piece of one, holds something besides words, thoughts and calls.
pub(crate) fn says_else(message: Value<'_>) -> bool {
    let says = |(key, value): (Value<'_>, Value<'_>)| {
        let is_empty = match value.kind() {
            Kind::Null => true,
            Kind::String => value.raw() == "\"\"",
            Kind::Array => value.elements().next().is_none(),
            Kind::Object => value.members().next().is_none(),
            _ => false,
        };
        match key.as_str().as_deref() {
            Some("role" | "tool_calls" | "function_call") => false,
            // OpenRouter and LiteLLM repeat the thought in parts.
            Some("reasoning_content" | "reasoning" | "reasoning_details" | "thinking_blocks") => false,
            Some("content") => value.elements().any(|part| part.get("text").is_none()),
            _ => !is_empty,
        }
    };
    message.members().any(says)
}

/// Returns the text of arguments. They are a JSON text; some servers send the object itself.
pub(crate) fn text_or_raw(value: Value<'_>) -> Cow<'_, str> {
    match value.kind() {
        Kind::Null => Cow::Borrowed(""),
        _ => value.as_str().unwrap_or(Cow::Borrowed(value.raw())),
    }
}

/// Returns a text, or the texts among the parts of a list: `[{"type": "text", "text": "…"}]`.
pub(crate) fn content(value: Value<'_>) -> Cow<'_, str> {
    match value.as_str() {
        Some(text) => text,
        None => Cow::Owned(value.elements().filter_map(|part| string_of(part, "text")).collect()),
    }
}
