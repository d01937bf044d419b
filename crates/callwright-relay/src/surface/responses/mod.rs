//! OpenAI's responses: their requests, as chat requests.
//!
//! A member without a place in a chat request is left out, and the client is told if it could miss it. A member is refused only
//! if leaving it out would be a lie: to work in the background, a stored prompt, a conversation that is kept elsewhere.

mod checksum;
mod items;
pub(crate) mod kept;
mod stored;
mod tools;

use std::sync::Arc;

use callwright_json::{Kind, Value, quote};

use http::HeaderMap;

use self::kept::{KeptResponse, KeptResponses, not_found};
use super::effort::chat_effort;
use super::translated::Translated;
use crate::owner::Owner;
use crate::wire::{Change, Document, WireError, array, object, present, rewritten, string_of};

pub(crate) use items::{coded_thought, is_our_code};
pub use stored::ItemsWanted;
pub(crate) use tools::{Declared, Form, Table};

/// The parts of a request for a response that its answer needs.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The members of the request that the response repeats: member and JSON text.
    pub(crate) echo: Vec<(&'static str, String)>,
    /// The client's tools, by the names that the model knows.
    pub(crate) table: Arc<Table>,
    /// The client wants thoughts as summaries.
    pub(crate) summarises: bool,
    /// The client wants thoughts in a form that it can send back.
    pub(crate) codes_thoughts: bool,
    /// The keeper of the response; none if the client wants nothing kept.
    pub(crate) keeper: Option<Keeper>,
}

impl Wanted {
    /// Reads the parts of this request.
    fn of(root: Value<'_>, table: Table, keeper: Option<Keeper>) -> Wanted {
        let has = |key: &str| present(root, key);
        let included = |what: &str| {
            has("include")
                .is_some_and(|list| list.elements().any(|it| it.as_str().is_some_and(|it| it == what)))
        };
        let echo = |(key, otherwise): (&'static str, &str)| {
            (key, has(key).map_or_else(|| otherwise.to_owned(), |value| value.raw().to_owned()))
        };
        let model = ("model", has("model").map_or("\"\"", Value::raw).to_owned());
        let summary = has("reasoning").and_then(|it| it.get("summary"));
        Wanted {
            echo: ECHOED.into_iter().map(echo).chain([model]).collect(),
            table: Arc::new(table),
            summarises: summary.is_some_and(|it| it.kind() != Kind::Null),
            codes_thoughts: included("reasoning.encrypted_content"),
            keeper,
        }
    }
}

/// Keeps a response once it is whole.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    to: Arc<KeptResponses>,
    owner: Owner,
    parent: Option<String>,
    input: Vec<String>,
    session: Option<String>,
}

impl Keeper {
    /// Keeps `body`, the response of this id, with these output items. Returns false if it is too large to be kept.
    pub(crate) fn keep(self, id: &str, body: String, output: Vec<String>) -> bool {
        let Keeper { to, owner, parent, input, session } = self;
        to.keep(id, KeptResponse { owner, parent, input, output, body, session })
    }
}

