//! Gemini's `generateContent` requests, as chat requests. The format: `ai.google.dev/api/generate-content`.
//!
//! Members have their names in camel case or in snake case. A member without a place in a chat request is left out. It is refused
//! only if leaving it out would be a lie.

use std::borrow::Cow;

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use callwright_json::{Kind, Value, quote};

use super::conversation::{Called, Conversation, Part, Returned, Turn, error_of_tool};
use super::effort::budget_effort;
use super::failure::Failure;
use super::openapi::json_schema;
use super::translated::{Translated, unsupported};
use crate::wire::{Document, Foreign, WireError, array, object, string_of};

/// The model and the form that the path of a request names: `/v1beta/models/qwen3:streamGenerateContent?alt=sse`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeminiAsk {
    /// The model.
    pub model: String,
    /// The form in which the answer comes.
    pub form: GeminiForm,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GeminiForm {
    /// One object.
    #[default]
    Whole,
    /// A stream of events, each with a part of the answer.
    Events,
    /// A stream of parts, as the elements of one array.
    Array,
}

/// The part of a request that its answer depends on.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The model, as the client names it.
    pub(crate) model: String,
    /// The form in which the answer comes.
    pub(crate) form: GeminiForm,
    /// The client gets the model's thoughts.
    pub(crate) thoughts: bool,
}

/// Returns the chat request that this request comes to.
///
/// # Errors
/// No chat server could be asked this request.
pub(crate) fn translated(
    root: Value<'_>,
    asked: Option<&GeminiAsk>,
) -> Result<Translated<Wanted>, WireError> {
    if root.kind() != Kind::Object {
        return Err(bad(None, "the request must be a JSON object"));
    }
    let GeminiAsk { model, form } = asked.cloned().unwrap_or_default();
    // Who counts tokens may put the request into a member.
    let root = said(root, "generateContentRequest").unwrap_or(root);
    if said(root, "cachedContent").is_some() {
        return Err(bad(Some("cachedContent"), "no content is kept here: send it with the request"));
    }
    let mut members = vec![("model", quote(&model))];
    for same in ["callwright", "plugins"] {
        members.extend(said(root, same).map(|value| (same, value.raw().to_owned())));
    }
    if form != GeminiForm::Whole {
        members.push(("stream", String::from("true")));
        members.push(("stream_options", object([("include_usage", String::from("true"))])));
    }
    let Said { conversation, dropped_items } = said_in(root)?;
    members.push(("messages", conversation.messages()));
    let (functions, dropped) = declared(root);
    if functions.is_empty() && !dropped.is_empty() {
        return Err(unsupported(&dropped));
    }
    let mut allowed = None;
    if !functions.is_empty() {
        members.push(("tools", array(functions)));
        let choice = choice(root)?;
        members.extend(choice.word.map(|word| ("tool_choice", quote(word))));
        allowed = choice.allowed;
    }
    let config = said(root, "generationConfig");
    members.extend(config.map(options).transpose()?.unwrap_or_default());
    let document = Document::of(object(members)).map_err(|why| bad(None, &why))?;
    let thinking = config.and_then(|config| said(config, "thinkingConfig"));
    let includes = thinking.and_then(|thinking| said(thinking, "includeThoughts"));
    let wanted = Wanted { model, form, thoughts: includes.and_then(Value::as_bool) == Some(true) };
    let translated = Translated::plain(document, wanted);
    Ok(Translated { dropped, dropped_items, allowed, ..translated })
}

fn bad(param: Option<&'static str>, message: &str) -> WireError {
    WireError::bad_request(param, "invalid_request", message.to_owned())
}

/// Returns a member by its name in camel case, or in snake case: `topP`, `top_p`.
fn said<'v>(object: Value<'v>, name: &str) -> Option<Value<'v>> {
    let snake = || {
        let mut snake = String::new();
        for letter in name.chars() {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
        }
        snake
    };
    let is_one_word = name.bytes().all(|letter| letter.is_ascii_lowercase());
    let found = object.get(name).or_else(|| (!is_one_word).then(|| object.get(&snake())).flatten());
    found.filter(|value| value.kind() != Kind::Null)
}

fn text_of<'v>(object: Value<'v>, name: &str) -> Cow<'v, str> {
    said(object, name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a list, even if its only element stands alone.
fn listed<'v>(object: Value<'v>, name: &str) -> impl Iterator<Item = Value<'v>> {
    let value = said(object, name);
    let alone = value.filter(|value| value.kind() != Kind::Array);
    value.into_iter().flat_map(Value::elements).chain(alone)
}

