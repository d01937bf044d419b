//! The headers that cross: few of a client's to the upstream, most of an upstream's to the client.
//!
//! A client's header can never say where a request goes or who pays for it: headers outside the list stay here.

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::secrets::Secrets;

pub(super) const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
pub(super) const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The headers of a client's request that go to the upstream. The upstream's own configuration comes before them.
const FORWARDED: &[&str] = &[
    "anthropic-beta",
    "anthropic-version",
    "http-referer",
    "openai-beta",
    "traceparent",
    "tracestate",
    "x-client-request-id",
    "x-request-id",
    "x-title",
];

/// The headers of one connection (RFC 9110, 7.6.1), or of a body that may be another one afterwards.
static OF_THE_CONNECTION: [HeaderName; 12] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::CONTENT_LENGTH,
    header::CONTENT_ENCODING,
    header::HOST,
];

/// Adds the forwarded headers of `client` to `request`, which already has the upstream's own.
pub(super) fn forward(client: &HeaderMap, request: &mut HeaderMap) {
    for (name, value) in client {
        if FORWARDED.contains(&name.as_str()) && !request.contains_key(name) {
            request.insert(name, value.clone());
        }
    }
}

/// Returns whether a configuration may set this header.
pub fn is_settable(name: &HeaderName) -> bool {
    !OF_THE_CONNECTION.contains(name) && *name != header::ACCEPT_ENCODING
}

/// Takes headers that are not for the client out of an answer, with the secrets that they repeat.
pub(super) fn strip_answer(headers: &mut HeaderMap, secrets: &Secrets) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_THE_CONNECTION) {
        headers.remove(name);
    }
    // The upstream's session is with us, and one client's must not become another's.
    headers.remove(header::SET_COOKIE);
    for value in headers.values_mut() {
        if let Some(hidden) = secrets.hidden_in_plain(value.as_bytes()) {
            // What is left of a value, and ASCII in it, is one.
            *value = HeaderValue::from_bytes(&hidden).unwrap_or(HeaderValue::from_static("[secret]"));
        }
    }
}
