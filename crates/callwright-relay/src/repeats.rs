//! Loops in a conversation: the same calls with the same results, turn after turn, say nothing new.
//!
//! Calls and results go in. Out comes the number of equal turns at the end, and the sentence for the model. An agent and the
//! gateway compare by the same text.

use std::collections::BTreeMap;

use callwright::value::Value;
use callwright::{Schema, ToolSet};
use callwright_json as json;
use callwright_json::{Guide, Member};

use crate::surface::conversation::text;
use crate::wire::string_of;

/// Returns a turn as text: each call's name, its [`compared_arguments`] and its result. A repeated call stands there once.
pub fn turn_text<'c>(calls: impl Iterator<Item = (&'c str, &'c str, &'c str)>) -> String {
    let mut told: Vec<String> = Vec::new();
    for (name, arguments, result) in calls {
        let call = format!("[{},{arguments},{}]", json::quote(name), json::quote(result));
        if !told.contains(&call) {
            told.push(call);
        }
    }
    told.join(",")
}

/// Writes arguments in one spelling, without members that the schema does not name: a small model copies those from a result.
///
/// `{"written": 9, "path": "a"}` → `{"path":"a"}`
pub fn compared_arguments(arguments: &str, schema: Option<&Schema>) -> String {
    match arguments.parse::<Value>() {
        Ok(Value::Object(members)) => {
            let is_named = |name: &str| schema.is_none_or(|schema| is_named(schema, name));
            sorted(&Value::Object(members.into_iter().filter(|(name, _)| is_named(name)).collect()))
        }
        Ok(value) => sorted(&value),
        Err(_) => json::quote(arguments),
    }
}

/// Returns whether a schema names this member, or takes any.
fn is_named(schema: &Schema, name: &str) -> bool {
    let guide = schema.guide();
    let root = guide.root();
    let takes_any = guide.expects_others(root) || guide.names(root).next().is_none();
    takes_any || matches!(guide.member(root, name), Member::Declared(..))
}

/// Returns the sentence for a model whose turn with calls of these tools came to the same this many times.
pub fn repeat_sentence(names: &[&str], times: u32) -> String {
    format!(
        "You have made this call {times} times now ({}), with the same arguments and the same result each time, which stands \
         above. Making it once more changes nothing. Do something else, or say what came of the task.",
        names.join(", ")
    )
}

/// Writes a value as JSON, with the members of each object in the order of their names.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&str, String> =
                members.iter().map(|(name, value)| (name.as_str(), sorted(value))).collect();
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{}:{value}", json::quote(name))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        value => value.to_string(),
    }
}

/// The loop at the end of a chat.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    /// The number of its turns.
    pub(crate) times: u32,
    /// The sentence for the model.
    pub(crate) sentence: String,
}

/// Returns the loop that these messages end in, if the last `most` turns with calls, or more, came to the same. A turn without
/// calls ends the search.
pub(crate) fn loop_in<'d>(
    messages: impl Iterator<Item = json::Value<'d>>,
    tool_set: &ToolSet,
    most: u32,
) -> Option<Loop> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in messages {
        match string_of(message, "role").as_deref() {
            Some("assistant") => match Turn::of(message, tool_set) {
                Some(turn) => turns.push(turn),
                None => turns.clear(),
            },
            Some("tool") => {
                let id = string_of(message, "tool_call_id").unwrap_or_default();
                let open = turns.last_mut().and_then(|turn| turn.calls.iter_mut().find(|call| call.id == id));
                if let Some(call) = open {
                    call.result = Some(text(message.get("content")));
                }
            }
            _ => {}
        }
    }
    let last = turns.last()?;
    let came_to = last.came_to()?;
    let is_same = |turn: &&Turn| turn.came_to().as_ref() == Some(&came_to);
    let times = u32::try_from(turns.iter().rev().take_while(is_same).count()).unwrap_or(u32::MAX);
    let mut names: Vec<&str> = last.calls.iter().map(|call| call.name.as_str()).collect();
    names.dedup();
    (most.max(1) <= times).then(|| Loop { times, sentence: repeat_sentence(&names, times) })
}

