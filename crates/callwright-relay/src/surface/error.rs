//! Errors in the form of each API, from errors in OpenAI's form: ours and those of upstreams.

use callwright_json::quote;
use http::StatusCode;

use super::failure::{CONTEXT, Failure, messages_error};
use super::{gemini, ollama};
use crate::api::Surface;
use crate::wire::object;

/// Writes an error in OpenAI's form as an API has it, with its status there; none if it stays as it is. `request` is the id of
/// the request.
pub fn error_body(
    surface: Surface,
    status: StatusCode,
    body: &[u8],
    request: &str,
) -> Option<(StatusCode, String)> {
    match surface {
        Surface::Chat => None,
        Surface::Responses => {
            let failure = Failure::of(status, body);
            failure.overflow?;
            let error = object([
                ("message", quote(&failure.message)),
                ("type", quote("invalid_request_error")),
                ("param", String::from("null")),
                ("code", quote(CONTEXT)),
            ]);
            Some((StatusCode::BAD_REQUEST, object([("error", error)])))
        }
        Surface::Ollama => Some((status, ollama::error(&Failure::of(status, body).message))),
        Surface::Gemini => {
            let failure = Failure::of(status, body);
            Some((failure.gemini_status(), gemini::error(&failure)))
        }
        Surface::Messages => {
            let failure = Failure::of(status, body);
            let status = if failure.overflow.is_some() { StatusCode::BAD_REQUEST } else { status };
            let error = messages_error(failure.messages_type(), &failure.messages_text());
            let body = object([("type", quote("error")), ("error", error), ("request_id", quote(request))]);
            Some((status, body))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(status: u16, body: &str) -> String {
        let status = StatusCode::from_u16(status).unwrap();
        let (status, body) = error_body(Surface::Messages, status, body.as_bytes(), "r").unwrap();
        format!("{} {body}", status.as_u16())
    }

    fn error(status: u16, kind: &str, message: &str) -> String {
        format!(
            "{status} {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{message}\"}},\"request_id\":\"r\"}}"
        )
    }

    #[test]
    fn errors_have_the_types_of_the_api() {
        let chat = r#"{"error": {"message": "no", "type": "x", "code": "y"}}"#;
        for (status, kind) in [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (404, "not_found_error"),
            (429, "rate_limit_error"),
            (500, "api_error"),
            (503, "overloaded_error"),
        ] {
            assert_eq!(told(status, chat), error(status, kind, "no"));
        }
        assert_eq!(told(502, "<html>"), error(502, "api_error", "<html>"));
    }

    #[test]
    fn a_prompt_that_is_too_long_is_told_in_numbers() {
        let long = error(400, "invalid_request_error", "prompt is too long: 130 tokens > 100 maximum");
        for body in [
            r#"{"error": {"message": "prompt is too long: 130 tokens > 100 maximum", "type": "invalid_request_error"}}"#,
            r#"{"error": {"message": "x", "type": "exceed_context_size_error", "n_prompt_tokens": 130, "n_ctx": 100}}"#,
            r#"{"error": {"message": "This model's maximum context length is 100 tokens. However, your request has 130 input tokens."}}"#,
            r#"{"error": {"message": "This model's maximum context length is 100 tokens. However, your messages resulted in 130 tokens.", "code": "context_length_exceeded"}}"#,
        ] {
            assert_eq!(told(400, body), long, "{body}");
        }
        let body = r#"{"message": "This model's maximum context length is 100 tokens. However, you requested 110 tokens (90 in the messages, 20 in the completion)."}"#;
        let expected = "input length and `max_tokens` exceed context limit: 90 + 20 > 100";
        assert_eq!(told(400, body), error(400, "invalid_request_error", expected));
    }
}