/// Returns the model's settings by the names of chats, which have none for `topK`.
fn options(config: Value<'_>) -> Result<Vec<(&'static str, String)>, WireError> {
    const SAME: [(&str, &str); 7] = [
        ("temperature", "temperature"),
        ("topP", "top_p"),
        ("maxOutputTokens", "max_tokens"),
        ("stopSequences", "stop"),
        ("seed", "seed"),
        ("presencePenalty", "presence_penalty"),
        ("frequencyPenalty", "frequency_penalty"),
    ];
    if said(config, "candidateCount").is_some_and(|n| n.raw() != "1") {
        return Err(bad(
            Some("candidateCount"),
            "one candidate is made for a request: candidateCount must be 1",
        ));
    }
    let same = SAME.into_iter().filter_map(|(from, to)| Some((to, said(config, from)?.raw().to_owned())));
    let mut options: Vec<(&str, String)> = same.collect();
    options.extend(format(config).map(|format| ("response_format", format)));
    let thinking = said(config, "thinkingConfig");
    options.extend(thinking.and_then(effort).map(|effort| ("reasoning_effort", quote(&effort))));
    Ok(options)
}

/// Returns the form of the answer. One word of a list, `text/x.enum`, has no form in JSON.
fn format(config: Value<'_>) -> Option<String> {
    let kind = text_of(config, "responseMimeType");
    if !matches!(&*kind, "" | "application/json") {
        return None;
    }
    let plain = ["responseJsonSchema", "_responseJsonSchema"].into_iter().find_map(|key| said(config, key));
    let schema = plain.map(|schema| schema.raw().to_owned());
    let Some(schema) = schema.or_else(|| said(config, "responseSchema").map(json_schema)) else {
        return (!kind.is_empty()).then(|| object([("type", quote("json_object"))]));
    };
    let schema = object([("name", quote("output")), ("schema", schema)]);
    Some(object([("type", quote("json_schema")), ("json_schema", schema)]))
}

/// Returns the effort: a word for it, or one for its number of tokens; -1 leaves that to the model.
fn effort(thinking: Value<'_>) -> Option<Cow<'static, str>> {
    let level = text_of(thinking, "thinkingLevel").to_ascii_lowercase();
    if !matches!(level.as_str(), "" | "thinking_level_unspecified") {
        return Some(Cow::Owned(level));
    }
    let budget: i64 = said(thinking, "thinkingBudget")?.raw().trim_matches('"').parse().ok()?;
    match u64::try_from(budget) {
        Ok(0) => Some(Cow::Borrowed("none")),
        Ok(budget) => Some(Cow::Borrowed(budget_effort(budget))),
        Err(_) => None,
    }
}

/// Returns the functions, and the names of tools that only Google's servers run.
fn declared(root: Value<'_>) -> (Vec<String>, Vec<String>) {
    let (mut functions, mut dropped) = (Vec::new(), Vec::new());
    for tool in listed(root, "tools") {
        for declaration in listed(tool, "functionDeclarations") {
            let plain = said(declaration, "parametersJsonSchema").map(|schema| schema.raw().to_owned());
            let parameters = plain.or_else(|| said(declaration, "parameters").map(json_schema));
            let same = ["name", "description"].into_iter();
            let same = same.filter_map(|key| Some((key, said(declaration, key)?.raw().to_owned())));
            let function = same.chain(parameters.map(|schema| ("parameters", schema)));
            functions.push(object([("type", quote("function")), ("function", object(function))]));
        }
        for (key, value) in tool.members() {
            let key = key.as_str().unwrap_or_default();
            let is_ours = matches!(&*key, "functionDeclarations" | "function_declarations");
            if !is_ours && value.kind() != Kind::Null {
                dropped.push(key.into_owned());
            }
        }
    }
    (functions, dropped)
}

/// The functions that may be called.
#[derive(Default)]
struct Choice {
    /// The word of chats for the choice.
    word: Option<&'static str>,
    /// The only functions; `true` if one of them must be called.
    allowed: Option<(Vec<String>, bool)>,
}

fn choice(root: Value<'_>) -> Result<Choice, WireError> {
    let config = said(root, "toolConfig").and_then(|config| said(config, "functionCallingConfig"));
    let Some(config) = config else { return Ok(Choice::default()) };
    let word = match text_of(config, "mode").to_ascii_uppercase().as_str() {
        "" | "MODE_UNSPECIFIED" => None,
        "AUTO" | "VALIDATED" => Some("auto"),
        "ANY" => Some("required"),
        "NONE" => Some("none"),
        _ => return Err(bad(Some("toolConfig"), "mode must be AUTO, ANY, NONE or VALIDATED")),
    };
    let names = listed(config, "allowedFunctionNames").filter_map(Value::as_str).map(Cow::into_owned);
    let names: Vec<String> = names.collect();
    let is_bounded = !names.is_empty() && word != Some("none");
    Ok(Choice { word, allowed: is_bounded.then(|| (names, word == Some("required"))) })
}

/// Begins the bytes of a signature that was made here: no other one says anything to an upstream.
const OURS: &[u8] = b"cw1.";

/// The longest signature, in bytes.
const LONGEST: usize = 192 << 10;

/// Returns the signature of a call: the thought before it, and the members that its upstream added. Clients send it back with the
/// call, but leave out thoughts. None if both are empty, or too long.
pub(crate) fn signature(thought: &str, foreign: &str) -> Option<String> {
    let foreign = foreign.strip_prefix(',').unwrap_or_default();
    let is_told = !(thought.is_empty() && foreign.is_empty()) && thought.len() + foreign.len() <= LONGEST;
    is_told.then(|| {
        let told = object([("thought", quote(thought)), ("call", format!("{{{foreign}}}"))]);
        STANDARD.encode([OURS, told.as_bytes()].concat())
    })
}

/// Returns the thought and the members of a call that this signature holds.
fn signed(signature: &str) -> Option<(String, String)> {
    // Python's package writes the other alphabet.
    const EITHER: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, EITHER);
    let bytes = engine.decode(signature.replace('-', "+").replace('_', "/")).ok()?;
    let told = String::from_utf8(bytes.strip_prefix(OURS)?.to_vec()).ok()?;
    let tree = callwright_json::strict(&told).ok()?;
    let told = tree.root(&told);
    let foreign = told.get("call").map(Foreign::of)?;
    Some((string_of(told, "thought")?.into_owned(), foreign.call))
}