/// The members of a response for which the request has no value: numbers may not be null for clients that check it.
const ECHOED: [(&str, &str); 18] = [
    ("instructions", "null"),
    ("metadata", "{}"),
    ("temperature", "1"),
    ("top_p", "1"),
    ("max_output_tokens", "null"),
    ("max_tool_calls", "null"),
    ("previous_response_id", "null"),
    ("reasoning", r#"{"effort":null,"summary":null}"#),
    ("text", r#"{"format":{"type":"text"}}"#),
    ("user", "null"),
    ("presence_penalty", "0"),
    ("frequency_penalty", "0"),
    ("top_logprobs", "0"),
    ("safety_identifier", "null"),
    ("prompt_cache_key", "null"),
    ("tools", "[]"),
    ("tool_choice", "\"auto\""),
    ("parallel_tool_calls", "true"),
];

/// The members that cannot be left out without a lie.
const REFUSED: [&str; 2] = ["conversation", "prompt"];

/// The most items of a conversation: a longer list has no honest use.
const MOST_ITEMS: usize = 20_000;

/// Returns the chat request of this request.
///
/// # Errors
/// No chat server could be asked this request.
pub(crate) fn translated(
    root: Value<'_>,
    (headers, owner): (&HeaderMap, &Owner),
    kept: &Arc<KeptResponses>,
) -> Result<Translated<Wanted>, WireError> {
    if root.kind() != Kind::Object {
        return Err(WireError::bad_request(None, "invalid_body", "the request must be a JSON object"));
    }
    let has = |key: &str| present(root, key);
    for refused in REFUSED {
        if has(refused).is_some() {
            return Err(unsupported_parameter(refused));
        }
    }
    if has("background").and_then(Value::as_bool) == Some(true) {
        return Err(unsupported_parameter("background"));
    }
    let parent = has("previous_response_id").and_then(Value::as_str).map(|id| id.into_owned());
    let earlier = match &parent {
        Some(id) => kept.conversation(id, owner).ok_or_else(|| not_found(id))?,
        None => Vec::new(),
    };
    let input = own_input(root)?;
    if MOST_ITEMS < earlier.len() + input.len() {
        return Err(WireError::bad_request(
            Some("input"),
            "too_many_items",
            "the conversation has too many items",
        ));
    }
    let all = Document::of(array(earlier.iter().chain(&input)))
        .map_err(|why| WireError::bad_request(Some("input"), "invalid_input", why))?;
    let declared = Declared::of(root, all.root()).for_chat()?;
    let instructions = has("instructions").and_then(Value::as_str);
    let conversation = items::conversation(instructions.as_deref(), all.root(), &declared.table)?;

    let members = members(root, &declared, conversation.said.messages());
    let document =
        Document::of(object(members)).map_err(|why| WireError::bad_request(None, "invalid_body", why))?;

    let session = kept_session(&parent, kept, root, headers);
    let wants_kept = has("store").and_then(Value::as_bool) != Some(false);
    let keeper = (wants_kept && kept.keeps()).then(|| Keeper {
        to: Arc::clone(kept),
        owner: owner.clone(),
        parent,
        input,
        session: session.clone(),
    });
    let wanted = Wanted::of(root, declared.table, keeper);
    Ok(Translated {
        document,
        door: wanted,
        dropped: declared.dropped,
        dropped_items: conversation.dropped,
        allowed: declared.allowed,
        bare_inputs: declared.bare_inputs,
        session,
    })
}

/// Returns the members of the chat request.
fn members(root: Value<'_>, declared: &Declared, messages: String) -> Vec<(&'static str, String)> {
    let has = |key: &str| present(root, key);
    let mut members: Vec<(&'static str, String)> = Vec::new();
    for same in [
        "model",
        "temperature",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "stream",
        "callwright",
        "plugins",
    ] {
        members.extend(has(same).map(|value| (same, value.raw().to_owned())));
    }
    members.extend(has("max_output_tokens").map(|most| ("max_tokens", most.raw().to_owned())));
    members.push(("messages", messages));
    if !declared.functions.is_empty() {
        members.push(("tools", array(&declared.functions)));
        members.extend(has("parallel_tool_calls").map(|it| ("parallel_tool_calls", it.raw().to_owned())));
        members.extend(declared.choice.as_ref().map(|choice| ("tool_choice", choice.clone())));
    }
    members.extend(has("text").and_then(response_format).map(|format| ("response_format", format)));
    let effort = has("reasoning").and_then(|reasoning| string_of(reasoning, "effort"));
    members.extend(effort.map(|effort| ("reasoning_effort", quote(chat_effort(&effort)))));
    members
}

fn unsupported_parameter(name: &'static str) -> WireError {
    let message = format!("{name} is not supported: this server keeps no such thing");
    WireError::bad_request(Some(name), "unsupported_parameter", message)
}

/// Returns the items of the request's own input, each with an id.
fn own_input(root: Value<'_>) -> Result<Vec<String>, WireError> {
    let with_id = |item: Value<'_>| match item.get("id").is_some_and(|id| id.kind() == Kind::String) {
        true => item.raw().to_owned(),
        false => rewritten(item, &[("id", Change::Set(quote(&new_id("msg_"))))]),
    };
    match root.get("input") {
        None => Ok(Vec::new()),
        Some(input) => match input.as_str() {
            Some(text) => {
                let part = object([("type", quote("input_text")), ("text", quote(&text))]);
                Ok(vec![object([
                    ("id", quote(&new_id("msg_"))),
                    ("type", quote("message")),
                    ("role", quote("user")),
                    ("content", array([part])),
                ])])
            }
            None if input.kind() == Kind::Array => Ok(input.elements().map(with_id).collect()),
            None => Err(WireError::bad_request(
                Some("input"),
                "invalid_input",
                "input must be a text or an array of items",
            )),
        },
    }
}

/// Makes an id of this API: `begin`, and 32 letters and digits.
pub(crate) fn new_id(begin: &str) -> String {
    let mut id = crate::calls::new_id(begin);
    id.push_str(&crate::calls::new_id("")[..8]);
    id
}

/// Returns `text.format` as a chat has it; none for plain text.
fn response_format(text: Value<'_>) -> Option<String> {
    let format = text.get("format")?;
    match string_of(format, "type")?.as_ref() {
        "json_object" => Some(object([("type", quote("json_object"))])),
        "json_schema" => {
            let named = ["name", "description", "schema", "strict"];
            let members = named.into_iter().filter_map(|key| Some((key, format.get(key)?.raw().to_owned())));
            Some(object([("type", quote("json_schema")), ("json_schema", object(members))]))
        }
        _ => None,
    }
}

/// Returns the session of the response before, else the one that the client names: codex sends it in three headers.
fn kept_session(
    parent: &Option<String>,
    kept: &KeptResponses,
    root: Value<'_>,
    headers: &HeaderMap,
) -> Option<String> {
    let before = parent.as_deref().and_then(|id| kept.session(id));
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
    let named = || ["session-id", "thread-id", "x-client-request-id"].into_iter().find_map(header);
    let cached = || string_of(root, "prompt_cache_key").map(|key| key.into_owned());
    before.or_else(named).or_else(cached).filter(|session| !session.trim().is_empty())
}
