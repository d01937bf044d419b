//! A chat request as one of Anthropic's messages.

use callwright_json::{Kind, Value, is_object, quote, strict};

use super::conversation::{Choice, conversation, functions, most_tokens, parameters, stops, wants_several};
use crate::api::MESSAGES_TOKENS;
use crate::surface::conversation::{Entry, Part, Turn};
use crate::surface::messages::coded_id;
use crate::wire::{WireError, array, object, present, string_of};

/// Writes a chat request as a request for messages.
///
/// # Errors
/// A member would change the answer, and has no place in this API.
pub(super) fn question(root: Value<'_>) -> Result<String, WireError> {
    if wants_several(root) {
        return Err(WireError::unsupported("n", "messages"));
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    let mut keep = |from: &str, to: &'static str| {
        if let Some(value) = present(root, from) {
            members.push((to, value.raw().to_owned()));
        }
    };
    for same in ["model", "temperature", "top_p", "top_k", "stream"] {
        keep(same, same);
    }
    members
        .push(("max_tokens", most_tokens(root).map_or_else(|| MESSAGES_TOKENS.to_string(), str::to_owned)));
    members.extend(stops(root).map(|stops| ("stop_sequences", stops)));
    let (system, mut entries) = conversation(root).settled();
    // A conversation of nothing is one that this API does not take.
    match system {
        Some(system) if entries.is_empty() => entries.push(Entry::User(vec![Part::Text(system)])),
        system => members.extend(system.map(|text| ("system", quote(&text)))),
    }
    members.push(("messages", messages(entries)?));
    let tools: Vec<String> = functions(root).map(tool).collect();
    if !tools.is_empty() {
        members.push(("tools", array(tools)));
        members.extend(choice(root).map(|choice| ("tool_choice", choice)));
    }
    members.extend(output(root).map(|output| ("output_config", output)));
    if string_of(root, "reasoning_effort").is_some_and(|effort| effort == "none") {
        members.push(("thinking", object([("type", quote("disabled"))])));
    }
    if let Some(user) = root.get("user").filter(|user| user.kind() == Kind::String) {
        members.push(("metadata", object([("user_id", user.raw().to_owned())])));
    }
    Ok(object(members))
}

fn tool(function: Value<'_>) -> String {
    let mut members: Vec<(&str, String)> = Vec::new();
    let mut keep = |key: &'static str| members.extend(function.get(key).map(|it| (key, it.raw().to_owned())));
    keep("name");
    keep("description");
    if function.get("strict").and_then(Value::as_bool) == Some(true) {
        keep("strict");
    }
    members.push(("input_schema", parameters(function)));
    object(members)
}

fn choice(root: Value<'_>) -> Option<String> {
    let is_serial = root.get("parallel_tool_calls").and_then(Value::as_bool) == Some(false);
    let choice = Choice::of(root);
    let mut members = match choice {
        None if is_serial => vec![("type", quote("auto"))],
        None => return None,
        Some(Choice::None) => return Some(object([("type", quote("none"))])),
        Some(Choice::Auto | Choice::Allowed(_, false)) => vec![("type", quote("auto"))],
        Some(Choice::Required | Choice::Allowed(_, true)) => vec![("type", quote("any"))],
        Some(Choice::Named(name)) => vec![("type", quote("tool")), ("name", quote(&name))],
    };
    if is_serial {
        members.push(("disable_parallel_tool_use", String::from("true")));
    }
    Some(object(members))
}

/// Writes the effort of thoughts and the form of the answer.
fn output(root: Value<'_>) -> Option<String> {
    let mut members = Vec::new();
    match string_of(root, "reasoning_effort").as_deref() {
        None | Some("none") => {}
        Some("minimal") => members.push(("effort", quote("low"))),
        Some(effort) => members.push(("effort", quote(effort))),
    }
    let format = root.get("response_format").and_then(|format| format.get("json_schema"));
    if let Some(schema) = format.and_then(|format| format.get("schema")) {
        let format = object([("type", quote("json_schema")), ("schema", schema.raw().to_owned())]);
        members.push(("format", format));
    }
    (!members.is_empty()).then(|| object(members))
}

/// Writes the messages: turns of users and of the model alternate, and results come first in a user's turn.
fn messages(entries: Vec<Entry>) -> Result<String, WireError> {
    let mut messages: Vec<(&str, Vec<String>)> = Vec::new();
    let mut say = |role: &'static str, blocks: Vec<String>| match messages.last_mut() {
        _ if blocks.is_empty() => {}
        Some((last, said)) if *last == role => said.extend(blocks),
        _ => messages.push((role, blocks)),
    };
    for entry in entries {
        match entry {
            Entry::Turn(turn) => say("assistant", turn_blocks(&turn)),
            Entry::Result { id, text } => {
                let id = quote(&coded_id(&id));
                let result = [("type", quote("tool_result")), ("tool_use_id", id), ("content", quote(&text))];
                say("user", vec![object(result)]);
            }
            Entry::User(parts) => {
                let blocks = parts.into_iter().map(part).collect::<Result<Vec<_>, WireError>>()?;
                say("user", blocks.into_iter().flatten().collect());
            }
        }
    }
    let message =
        |(role, blocks): (&str, Vec<String>)| object([("role", quote(role)), ("content", array(blocks))]);
    Ok(array(messages.into_iter().map(message)))
}

fn turn_blocks(turn: &Turn) -> Vec<String> {
    // Thoughts it takes back only with their signatures, which a chat does not hold.
    let calls = turn.calls.iter().map(|call| {
        let input = match is_object(&call.arguments) {
            true => call.arguments.clone(),
            // Nobody has repaired it: it has a place that holds any text.
            false => object([("unreadable_arguments", quote(&call.arguments))]),
        };
        object([
            ("type", quote("tool_use")),
            ("id", quote(&coded_id(&call.id))),
            ("name", quote(&call.name)),
            ("input", input),
        ])
    });
    // A turn that ends in blanks is refused.
    text_block(turn.text.trim_end()).into_iter().chain(calls).collect()
}

/// Writes a text block; none for an empty text, which the API refuses.
fn text_block(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| object([("type", quote("text")), ("text", quote(text))]))
}

fn part(part: Part) -> Result<Option<String>, WireError> {
    let other = match part {
        Part::Text(text) => return Ok(text_block(&text)),
        Part::Other(other) => other,
    };
    let tree = strict(&other).ok();
    let read = tree.as_ref().map(|tree| tree.root(&other));
    let block = read.and_then(|part| match string_of(part, "type").as_deref() {
        Some("image_url") => block("image", &string_of(part.get("image_url")?, "url")?),
        Some("file") => block("document", &string_of(part.get("file")?, "file_data")?),
        _ => None,
    });
    block.map(Some).ok_or_else(|| {
        let message = "the upstream of this model takes texts, images and files with their data alone";
        WireError::bad_request(Some("messages"), "unsupported_part", message.to_owned())
    })
}

/// Writes an image or a document from its address or its data.
fn block(kind: &str, url: &str) -> Option<String> {
    let source = match url.strip_prefix("data:") {
        Some(data) => {
            let (media_type, data) = data.split_once(";base64,")?;
            vec![("type", quote("base64")), ("media_type", quote(media_type)), ("data", quote(data))]
        }
        None => vec![("type", quote("url")), ("url", quote(url))],
    };
    Some(object([("type", quote(kind)), ("source", object(source))]))
}
