//! The rules of Gemini's wire as the strictest of its clients holds them: an answer goes in, what it adds up to and what breaks a
//! rule come out.

use callwright::json;
use callwright::value::Value;

use crate::corpus::client::Got;

/// How an answer comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    Events,
    Array,
}

/// An answer, read strictly.
pub(crate) struct Read {
    /// The answer, whole or as its parts add up to it, or the error.
    pub(crate) body: Value,
    /// The rules that are broken, a sentence each.
    pub(crate) breaches: Vec<String>,
}

/// Reads an answer of this form.
pub(crate) fn read(got: &Got, form: Form) -> Read {
    let mut breaches = Vec::new();
    let form = if got.status.is_success() { form } else { Form::Whole };
    let mut hold = |is: bool, otherwise: String| {
        if !is {
            breaches.push(otherwise);
        }
    };
    hold(got.broken.is_none(), String::from("the body breaks off"));
    let kind = got.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    let wanted = if form == Form::Events { "text/event-stream" } else { "application/json" };
    hold(kind == wanted, format!("content-type: {kind}"));
    let text = String::from_utf8_lossy(&got.body);
    let parts: Vec<Value> = match form {
        Form::Whole => serde_json::from_str(&text).into_iter().collect(),
        Form::Array => serde_json::from_str(&text).unwrap_or_default(),
        Form::Events => {
            hold(text.ends_with("\n\n"), format!("the last event has no end: {text}"));
            // Python's package reads a line that is no data as JSON.
            let lines = text.lines().filter(|line| !line.is_empty());
            let data = lines.map(|line| line.strip_prefix("data: ").and_then(|data| data.parse().ok()));
            data.map(Option::unwrap_or_default).collect()
        }
    };
    hold(!parts.is_empty(), format!("nothing that can be read: {text}"));
    let mut whole = json!({ "text": "", "thought": "", "calls": [] });
    let first = parts.first().cloned().unwrap_or_default();
    for (n, part) in parts.iter().enumerate() {
        let is_last = n + 1 == parts.len();
        let error = &part["error"];
        if !error.is_null() {
            let status = error["status"].as_str().unwrap_or_default();
            hold(is_last && error["message"].is_string(), format!("an error comes last, with words: {part}"));
            hold(error["code"].is_u64(), format!("an error has a number: {part}"));
            hold(!status.is_empty() && status == status.to_uppercase(), format!("no status: {part}"));
            let is_told = form != Form::Whole || error["code"] == got.status.as_u16();
            hold(is_told, format!("another status than the answer's: {part}"));
            whole["error"] = error.clone();
            continue;
        }
        let candidate = &part["candidates"][0];
        hold(
            part["candidates"].as_array().is_some_and(|all| all.len() == 1),
            format!("no candidate: {part}"),
        );
        hold(candidate["index"] == 0 && candidate["content"]["role"] == "model", format!("no head: {part}"));
        hold(part["modelVersion"].is_string() && part["responseId"].is_string(), format!("no tail: {part}"));
        hold(part["responseId"] == first["responseId"], format!("another id: {part}"));
        hold(candidate["finishReason"].is_string() == is_last, format!("the last one has a reason: {part}"));
        if is_last {
            for key in ["usageMetadata", "callwright", "modelVersion"] {
                whole[key] = part[key].clone();
            }
            whole["finishReason"] = candidate["finishReason"].clone();
        }
        let said = candidate["content"]["parts"].as_array().cloned().unwrap_or_default();
        hold(!said.is_empty(), format!("a content without parts is forgotten: {part}"));
        for said in said {
            if let Some(text) = said["text"].as_str() {
                let key = if said["thought"] == true { "thought" } else { "text" };
                whole[key] = format!("{}{text}", whole[key].as_str().unwrap_or_default()).into();
                continue;
            }
            let call = &said["functionCall"];
            hold(call["id"].is_string() && call["name"].is_string(), format!("no call: {said}"));
            hold(call["args"].is_object(), format!("arguments are an object: {said}"));
            if let Some(calls) = whole["calls"].as_array_mut() {
                let mut call = call.clone();
                call["signature"] = said["thoughtSignature"].clone();
                calls.push(call);
            }
        }
    }
    Read { body: whole, breaches }
}
