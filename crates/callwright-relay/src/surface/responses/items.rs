//! The items of a conversation, as chat turns.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use callwright_json::{Kind, Value, quote};

use super::checksum::sum;
use super::tools::Table;
use crate::surface::conversation::{Called, Conversation, Part, Returned, Turn};
use crate::wire::{WireError, object, string_of};

/// A conversation, and the count of its items without a place in a chat.
pub(super) struct Read {
    pub(super) said: Conversation,
    /// The number of items that were left out.
    pub(super) dropped: usize,
}

/// Begins a text that only a server of ours can read.
const CODED: &str = "cw1.";

/// The longest thought that goes out in such a form, in bytes.
const LONGEST_THOUGHT: usize = 192 << 10;

/// Writes a thought in a form that a client sends back as it is: base64, with a sum that tells whether it is whole.
pub(crate) fn coded_thought(thought: &str) -> Option<String> {
    let is_short = thought.len() <= LONGEST_THOUGHT;
    is_short.then(|| format!("{CODED}{:016x}.{}", sum(thought.as_bytes()), URL_SAFE_NO_PAD.encode(thought)))
}

/// Returns whether only a server of ours can read this text.
pub(crate) fn is_our_code(coded: &str) -> bool {
    coded.starts_with(CODED)
}

fn decoded_thought(coded: &str) -> Option<String> {
    let (is, thought) = coded.strip_prefix(CODED)?.split_once('.')?;
    let thought = URL_SAFE_NO_PAD.decode(thought).ok()?;
    (format!("{:016x}", sum(&thought)) == is).then(|| String::from_utf8(thought).ok()).flatten()
}

/// Returns the conversation of these items.
///
/// # Errors
/// A part of an item cannot be sent to any chat server.
pub(super) fn conversation(
    instructions: Option<&str>,
    items: Value<'_>,
    table: &Table,
) -> Result<Read, WireError> {
    let mut read = Read { said: Conversation::default(), dropped: 0 };
    read.said.system(instructions.unwrap_or_default().to_owned());
    for item in items.elements() {
        read.item(item, table)?;
    }
    Ok(read)
}

impl Read {
    fn item(&mut self, item: Value<'_>, table: &Table) -> Result<(), WireError> {
        let text = |key: &str| string_of(item, key).unwrap_or_default();
        let call = |name: &str, arguments: String| {
            let namespace = string_of(item, "namespace");
            let name = table.flat(namespace.as_deref(), name);
            Turn {
                calls: vec![Called {
                    id: text("call_id").into_owned(),
                    name,
                    arguments,
                    ..Called::default()
                }],
                ..Turn::default()
            }
        };
        let kind = string_of(item, "type");
        match kind.as_deref() {
            None | Some("message") => return self.message(item),
            Some("function_call") => self.said.turn(call(&text("name"), text("arguments").into_owned())),
            Some("custom_tool_call") => {
                let input = object([("input", quote(&text("input")))]);
                self.said.turn(call(&text("name"), input));
            }
            Some("tool_search_call") => {
                let arguments = item.get("arguments").map_or("{}", Value::raw);
                self.said.turn(call("tool_search", arguments.to_owned()));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let returned = returned(&text("call_id"), item.get("output"))?;
                self.said.result(returned);
            }
            Some("tool_search_output") => {
                let tools = item.get("tools").into_iter().flat_map(Value::elements);
                let names: Vec<Cow<'_, str>> = tools.filter_map(|tool| string_of(tool, "name")).collect();
                let text = format!("These tools were found: {}", names.join(", "));
                self.said.result(Returned { id: self::text(item, "call_id"), text, others: Vec::new() });
            }
            Some("reasoning") => self.said.turn(Turn { thought: thought(item), ..Turn::default() }),
            Some("additional_tools") => {}
            Some(_) => self.dropped += 1,
        }
        Ok(())
    }

    fn message(&mut self, item: Value<'_>) -> Result<(), WireError> {
        let content = item.get("content");
        match string_of(item, "role").as_deref() {
            Some("assistant") => {
                let said = texts(content, &["text", "refusal"]).join("\n");
                self.said.turn(Turn { text: said, ..Turn::default() });
            }
            Some("system" | "developer") => self.said.system(texts(content, &["text"]).join("\n")),
            Some("user") => self.said.user(parts(content)?),
            _ => self.dropped += 1,
        }
        Ok(())
    }
}

fn text(item: Value<'_>, key: &str) -> String {
    string_of(item, key).unwrap_or_default().into_owned()
}

/// Returns the texts of a content that is a text or a list of parts.
fn texts(content: Option<Value<'_>>, keys: &[&str]) -> Vec<String> {
    let Some(content) = content else { return Vec::new() };
    if let Some(text) = content.as_str() {
        return vec![text.into_owned()];
    }
    let said = |part: Value<'_>| keys.iter().find_map(|key| string_of(part, key).map(Cow::into_owned));
    content.elements().filter_map(said).collect()
}

/// Returns the model's thoughts: as they were sent along, else in words.
fn thought(item: Value<'_>) -> String {
    let coded = string_of(item, "encrypted_content").and_then(|coded| decoded_thought(&coded));
    let said = |key| Some(texts(item.get(key), &["text"]).join("\n")).filter(|text| !text.is_empty());
    coded.or_else(|| said("content")).or_else(|| said("summary")).unwrap_or_default()
}

fn parts(content: Option<Value<'_>>) -> Result<Vec<Part>, WireError> {
    let Some(content) = content else { return Ok(Vec::new()) };
    if let Some(text) = content.as_str() {
        return Ok(vec![Part::Text(text.into_owned())]);
    }
    let mut parts: Vec<Part> = Vec::new();
    for part in content.elements() {
        self::part(part)?.join(&mut parts);
    }
    Ok(parts)
}

fn part(part: Value<'_>) -> Result<Part, WireError> {
    if part.get("file_id").is_some_and(|id| id.kind() == Kind::String) {
        let message = "no files are kept here: send what is in it";
        return Err(WireError::bad_request(Some("input"), "unsupported_file_id", message));
    }
    let member = |key| string_of(part, key).unwrap_or_default();
    Ok(match string_of(part, "type").as_deref() {
        Some("input_image") => {
            let mut url = vec![("url", quote(&member("image_url")))];
            url.extend(part.get("detail").map(|detail| ("detail", detail.raw().to_owned())));
            Part::Other(object([("type", quote("image_url")), ("image_url", object(url))]))
        }
        Some("input_file") => {
            let named = ["filename", "file_data"];
            let file = named.into_iter().filter_map(|key| Some((key, part.get(key)?.raw().to_owned())));
            Part::Other(object([("type", quote("file")), ("file", object(file))]))
        }
        _ => Part::Text(member("text").into_owned()),
    })
}

fn returned(id: &str, output: Option<Value<'_>>) -> Result<Returned, WireError> {
    let (mut said, mut others) = (Vec::new(), Vec::new());
    for part in parts(output)? {
        match part {
            Part::Text(text) => said.push(text),
            other => others.push(other),
        }
    }
    Ok(Returned { id: id.to_owned(), text: said.join("\n"), others })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thought_comes_back_whole_or_not_at_all() {
        let coded = coded_thought("I think.").unwrap();
        assert_eq!(decoded_thought(&coded).as_deref(), Some("I think."));
        assert_eq!(decoded_thought(&coded.replace("cw1.", "cw1.0")), None);
        assert_eq!(decoded_thought("gAAAAA"), None);
        assert_eq!(coded_thought(&"x".repeat(LONGEST_THOUGHT + 1)), None);
    }
}
