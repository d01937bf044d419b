//! Nodes: what happened in a session, one after the other, each of a kind.

use std::fmt;

use callwright_value::Value;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::body::Body;
use crate::former;

/// The version of the forms of payloads. A member that goes, or changes its meaning, makes a new one.
pub const NODE_VERSION: i64 = 1;

/// The subject of a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeKind {
    /// A system message: `{text}`.
    System,
    /// A message of the user: `{text}`.
    User,
    /// A message of the assistant that was not written here: `{text}`.
    Assistant,
    /// One question to a model and its answer.
    ModelTurn,
    /// The thoughts of a model, where they are marked as such: `{text}`.
    Reasoning,
    /// A call that was right as it was written.
    ToolCall,
    /// A call that was repaired.
    Repaired,
    /// An error that went to the model as its next turn.
    ValidationError,
    /// A call that was refused for good.
    Refused,
    /// It gave up: the same error over and over.
    GaveUp,
    /// The answer of a tool: `{text}`.
    ToolResult,
    /// Something with an effect is about to be done.
    Intent,
    /// It has been done, or has failed.
    Effect,
    /// A note of whoever runs the session.
    Note,
    /// A kind that a later version knows.
    Other(Box<str>),
}

const KINDS: [(NodeKind, &str); 14] = [
    (NodeKind::System, "system"),
    (NodeKind::User, "user"),
    (NodeKind::Assistant, "assistant"),
    (NodeKind::ModelTurn, "model_turn"),
    (NodeKind::Reasoning, "reasoning"),
    (NodeKind::ToolCall, "tool_call"),
    (NodeKind::Repaired, "repaired"),
    (NodeKind::ValidationError, "validation_error"),
    (NodeKind::Refused, "refused"),
    (NodeKind::GaveUp, "gave_up"),
    (NodeKind::ToolResult, "tool_result"),
    (NodeKind::Intent, "intent"),
    (NodeKind::Effect, "effect"),
    (NodeKind::Note, "note"),
];

impl NodeKind {
    /// Its stable name.
    pub fn name(&self) -> &str {
        match self {
            NodeKind::Other(name) => name,
            known => KINDS.iter().find(|(kind, _)| kind == known).map_or("", |(_, name)| name),
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> NodeKind {
        let name = former::kind(name);
        let known = KINDS.iter().find(|(_, known)| *known == name);
        known.map_or_else(|| NodeKind::Other(name.into()), |(kind, _)| kind.clone())
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for NodeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for NodeKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NodeKind, D::Error> {
        Ok(NodeKind::named(&String::deserialize(from)?))
    }
}

/// A node that is to be written.
#[derive(Clone, Debug)]
pub struct NewNode {
    /// Its subject.
    pub kind: NodeKind,
    /// The tool that it is about.
    pub name: Option<String>,
    /// The id of the tool call that it belongs to. An [`NodeKind::Intent`] and its [`NodeKind::Effect`] have the same.
    pub call: Option<String>,
    /// Its facts, in the form of [`NODE_VERSION`].
    pub payload: Value,
    /// The body of the request that was sent, where one was.
    pub body: Option<String>,
    /// The answer as it came, where that is kept. A stream in which a secret is spread over several events is not.
    pub answer: Option<Answer>,
    /// The words by which a search finds it, beside the tool's name.
    pub words: String,
    /// When it happened, in milliseconds since 1970; none stands for the moment of writing.
    pub at: Option<i64>,
}

/// An answer as it came.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The beginning of it, or all.
    pub text: String,
    /// It is all of the answer.
    pub is_whole: bool,
}

impl Answer {
    /// From its first `bytes`, of all that `came`. A character that is cut through at their end does not count.
    pub fn of(bytes: &[u8], came: usize) -> Answer {
        Answer { text: String::from_utf8_lossy(bytes).into_owned(), is_whole: bytes.len() == came }
    }
}

impl NewNode {
    /// A node of this kind. Its `text`, where the payload has one, can be searched, and of a turn of a model what it
    /// wrote.
    pub fn new(kind: NodeKind, payload: Value) -> NewNode {
        let words = said(&kind, &payload);
        NewNode { kind, name: None, call: None, payload, body: None, answer: None, words, at: None }
    }

    /// A question to a model and its answer: what is known of them, the body that was sent, and, where that is kept, the
    /// first bytes of the answer and how many came. A body that is not UTF-8 is left out.
    pub fn model_turn(payload: Value, body: &[u8], answer: Option<(Vec<u8>, usize)>) -> NewNode {
        NewNode {
            body: std::str::from_utf8(body).ok().map(str::to_owned),
            answer: answer.map(|(bytes, came)| Answer::of(&bytes, came)),
            ..NewNode::new(NodeKind::ModelTurn, payload)
        }
    }
}

/// Returns the words of a payload by which a search finds it.
pub(crate) fn said(kind: &NodeKind, payload: &Value) -> String {
    let text = |value: &Value, member: &str| value.get(member).and_then(Value::as_str).map(str::to_owned);
    if *kind != NodeKind::ModelTurn {
        return text(payload, "text").unwrap_or_default();
    }
    let list = |value: &Value, member: &str| {
        value.get(member).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let of_choice = |choice: &Value| {
        let native = list(choice, "native");
        let native = native.iter().flat_map(|call| [text(call, "name"), text(call, "arguments")]);
        std::iter::once(text(choice, "raw")).chain(native).flatten().collect::<Vec<_>>()
    };
    let mut said: Vec<String> = list(payload, "choices").iter().flat_map(of_choice).collect();
    said.extend(text(payload, "error"));
    said.join(" ")
}

/// A node of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Node {
    /// Its number in the store.
    pub id: i64,
    /// Its number in the session, from 1, without gaps.
    pub number: i64,
    /// The number of the turn that it belongs to.
    pub turn: Option<i64>,
    /// Its subject.
    #[serde(rename = "node_type")]
    pub kind: NodeKind,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
    /// The version of its payload's form.
    pub version: i64,
    /// The tool that it is about.
    pub name: Option<String>,
    /// The id of the tool call that it belongs to.
    pub call: Option<String>,
    /// Its facts.
    pub payload: Value,
    /// A secret may have been masked in the payload. Then it is not what happened, but for its length.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// The body of the request that was sent. Its longer parts stand in the session's `parts`.
    #[serde(default)]
    pub body: Option<Body>,
    /// The answer as it came, where that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_and_unknown_ones_are_kept() {
        // S4-37
        assert_eq!(NodeKind::named("validation_error"), NodeKind::ValidationError);
        for (kind, name) in KINDS {
            assert_eq!((kind.name(), NodeKind::named(name)), (name, kind.clone()));
        }
        assert_eq!(
            (NodeKind::named("healed"), NodeKind::named("breaker")),
            (NodeKind::Repaired, NodeKind::GaveUp)
        );
        let later = NodeKind::named("of_a_later_version");
        assert_eq!(later.name(), "of_a_later_version");
    }
}
