//! Ollama's own chats: their requests, as chat requests. The format: `docs/api.md` of Ollama.
//!
//! A member without a place in a chat request is left out, unless an upstream of the same API takes it.

use std::time::Instant;

use callwright_json::{Kind, Value, quote};

use super::conversation::{Called, Conversation, Part, Returned, Turn};
use super::effort::chat_effort;
use super::translated::Translated;
use crate::wire::{Document, WireError, count_of, object, present, string_of};

/// The parts of a request of Ollama's that its answer needs.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The model, as the client names it.
    pub(crate) model: String,
    /// The client gets the model's thoughts.
    pub(crate) thoughts: bool,
    /// The time at which the request came.
    pub(crate) since: Instant,
}

/// The members that only an Ollama knows: chat requests to other servers lack them.
pub(crate) const OLLAMAS: [&str; 3] = ["think", "keep_alive", "num_ctx"];

/// The options of a model, by names that servers of chats have as well.
pub(crate) const OPTIONS: [&str; 8] = [
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "repeat_penalty",
];

/// Returns the chat request of this request.
///
/// # Errors
/// No chat server could be asked this request.
pub(crate) fn translated(root: Value<'_>) -> Result<Translated<Wanted>, WireError> {
    if root.kind() != Kind::Object {
        return Err(bad(None, "the request must be a JSON object"));
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    for same in ["model", "callwright", "plugins", "think", "keep_alive"] {
        members.extend(present(root, same).map(|value| (same, value.raw().to_owned())));
    }
    // Where nothing is said, a stream is wanted.
    let stream = root.get("stream").and_then(Value::as_bool) != Some(false);
    members.push(("stream", stream.to_string()));
    if stream {
        // Each stream of this API ends with the tokens.
        members.push(("stream_options", object([("include_usage", String::from("true"))])));
    }
    members.push(("messages", conversation(root)?.messages()));
    let tools = present(root, "tools").filter(|tools| tools.elements().next().is_some());
    members.extend(tools.map(|tools| ("tools", tools.raw().to_owned())));
    members.extend(format(root)?.map(|format| ("response_format", format)));
    let think = present(root, "think");
    members.extend(think.and_then(effort).map(|effort| ("reasoning_effort", effort)));
    members.extend(present(root, "options").map(options).unwrap_or_default());
    let document = Document::of(object(members)).map_err(|why| bad(None, &why))?;
    let wanted = Wanted {
        model: string_of(root, "model").unwrap_or_default().into_owned(),
        thoughts: think.and_then(Value::as_bool) != Some(false),
        since: Instant::now(),
    };
    Ok(Translated::plain(document, wanted))
}

fn bad(param: Option<&'static str>, message: &str) -> WireError {
    WireError::bad_request(param, "invalid_request", message.to_owned())
}

/// Returns the form of the answer: `"json"`, or a schema.
fn format(root: Value<'_>) -> Result<Option<String>, WireError> {
    let Some(format) = present(root, "format") else { return Ok(None) };
    match (format.kind(), format.as_str().as_deref()) {
        (_, Some("")) => Ok(None),
        (_, Some("json")) => Ok(Some(object([("type", quote("json_object"))]))),
        (Kind::Object, _) => {
            let schema = object([("name", quote("output")), ("schema", format.raw().to_owned())]);
            Ok(Some(object([("type", quote("json_schema")), ("json_schema", schema)])))
        }
        _ => Err(bad(Some("format"), "format must be \"json\" or a JSON schema")),
    }
}

/// Returns the effort. `true` alone names none: not all servers of chats know a word for it.
fn effort(think: Value<'_>) -> Option<String> {
    match think.as_bool() {
        Some(true) => None,
        Some(false) => Some(quote("none")),
        None => think.as_str().map(|effort| quote(chat_effort(&effort))),
    }
}

/// Returns the options of the model, by the names of servers of chats.
fn options(options: Value<'_>) -> Vec<(&'static str, String)> {
    let same = OPTIONS
        .into_iter()
        .chain(["stop", "num_ctx"])
        .filter_map(|key| Some((key, present(options, key)?.raw().to_owned())));
    // -1 and -2 mean that there is no bound.
    let most = count_of(options, "num_predict").filter(|most| 0 < *most);
    same.chain(most.map(|most| ("max_tokens", most.to_string()))).collect()
}

fn conversation(root: Value<'_>) -> Result<Conversation, WireError> {
    let messages = present(root, "messages").filter(|messages| messages.kind() == Kind::Array);
    let Some(messages) = messages else { return Err(bad(Some("messages"), "messages must be an array")) };
    let mut conversation = Conversation::default();
    for message in messages.elements() {
        let text = string_of(message, "content").unwrap_or_default().into_owned();
        match string_of(message, "role").as_deref() {
            Some("system") => conversation.system(text),
            Some("assistant") => conversation.turn(Turn {
                text,
                thought: string_of(message, "thinking").unwrap_or_default().into_owned(),
                calls: calls(message),
            }),
            Some("user") => conversation.user(user(text, message)?),
            Some("tool") => {
                let others = images(message)?;
                let mut named = ["tool_name", "name"].into_iter().filter_map(|key| string_of(message, key));
                let name = named.find(|name| !name.is_empty()).unwrap_or_default();
                let id = string_of(message, "tool_call_id").unwrap_or_default();
                let id = conversation.answered(&id, &name);
                conversation.result(Returned { id, text, others });
            }
            _ => {
                let message = "a message's role must be system, user, assistant or tool";
                return Err(bad(Some("messages"), message));
            }
        }
    }
    Ok(conversation)
}

/// Returns the calls of a turn: `[{"function": {"name": "f", "arguments": {}}}]`.
fn calls(message: Value<'_>) -> Vec<Called> {
    let listed = present(message, "tool_calls").into_iter().flat_map(Value::elements);
    let called = |call: Value<'_>| {
        let function = call.get("function")?;
        let arguments = present(function, "arguments");
        Some(Called {
            id: string_of(call, "id").unwrap_or_default().into_owned(),
            name: string_of(function, "name").unwrap_or_default().into_owned(),
            arguments: match arguments.and_then(Value::as_str) {
                Some(text) => text.into_owned(),
                None => arguments.map_or("{}", Value::raw).to_owned(),
            },
            ..Called::default()
        })
    };
    listed.filter_map(called).collect()
}

