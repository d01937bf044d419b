//! The messages of a chat request, as a conversation for other APIs.

use callwright_json::{Kind, Value};

use crate::surface::conversation::{Called, Conversation, Part, Returned, Turn};
use crate::surface::conversation::{parts, text};
use crate::wire::{array, object, reasoning, string_of};

/// Returns the conversation of a chat request.
pub(super) fn conversation(root: Value<'_>) -> Conversation {
    let mut conversation = Conversation::default();
    // Calls in the form that came before `tool_calls` have no ids: a result is that of the last one.
    let mut n_without_id = 0;
    for message in root.get("messages").into_iter().flat_map(Value::elements) {
        let content = message.get("content");
        match string_of(message, "role").as_deref() {
            Some("system" | "developer") => conversation.system(text(content)),
            Some("assistant") => {
                let mut turn = turn(message);
                if let Some(call) = message.get("function_call").filter(|call| call.kind() == Kind::Object) {
                    n_without_id += 1;
                    turn.calls.push(Called { id: made_id(n_without_id), ..called(message, call) });
                }
                conversation.turn(turn);
            }
            Some("tool") => {
                let id = string_of(message, "tool_call_id").unwrap_or_default().into_owned();
                conversation.result(returned(id, content));
            }
            Some("function") => conversation.result(returned(made_id(n_without_id), content)),
            _ => conversation.user(parts(content)),
        }
    }
    conversation
}

/// Returns the tools of a chat request as functions. Old requests have them in a list of their own.
pub(super) fn functions(root: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let tools = root.get("tools").into_iter().flat_map(Value::elements);
    let listed = tools.filter_map(|tool| tool.get("function"));
    listed.chain(root.get("functions").into_iter().flat_map(Value::elements))
}

/// The choice of a tool that a request makes, in whichever form.
pub(super) enum Choice {
    Auto,
    None,
    Required,
    Named(String),
    /// Some of the tools; `true` if one of them must be called.
    Allowed(Vec<String>, bool),
}

impl Choice {
    /// Reads the choice of a chat request; none if it says nothing.
    pub(super) fn of(root: Value<'_>) -> Option<Choice> {
        let value = root.get("tool_choice").or_else(|| root.get("function_call"))?;
        if let Some(word) = value.as_str() {
            return Some(match &*word {
                "none" => Choice::None,
                "required" | "any" => Choice::Required,
                _ => Choice::Auto,
            });
        }
        if value.kind() != Kind::Object {
            return None;
        }
        if let Some(allowed) = value.get("allowed_tools") {
            let tools = allowed.get("tools").into_iter().flat_map(Value::elements);
            let functions = tools.map(|tool| tool.get("function").unwrap_or(tool));
            let names = functions.filter_map(|function| Some(string_of(function, "name")?.into_owned()));
            let is_required = string_of(allowed, "mode").is_some_and(|mode| mode == "required");
            return Some(Choice::Allowed(names.collect(), is_required));
        }
        let named = string_of(value.get("function").unwrap_or(value), "name")?;
        Some(Choice::Named(named.into_owned()))
    }
}

/// Returns the most tokens that the answer may have, from whichever member.
pub(super) fn most_tokens(root: Value<'_>) -> Option<&str> {
    let bounds = ["max_completion_tokens", "max_tokens"].into_iter().filter_map(|key| root.get(key));
    bounds.filter(|bound| bound.kind() == Kind::Number).map(Value::raw).next()
}

/// Returns `stop`, a text or a list of texts, as a list.
pub(super) fn stops(root: Value<'_>) -> Option<String> {
    let stop = root.get("stop")?;
    match stop.kind() {
        Kind::String => Some(array([stop.raw()])),
        Kind::Array => Some(stop.raw().to_owned()),
        _ => None,
    }
}

/// Returns whether the request asks for more than one answer.
pub(super) fn wants_several(root: Value<'_>) -> bool {
    root.get("n").is_some_and(|n| n.kind() == Kind::Number && n.raw() != "1")
}

/// Returns a function's parameters, or those of a function that takes none.
pub(super) fn parameters(function: Value<'_>) -> String {
    match function.get("parameters").filter(|parameters| parameters.kind() == Kind::Object) {
        Some(parameters) if parameters.get("type").is_some() => parameters.raw().to_owned(),
        Some(parameters) => {
            let members = parameters.members().map(|(key, value)| (key.as_str(), value.raw().to_owned()));
            let members: Vec<_> = members.filter_map(|(key, value)| Some((key?, value))).collect();
            let kind = [("type", String::from("\"object\""))];
            object(kind.into_iter().chain(members.iter().map(|(key, value)| (&**key, value.clone()))))
        }
        None => object([("type", String::from("\"object\"")), ("properties", String::from("{}"))]),
    }
}

fn made_id(n: usize) -> String {
    format!("call_{n}")
}

fn turn(message: Value<'_>) -> Turn {
    let listed = message.get("tool_calls").into_iter().flat_map(Value::elements);
    let calls = listed.filter_map(|call| Some(called(call, call.get("function")?)));
    let refusal = string_of(message, "refusal").unwrap_or_default();
    let said = [text(message.get("content")), refusal.into_owned()];
    Turn {
        text: said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        thought: reasoning(message).map(|thought| thought.into_owned()).unwrap_or_default(),
        calls: calls.collect(),
    }
}

fn called(call: Value<'_>, function: Value<'_>) -> Called {
    Called {
        id: string_of(call, "id").unwrap_or_default().into_owned(),
        name: string_of(function, "name").unwrap_or_default().into_owned(),
        arguments: string_of(function, "arguments").unwrap_or_default().into_owned(),
        ..Called::default()
    }
}

fn returned(id: String, content: Option<Value<'_>>) -> Returned {
    let (texts, others): (Vec<Part>, Vec<Part>) =
        parts(content).into_iter().partition(|part| matches!(part, Part::Text(_)));
    let texts = texts.into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Other(_) => None,
    });
    Returned { id, text: texts.collect::<Vec<_>>().join("\n"), others }
}

/// Writes a list of tools by name, each as `tool` writes it.
pub(super) fn listed(names: &[String], tool: impl Fn(&str) -> String) -> String {
    array(names.iter().map(|name| tool(name)))
}