/// The conversation of a request.
#[derive(Default)]
struct Said {
    conversation: Conversation,
    /// The number of parts without a place in a chat.
    dropped_items: usize,
}

fn said_in(root: Value<'_>) -> Result<Said, WireError> {
    let mut all = Said::default();
    if let Some(instruction) = said(root, "systemInstruction") {
        all.conversation.system(system(instruction));
    }
    if said(root, "contents").is_none() {
        return Err(bad(Some("contents"), "contents must be an array"));
    }
    // Who keeps a stream piece by piece sends several contents for one turn.
    let mut open = Turn::default();
    for content in listed(root, "contents") {
        let role = text_of(content, "role");
        if matches!(&*role, "model" | "assistant") {
            all.turn(content, &mut open)?;
            continue;
        }
        all.conversation.turn(std::mem::take(&mut open));
        match &*role {
            "" | "user" | "function" | "tool" => all.user(content)?,
            "system" => all.conversation.system(system(content)),
            _ => return Err(bad(Some("contents"), "a content's role must be user or model")),
        }
    }
    all.conversation.turn(open);
    Ok(all)
}

/// Returns the operator's words, from a content, a part, or a text.
fn system(content: Value<'_>) -> String {
    if let Some(text) = content.as_str() {
        return text.into_owned();
    }
    let parts = listed(content, "parts").chain(said(content, "text").map(|_| content));
    parts.map(|part| text_of(part, "text")).collect::<Vec<_>>().join("\n\n")
}

impl Said {
    /// Adds a part of the model's turn.
    fn turn(&mut self, content: Value<'_>, turn: &mut Turn) -> Result<(), WireError> {
        for part in listed(content, "parts") {
            if let Some(text) = said(part, "text").and_then(Value::as_str) {
                let is_thought = said(part, "thought").and_then(Value::as_bool) == Some(true);
                let to = if is_thought { &mut turn.thought } else { &mut turn.text };
                to.push_str(&text);
            } else if let Some(call) = said(part, "functionCall") {
                let (thought, foreign) = signed(&text_of(part, "thoughtSignature")).unwrap_or_default();
                if turn.thought.is_empty() {
                    turn.thought = thought;
                }
                turn.calls.push(Called {
                    foreign,
                    id: text_of(call, "id").into_owned(),
                    name: text_of(call, "name").into_owned(),
                    arguments: said(call, "args").map_or("{}", Value::raw).to_owned(),
                });
            } else {
                self.dropped_items += 1;
            }
        }
        Ok(())
    }

