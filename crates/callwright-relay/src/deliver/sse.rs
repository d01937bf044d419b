//! A whole answer as the events of a stream, for clients that asked for a stream and an upstream without one.

use callwright_json::{Value, quote};

use crate::wire::{CUT, Change, Template, rewritten};

/// Writes the events, `[DONE]` included. Each of `tool_errors` stands behind its choice.
pub(crate) fn events(answer: Value<'_>, include_usage: bool, tool_errors: &[Vec<String>]) -> String {
    let chunk = rewritten(
        answer,
        &[
            ("object", Change::Set(String::from("\"chat.completion.chunk\""))),
            ("usage", if include_usage { Change::Set(String::from("null")) } else { Change::Remove }),
            ("callwright", Change::Remove),
        ],
    );
    let mut out = String::new();
    let Ok(tree) = callwright_json::strict(&chunk) else { return out };
    let template = Template::of(tree.root(&chunk));
    for (n, choice) in answer.get("choices").into_iter().flat_map(Value::elements).enumerate() {
        let index = choice.get("index").map_or("0", Value::raw);
        let Some(message) = choice.get("message") else { continue };
        let calls = message.get("tool_calls").into_iter().flat_map(Value::elements).enumerate();
        let calls = calls.map(|(n, call)| rewritten(call, &[("index", Change::Set(n.to_string()))]));
        let calls = calls.map(|call| format!("{{\"tool_calls\":[{call}]}}"));
        let said = rewritten(message, &[("tool_calls", Change::Remove)]);
        // One call after the other: some clients read the first one of a delta alone.
        for delta in std::iter::once(said).chain(calls) {
            let choice = format!("[{{\"index\":{index},\"delta\":{delta},\"finish_reason\":null}}]");
            template.event(&choice, &mut out);
        }
        for part in tool_errors.get(n).into_iter().flatten() {
            template.tool_error(index, part, &mut out);
        }
        let finish = choice.get("finish_reason").map_or("null", Value::raw);
        let last = format!("[{{\"index\":{index},\"delta\":{{}},\"finish_reason\":{finish}}}]");
        let report = answer.get("callwright").map(Value::raw);
        template.last(&last, report, &mut out);
    }
    if include_usage && let Some(usage) = answer.get("usage") {
        template.usage(usage.raw(), &mut out);
    }
    out.push_str("data: [DONE]\n\n");
    out
}

/// The type of an error at which clients ask again.
pub(crate) const SERVER_ERROR: &str = "server_error";

/// Returns the message of such an error, with the words that clients look for.
pub(crate) fn broken_off(message: &str) -> String {
    format!("connection error (terminated): {message}")
}

/// Writes an event for an error in mid-stream. If the upstream broke off, clients ask again, and look for a type, a number and
/// words. An answer that was refused here would be refused again.
pub(crate) fn error(code: &str, message: &str) -> String {
    let (message, kind, code) = match code {
        CUT => (broken_off(message), SERVER_ERROR, String::from("502")),
        code => (message.to_owned(), "invalid_request_error", quote(code)),
    };
    format!(
        "data: {{\"error\":{{\"message\":{},\"type\":{},\"param\":null,\"code\":{code}}}}}\n\n",
        quote(&message),
        quote(kind)
    )
}