fn user(text: String, message: Value<'_>) -> Result<Vec<Part>, WireError> {
    let mut parts = images(message)?;
    if !text.is_empty() || parts.is_empty() {
        parts.insert(0, Part::Text(text));
    }
    Ok(parts)
}

/// The beginnings of images, in base64, and their types.
const IMAGES: [(&str, &str); 4] =
    [("iVBORw0KGgo", "png"), ("/9j/", "jpeg"), ("R0lGOD", "gif"), ("UklGR", "webp")];

/// Returns the images of a message: data in base64, without its type.
fn images(message: Value<'_>) -> Result<Vec<Part>, WireError> {
    let images = present(message, "images").into_iter().flat_map(Value::elements);
    let part = |image: Value<'_>| {
        let data = image.as_str()?;
        let (_, kind) = IMAGES.into_iter().find(|(begin, _)| data.starts_with(begin))?;
        Some(Part::image(&format!("data:image/{kind};base64,{data}")))
    };
    let refused = || bad(Some("messages"), "an image must be a PNG, JPEG, GIF or WebP in base64");
    images.map(|image| part(image).ok_or_else(refused)).collect()
}

/// Answers a request that only has its model loaded: one without messages. None for any other.
pub(crate) fn loaded(root: Value<'_>, answer: &'static str) -> Option<String> {
    let asked = ["messages", "prompt", "suffix", "images"];
    let asks = |key: &&str| present(root, key).is_some_and(|value| !matches!(value.raw(), "[]" | "\"\""));
    if root.kind() != Kind::Object || asked.iter().any(asks) {
        return None;
    }
    let model = string_of(root, "model").unwrap_or_default();
    let is_unloaded = present(root, "keep_alive").is_some_and(|time| matches!(time.raw(), "0" | "\"0\""));
    let reason = if is_unloaded { "unload" } else { "load" };
    let said = match answer {
        "message" => object([("role", quote("assistant")), ("content", quote(""))]),
        _ => quote(""),
    };
    Some(object([
        ("model", quote(&model)),
        ("created_at", quote(&crate::clock::rfc3339())),
        (answer, said),
        ("done_reason", quote(reason)),
        ("done", String::from("true")),
    ]))
}

