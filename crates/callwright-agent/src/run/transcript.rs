//! Holds the conversation as servers accept it: each call has exactly one result, behind it, under its id.

use std::collections::BTreeSet;
use std::fmt;

use callwright::json;
use callwright::value::Value;
use serde::{Deserialize, Serialize};

/// The messages of a run, in the form of the OpenAI API. It holds whole turns only, so that it can be sent at any time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    messages: Vec<Value>,
    /// The ids of all calls.
    ids: BTreeSet<String>,
}

impl Transcript {
    /// Returns the messages.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// Adds the system's message.
    pub(crate) fn system(&mut self, text: &str) {
        self.messages.push(json!({"role": "system", "content": text}));
    }

    /// Adds a message of the user.
    pub(crate) fn user(&mut self, text: &str) {
        self.messages.push(json!({"role": "user", "content": text}));
    }

    /// Adds a turn of the model without calls.
    pub(crate) fn assistant(&mut self, text: &str) {
        self.messages.push(json!({"role": "assistant", "content": text}));
    }

    /// Adds a turn of the model with its calls, and their results: `(id, name, arguments, result)`.
    pub(crate) fn calls(&mut self, text: &str, calls: &[Answered<'_>]) {
        let listed: Vec<Value> = calls
            .iter()
            .map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            })
            .collect();
        let content = Some(text).filter(|text| !text.is_empty());
        self.messages.push(json!({"role": "assistant", "content": content, "tool_calls": listed}));
        for call in calls {
            self.messages.push(
                json!({"role": "tool", "tool_call_id": call.id, "name": call.name, "content": call.result}),
            );
        }
    }

    /// Returns an id that no call has yet: the upstream's own if it is new. `call_1` → `call_1`, then `call_1-2`.
    pub(crate) fn new_id(&mut self, wanted: Option<&str>) -> String {
        let wanted = wanted.filter(|id| !id.is_empty()).unwrap_or("call");
        let mut id = wanted.to_owned();
        let mut number = 1;
        while !self.ids.insert(id.clone()) {
            number += 1;
            id = format!("{wanted}-{number}");
        }
        id
    }
}

/// A call with its result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) result: &'a str,
}

/// The reason why a server would refuse a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The call of this id has no result before the next turn.
    NoResult(String),
    /// A result names a call that the turn before it lacks, or that already has its result.
    StrayResult(String),
    /// Two calls have this id.
    SameId(String),
    /// The arguments of this call are not the JSON text of an object.
    Arguments(String),
    /// The message of this number has no role, or neither content nor calls.
    Empty(usize),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::NoResult(id) => write!(f, "the call {id} has no result"),
            Flaw::StrayResult(id) => write!(f, "there is a result for {id}, which waits for none"),
            Flaw::SameId(id) => write!(f, "two calls have the id {id}"),
            Flaw::Arguments(id) => write!(f, "the arguments of the call {id} are no JSON object"),
            Flaw::Empty(number) => write!(f, "message {number} says nothing"),
        }
    }
}

/// Returns the flaws that make a strict server refuse a conversation; empty if it accepts it.
///
/// ```
/// use callwright_agent::run::{Flaw, flaws};
/// use callwright::json;
///
/// let call = json!({"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}});
/// let asked = json!({"role": "user", "content": "Call f."});
/// let called = json!({"role": "assistant", "content": null, "tool_calls": [call]});
/// let answered = json!({"role": "tool", "tool_call_id": "a", "content": "1"});
/// assert_eq!(flaws(&[asked.clone(), called.clone(), answered]), []);
/// assert_eq!(flaws(&[asked, called]), [Flaw::NoResult("a".into())]);
/// ```
pub fn flaws(messages: &[Value]) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    let mut ids: BTreeSet<&str> = BTreeSet::new();
    let mut waiting: Vec<&str> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            match waiting.iter().position(|waiting| *waiting == id) {
                Some(at) => drop(waiting.remove(at)),
                None => flaws.push(Flaw::StrayResult(id.to_owned())),
            }
            continue;
        }
        flaws.extend(waiting.drain(..).map(|id| Flaw::NoResult(id.to_owned())));
        let calls = message["tool_calls"].as_array().map_or(&[][..], Vec::as_slice);
        let has_content = message["content"].as_str().is_some_and(|text| !text.is_empty());
        if role.is_empty() || !has_content && calls.is_empty() {
            flaws.push(Flaw::Empty(number));
        }
        for call in calls {
            let id = call["id"].as_str().unwrap_or_default();
            if !ids.insert(id) {
                flaws.push(Flaw::SameId(id.to_owned()));
            }
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            if serde_json::from_str::<callwright::value::Map>(arguments).is_err() {
                flaws.push(Flaw::Arguments(id.to_owned()));
            }
            waiting.push(id);
        }
    }
    flaws.extend(waiting.into_iter().map(|id| Flaw::NoResult(id.to_owned())));
    flaws
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_kept_where_they_are_new() {
        let mut transcript = Transcript::default();
        let ids: Vec<String> =
            [Some("a"), Some("a"), Some("a"), Some(""), None].map(|id| transcript.new_id(id)).into();
        assert_eq!(ids, ["a", "a-2", "a-3", "call", "call-2"]);
    }

    #[test]
    fn every_flaw_is_found() {
        let call =
            |id: &str, arguments: &str| json!({"id": id, "function": {"name": "f", "arguments": arguments}});
        let called = |calls: Vec<Value>| json!({"role": "assistant", "content": null, "tool_calls": calls});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
        let user = json!({"role": "user", "content": "x"});
        for (messages, flaw) in [
            (vec![called(vec![call("a", "{}")]), user.clone(), result("a")], Flaw::NoResult("a".into())),
            (vec![user.clone(), result("a")], Flaw::StrayResult("a".into())),
            (
                vec![called(vec![call("a", "{}"), call("a", "{}")]), result("a"), result("a")],
                Flaw::SameId("a".into()),
            ),
            (vec![called(vec![call("a", "{")]), result("a")], Flaw::Arguments("a".into())),
            (vec![called(vec![])], Flaw::Empty(0)),
        ] {
            assert!(flaws(&messages).contains(&flaw), "{flaw}");
        }
    }
}
