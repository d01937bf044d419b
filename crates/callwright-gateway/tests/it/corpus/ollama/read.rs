//! The rules of Ollama's wire as the strictest of its clients holds them: an answer goes in, what it adds up to and what breaks
//! a rule come out.

use callwright::json;
use callwright::value::Value;

use crate::corpus::client::Got;

/// An answer, read strictly.
pub(crate) struct Read {
    /// The answer, whole or as its lines add up to it, or the error.
    pub(crate) body: Value,
    /// The rules that are broken, a sentence each.
    pub(crate) breaches: Vec<String>,
}

/// Reads an answer to a request that wanted a stream, or none.
pub(crate) fn read(got: &Got, wants_stream: bool) -> Read {
    let mut breaches = Vec::new();
    let is_stream = got.status.is_success() && wants_stream;
    let mut hold = |is: bool, otherwise: String| {
        if !is {
            breaches.push(otherwise);
        }
    };
    hold(got.broken.is_none(), String::from("the body breaks off"));
    let kind = got.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or("");
    let wanted = if is_stream { "application/x-ndjson" } else { "application/json" };
    hold(kind == wanted, format!("content-type: {kind}"));
    let text = String::from_utf8_lossy(&got.body);
    let lines: Vec<&str> = if is_stream { text.lines().collect() } else { vec![&text] };
    hold(!is_stream || text.ends_with('\n'), String::from("the last line has no end"));
    let mut whole = json!({ "message": { "content": "", "thinking": "", "tool_calls": [] } });
    for (n, line) in lines.iter().enumerate() {
        let Ok(part) = serde_json::from_str::<Value>(line) else {
            hold(false, format!("no JSON: {line}"));
            continue;
        };
        let is_last = n + 1 == lines.len();
        if !part["error"].is_null() {
            hold(part["error"].is_string() && is_last, format!("an error is a text, and the last: {line}"));
            whole["error"] = part["error"].clone();
            continue;
        }
        hold(part["model"].is_string() && part["message"]["role"] == "assistant", format!("no head: {line}"));
        let at = part["created_at"].as_str().unwrap_or_default();
        hold(at.len() == 24 && at.ends_with('Z'), format!("no time: {line}"));
        hold(part["done"] == is_last, format!("only the last one is done: {line}"));
        if is_last {
            hold(part["done_reason"].is_string(), format!("no reason: {line}"));
            let is_loaded = part["done_reason"] == "load";
            hold(is_loaded || part["total_duration"].is_u64(), format!("no time that it took: {line}"));
            for key in ["model", "done", "done_reason", "prompt_eval_count", "eval_count", "callwright"] {
                whole[key] = part[key].clone();
            }
        }
        let message = &part["message"];
        hold(message["content"].is_string(), format!("no content: {line}"));
        for key in ["content", "thinking"] {
            let more = message[key].as_str().unwrap_or_default();
            whole["message"][key] =
                format!("{}{more}", whole["message"][key].as_str().unwrap_or_default()).into();
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let known = whole["message"]["tool_calls"].as_array_mut();
            let Some(known) = known else { continue };
            hold(call["function"]["index"] == known.len(), format!("not the next call: {line}"));
            hold(call["function"]["arguments"].is_object(), format!("arguments are an object: {line}"));
            hold(call["id"].is_string(), format!("no id: {line}"));
            known.push(call.clone());
        }
    }
    Read { body: whole, breaches }
}
