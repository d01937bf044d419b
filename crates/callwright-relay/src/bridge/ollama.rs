//! A chat request as one of Ollama's own chats, and the meaning of the answer. The format: `docs/api.md` of Ollama.

use callwright_json::{Value, is_object, quote, strict};

use super::conversation::{Choice, conversation, functions, most_tokens, parameters, stops, wants_several};
use crate::calls::Ids;
use crate::lane::call::CallHead;
use crate::lane::wire::told::{Reader, Seen, Told};
use crate::surface::conversation::{Called, Entry, Part, Turn};
use crate::surface::ollama::OPTIONS;
use crate::tokens::Usage;
use crate::wire::{WireError, array, count_of, object, present, string_of};

/// Writes a chat request as one of Ollama's, for a context of `num_ctx` tokens if that is set.
///
/// # Errors
/// A member would change the answer, and has no place in this API.
pub(super) fn question(root: Value<'_>, num_ctx: Option<u64>) -> Result<String, WireError> {
    if wants_several(root) {
        return Err(WireError::unsupported("n", "Ollama"));
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    for same in ["model", "keep_alive"] {
        members.extend(present(root, same).map(|value| (same, value.raw().to_owned())));
    }
    // Where nothing is said, a stream comes.
    let stream = root.get("stream").and_then(Value::as_bool) == Some(true);
    members.push(("stream", stream.to_string()));
    // Otherwise what does not fit is left out of the prompt, and what is said beyond it pushes the beginning out.
    members.extend(["truncate", "shift"].map(|key| (key, String::from("false"))));
    members.push(("messages", messages(root)?));
    let tools = tools(root);
    members.extend((!tools.is_empty()).then(|| ("tools", array(tools))));
    members.extend(format(root).map(|format| ("format", format)));
    members.extend(think(root).map(|think| ("think", think)));
    members.push(("options", options(root, num_ctx)));
    Ok(object(members))
}

/// Writes the options that the model is run with.
fn options(root: Value<'_>, num_ctx: Option<u64>) -> String {
    let mut options: Vec<(&str, String)> = Vec::new();
    for same in OPTIONS {
        options.extend(present(root, same).map(|value| (same, value.raw().to_owned())));
    }
    options.extend(most_tokens(root).map(|most| ("num_predict", most.to_owned())));
    options.extend(stops(root).map(|stops| ("stop", stops)));
    let wanted = || present(root, "num_ctx").map(|tokens| tokens.raw().to_owned());
    let num_ctx = num_ctx.map(|tokens| tokens.to_string()).or_else(wanted);
    options.extend(num_ctx.map(|tokens| ("num_ctx", tokens)));
    object(options)
}

/// Returns the tools that may be called: this API has no other way to choose among them.
fn tools(root: Value<'_>) -> Vec<String> {
    let choice = Choice::of(root);
    let is_offered = |name: &str| match &choice {
        None | Some(Choice::Auto | Choice::Required) => true,
        Some(Choice::None) => false,
        Some(Choice::Named(named)) => named == name,
        Some(Choice::Allowed(names, _)) => names.iter().any(|allowed| allowed == name),
    };
    let offered =
        functions(root).filter(|function| string_of(*function, "name").is_some_and(|name| is_offered(&name)));
    offered.map(tool).collect()
}

fn tool(function: Value<'_>) -> String {
    let mut members: Vec<(&str, String)> = Vec::new();
    for key in ["name", "description"] {
        members.extend(function.get(key).map(|value| (key, value.raw().to_owned())));
    }
    members.push(("parameters", parameters(function)));
    object([("type", quote("function")), ("function", object(members))])
}

/// Returns the form of the answer: any JSON, or a schema.
fn format(root: Value<'_>) -> Option<String> {
    let format = root.get("response_format")?;
    match string_of(format, "type")?.as_ref() {
        "json_object" => Some(quote("json")),
        "json_schema" => Some(format.get("json_schema")?.get("schema")?.raw().to_owned()),
        _ => None,
    }
}

/// Writes the effort of thoughts. Models that think do so unasked; the others refuse to be asked.
fn think(root: Value<'_>) -> Option<String> {
    if let Some(own) = present(root, "think") {
        return Some(own.raw().to_owned());
    }
    let effort = string_of(root, "reasoning_effort")?;
    Some(match &*effort {
        "none" => String::from("false"),
        "minimal" => quote("low"),
        "xhigh" => quote("max"),
        effort => quote(effort),
    })
}

fn messages(root: Value<'_>) -> Result<String, WireError> {
    let (system, entries) = conversation(root).settled();
    let said = |role: &str, text: &str| vec![("role", quote(role)), ("content", quote(text))];
    let mut messages = Vec::new();
    messages.extend(system.map(|text| object(said("system", &text))));
    // The calls of the turn before.
    let mut calls: Vec<Called> = Vec::new();
    for entry in entries {
        messages.push(match entry {
            Entry::Turn(turn) => {
                let message = turn_message(&turn);
                calls = turn.calls;
                message
            }
            Entry::Result { id, text } => {
                let mut message = said("tool", &text);
                let called = calls.iter().find(|call| call.id == id);
                message.extend(called.map(|call| ("tool_name", quote(&call.name))));
                message.push(("tool_call_id", quote(&id)));
                object(message)
            }
            Entry::User(parts) => user_message(parts)?,
        });
    }
    Ok(array(messages))
}

fn turn_message(turn: &Turn) -> String {
    let mut members = vec![("role", quote("assistant")), ("content", quote(&turn.text))];
    members.extend((!turn.thought.is_empty()).then(|| ("thinking", quote(&turn.thought))));
    let call = |call: &Called| {
        let arguments = match is_object(&call.arguments) {
            true => call.arguments.clone(),
            // Nobody has repaired it: it has a place that holds any text.
            false => object([("unreadable_arguments", quote(&call.arguments))]),
        };
        let function = object([("name", quote(&call.name)), ("arguments", arguments)]);
        object([("id", quote(&call.id)), ("function", function)])
    };
    members.extend((!turn.calls.is_empty()).then(|| ("tool_calls", array(turn.calls.iter().map(call)))));
    object(members)
}

/// Writes texts and images: each message has one text, and its images beside it.
fn user_message(parts: Vec<Part>) -> Result<String, WireError> {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text),
            Part::Other(part) => images.push(image(&part).ok_or_else(|| {
                let message = "the upstream of this model takes texts, and images with their data alone";
                WireError::bad_request(Some("messages"), "unsupported_part", message.to_owned())
            })?),
        }
    }
    let mut members = vec![("role", quote("user")), ("content", quote(&texts.join("\n\n")))];
    members.extend((!images.is_empty()).then(|| ("images", array(images))));
    Ok(object(members))
}

