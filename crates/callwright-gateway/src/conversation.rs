//! Reads a request's conversation: its session, the turns that were said before, and the new ones.
//!
//! A request holds the whole conversation so far. New is what stands behind the model's last turn; before that are
//! turns that were kept when they happened, if this server saw them.

use bytes::Bytes;
use callwright::json;
use callwright::value::Value;
use callwright_store::{Before, NewNode, NodeKind, SessionRef};
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// A request's conversation.
#[derive(Default)]
pub(crate) struct Conversation {
    /// All up to the model's last turn, that turn included; made only where the session is not there yet.
    pub(crate) before: Before,
    /// No model has answered in it yet.
    begins: bool,
    /// The words that were said since.
    pub(crate) new: Vec<NewNode>,
    /// The user's first message.
    first: String,
}

/// The messages are read one by one, and most of them not at all.
#[derive(Deserialize)]
struct Request<'t> {
    #[serde(borrow, default)]
    messages: Vec<&'t RawValue>,
}

impl Conversation {
    /// Reads a request's body; any other text has no conversation.
    pub(crate) fn of(body: &Bytes) -> Conversation {
        let Ok(Request { messages }) = serde_json::from_slice(body) else { return Conversation::default() };
        let mut values = messages.iter().map(|message| value(message));
        let first = values.find(|message| role(message) == "user").map_or_else(String::new, |m| text(&m));
        let mut new: Vec<NewNode> = Vec::new();
        let mut n_before = messages.len();
        for message in messages.iter().rev().map(|message| value(message)) {
            if role(&message) == "assistant" {
                break;
            }
            new.push(node(&message));
            n_before -= 1;
        }
        new.reverse();
        let begins = n_before == 0;
        let body = body.clone();
        let before = if begins { Before::default() } else { Before::made_by(move || nodes(&body, n_before)) };
        Conversation { before, begins, new, first }
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
        SessionRef::Conversation { fingerprint, begins: self.begins, name: request.to_owned() }
    }

    /// The user's first words.
    pub(crate) fn title(&self) -> String {
        self.first.clone()
    }
}

/// The first messages of a body as nodes.
fn nodes(body: &[u8], most: usize) -> Vec<NewNode> {
    let Ok(Request { messages }) = serde_json::from_slice(body) else { return Vec::new() };
    messages.iter().take(most).map(|message| node(&value(message))).collect()
}

fn value(message: &RawValue) -> Value {
    // It has been read as JSON already.
    serde_json::from_str(message.get()).unwrap_or_default()
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn node(message: &Value) -> NewNode {
    let kind = match role(message) {
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
        Conversation::of(&json!({"model": "m", "messages": messages}).to_string().into())
    }

    fn kinds(nodes: &[NewNode]) -> Vec<&str> {
        nodes.iter().map(|node| node.kind.name()).collect()
    }

    #[test]
    fn new_is_what_stands_behind_the_last_turn_of_the_model() {
        let (system, user) =
            (json!({"role": "system", "content": "At 10:00."}), json!({"role": "user", "content": "Hi."}));
        let begun = of(json!([system, user]));
        assert_eq!((begun.begins, kinds(&begun.new)), (true, vec!["system", "user"]));
        assert_eq!(begun.title(), "Hi.");

        let later = of(json!([
            {"role": "system", "content": "At 10:01."},
            {"role": "user", "content": [{"type": "text", "text": "Hi."}, {"type": "image_url"}]},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1"}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "1"},
            {"role": "user", "content": "Go on."},
        ]));
        assert!(!later.begins);
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
            assert_eq!(Conversation::of(&Bytes::from(body)).title(), "", "{body}");
        }
    }
}
