//! Errors of upstreams that hold what a model wrote: some servers answer so where a call is no JSON.

use crate::clock::unix_seconds;
use crate::wire::Document;
use callwright_json::quote;

/// The answer in which `model` says what the body of an error holds.
pub(crate) fn recover_from_error(model: &str, body: &str) -> Option<Document> {
    said(body).and_then(|raw| answer(model, &raw).ok())
}

fn said(body: &str) -> Option<String> {
    let value: callwright::value::Value = serde_json::from_str(body).ok()?;
    let error = value.get("error").unwrap_or(&value);
    let message = error.get("message").unwrap_or(error).as_str()?;
    // llama.cpp: `Failed to parse input at pos 12: <tool_call>…`
    if let Some((_, rest)) = message.split_once("Failed to parse input at pos ") {
        return rest.split_once(": ").map(|(_, raw)| raw.to_owned());
    }
    // Ollama: `error parsing tool call: raw='{"a": 1', err=unexpected end of JSON input`
    let (_, rest) = message.split_once("error parsing tool call: raw='")?;
    Some(rest.rsplit_once("', err=")?.0.to_owned())
}

fn answer(model: &str, raw: &str) -> Result<Document, String> {
    let text = format!(
        "{{\"id\":\"chatcmpl-salvaged\",\"object\":\"chat.completion\",\"created\":{},\"model\":{},\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":{}}},\"finish_reason\":\"stop\"}}]}}",
        unix_seconds(),
        quote(model),
        quote(raw)
    );
    Document::of(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_model_wrote_is_taken_out_of_the_error() {
        for (body, raw) in [
            (
                r#"{"error": {"message": "Failed to parse input at pos 12: <tool_call>{\"name\": \"f\"", "code": 500}}"#,
                Some("<tool_call>{\"name\": \"f\""),
            ),
            (
                r#"{"error": "error parsing tool call: raw='{\"a\": 1', err=unexpected end of JSON input"}"#,
                Some("{\"a\": 1"),
            ),
            (r#"{"error": {"message": "Loading model"}}"#, None),
            ("<html>", None),
        ] {
            assert_eq!(said(body).as_deref(), raw, "{body}");
        }
    }
}
