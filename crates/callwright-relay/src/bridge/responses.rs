//! A chat request as one for a response of OpenAI's.

use callwright_json::{Kind, Value, quote, strict};

use super::conversation::{Choice, conversation, functions, listed, most_tokens, parameters, wants_several};
use crate::surface::conversation::{Entry, Part, Turn};
use crate::wire::{WireError, array, object, present, string_of};

/// Writes a chat request as a request for a response.
///
/// # Errors
/// A member would change the answer, and has no place in this API.
pub(super) fn question(root: Value<'_>) -> Result<String, WireError> {
    if wants_several(root) {
        return Err(WireError::unsupported("n", "responses"));
    }
    if root.get("stop").is_some_and(|stop| !matches!(stop.raw(), "null" | "[]" | "\"\"")) {
        return Err(WireError::unsupported("stop", "responses"));
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    for same in [
        "model",
        "temperature",
        "top_p",
        "parallel_tool_calls",
        "user",
        "metadata",
        "service_tier",
        "prompt_cache_key",
        "safety_identifier",
        "stream",
    ] {
        members.extend(present(root, same).map(|value| (same, value.raw().to_owned())));
    }
    // Clients of chats send the whole conversation each time: nobody asks for what would be stored.
    members.push(("store", String::from("false")));
    members.extend(most_tokens(root).map(|most| ("max_output_tokens", most.to_owned())));
    let (system, entries) = conversation(root).settled();
    members.extend(system.map(|text| ("instructions", quote(&text))));
    let items: Result<Vec<Vec<String>>, WireError> = entries.into_iter().map(items).collect();
    members.push(("input", array(items?.into_iter().flatten())));
    let tools: Vec<String> = functions(root).map(tool).collect();
    if !tools.is_empty() {
        members.push(("tools", array(tools)));
        members.extend(Choice::of(root).map(|choice| ("tool_choice", chosen(&choice))));
    }
    let text = text(root);
    members.extend((!text.is_empty()).then(|| ("text", object(text))));
    if let Some(effort) = root.get("reasoning_effort").filter(|effort| effort.kind() == Kind::String) {
        members.push(("reasoning", object([("effort", effort.raw().to_owned())])));
    }
    Ok(object(members))
}

fn tool(function: Value<'_>) -> String {
    let mut members = vec![("type", quote("function"))];
    for key in ["name", "description"] {
        members.extend(function.get(key).map(|value| (key, value.raw().to_owned())));
    }
    members.push(("parameters", parameters(function)));
    // Where nothing is said, OpenAI holds calls to the schema and rewrites it for that.
    let is_strict = function.get("strict").and_then(Value::as_bool) == Some(true);
    members.push(("strict", is_strict.to_string()));
    object(members)
}

fn chosen(choice: &Choice) -> String {
    let named = |name: &str| object([("type", quote("function")), ("name", quote(name))]);
    match choice {
        Choice::Auto => quote("auto"),
        Choice::None => quote("none"),
        Choice::Required => quote("required"),
        Choice::Named(name) => named(name),
        Choice::Allowed(names, is_required) => object([
            ("type", quote("allowed_tools")),
            ("mode", quote(if *is_required { "required" } else { "auto" })),
            ("tools", listed(names, named)),
        ]),
    }
}

/// Writes the form of the answer.
fn text(root: Value<'_>) -> Vec<(&'static str, String)> {
    let mut members = Vec::new();
    if let Some(format) = root.get("response_format") {
        let kind = string_of(format, "type").unwrap_or_default();
        let mut flat = vec![("type", quote(&kind))];
        if let Some(schema) = format.get("json_schema") {
            for key in ["name", "description", "schema", "strict"] {
                flat.extend(schema.get(key).map(|value| (key, value.raw().to_owned())));
            }
        }
        members.push(("format", object(flat)));
    }
    members.extend(root.get("verbosity").map(|verbosity| ("verbosity", verbosity.raw().to_owned())));
    members
}

fn items(entry: Entry) -> Result<Vec<String>, WireError> {
    Ok(match entry {
        // Thoughts it takes back only as it coded them, which a chat does not hold.
        Entry::Turn(Turn { text, calls, thought: _ }) => {
            let said = [("role", quote("assistant")), ("content", quote(&text))];
            let calls = calls.iter().map(|call| {
                object([
                    ("type", quote("function_call")),
                    ("call_id", quote(&call.id)),
                    ("name", quote(&call.name)),
                    ("arguments", quote(&call.arguments)),
                ])
            });
            (!text.is_empty()).then(|| object(said)).into_iter().chain(calls).collect()
        }
        Entry::Result { id, text } => vec![object([
            ("type", quote("function_call_output")),
            ("call_id", quote(&id)),
            ("output", quote(&text)),
        ])],
        Entry::User(parts) => {
            let parts = parts.into_iter().map(part).collect::<Result<Vec<_>, WireError>>()?;
            vec![object([("role", quote("user")), ("content", array(parts))])]
        }
    })
}

fn part(part: Part) -> Result<String, WireError> {
    let other = match part {
        Part::Text(text) => return Ok(object([("type", quote("input_text")), ("text", quote(&text))])),
        Part::Other(other) => other,
    };
    let tree = strict(&other).ok();
    let read = tree.as_ref().map(|tree| tree.root(&other));
    let item = read.and_then(|part| match string_of(part, "type").as_deref() {
        Some("image_url") => {
            let image = part.get("image_url")?;
            let mut members =
                vec![("type", quote("input_image")), ("image_url", quote(&string_of(image, "url")?))];
            members.extend(image.get("detail").map(|detail| ("detail", detail.raw().to_owned())));
            Some(object(members))
        }
        Some("file") => {
            let file = part.get("file")?;
            let mut members = vec![("type", quote("input_file"))];
            for key in ["filename", "file_data", "file_id"] {
                members.extend(file.get(key).map(|value| (key, value.raw().to_owned())));
            }
            Some(object(members))
        }
        _ => None,
    });
    item.ok_or_else(|| {
        let message = "the upstream of this model takes texts, images and files alone";
        WireError::bad_request(Some("messages"), "unsupported_part", message.to_owned())
    })
}