/// A turn of a model that makes calls.
struct Turn {
    calls: Vec<Call>,
}

struct Call {
    id: String,
    name: String,
    /// The arguments in their compared form.
    arguments: String,
    result: Option<String>,
}

impl Turn {
    /// None if the message makes no call.
    fn of(message: json::Value<'_>, tool_set: &ToolSet) -> Option<Turn> {
        let calls = message.get("tool_calls")?.elements().map(|call| {
            let function = call.get("function");
            let member = |key| function.and_then(|function| string_of(function, key)).unwrap_or_default();
            let name = member("name").into_owned();
            Call {
                id: string_of(call, "id").unwrap_or_default().into_owned(),
                arguments: compared_arguments(
                    &member("arguments"),
                    tool_set.get(&name).map(|tool| tool.schema()),
                ),
                name,
                result: None,
            }
        });
        let calls: Vec<Call> = calls.collect();
        (!calls.is_empty()).then_some(Turn { calls })
    }

    /// None if a call has no result.
    fn came_to(&self) -> Option<String> {
        let is_done = self.calls.iter().all(|call| call.result.is_some());
        let all = self.calls.iter().map(|call| {
            (call.name.as_str(), call.arguments.as_str(), call.result.as_deref().unwrap_or_default())
        });
        is_done.then(|| turn_text(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of equal turns at the end of a chat with these turns: arguments and result each, words in place of
    /// arguments.
    fn times(turns: &[(&str, &str)]) -> Option<u32> {
        let messages = turns.iter().enumerate().flat_map(|(n, (arguments, result))| {
            let call =
                callwright::json!({"id": n.to_string(), "function": {"name": "f", "arguments": *arguments}});
            let calls = if arguments.is_empty() { vec![] } else { vec![call] };
            [
                callwright::json!({"role": "assistant", "content": "I look.", "tool_calls": calls}),
                callwright::json!({"role": "tool", "tool_call_id": n.to_string(), "content": *result}),
                callwright::json!({"role": "user", "content": "(a reminder)"}),
            ]
        });
        let chat = Value::Array(messages.collect()).to_string();
        let tree = json::strict(&chat).unwrap();
        let schema = callwright::json!({"type": "object", "properties": {"a": {}, "b": {}}});
        let tools =
            callwright::json!([{"type": "function", "function": {"name": "f", "parameters": schema}}]);
        let found = loop_in(tree.root(&chat).elements(), &ToolSet::from_value(&tools).unwrap(), 2);
        found.map(|found| found.times)
    }

    #[test]
    fn a_call_that_a_turn_makes_twice_counts_once() {
        let call = ("f", "{}", "x");
        assert_eq!(turn_text([call, call].into_iter()), turn_text([call].into_iter()));
        assert_ne!(turn_text([call, ("f", "{}", "y")].into_iter()), turn_text([call].into_iter()));
    }

    #[test]
    fn the_same_turn_counts_whatever_its_spelling() {
        assert_eq!(
            times(&[(r#"{"a": 1, "b": {"c": 2, "d": 3}}"#, "x"), (r#"{"b":{"d":3,"c":2},"a":1}"#, "x")]),
            Some(2)
        );
        // Copied from a result.
        assert_eq!(times(&[(r#"{"a": 1}"#, "x"), (r#"{"a": 1, "bytes": 9}"#, "x")]), Some(2));
        let again = ("{}", "x");
        assert_eq!(times(&[("{}", "y"), again, again, again]), Some(3));
        for turns in [
            &[again][..],
            &[again, ("{}", "y")],
            &[again, (r#"{"a":1}"#, "x")],
            // It said something in between.
            &[again, ("", ""), again],
            &[again, again, ("", "")],
        ] {
            assert_eq!(times(turns), None, "{turns:?}");
        }
    }
}
