//! The errors of servers that could not read a model's call: some quote its text, others only say that it is lost.
//!
//! A table says which server uses which words: [`ERRORS`], [`CODES`], [`ENDS`].

use callwright::value::Value as Json;
use callwright_json::{Value, quote};

use crate::clock::unix_seconds;
use crate::wire::{Document, string_of};

/// A call of the model's that its server could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LostCall {
    /// The server's words about it, in one line.
    pub(crate) why: String,
    /// The model's text, if the server quotes it.
    raw: Option<String>,
}

/// The form of a server's error message. The model's text stands behind `before`, up to the last `behind`.
struct ErrorForm {
    sign: &'static str,
    before: &'static str,
    behind: &'static str,
}

const ERRORS: [ErrorForm; 3] = [
    // llama.cpp: `Failed to parse input at pos 12: <tool_call>…`
    ErrorForm { sign: "Failed to parse input at pos ", before: ": ", behind: "" },
    // Ollama: `error parsing tool call: raw='{"a": 1', err=unexpected end of JSON input`
    ErrorForm { sign: "error parsing tool call: ", before: "raw='", behind: "', err=" },
    // LM Studio: `Failed to parse tool call: Unexpected end of content`, in some versions with `Model Output: …` behind it.
    ErrorForm { sign: "Failed to parse tool call: ", before: "Model Output: ", behind: "" },
];

/// Groq's codes. The model's text stands in `failed_generation`, if at all.
const CODES: [&str; 2] = ["tool_use_failed", "json_validate_failed"];

/// Gemini's finish reasons, which LiteLLM passes on in small letters, and OpenRouter as `native_finish_reason`.
const ENDS: [&str; 2] = ["malformed_function_call", "unexpected_tool_call"];

impl LostCall {
    /// Reads a lost call from the body of an error.
    pub(crate) fn in_error(body: &str) -> Option<LostCall> {
        let value: Json = serde_json::from_str(body).ok()?;
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
        let error = value.get("error").unwrap_or(value);
        let message = error.get("message").unwrap_or(error).as_str()?;
        let why = line(message);
        let code = error.get("code").and_then(Json::as_str).unwrap_or_default();
        if CODES.contains(&code) {
            let raw = error.get("failed_generation").and_then(Json::as_str);
            return Some(LostCall { why, raw: raw.and_then(written) });
        }
        ERRORS.iter().find_map(|form| {
            let (_, rest) = message.split_once(form.sign)?;
            let raw = rest.split_once(form.before).map(|(_, raw)| raw);
            let raw = raw.and_then(|raw| match form.behind {
                "" => Some(raw),
                behind => Some(raw.rsplit_once(behind)?.0),
            });
            // What the model wrote is no part of what the server says.
            let why = line(message.split(form.before).next().unwrap_or_default());
            Some(LostCall { why, raw: raw.and_then(written) })
        })
    }

    /// Reads a lost call from the end of a choice, or of a piece of one.
    pub(crate) fn at_end(choice: Value<'_>) -> Option<LostCall> {
        let reasons = ["finish_reason", "native_finish_reason"].into_iter();
        let why = reasons.filter_map(|key| string_of(choice, key)).find(|reason| is_lost_end(reason))?;
        // `Malformed function call: get_weather(city="Oslo")`
        let told = string_of(choice, "finish_message");
        let raw = told.as_deref().and_then(|told| told.split_once(": ")).and_then(|(_, raw)| written(raw));
        Some(LostCall { why: why.into_owned(), raw })
    }

    /// Makes the answer in which `model` says its text, if the server quotes it.
    pub(crate) fn answer(&self, model: &str) -> Option<Document> {
        let text = format!(
            "{{\"id\":\"chatcmpl-salvaged\",\"object\":\"chat.completion\",\"created\":{},\"model\":{},\"choices\":[{{\"index\":0,\"message\":{{\"role\":\"assistant\",\"content\":{}}},\"finish_reason\":\"stop\"}}]}}",
            unix_seconds(),
            quote(model),
            quote(self.raw.as_deref()?)
        );
        Document::of(text).ok()
    }
}

/// Returns whether this is the end of a choice whose call was lost.
pub(crate) fn is_lost_end(reason: &str) -> bool {
    ENDS.iter().any(|it| it.eq_ignore_ascii_case(reason))
}

fn written(raw: &str) -> Option<String> {
    let raw = raw.trim_end_matches(['\n', '\r']);
    (!raw.trim().is_empty()).then(|| raw.to_owned())
}

fn line(message: &str) -> String {
    message.lines().next().unwrap_or_default().trim_end().chars().take(200).collect()
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
            (
                r#"{"error": "Failed to parse tool call: Unexpected end of content. \nModel Output: <tool_call>{"}"#,
                Some("<tool_call>{"),
            ),
            (
                r#"{"error": {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": "<function=f>{}</function>"}}"#,
                Some("<function=f>{}</function>"),
            ),
            (
                r#"[{"error": {"message": "No.", "code": "json_validate_failed", "failed_generation": "{\"a\": 1"}}]"#,
                Some("{\"a\": 1"),
            ),
        ] {
            assert_eq!(LostCall::in_error(body).unwrap().raw.as_deref(), raw, "{body}");
        }
    }

    #[test]
    fn an_error_may_tell_only_that_a_call_is_lost() {
        for (body, why) in [
            (
                r#"{"error": {"message": "tool call validation failed: `/a`: expected array", "code": "tool_use_failed", "failed_generation": ""}}"#,
                Some("tool call validation failed: `/a`: expected array"),
            ),
            (
                r#"{"error": "Failed to parse tool call: Unexpected end of content"}"#,
                Some("Failed to parse tool call: Unexpected end of content"),
            ),
            (r#"{"error": {"message": "Loading model"}}"#, None),
            // Of an old call in the request.
            (r#"{"error": {"message": "Failed to parse tool call arguments as JSON: at 1"}}"#, None),
            ("<html>", None),
        ] {
            let lost = LostCall::in_error(body);
            assert_eq!(lost.as_ref().map(|lost| &*lost.why), why, "{body}");
            assert_eq!(lost.and_then(|lost| lost.raw), None, "{body}");
        }
    }

    #[test]
    fn an_end_tells_of_a_lost_call_in_any_case() {
        for (choice, raw) in [
            (r#"{"finish_reason": "MALFORMED_FUNCTION_CALL"}"#, Some(None)),
            (
                r#"{"finish_reason": "malformed_function_call", "finish_message": "Malformed function call: f(a=1)\n"}"#,
                Some(Some("f(a=1)")),
            ),
            (r#"{"finish_reason": "error", "native_finish_reason": "UNEXPECTED_TOOL_CALL"}"#, Some(None)),
            (r#"{"finish_reason": "stop", "finish_message": "Model: done"}"#, None),
        ] {
            let document = Document::of(choice).unwrap();
            let lost = LostCall::at_end(document.root());
            assert_eq!(lost.map(|lost| lost.raw), raw.map(|raw| raw.map(str::to_owned)), "{choice}");
        }
    }
}
