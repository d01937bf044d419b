//! Streamed answers: the parts of a chunk, and chunks of our own in the form of the upstream's.

use std::borrow::Cow;
use std::fmt::Write;

use callwright::CallDelta;
use callwright_json::{Kind, Value, quote};

use super::document::{Change, Head, count_of, rewritten, string_of};
use super::foreign::Foreign;
use super::said::{reasoning, says_else, text_or_raw};

/// The addition of a chunk to one choice.
pub(crate) struct Delta<'d> {
    /// The choice as it stands in the chunk.
    pub(crate) choice: Value<'d>,
    /// The choice's number.
    pub(crate) index: usize,
    /// The model's words.
    pub(crate) text: Option<Cow<'d, str>>,
    /// The thoughts that the upstream marks.
    pub(crate) reasoning: Option<Cow<'d, str>>,
    /// Pieces of native calls.
    pub(crate) calls: Vec<CallPiece<'d>>,
    /// The reason for which it stopped, on its last chunk.
    pub(crate) finish_reason: Option<Cow<'d, str>>,
    /// The delta names a role.
    pub(crate) has_role: bool,
    /// The members besides text and calls.
    pub(crate) more: More,
    /// The texts that were joined with a half character at the end of the chunk before.
    pub(crate) repaired: RepairedTexts,
    /// The choice has other members beside the delta: log probabilities, a vendor's own.
    pub(crate) has_siblings: bool,
}

/// The content of a delta besides text and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum More {
    Nothing,
    /// A thought.
    Thought,
    /// A refusal, or a vendor's own member.
    Else,
}

/// The texts of a delta that were cut between two halves of a character.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RepairedTexts {
    pub(crate) text: bool,
    pub(crate) thought: bool,
}

impl Delta<'_> {
    /// Returns whether the members beside it go out with it. Those beside the last delta go out with the finish.
    pub(crate) fn has_siblings_now(&self) -> bool {
        self.has_siblings && self.finish_reason.is_none()
    }
}

/// A piece of a native call.
pub(crate) struct CallPiece<'d> {
    pub(crate) index: Option<usize>,
    id: Option<Cow<'d, str>>,
    name: Option<Cow<'d, str>>,
    pub(crate) arguments: Option<Cow<'d, str>>,
    /// The arguments as they are written.
    pub(super) written: Option<Value<'d>>,
    /// All of it, if it stands in a list of calls.
    pub(crate) listed: Option<Value<'d>>,
    /// The members in it that are not ours.
    pub(crate) foreign: Foreign,
}

impl CallPiece<'_> {
    /// Returns the piece of a call in the engine's form.
    pub(crate) fn delta(&self) -> CallDelta<'_> {
        CallDelta {
            index: self.index,
            id: self.id.as_deref(),
            name: self.name.as_deref(),
            arguments: self.arguments.as_deref(),
        }
    }
}

