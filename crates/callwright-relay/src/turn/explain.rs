//! An upstream's error, as the client gets it: in the upstream's words if it has some, else in ours.

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};

use super::no_answer::{KEY, NoAnswer};
use crate::surface::Failure;
use crate::upstream::Upstream;
use crate::wire::{WireError, looks};

/// Returns the client's error for an upstream's error. `body` holds no secret.
pub(crate) fn explained(
    upstream: &Upstream,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
) -> NoAnswer {
    let is_explained = is_explained(status, &body);
    let said = || is_explained.then(|| Failure::of(status, &body).message);
    if let Some(message) = about_key(upstream, status, said) {
        return NoAnswer::Error(WireError::upstream(status, KEY, message));
    }
    if is_explained {
        return NoAnswer::Upstream(status, headers, body);
    }
    let (name, hint) = (upstream.name(), hint(status, upstream));
    let looks = match body.trim_ascii().is_empty() {
        true => String::new(),
        false => format!("; its body {}", looks(headers.get(header::CONTENT_TYPE), &body)),
    };
    let message = format!("upstream `{name}` answered {status}, and no error that says why{looks}{hint}");
    NoAnswer::Error(WireError::upstream(status, "bad_answer", message))
}

/// Returns the fault of the upstream's key, if the error is about it. A client cannot know it: its own key goes to no upstream,
/// and the upstream speaks of the key that it got, or lacked.
fn about_key(
    upstream: &Upstream,
    status: StatusCode,
    said: impl FnOnce() -> Option<String>,
) -> Option<String> {
    let (name, code, config) = (upstream.name(), status.as_u16(), upstream.config());
    // Headers may hold a key as well, under a name that nobody here knows.
    let is_keyless = config.key_env.is_none() && config.headers.is_empty();
    let says = |said: Option<String>| said.map_or_else(String::new, |said| format!("; it says: {said}"));
    match (status, &config.key_env) {
        (StatusCode::UNAUTHORIZED, Some(variable)) => {
            Some(format!("upstream `{name}` refused the key in {variable} ({code}){}", says(said())))
        }
        (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, None) if is_keyless => Some(format!(
            "upstream `{name}` wants a key ({code}), and none is configured: name the variable that holds it with \
             --upstream-key-env NAME, or in key_env of the upstream (the key of a client is not passed on){}",
            says(said().filter(|_| status == StatusCode::FORBIDDEN))
        )),
        _ => None,
    }
}

/// Returns whether the upstream's own error says more than we could. A proxy's page does not. Neither does a web framework's
/// answer to an unknown path: `{"detail": "Not Found"}`.
fn is_explained(status: StatusCode, body: &[u8]) -> bool {
    let Ok(error) = serde_json::from_slice::<callwright::value::Value>(body) else { return false };
    status != StatusCode::NOT_FOUND || ["error", "message"].iter().any(|key| error.get(key).is_some())
}

/// Returns the usual cause of such an answer.
fn hint(status: StatusCode, upstream: &Upstream) -> &'static str {
    let is_plain = upstream.location().starts_with("http:");
    match status {
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED if upstream.path().contains("/v1") => {
            "; is its base_url what stands before /chat/completions?"
        }
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => "; does its base_url lack /v1?",
        StatusCode::BAD_REQUEST if is_plain => "; should its base_url begin with https://?",
        _ => "",
    }
}
