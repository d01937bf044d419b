//! Errors in the form of the OpenAI API.

use std::fmt;

use http::StatusCode;

use callwright_json::quote;

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
    /// The request cannot be used; `param` is at fault.
    pub fn bad_request(param: Option<&'static str>, code: &'static str, message: String) -> WireError {
        WireError { status: StatusCode::BAD_REQUEST, message, kind: "invalid_request_error", param, code }
    }

    /// The upstream did not do its part.
    pub fn upstream(status: StatusCode, code: &'static str, message: String) -> WireError {
        WireError { status, message, kind: "upstream_error", param: None, code }
    }

    /// The body.
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
