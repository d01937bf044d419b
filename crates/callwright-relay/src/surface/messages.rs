//! Anthropic's messages: their requests, as chat requests.
//!
//! A member without a place in a chat request is left out, and never refused: clients send more with each version.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use callwright_json::{Kind, Value, quote};
use http::HeaderMap;

use super::conversation::{Called, Conversation, Part, Returned, Turn, error_of_tool};
use super::effort::{budget_effort, chat_effort};
use super::translated::{Translated, unsupported};
use crate::tokens::estimated_tokens;
use crate::wire::{Document, WireError, array, count_of, object, present, string_of};

/// The parts of a request for messages that its answer needs.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The model, as the client names it.
    pub(crate) model: String,
    /// The client gets the model's thoughts.
    pub(crate) thoughts: bool,
    /// The approximate number of tokens in the question.
    pub(crate) estimate: u64,
}

/// Begins the signature of a thought that came from a chat upstream: no other server may get to see it.
pub(crate) const OUR_SIGNATURE: &str = "cw1.";

/// Begins an id that an upstream gave in a form that this API does not take; the id itself follows, in base64.
const CODED_ID: &str = "toolu_cw1_";

/// Returns the id of a call as this API takes it: letters, digits, `_` and `-`. The id can be read from it again.
pub(crate) fn coded_id(id: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    match id.chars().all(is_plain) && !id.starts_with(CODED_ID) {
        true => Cow::Borrowed(id),
        false => Cow::Owned(format!("{CODED_ID}{}", URL_SAFE_NO_PAD.encode(id))),
    }
}

fn decoded_id(id: &str) -> String {
    let decoded = id.strip_prefix(CODED_ID).and_then(|coded| URL_SAFE_NO_PAD.decode(coded).ok());
    decoded.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| id.to_owned())
}

/// Returns the chat request of this request.
///
/// # Errors
/// No chat server could be asked this request.
pub(crate) fn translated(root: Value<'_>, headers: &HeaderMap) -> Result<Translated<Wanted>, WireError> {
    if root.kind() != Kind::Object {
        return Err(bad(None, "the request must be a JSON object"));
    }
    let mut members: Vec<(&str, String)> = Vec::new();
    let mut keep = |from: &str, to: &'static str| {
        if let Some(value) = present(root, from) {
            members.push((to, value.raw().to_owned()));
        }
    };
    for same in ["model", "max_tokens", "temperature", "top_p", "stream", "callwright", "plugins"] {
        keep(same, same);
    }
    keep("stop_sequences", "stop");
    members.push(("messages", conversation(root)?.messages()));
    let (tools, dropped) = declared_but(root, &deferred(root));
    if tools.is_empty() && !dropped.is_empty() {
        return Err(unsupported(&dropped));
    }
    if !tools.is_empty() {
        members.push(("tools", array(tools)));
        members.extend(choice(root.get("tool_choice"), &dropped)?);
    }
    let format = root.get("output_config").and_then(|config| config.get("format"));
    if let Some(schema) = format.and_then(|format| format.get("schema")) {
        let schema = [("name", quote("output")), ("strict", "true".into()), ("schema", schema.raw().into())];
        let format = object([("type", quote("json_schema")), ("json_schema", object(schema))]);
        members.push(("response_format", format));
    }
    members.extend(effort(root).map(|effort| ("reasoning_effort", quote(chat_effort(&effort)))));
    let document = Document::of(object(members)).map_err(|why| bad(None, &why))?;
    let thinking = root.get("thinking").and_then(|thinking| string_of(thinking, "type"));
    let wanted = Wanted {
        model: string_of(root, "model").unwrap_or_default().into_owned(),
        thoughts: thinking.is_some_and(|kind| kind != "disabled"),
        estimate: estimated_tokens(document.text()),
    };
    let translated = Translated::plain(document, wanted);
    Ok(Translated { dropped, session: session(root, headers), ..translated })
}

