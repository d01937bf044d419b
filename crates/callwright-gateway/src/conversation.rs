//! What a request tells of its conversation: which one it is, what was said before, what is new.
//!
//! A request holds the whole conversation so far. New is what stands behind the model's last turn; before that are
//! turns that were kept when they happened, if this server saw them.

use callwright::json;
use callwright::value::Value;
use callwright_store::{NewNode, NodeKind, SessionRef};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// A request's conversation.
#[derive(Default)]
pub(crate) struct Conversation {
    /// All up to the model's last turn, that turn included.
    pub(crate) before: Vec<NewNode>,
    /// What was said since.
    pub(crate) new: Vec<NewNode>,
    /// The user's first message.
    first: String,
}

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    messages: Vec<Value>,
}

impl Conversation {
    /// Of a request's body; of what is none, nothing.
    pub(crate) fn of(body: &[u8]) -> Conversation {
        let Ok(Request { messages }) = serde_json::from_slice(body) else { return Conversation::default() };
        let role =
            |message: &Value| message.get("role").and_then(Value::as_str).unwrap_or_default().to_owned();
        let first = messages.iter().find(|message| role(message) == "user").map(text).unwrap_or_default();
        let n_before =
            messages.iter().rposition(|message| role(message) == "assistant").map_or(0, |at| at + 1);
        let mut before: Vec<NewNode> = messages.iter().map(|message| node(&role(message), message)).collect();
        let new = before.split_off(n_before);
        Conversation { before, new, first }
    }

    /// The session: the one that the client names, or else the one that begins as this does.
    ///
    /// It is known by the user's first message alone: system messages hold the time of day, models and tools change.
    pub(crate) fn session(&self, named: Option<&str>, request: &str) -> SessionRef {
        if let Some(name) = named {
            return SessionRef::Named(name.trim().to_owned());
        }
        let digest: [u8; 32] = Sha256::digest(self.first.as_bytes()).into();
        let fingerprint = digest[..12].iter().map(|byte| format!("{byte:02x}")).collect();
        SessionRef::Conversation { fingerprint, begins: self.before.is_empty(), name: request.to_owned() }
    }

    /// The user's first words.
    pub(crate) fn title(&self) -> String {
        self.first.clone()
    }
}

fn node(role: &str, message: &Value) -> NewNode {
    let kind = match role {
        "system" | "developer" => NodeKind::System,
        "assistant" => NodeKind::Assistant,
        "tool" | "function" => NodeKind::ToolResult,
        _ => NodeKind::User,
    };
    let mut payload = json!({"text": text(message)});
    if let Some(calls) = message.get("tool_calls") {
        payload["tool_calls"] = calls.clone();
    }
    let text_of = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut node = NewNode::new(kind, payload);
    node.call = text_of("tool_call_id");
    node.name = text_of("name");
    node
}

/// The text of a message: a string, or the texts among its parts.
fn text(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(messages: Value) -> Conversation {
        Conversation::of(json!({"model": "m", "messages": messages}).to_string().as_bytes())
    }

    fn kinds(nodes: &[NewNode]) -> Vec<&str> {
        nodes.iter().map(|node| node.kind.name()).collect()
    }

    #[test]
    fn new_is_what_stands_behind_the_last_turn_of_the_model() {
        let (system, user) =
            (json!({"role": "system", "content": "At 10:00."}), json!({"role": "user", "content": "Hi."}));
        let begun = of(json!([system, user]));
        assert_eq!((kinds(&begun.before), kinds(&begun.new)), (vec![], vec!["system", "user"]));
        assert_eq!(begun.title(), "Hi.");

        let later = of(json!([
            {"role": "system", "content": "At 10:01."},
            {"role": "user", "content": [{"type": "text", "text": "Hi."}, {"type": "image_url"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1"}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "1"},
            {"role": "user", "content": "Go on."},
        ]));
        assert_eq!(kinds(&later.before), ["system", "user", "assistant"]);
        assert_eq!(kinds(&later.new), ["tool_result", "user"]);
        assert_eq!(later.new[0].call.as_deref(), Some("call_1"));
        let parts = |conversation: &Conversation| match conversation.session(None, "r") {
            SessionRef::Conversation { fingerprint, begins, .. } => (fingerprint, begins),
            SessionRef::Named(name) => panic!("{name}"),
        };
        assert_eq!(parts(&begun).0, parts(&later).0);
        assert!(parts(&begun).1 && !parts(&later).1);
        assert_ne!(parts(&begun).0, parts(&of(json!([{"role": "user", "content": "Hi!"}]))).0);
        assert_eq!(begun.session(Some(" mine "), "r"), SessionRef::Named("mine".into()));
    }

    #[test]
    fn what_is_no_conversation_is_none() {
        for body in ["", "[]", "{\"messages\": 1}", "{\"messages\": [1, null, {\"role\": 2}]}"] {
            assert_eq!(Conversation::of(body.as_bytes()).title(), "", "{body}");
        }
    }
}
