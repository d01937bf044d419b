//! Tries out whether a model makes native calls: one small request, which such a model answers by a call.
//!
//! It serves models without any source, whose family takes tools in some servers and not in others. It also runs after a client
//! demanded a call and got none: the client's request may have been the reason.

use bytes::Bytes;
use callwright::json;
use callwright::value::Value;
use http::StatusCode;

use super::experience::Evidence;
use super::fact::BoundMember;
use super::refusal::{Refused, refusal};

/// The most tokens that the answer may have: a call of the tool takes some twenty.
const MOST_TOKENS: u64 = 64;
/// The longest answer that is read, in bytes. One of so few tokens is far shorter.
pub(crate) const LONGEST: usize = 1 << 20;

/// Makes the request, one for chats.
pub(crate) fn question(model: &str, bound: BoundMember) -> Bytes {
    let question = json!({
        "model": model,
        "messages": [{"role": "user", "content": "Call the tool report_ready."}],
        "tools": [{"type": "function", "function": {
            "name": "report_ready",
            "description": "Reports that you are ready.",
            "parameters": {"type": "object", "properties": {}},
        }}],
        "tool_choice": "required",
        (bound.name()): MOST_TOKENS,
    });
    Bytes::from(question.to_string())
}

/// Returns the evidence of the answer, with the upstream's words. The answer shows nothing if the model thought until its tokens
/// were used up, or the upstream refused something else.
pub(crate) fn shown(status: StatusCode, body: &Bytes) -> Option<(Evidence, String)> {
    if !status.is_success() {
        let refusal = refusal(status, body).filter(|refusal| refusal.what == Refused::Tools)?;
        return Some((Evidence::Refused, refusal.words));
    }
    let answer: Value = serde_json::from_slice(body).ok()?;
    let choice = &answer["choices"][0];
    if choice["message"]["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty()) {
        return Some((Evidence::Called, String::new()));
    }
    let said = choice["message"]["content"].as_str().unwrap_or_default();
    (choice["finish_reason"] != "length" && !said.trim().is_empty())
        .then(|| (Evidence::Ignored, String::new()))
}
