//! Renders a conversation for a server that knows no tools: calls and results become text, the prompt comes in front.
//!
//! The messages of a chat completion request go in; messages of the roles system, user and assistant come out. All that
//! does not concern tools stays as it is: unknown fields, parts that are not text.

use std::collections::HashMap;

use crate::dialect::speech::Results;
use crate::json;
use crate::value::{Map, Value};

use super::example::Examples;
use super::results::{label, result as result_text};
use super::{PromptDialect, Speaking, calls, prompt};
use crate::tools::ToolSet;

/// A conversation that any server understands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rendered {
    /// The messages.
    pub messages: Vec<Value>,
    /// The calls that the prompt shows: an answer that only repeats one is not a call.
    pub examples: Examples,
}

/// Renders the `messages` of a request that offers `tool_set`.
///
/// - The prompt follows the first system message's own text, or is the first message. If the server's template has no
///   system role, all of that stands in front of the first user turn.
/// - `tool_calls` (and the older `function_call`) of an assistant's message follow its text, in `dialect`.
/// - Results that follow one another become one turn in the form of `dialect`, in the user's role unless
///   [`Speaking::result_role`]. Their text is neutralised: see [`PromptDialect::neutralise`].
/// - All else in a message stays; a message that is not an object stays too.
pub fn render_messages(
    dialect: &PromptDialect,
    tool_set: &ToolSet,
    speaking: &Speaking,
    messages: &[Value],
) -> Rendered {
    let prompt = prompt(dialect, tool_set, speaking);
    let form = &dialect.speech().results;
    let mut turns = Turns { speaking, form, done: Vec::new(), preface: Vec::new() };
    let mut made = HashMap::new();
    let mut results = Vec::new();
    // The prompt waits for the first system message, which it follows.
    let mut waiting = Some(prompt.text).filter(|text| !text.is_empty());
    if let Some(prompt) = waiting.take_if(|_| !messages.first().is_some_and(is_system)) {
        turns.system(Value::from(prompt), Map::new());
    }
    for message in messages {
        let Value::Object(message) = message else {
            turns.results(std::mem::take(&mut results));
            turns.done.push(message.clone());
            continue;
        };
        let role = message.get("role").and_then(Value::as_str).unwrap_or("");
        if matches!(role, "tool" | "function") {
            results.push(result(dialect, message, &made));
            continue;
        }
        turns.results(std::mem::take(&mut results));
        match role {
            "system" | "developer" => {
                let content = match waiting.take() {
                    Some(prompt) => joined(content(message), Value::from(prompt)),
                    None => content(message),
                };
                turns.system(content, message.clone());
            }
            "assistant" => turns.push(assistant(dialect, tool_set, message, &mut made)),
            _ => turns.push(message.clone()),
        }
    }
    turns.results(results);
    Rendered { messages: turns.finish(), examples: prompt.examples }
}

/// The turns so far.
struct Turns<'a> {
    speaking: &'a Speaking,
    form: &'a Results,
    done: Vec<Value>,
    /// The texts of system messages, which wait for a user turn to stand in front of.
    preface: Vec<Value>,
}

impl Turns<'_> {
    /// Adds a system message with the other fields of `message`.
    fn system(&mut self, content: Value, mut message: Map) {
        let is_first = self.done.is_empty() && self.preface.is_empty();
        if !self.speaking.system_role || self.speaking.alternate && !is_first {
            self.preface.push(content);
            return;
        }
        message.entry("role").or_insert_with(|| json!("system"));
        message.insert("content".to_owned(), content);
        self.done.push(Value::Object(message));
    }

    /// Adds the results of tools, as one turn, in the order of the calls.
    fn results(&mut self, told: Vec<ToolResult>) {
        if told.is_empty() {
            return;
        }
        let mut results: Vec<ToolResult> = Vec::with_capacity(told.len());
        for result in told {
            let place = results.partition_point(|other| other.number <= result.number);
            results.insert(place, result);
        }
        let last = results.len() - 1;
        let mut parts: Vec<Value> = Vec::new();
        let mut text = self.form.open.clone().into_owned();
        for (n, result) in results.into_iter().enumerate() {
            text.push_str(&result.text);
            if n != last && result.others.is_empty() {
                text.push_str(&self.form.between);
                continue;
            }
            text.push_str(if n == last { &self.form.close } else { "" });
            parts.push(json!({"type": "text", "text": std::mem::take(&mut text)}));
            parts.extend(result.others);
        }
        let role = if self.speaking.result_role { &*self.form.role } else { "user" };
        let content = match parts.as_slice() {
            [part] if text_of(part).is_some() => Value::from(text_of(part)),
            _ => Value::Array(parts),
        };
        self.push(message(role, content));
    }

    fn push(&mut self, mut message: Map) {
        if message.get("role").is_some_and(|role| role == "user") && !self.preface.is_empty() {
            let said = [content(&message)];
            let content = std::mem::take(&mut self.preface).into_iter().chain(said).reduce(joined);
            message.insert("content".to_owned(), content.unwrap_or_default());
        }
        if self.speaking.alternate
            && let Some(Value::Object(last)) = self.done.last_mut()
            && last.get("role") == message.get("role")
        {
            last.insert("content".to_owned(), joined(content(last), content(&message)));
            return;
        }
        self.done.push(Value::Object(message));
    }

    fn finish(mut self) -> Vec<Value> {
        // Without a user turn, the system's texts become one.
        if !self.preface.is_empty() {
            self.push(message("user", json!("")));
        }
        self.done
    }
}