    /// Adds a user's parts, and the results of calls.
    fn user(&mut self, content: Value<'_>) -> Result<(), WireError> {
        let mut parts = Vec::new();
        for part in listed(content, "parts") {
            if let Some(response) = said(part, "functionResponse") {
                self.result(response)?;
                continue;
            }
            match of_user(part)? {
                Some(part) => part.join(&mut parts),
                None => self.dropped_items += 1,
            }
        }
        self.conversation.user(parts);
        Ok(())
    }

    /// Adds the result of a call: `{"name": "f", "response": {"output": "18 degrees"}}`.
    fn result(&mut self, response: Value<'_>) -> Result<(), WireError> {
        let text = said(response, "response").map(result_text).unwrap_or_default();
        let mut others = Vec::new();
        for part in listed(response, "parts") {
            match of_user(part)? {
                Some(part) => others.push(part),
                None => self.dropped_items += 1,
            }
        }
        let id = self.conversation.answered(&text_of(response, "id"), &text_of(response, "name"));
        self.conversation.result(Returned { id, text, others });
        Ok(())
    }
}

/// Returns the text of a result: its only member, if that is called output or error, else all of it.
fn result_text(response: Value<'_>) -> String {
    let whole = |value: Value<'_>| value.as_str().map_or_else(|| value.raw().to_owned(), Cow::into_owned);
    let mut members = response.members();
    let (Some((key, value)), None) = (members.next(), members.next()) else { return whole(response) };
    match key.as_str().as_deref() {
        Some("output" | "result") => whole(value),
        Some("error") => error_of_tool(whole(value)),
        _ => whole(response),
    }
}

/// Returns a user's part as a chat has it; none if it has no form there.
fn of_user(part: Value<'_>) -> Result<Option<Part>, WireError> {
    if let Some(text) = said(part, "text").and_then(Value::as_str) {
        return Ok(Some(Part::Text(text.into_owned())));
    }
    if let Some(data) = said(part, "inlineData") {
        return Ok(Some(inline(
            &text_of(data, "mimeType"),
            &text_of(data, "data"),
            &text_of(data, "displayName"),
        )));
    }
    let Some(file) = said(part, "fileData") else { return Ok(None) };
    let (uri, kind) = (text_of(file, "fileUri"), text_of(file, "mimeType"));
    if kind.starts_with("image/")
        && !uri.contains("generativelanguage.googleapis.com")
        && uri.starts_with("http")
    {
        return Ok(Some(Part::image(&uri)));
    }
    let message = "no files are kept here: send what is in it as inlineData; of an image the URL is taken";
    Err(WireError::bad_request(Some("contents"), "unsupported_file", message))
}

/// Makes a part of data in base64, of this type.
fn inline(kind: &str, data: &str, name: &str) -> Part {
    let url = format!("data:{kind};base64,{data}");
    match kind.split_once('/') {
        Some(("image", _)) => Part::image(&url),
        Some(("audio", format)) => {
            let format = if format == "mpeg" { "mp3" } else { format.trim_start_matches("x-") };
            let audio = object([("data", quote(data)), ("format", quote(format))]);
            Part::Other(object([("type", quote("input_audio")), ("input_audio", audio)]))
        }
        _ => Part::file(if name.is_empty() { "file" } else { name }, &url),
    }
}

/// Returns the word of Google's servers for an error with this status.
fn status_word(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        502 | 503 | 529 => "UNAVAILABLE",
        400..=499 => "INVALID_ARGUMENT",
        _ => "INTERNAL",
    }
}