/// Returns the deltas of a chunk, choice by choice.
pub(crate) fn deltas(root: Value<'_>) -> impl Iterator<Item = Delta<'_>> {
    root.get("choices").into_iter().flat_map(Value::elements).map(|choice| {
        let delta = choice.get("delta");
        let listed = delta.and_then(|d| d.get("tool_calls")).into_iter().flat_map(Value::elements);
        let legacy = delta.and_then(|d| d.get("function_call")).filter(|c| c.kind() == Kind::Object);
        let calls = listed.map(|call| CallPiece {
            listed: Some(call),
            foreign: Foreign::of(call),
            ..piece(call, call.get("function").unwrap_or(call))
        });
        let is_ours = |key: &str| matches!(key, "role" | "content" | "tool_calls" | "function_call");
        let is_usual = |key: &str| matches!(key, "index" | "delta" | "finish_reason");
        let mut members = delta.into_iter().flat_map(Value::members);
        let has_more = members.any(|(key, _)| !key.as_str().is_some_and(|key| is_ours(&key)));
        let mut siblings = choice.members().filter(|(_, value)| value.kind() != Kind::Null);
        Delta {
            choice,
            index: count_of(choice, "index").and_then(|n| usize::try_from(n).ok()).unwrap_or(0),
            text: delta.and_then(|d| string_of(d, "content")),
            calls: calls
                .chain(
                    legacy.map(|call| CallPiece { foreign: Foreign::of_function(call), ..piece(call, call) }),
                )
                .collect(),
            finish_reason: string_of(choice, "finish_reason"),
            has_role: delta.is_some_and(|d| d.get("role").is_some()),
            reasoning: delta.filter(|_| has_more).and_then(reasoning),
            more: match delta {
                Some(delta) if has_more && says_else(delta) => More::Else,
                _ if has_more => More::Thought,
                _ => More::Nothing,
            },
            repaired: RepairedTexts::default(),
            has_siblings: siblings.any(|(key, _)| !key.as_str().is_some_and(|key| is_usual(&key))),
        }
    })
}

fn piece<'d>(call: Value<'d>, function: Value<'d>) -> CallPiece<'d> {
    CallPiece {
        index: count_of(call, "index").and_then(|n| usize::try_from(n).ok()),
        id: string_of(call, "id"),
        name: string_of(function, "name"),
        arguments: function.get("arguments").map(text_or_raw),
        written: function.get("arguments"),
        listed: None,
        foreign: Foreign::default(),
    }
}

/// The `object` of a chunk.
const CHUNK: &str = "chat.completion.chunk";

/// Makes chunks in the form of an upstream's: with the same `id`, `created`, `model` and further members.
#[derive(Clone)]
pub(crate) struct Template {
    head: String,
    tail: String,
    /// The raw text of the `id`.
    id: String,
    /// The template has members that the upstream's chunks lack.
    pub(crate) is_filled: bool,
}

impl Template {
    /// Makes a template after this chunk; its missing members come from the request.
    pub(crate) fn filled(chunk: Value<'_>, (id, model): (&str, &str), created: u64) -> Template {
        if Head::is_in(chunk) {
            return Template::of(chunk);
        }
        let text = rewritten(chunk, &Head::of(id, CHUNK, created, model).missing(chunk));
        match callwright_json::strict(&text) {
            Ok(tree) => Template { is_filled: true, ..Template::of(tree.root(&text)) },
            Err(_) => Template::own(id, model, created),
        }
    }

    /// Makes a template after this chunk.
    pub(crate) fn of(chunk: Value<'_>) -> Template {
        // No JSON text holds this character.
        const GAP: &str = "\u{1}";
        let mut changes =
            vec![("object", Change::Set(quote(CHUNK))), ("choices", Change::Set(String::from(GAP)))];
        if chunk.get("usage").is_some() {
            changes.push(("usage", Change::Set(String::from("null"))));
        }
        let text = rewritten(chunk, &changes);
        let (head, tail) = text.split_once(GAP).unwrap_or((&text, ""));
        let id = chunk.get("id").map_or("", Value::raw);
        Template { head: head.to_owned(), tail: tail.to_owned(), id: id.to_owned(), is_filled: false }
    }

    /// Returns whether this chunk is one of the same answer, in the proper form of a chunk.
    pub(crate) fn is_of(&self, chunk: Value<'_>) -> bool {
        chunk.get("id").map_or("", Value::raw) == self.id
            && chunk.get("object").is_some_and(|object| object.raw() == "\"chat.completion.chunk\"")
            && ["created", "model"].iter().all(|key| chunk.get(key).is_some())
    }

    /// Makes a template for an upstream that sent no chunk to go by.
    pub(crate) fn own(id: &str, model: &str, created: u64) -> Template {
        Template {
            head: format!(
                "{{\"id\":{},\"object\":\"chat.completion.chunk\",\"created\":{created},\"model\":{},\"choices\":",
                quote(id),
                quote(model)
            ),
            tail: String::from("}"),
            id: quote(id),
            is_filled: false,
        }
    }

    /// Writes an event with these choices, the JSON text of an array.
    pub(crate) fn event(&self, choices: &str, out: &mut String) {
        out.push_str("data: ");
        out.push_str(&self.head);
        out.push_str(choices);
        out.push_str(&self.tail);
        out.push_str("\n\n");
    }

    /// Writes the event with the last choices of an answer, and the member `callwright` if it is asked for.
    pub(crate) fn last(&self, choices: &str, report: Option<&str>, out: &mut String) {
        self.event(choices, out);
        if let Some(report) = report
            && out.ends_with("}\n\n")
        {
            out.truncate(out.len() - 3);
            out.push_str(",\"callwright\":");
            out.push_str(report);
            out.push_str("}\n\n");
        }
    }

    /// Writes an event named `tool-error`: a chunk that adds nothing to its choice, and names a refused call in its member
    /// `callwright`.
    pub(crate) fn tool_error(&self, index: &str, part: &str, out: &mut String) {
        out.push_str("event: tool-error\n");
        let choices = format!("[{{\"index\":{index},\"delta\":{{}},\"finish_reason\":null}}]");
        self.last(&choices, Some(part), out);
    }

    /// Writes the event before the end that counts the tokens.
    pub(crate) fn usage(&self, usage: &str, out: &mut String) {
        let from = out.len();
        self.event("[]", out);
        match out[from..].find("\"usage\":null") {
            Some(at) => out.replace_range(from + at..from + at + 12, &format!("\"usage\":{usage}")),
            None => {
                out.truncate(out.len() - 3);
                out.push_str(&format!(",\"usage\":{usage}}}\n\n"));
            }
        }
    }

    /// Writes an event that adds `delta`, the JSON text of an object, to one choice.
    pub(crate) fn delta(&self, index: usize, delta: &str, out: &mut String) {
        let mut choices = String::with_capacity(delta.len() + 64);
        // Writing to a string does not fail.
        let _ = write!(choices, "[{{\"index\":{index},\"delta\":{delta},\"finish_reason\":null}}]");
        self.event(&choices, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Document;

    #[test]
    fn a_chunk_of_our_own_keeps_what_the_upstream_says_in_each() {
        let chunk = Document::of(String::from(
            r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","vendor":[1],"choices":[{"index":0,"delta":{"role":"assistant"}}],"usage":{"total_tokens":3}}"#,
        ))
        .unwrap();
        let mut out = String::new();
        Template::of(chunk.root()).delta(2, "{\"content\":\"a\"}", &mut out);
        assert_eq!(
            out,
            "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"vendor\":[1],\
             \"choices\":[{\"index\":2,\"delta\":{\"content\":\"a\"},\"finish_reason\":null}],\"usage\":null}\n\n"
        );
    }
}