/// Makes a message of `role`.
fn message(role: &str, content: Value) -> Map {
    [("role".to_owned(), json!(role)), ("content".to_owned(), content)].into_iter().collect()
}

/// Returns the content of a message.
fn content(message: &Map) -> Value {
    message.get("content").cloned().unwrap_or_default()
}

/// A call that an assistant's message made.
struct Made<'m> {
    /// The call's number in the conversation, from 0.
    number: usize,
    /// The call's number in its answer, from 0.
    index: usize,
    name: &'m str,
}

/// A tool's result, as a part of a turn.
struct ToolResult {
    /// The number of its call; `None` for a result of no call.
    number: Option<usize>,
    text: String,
    /// The parts that are not text.
    others: Vec<Value>,
}

fn is_system(message: &Value) -> bool {
    matches!(message.get("role").and_then(Value::as_str), Some("system" | "developer"))
}

/// Returns the assistant's message with its calls as text, and keeps them in `made` by their ids.
fn assistant<'m>(
    dialect: &PromptDialect,
    tool_set: &ToolSet,
    message: &'m Map,
    made: &mut HashMap<&'m str, Made<'m>>,
) -> Map {
    let mut rendered = message.clone();
    let mut written: Vec<(String, String)> = Vec::new();
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let Some(function) = call.get("function") else { continue };
        let (id, name) =
            (call.get("id").and_then(Value::as_str), function.get("name").and_then(Value::as_str));
        if let (Some(id), Some(name)) = (id, name) {
            made.insert(id, Made { number: made.len(), index: written.len(), name });
        }
        written.push(name_and_arguments(function));
    }
    let older = message.get("function_call").filter(|function| function.is_object());
    written.extend(older.map(name_and_arguments));
    rendered.remove("tool_calls");
    rendered.remove("function_call");
    if !written.is_empty() {
        let calls = Value::from(calls(dialect, tool_set, &written));
        rendered.insert("content".to_owned(), joined_by(content(message), calls, "\n"));
    }
    rendered
}

/// Returns a call's name and arguments. The arguments are JSON text, but some servers' clients hand on an object.
fn name_and_arguments(function: &Value) -> (String, String) {
    let name = function.get("name").and_then(Value::as_str).unwrap_or("");
    let arguments = match function.get("arguments") {
        Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
        None | Some(Value::Null | Value::String(_)) => "{}".to_owned(),
        Some(object) => object.to_string(),
    };
    (name.to_owned(), arguments)
}

/// Returns a result: its text in the dialect, and its other parts as they are.
fn result(dialect: &PromptDialect, message: &Map, made: &HashMap<&str, Made<'_>>) -> ToolResult {
    let call = message.get("tool_call_id").and_then(Value::as_str).and_then(|id| made.get(id));
    let named = || message.get("name").and_then(Value::as_str).unwrap_or("the tool");
    let name = call.map_or_else(named, |call| call.name);
    let (mut text, mut others) = (String::new(), Vec::new());
    match message.get("content") {
        Some(Value::String(content)) => text.push_str(content),
        Some(Value::Array(parts)) => {
            text.extend(parts.iter().filter_map(text_of));
            others.extend(parts.iter().filter(|part| text_of(part).is_none()).cloned());
        }
        None | Some(Value::Null) => {}
        Some(other) => text.push_str(&other.to_string()),
    }
    let index = call.map_or(0, |call| call.index);
    let text = label(dialect, name, index) + &result_text(dialect, name, index, &text);
    ToolResult { number: call.map(|call| call.number), text, others }
}

fn text_of(part: &Value) -> Option<&str> {
    part.get("type").is_some_and(|kind| kind == "text").then(|| part.get("text")?.as_str())?
}

/// Joins two contents.
fn joined(before: Value, after: Value) -> Value {
    joined_by(before, after, "\n\n")
}

fn joined_by(before: Value, after: Value, between: &str) -> Value {
    let is_empty = |content: &Value| content.is_null() || content == "" || *content == json!([]);
    match (before, after) {
        (before, after) if is_empty(&before) => after,
        (before, after) if is_empty(&after) => before,
        (Value::String(before), Value::String(after)) => Value::from(format!("{before}{between}{after}")),
        (before, after) => {
            let parts = |content: Value| match content {
                Value::Array(parts) => parts,
                Value::String(text) => vec![json!({"type": "text", "text": text})],
                other => vec![other],
            };
            Value::Array(parts(before).into_iter().chain(parts(after)).collect())
        }
    }
}