/// Returns the effort: a word for it, or one for its number of tokens.
fn effort(root: Value<'_>) -> Option<Cow<'_, str>> {
    let thinking = root.get("thinking");
    if thinking.and_then(|thinking| string_of(thinking, "type")).is_some_and(|kind| kind == "disabled") {
        return Some(Cow::Borrowed("none"));
    }
    let said = root.get("output_config").and_then(|config| string_of(config, "effort"));
    let budget = thinking.and_then(|thinking| count_of(thinking, "budget_tokens"));
    said.or(budget.map(|budget| Cow::Borrowed(budget_effort(budget))))
}

fn bad(param: Option<&'static str>, message: &str) -> WireError {
    WireError::bad_request(param, "invalid_request", message.to_owned())
}

/// Returns the session that Claude Code names in a header, and others in the user's id: a JSON text with `session_id` in it.
fn session(root: Value<'_>, headers: &HeaderMap) -> Option<String> {
    let header = headers.get("x-claude-code-session-id").and_then(|value| value.to_str().ok());
    let user = || {
        let id = string_of(root.get("metadata")?, "user_id")?;
        let tree = callwright_json::strict(&id).ok()?;
        string_of(tree.root(&id), "session_id").map(Cow::into_owned)
    };
    header.map(str::to_owned).or_else(user).filter(|session| !session.trim().is_empty())
}

/// Returns the texts of a member that is a text, or a list of blocks.
fn texts(content: Value<'_>) -> Vec<Cow<'_, str>> {
    match content.as_str() {
        Some(text) => vec![text],
        None => content.elements().filter_map(|block| string_of(block, "text")).collect(),
    }
}

/// Begins the block by which Claude Code bills. It is not part of the prompt, and its text changes with each request.
const BILLING: &str = "x-anthropic-billing-header:";

fn system(content: Value<'_>) -> String {
    let texts = texts(content).into_iter().filter(|text| !text.starts_with(BILLING));
    texts.collect::<Vec<_>>().join("\n\n")
}

fn conversation(root: Value<'_>) -> Result<Conversation, WireError> {
    let messages = root.get("messages").filter(|messages| messages.kind() == Kind::Array);
    let Some(messages) = messages else { return Err(bad(Some("messages"), "messages must be an array")) };
    let mut conversation = Conversation::default();
    if let Some(content) = root.get("system") {
        conversation.system(system(content));
    }
    for message in messages.elements() {
        let Some(content) = message.get("content") else { continue };
        match string_of(message, "role").as_deref() {
            Some("system" | "developer") => conversation.system(system(content)),
            Some("assistant") => conversation.turn(turn(content)),
            Some("user") => user(content, &mut conversation)?,
            _ => return Err(bad(Some("messages"), "a message's role must be user, assistant or system")),
        }
    }
    Ok(conversation)
}

fn turn(content: Value<'_>) -> Turn {
    let mut turn = Turn::default();
    if let Some(text) = content.as_str() {
        turn.text = text.into_owned();
        return turn;
    }
    let mut said: Vec<Cow<'_, str>> = Vec::new();
    for block in content.elements() {
        match string_of(block, "type").as_deref() {
            Some("tool_use") => turn.calls.push(called(block)),
            Some("thinking") => {
                let is_ours = string_of(block, "signature").is_some_and(|it| it.starts_with(OUR_SIGNATURE));
                if is_ours {
                    turn.thought.push_str(&string_of(block, "thinking").unwrap_or_default());
                }
            }
            _ => said.extend(string_of(block, "text")),
        }
    }
    turn.text = said.join("\n");
    turn
}

fn called(block: Value<'_>) -> Called {
    let input = block.get("input");
    let raw = input.and_then(unparsed);
    Called {
        id: decoded_id(&string_of(block, "id").unwrap_or_default()),
        name: string_of(block, "name").unwrap_or_default().into_owned(),
        arguments: match raw {
            Some(raw) => raw.into_owned(),
            None => input.map_or("{}", Value::raw).to_owned(),
        },
        ..Called::default()
    }
}

/// Returns the text that Claude Code keeps of an input that it could not parse.
pub(crate) fn unparsed(input: Value<'_>) -> Option<Cow<'_, str>> {
    let unparsed = input.get("__unparsedToolInput")?;
    string_of(unparsed, "raw").or_else(|| unparsed.as_str())
}

fn user(content: Value<'_>, conversation: &mut Conversation) -> Result<(), WireError> {
    if let Some(text) = content.as_str() {
        conversation.user(vec![Part::Text(text.into_owned())]);
        return Ok(());
    }
    let mut parts = Vec::new();
    for block in content.elements() {
        match string_of(block, "type").as_deref() {
            Some("tool_result") => conversation.result(returned(block)?),
            _ => {
                if let Some(part) = part(block)? {
                    part.join(&mut parts);
                }
            }
        }
    }
    conversation.user(parts);
    Ok(())
}

fn returned(block: Value<'_>) -> Result<Returned, WireError> {
    let id = decoded_id(&string_of(block, "tool_use_id").unwrap_or_default());
    let (mut said, mut others) = (Vec::new(), Vec::new());
    match block.get("content") {
        Some(content) if content.kind() == Kind::Array => {
            for block in content.elements() {
                match part(block)? {
                    Some(Part::Text(text)) => said.push(text),
                    Some(other) => others.push(other),
                    None => said.extend(string_of(block, "tool_name").map(Cow::into_owned)),
                }
            }
        }
        content => said.extend(content.and_then(Value::as_str).map(Cow::into_owned)),
    }
    let text = said.join("\n");
    let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
    let is_told = text.starts_with("<tool_use_error>");
    let text = if is_error && !is_told { error_of_tool(text) } else { text };
    Ok(Returned { id, text, others })
}

/// Returns a block of the user's message; none if it has no form in a chat.
fn part(block: Value<'_>) -> Result<Option<Part>, WireError> {
    let source = block.get("source");
    let kind = string_of(block, "type");
    let Some(source) = source.filter(|_| matches!(kind.as_deref(), Some("image" | "document"))) else {
        return Ok(string_of(block, "text").map(|text| Part::Text(text.into_owned())));
    };
    let is_image = kind.as_deref() == Some("image");
    let title = string_of(block, "title");
    let member = |key| string_of(source, key).unwrap_or_default();
    let part = match string_of(source, "type").as_deref() {
        Some("text") => {
            let title = title.map(|title| format!("{title}\n")).unwrap_or_default();
            return Ok(Some(Part::Text(format!("{title}{}", member("data")))));
        }
        Some("base64") => {
            let data = format!("data:{};base64,{}", member("media_type"), member("data"));
            match is_image {
                true => Part::image(&data),
                false => Part::file(title.as_deref().unwrap_or("document"), &data),
            }
        }
        Some("url") if is_image => Part::image(&member("url")),
        _ => {
            let message = "an image comes as base64 or a URL, a document as text or base64";
            return Err(WireError::bad_request(Some("messages"), "unsupported_block", message));
        }
    };
    Ok(Some(part))
}

/// Returns the functions, and the names of tools that no chat server runs.
pub(crate) fn declared(root: Value<'_>) -> (Vec<String>, Vec<String>) {
    declared_but(root, &[])
}

/// Returns the names of the tools that the model may not see yet: they say `defer_loading`, and no result of a search names them.
/// None if the server is to search, or if the model would never see any tool.
fn deferred(root: Value<'_>) -> Vec<Cow<'_, str>> {
    let tools = || root.get("tools").into_iter().flat_map(Value::elements);
    let is_deferred = |tool: &Value<'_>| tool.get("defer_loading").and_then(Value::as_bool) == Some(true);
    let is_search = |kind: &str| kind.starts_with("tool_search_tool");
    let is_searched_here = tools().any(|tool| string_of(tool, "type").is_some_and(|kind| is_search(&kind)));
    if is_searched_here || tools().all(|tool| is_deferred(&tool)) {
        return Vec::new();
    }
    let messages = root.get("messages").into_iter().flat_map(Value::elements);
    let blocks = messages.flat_map(|message| message.get("content").into_iter().flat_map(Value::elements));
    let found: Vec<Cow<'_, str>> = blocks
        .flat_map(|block| {
            let parts = block.get("content").into_iter().flat_map(Value::elements);
            let named = parts.filter_map(|part| string_of(part, "tool_name"));
            // It was found before, if it was called.
            named.chain(string_of(block, "name"))
        })
        .collect();
    let names = tools().filter(is_deferred).filter_map(|tool| string_of(tool, "name"));
    names.filter(|name| !found.contains(name)).collect()
}

/// Returns the functions but those of these names, and the names of tools that no chat server runs.
fn declared_but(root: Value<'_>, hidden: &[Cow<'_, str>]) -> (Vec<String>, Vec<String>) {
    let (mut functions, mut dropped) = (Vec::new(), Vec::new());
    for tool in root.get("tools").into_iter().flat_map(Value::elements) {
        if string_of(tool, "name").is_some_and(|name| hidden.contains(&name)) {
            continue;
        }
        let kind = string_of(tool, "type");
        if !matches!(kind.as_deref(), None | Some("custom")) {
            dropped.push(string_of(tool, "name").or(kind).unwrap_or_default().into_owned());
            continue;
        }
        let mut function: Vec<(&str, String)> = Vec::new();
        for (from, to) in [
            ("name", "name"),
            ("description", "description"),
            ("input_schema", "parameters"),
            ("strict", "strict"),
        ] {
            function.extend(tool.get(from).map(|value| (to, value.raw().to_owned())));
        }
        functions.push(object([("type", quote("function")), ("function", object(function))]));
    }
    let servers = root.get("mcp_servers").into_iter().flat_map(Value::elements);
    dropped.extend(servers.map(|server| string_of(server, "name").unwrap_or_default().into_owned()));
    (functions, dropped)
}

/// Returns `tool_choice`, and whether there may be several calls.
fn choice(choice: Option<Value<'_>>, dropped: &[String]) -> Result<Vec<(&'static str, String)>, WireError> {
    let Some(choice) = choice.filter(|choice| choice.kind() == Kind::Object) else { return Ok(Vec::new()) };
    let mut members = Vec::new();
    let chosen = match string_of(choice, "type").as_deref() {
        Some("auto") => quote("auto"),
        Some("any") => quote("required"),
        Some("none") => quote("none"),
        Some("tool") => {
            let name = string_of(choice, "name").unwrap_or_default();
            if dropped.iter().any(|other| *other == name) {
                return Err(unsupported(&[name.into_owned()]));
            }
            object([("type", quote("function")), ("function", object([("name", quote(&name))]))])
        }
        _ => return Err(bad(Some("tool_choice"), "tool_choice must be auto, any, tool or none")),
    };
    members.push(("tool_choice", chosen));
    if choice.get("disable_parallel_tool_use").and_then(Value::as_bool) == Some(true) {
        members.push(("parallel_tool_calls", String::from("false")));
    }
    Ok(members)
}