/// Writes an error as Ollama does.
pub(crate) fn error(message: &str) -> String {
    object([("error", quote(message))])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(request: &str) -> String {
        let document = Document::of(request.to_owned()).unwrap();
        translated(document.root()).unwrap().document.text().to_owned()
    }

    #[test]
    fn results_without_ids_belong_to_the_calls_before_them() {
        let chat = chat(
            r#"{"model": "m", "messages": [
                {"role": "user", "content": "a"},
                {"role": "assistant", "content": "", "tool_calls": [
                    {"function": {"name": "f", "arguments": {"a": 1}}},
                    {"function": {"name": "g", "arguments": {}}},
                    {"id": "own", "function": {"name": "f"}}]},
                {"role": "tool", "tool_name": "g", "content": "G"},
                {"role": "tool", "content": "F"},
                {"role": "tool", "tool_call_id": "own", "content": "O"}]}"#,
        );
        for part in [
            r#"{"id":"call00001","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}"#,
            r#"{"role":"tool","tool_call_id":"call00001","content":"F"}"#,
            r#"{"role":"tool","tool_call_id":"call00002","content":"G"}"#,
            r#"{"role":"tool","tool_call_id":"own","content":"O"}"#,
        ] {
            assert!(chat.contains(part), "{part} in {chat}");
        }
    }

    #[test]
    fn what_is_said_of_the_answer_goes_by_the_names_of_chats() {
        let chat = chat(
            r#"{"model": "m", "stream": false, "think": "max", "format": {"type": "object"}, "keep_alive": "5m",
                "options": {"num_predict": 9, "num_ctx": 4096, "stop": ["x"], "top_k": 3}, "tools": [],
                "messages": [{"role": "user", "content": "a", "images": ["iVBORw0KGgoAAA"]}]}"#,
        );
        let format = r#"{"type":"json_schema","json_schema":{"name":"output","schema":{"type": "object"}}}"#;
        let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAA"}}"#;
        assert_eq!(
            chat,
            format!(
                r#"{{"model":"m","think":"max","keep_alive":"5m","stream":false,"messages":[{{"role":"user","content":[{{"type":"text","text":"a"}},{image}]}}],"response_format":{format},"reasoning_effort":"high","top_k":3,"stop":["x"],"num_ctx":4096,"max_tokens":9}}"#
            )
        );
    }

    #[test]
    fn a_request_without_messages_loads_a_model() {
        for (request, reason) in [
            (r#"{"model": "m"}"#, Some("load")),
            (r#"{"model": "m", "messages": [], "keep_alive": 0}"#, Some("unload")),
            (r#"{"model": "m", "messages": [{}]}"#, None),
        ] {
            let document = Document::of(request.to_owned()).unwrap();
            let told = loaded(document.root(), "message");
            let wanted = reason.map(|reason| format!("\"done_reason\":\"{reason}\",\"done\":true"));
            assert_eq!(told.is_some(), wanted.is_some());
            assert!(told.unwrap_or_default().contains(&wanted.unwrap_or_default()));
        }
    }
}