/// Writes an error as Gemini's API has it. Clients decide by its number whether to ask again: a refusal of ours has the number of
/// a wrong request.
pub(crate) fn error(failure: &Failure) -> String {
    let code = failure.gemini_status().as_u16();
    let error = object([
        ("code", code.to_string()),
        ("message", quote(&failure.message)),
        ("status", quote(status_word(code))),
    ]);
    object([("error", error)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(form: GeminiForm) -> GeminiAsk {
        GeminiAsk { model: String::from("m"), form }
    }

    fn chat(request: &str) -> String {
        let document = Document::of(request.to_owned()).unwrap();
        let translated = translated(document.root(), Some(&asked(GeminiForm::Whole))).unwrap();
        translated.document.text().to_owned()
    }

    #[test]
    fn a_turn_that_comes_in_pieces_is_one() {
        let chat = chat(
            r#"{"systemInstruction": {"parts": [{"text": "S"}]}, "contents": [
                {"parts": [{"text": "a"}, {"text": "b"}]},
                {"role": "model", "parts": [{"text": "Hm", "thought": true}, {"text": "I "}]},
                {"role": "model", "parts": [{"text": "look."}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"a": 1}}}, {"functionCall": {"name": "g"}}]},
                {"role": "model", "parts": [{"text": ""}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "g", "response": {"error": "no"}}},
                    {"function_response": {"name": "f", "response": {"result": {"b": 2}}}}]}]}"#,
        );
        let call = |id: &str, name: &str, arguments: &str| {
            format!(
                r#"{{"id":"{id}","type":"function","function":{{"name":"{name}","arguments":"{arguments}"}}}}"#
            )
        };
        let calls = array([call("call00001", "f", "{\\\"a\\\": 1}"), call("call00002", "g", "{}")]);
        assert_eq!(
            chat,
            format!(
                r#"{{"model":"m","messages":[{{"role":"system","content":"S"}},{{"role":"user","content":"a\nb"}},{{"role":"assistant","content":"I look.","reasoning_content":"Hm","tool_calls":{calls}}},{{"role":"tool","tool_call_id":"call00001","content":"{{\"b\": 2}}"}},{{"role":"tool","tool_call_id":"call00002","content":"Error: no"}}]}}"#
            )
        );
    }

    #[test]
    fn a_signature_brings_back_what_was_thought_and_said() {
        let foreign = r#","extra_content":{"google":{"thought_signature":"AB/+=="}}"#;
        let signature = signature("So?~~~", foreign).unwrap();
        for signature in [signature.clone(), signature.replace('+', "-").replace('/', "_").replace('=', "")] {
            assert_eq!(signed(&signature), Some((String::from("So?~~~"), foreign.to_owned())));
        }
        assert_eq!(super::signature("", ""), None);
        for strange in ["", "c2tpcA==", "skip_thought_signature_validator", "Y3cxLnt9"] {
            assert_eq!(signed(strange), None, "{strange}");
        }
    }

    #[test]
    fn what_is_said_of_the_answer_goes_by_the_names_of_chats() {
        let chat = chat(
            r#"{"contents": {"role": "user", "parts": {"inline_data": {"mime_type": "image/png", "data": "iVBO"}}},
                "generation_config": {"topP": 0.9, "top_k": 64, "max_output_tokens": 9, "stopSequences": ["x"],
                    "responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"},
                    "thinkingConfig": {"thinkingBudget": 8000}}}"#,
        );
        let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO"}}"#;
        let format = r#"{"type":"json_schema","json_schema":{"name":"output","schema":{"type":"object"}}}"#;
        assert_eq!(
            chat,
            format!(
                r#"{{"model":"m","messages":[{{"role":"user","content":[{image}]}}],"top_p":0.9,"max_tokens":9,"stop":["x"],"response_format":{format},"reasoning_effort":"medium"}}"#
            )
        );
    }

    #[test]
    fn tools_of_googles_servers_are_left_out_and_named() {
        let request = r#"{"contents": [], "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}}}"#;
        let document = Document::of(request.to_owned()).unwrap();
        let both = translated(document.root(), Some(&asked(GeminiForm::Events))).unwrap();
        assert_eq!(both.dropped, ["googleSearch"]);
        assert_eq!(both.allowed, Some((vec![String::from("f")], true)));
        assert!(both.document.text().ends_with(
            r#""tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"required"}"#
        ));
        for refused in [
            r#"{"contents": [], "tools": [{"googleSearch": {}}]}"#,
            r#"{"contents": [], "cachedContent": "cachedContents/x"}"#,
            r#"{"contents": [], "generationConfig": {"candidateCount": 2}}"#,
            r#"{"contents": [{"role": "nobody"}]}"#,
            r#"{"contents": [{"parts": [{"fileData": {"fileUri": "https://youtu.be/x"}}]}]}"#,
            "{}",
            "[]",
        ] {
            let document = Document::of(refused.to_owned()).unwrap();
            assert!(translated(document.root(), None).is_err(), "{refused}");
        }
    }
}