/// `{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}` → `"AA"`
fn image(part: &str) -> Option<String> {
    let tree = strict(part).ok()?;
    let url = string_of(tree.root(part).get("image_url")?, "url")?.into_owned();
    let (_, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(quote(data))
}

/// Reads answers: one JSON value, or one a line, where the last one says that it is done. A call comes whole.
#[derive(Default)]
pub(super) struct Ollama {
    ids: Ids,
    n_calls: u64,
}

impl Reader for Ollama {
    fn see(&mut self, event: Value<'_>, told: &mut Told) -> Seen {
        if present(event, "error").is_some() {
            return Seen::Fails;
        }
        let calls = self.calls(event, told);
        match told.is_over {
            true => Seen::Ends(calls),
            false if calls.is_empty() => Seen::Beside,
            false => Seen::Calls(calls),
        }
    }

    fn calls(&mut self, answer: Value<'_>, told: &mut Told) -> Vec<(u64, CallHead)> {
        let message = answer.get("message");
        let text = |key| message.and_then(|message| string_of(message, key)).unwrap_or_default();
        told.text.push_str(&text("content"));
        told.thought.push_str(&text("thinking"));
        let listed = message.and_then(|message| message.get("tool_calls"));
        let heads: Vec<(u64, CallHead)> =
            listed.into_iter().flat_map(Value::elements).filter_map(|call| self.head(call)).collect();
        if answer.get("done").and_then(Value::as_bool) == Some(true) {
            told.is_over = true;
            // Old servers give no reason, and none has a word for calls.
            told.reason = Some(match string_of(answer, "done_reason").as_deref() {
                None | Some("" | "stop") if 0 < self.n_calls => String::from("tool_calls"),
                None | Some("") => String::from("stop"),
                Some(reason) => reason.to_owned(),
            });
            let n = |key| count_of(answer, key).unwrap_or(0);
            let (prompt, completion) = (n("prompt_eval_count"), n("eval_count"));
            told.usage = Usage { prompt, completion, total: prompt + completion, ..Usage::default() };
        }
        heads
    }
}

impl Ollama {
    /// `{"id": "call_1", "function": {"index": 0, "name": "f", "arguments": {}}}`, in most versions without an id.
    fn head(&mut self, call: Value<'_>) -> Option<(u64, CallHead)> {
        let function = call.get("function")?;
        let arguments = function.get("arguments");
        let at = self.n_calls;
        self.n_calls += 1;
        let head = CallHead {
            id: self.ids.next(string_of(call, "id").as_deref()),
            namespace: None,
            name: string_of(function, "name").unwrap_or_default().into_owned(),
            is_misspelt: arguments.is_some_and(|arguments| arguments.as_str().is_some()),
            arguments: match arguments.and_then(Value::as_str) {
                Some(text) => text.into_owned(),
                None => arguments.map_or("{}", Value::raw).to_owned(),
            },
        };
        Some((at, head))
    }
}
