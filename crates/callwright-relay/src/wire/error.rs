//! Errors in the form of the OpenAI API.

use std::fmt;

use http::StatusCode;

use callwright_json::{Value, quote};

use super::document::string_of;

/// An answer that is an error: `{"error": {"message", "type", "param", "code"}}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// The HTTP status.
    pub status: StatusCode,
    /// One sentence for a person.
    pub message: String,
    /// The kind: `invalid_request_error`, `upstream_error`, ….
    pub kind: &'static str,
    /// The member of the request that is at fault.
    pub param: Option<&'static str>,
    /// The stable code for programs.
    pub code: &'static str,
}

impl WireError {
    /// Makes the error of a request that cannot be used; `param` is at fault.
    pub fn bad_request(
        param: Option<&'static str>,
        code: &'static str,
        message: impl Into<String>,
    ) -> WireError {
        let message = message.into();
        WireError { status: StatusCode::BAD_REQUEST, message, kind: "invalid_request_error", param, code }
    }

    /// Makes the error of a `param` for which the upstream's API, named `api`, has no place.
    pub(crate) fn unsupported(param: &'static str, api: &str) -> WireError {
        let message =
            format!("the upstream of this model is asked in the API of {api}, which has no `{param}`");
        WireError::bad_request(Some(param), "unsupported_parameter", message)
    }

    /// Makes the error of an upstream that did not do its part.
    pub fn upstream(status: StatusCode, code: &'static str, message: String) -> WireError {
        WireError { status, message, kind: "upstream_error", param: None, code }
    }

    /// Writes the body.
    pub fn to_json(&self) -> String {
        format!(
            "{{\"error\":{{\"message\":{},\"type\":{},\"param\":{},\"code\":{}}}}}",
            quote(&self.message),
            quote(self.kind),
            self.param.map_or(String::from("null"), quote),
            quote(self.code)
        )
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for WireError {}

/// The code of an answer that broke off.
pub(crate) const CUT: &str = "upstream_cut";

/// The code of an answer whose content is not the JSON that was asked for.
pub(crate) const INVALID_CONTENT: &str = "invalid_content";

/// The code of an answer that holds half a call which was refused.
pub(crate) const CALL_REFUSED: &str = "call_refused";

/// Returns whether this chunk is an error of the upstream.
pub(crate) fn is_error(root: Value<'_>) -> bool {
    root.get("error").is_some_and(|error| error.raw() != "null")
}

/// The names of errors, by `type` or `code`, and their statuses: Anthropic's, and OpenAI's.
const NAMED: [(&str, StatusCode); 11] = [
    ("invalid_request_error", StatusCode::BAD_REQUEST),
    ("context_length_exceeded", StatusCode::BAD_REQUEST),
    ("authentication_error", StatusCode::UNAUTHORIZED),
    ("permission_error", StatusCode::FORBIDDEN),
    ("not_found_error", StatusCode::NOT_FOUND),
    ("request_too_large", StatusCode::PAYLOAD_TOO_LARGE),
    ("rate_limit_error", StatusCode::TOO_MANY_REQUESTS),
    ("rate_limit_exceeded", StatusCode::TOO_MANY_REQUESTS),
    ("insufficient_quota", StatusCode::TOO_MANY_REQUESTS),
    ("overloaded_error", StatusCode::SERVICE_UNAVAILABLE),
    ("timeout_error", StatusCode::GATEWAY_TIMEOUT),
];

/// Returns the status of an error that came without one: the one that it names, else 502.
pub(crate) fn error_status(root: Value<'_>) -> StatusCode {
    let error = root.get("error").unwrap_or(root);
    let named = ["code", "status", "status_code"].into_iter().find_map(|key| {
        let raw = error.get(key)?;
        raw.as_str().as_deref().unwrap_or(raw.raw()).parse::<u16>().ok()
    });
    let status = named.and_then(|status| StatusCode::from_u16(status).ok());
    let is_failure = |status: &StatusCode| status.is_client_error() || status.is_server_error();
    let by_name = || {
        let names = ["code", "type"].into_iter().filter_map(|key| string_of(error, key));
        names.filter_map(|name| NAMED.iter().find(|(of, _)| *of == name)).map(|(_, status)| *status).next()
    };
    status.filter(is_failure).or_else(by_name).unwrap_or(StatusCode::BAD_GATEWAY)
}

/// Returns whether the server is at fault, so that the same request may do better.
pub(crate) fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}
