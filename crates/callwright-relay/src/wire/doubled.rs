//! Members that stand twice in one object of an answer.
//!
//! JSON leaves open which of two equal members counts: this crate and the relay read the first, Python and JavaScript the last.
//! If such a member names or carries a call, or leads to one, the checked call would not be the client's.

use callwright_json::Value;

/// Returns the name of a member that an object of an answer, or of an event of one, has twice, in any spelling. Arguments are the
/// engine's to judge.
pub(crate) fn doubled(value: Value<'_>) -> Option<&'static str> {
    let mut seen = 0_u32;
    for (key, member) in value.members() {
        let name = key.as_str().and_then(|key| counts(&key));
        if let Some((at, name)) = name {
            if seen & (1 << at) != 0 {
                return Some(name);
            }
            seen |= 1 << at;
            if matches!(name, "arguments" | "input") {
                continue;
            }
        }
        // No JSON text is nested deeper than `callwright_json::MAX_DEPTH`.
        if let Some(name) = doubled(member) {
            return Some(name);
        }
    }
    value.elements().find_map(doubled)
}

/// Returns the members that name or carry a call, or the model's words, and those around them.
fn counts(key: &str) -> Option<(usize, &'static str)> {
    const NAMES: [&str; 26] = [
        "id",
        "name",
        "type",
        "text",
        "item",
        "index",
        "delta",
        "input",
        "action",
        "output",
        "status",
        "call_id",
        "choices",
        "content",
        "message",
        "function",
        "response",
        "arguments",
        "namespace",
        "operation",
        "tool_calls",
        "output_index",
        "partial_json",
        "content_block",
        "finish_reason",
        "function_call",
    ];
    let at = NAMES.iter().position(|name| *name == key)?;
    Some((at, NAMES[at]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Document;

    fn of(text: &str) -> Option<&'static str> {
        doubled(Document::of(String::from(text)).unwrap().root())
    }

    #[test]
    fn what_carries_a_call_stands_once() {
        for (text, name) in [
            (r#"{"choices": [], "choices": []}"#, Some("choices")),
            (r#"{"choices": [{"message": {"tool_calls": [], "tool_\u0063alls": []}}]}"#, Some("tool_calls")),
            (r#"{"a": [{"function": {"name": "f", "name": "f"}}]}"#, Some("name")),
            // Of another object, of nobody's, and of the model's own.
            (r#"{"id": 1, "item": {"id": 1}}"#, None),
            (r#"{"vendor": 1, "vendor": 2}"#, None),
            (r#"{"content": [{"type": "tool_use", "input": {"id": 1, "id": 2}}]}"#, None),
        ] {
            assert_eq!(of(text), name, "{text}");
        }
    }
}
