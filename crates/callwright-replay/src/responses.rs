//! An answer as OpenAI's responses have it: whole, or as its events.

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::answer::{CREATED, call_id, finish_reason, usage};
use crate::fault::Midway;
use crate::form::Form;
use crate::request::Request;
use crate::script::{Answer, Choice};
use crate::stream::{argument_pieces, written, written_as};

/// The whole response.
pub(crate) fn whole(answer: &Answer, request: &Request<'_>, form: &Form) -> Value {
    let items = answer.said().first().map(|choice| items(choice, request, form)).unwrap_or_default();
    let output: Value = items.into_iter().map(|item| item.whole).collect();
    ended(answer, request, output)
}

/// The events, each as it is written.
pub(crate) fn events(answer: &Answer, request: &Request<'_>, form: &Form) -> Vec<String> {
    let Some(choice) = answer.said().first() else { return Vec::new() };
    let mut begun = envelope(answer, request, "in_progress");
    begun.insert("output".into(), json!([]));
    begun.insert("usage".into(), Value::Null);
    let begun = Value::Object(begun);
    let mut events = vec![
        ("response.created", json!({ "response": begun })),
        ("response.in_progress", json!({ "response": begun })),
    ];
    let mut output = Vec::new();
    for (index, item) in items(choice, request, form).into_iter().enumerate() {
        events.push(("response.output_item.added", json!({ "output_index": index, "item": item.start })));
        for (name, members) in item.events {
            let mut event = json!({ "item_id": item.whole["id"], "output_index": index });
            if let Value::Object(event) = &mut event {
                event.extend(members);
            }
            events.push((name, event));
        }
        events.push(("response.output_item.done", json!({ "output_index": index, "item": item.whole })));
        output.push(item.whole);
    }
    let response = ended(answer, request, output.into());
    let end = match response["status"].as_str() {
        Some("incomplete") => "response.incomplete",
        _ => "response.completed",
    };
    events.push((end, json!({ "response": response })));
    if let Some(Midway { after_events, message, .. }) = &answer.fault.midway {
        events.truncate(*after_events);
        let error = json!({ "code": "server_error", "message": message });
        let mut failed = envelope(answer, request, "failed");
        failed.insert("output".into(), json!([]));
        failed.insert("error".into(), error);
        events.push(("response.failed", json!({ "response": Value::Object(failed) })));
    }
    let numbered = |(number, (name, members)): (usize, (&str, Value))| {
        let mut event =
            Map::from_iter([("type".into(), name.into()), ("sequence_number".into(), number.into())]);
        event.extend(members.as_object().cloned().unwrap_or_default());
        written_as(Some(name), &Value::Object(event).to_string(), form)
    };
    let mut written_events: Vec<String> = events.into_iter().enumerate().map(numbered).collect();
    if !form.no_done {
        written_events.push(written("[DONE]", form));
    }
    written_events
}

/// An item: whole, as it begins, and the events between its beginning and its end.
struct Item {
    whole: Value,
    start: Value,
    events: Vec<(&'static str, Map)>,
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn items(choice: &Choice, request: &Request<'_>, form: &Form) -> Vec<Item> {
    let id = |kind: &str, at: usize| format!("{kind}_replay_{}_{at}", request.nth);
    let mut items = Vec::new();
    if let Some(thought) = &choice.reasoning {
        let content = json!([{ "type": "reasoning_text", "text": thought }]);
        let mut item = json!({ "id": id("rs", 0), "type": "reasoning", "summary": [], "content": [] });
        let start = item.clone();
        item["content"] = content;
        let at = ("content_index", Value::from(0));
        let mut events: Vec<_> = form
            .pieces
            .of_text(thought)
            .into_iter()
            .map(|piece| ("response.reasoning_text.delta", members([at.clone(), ("delta", piece.into())])))
            .collect();
        events.push(("response.reasoning_text.done", members([at, ("text", thought.as_str().into())])));
        items.push(Item { whole: item, start, events });
    }
    if let Some(text) = &choice.text {
        let part =
            |text: &str| json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
        let item = |status: &str, content: Value| json!({ "id": id("msg", 1), "type": "message", "status": status, "role": "assistant", "content": content });
        let at = ("content_index", Value::from(0));
        let mut events = vec![("response.content_part.added", members([at.clone(), ("part", part(""))]))];
        events.extend(form.pieces.of_text(text).into_iter().map(|piece| {
            let delta = members([at.clone(), ("delta", piece.into()), ("logprobs", json!([]))]);
            ("response.output_text.delta", delta)
        }));
        let done = members([at.clone(), ("text", text.as_str().into()), ("logprobs", json!([]))]);
        events.push(("response.output_text.done", done));
        events.push(("response.content_part.done", members([at, ("part", part(text))])));
        items.push(Item {
            whole: item("completed", json!([part(text)])),
            start: item("in_progress", json!([])),
            events,
        });
    }
    for (at, call) in choice.tool_calls.iter().enumerate() {
        let text = call.arguments.text();
        let call_id = call_id(call, request, 0, at, form.ids).unwrap_or_default();
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id("fc", at), "type": "function_call", "status": status, "call_id": call_id,
                "name": call.name, "arguments": arguments,
            })
        };
        let pieces = argument_pieces(form).of_text(&text).into_iter();
        let mut events: Vec<_> = pieces
            .map(|piece| ("response.function_call_arguments.delta", members([("delta", piece.into())])))
            .collect();
        let done = members([("arguments", text.as_str().into())]);
        events.push(("response.function_call_arguments.done", done));
        items.push(Item { whole: item("completed", &text), start: item("in_progress", ""), events });
    }
    items
}

fn envelope(answer: &Answer, request: &Request<'_>, status: &str) -> Map {
    let mut envelope = members([
        ("id", format!("resp_replay_{}", request.nth).into()),
        ("object", "response".into()),
        ("created_at", CREATED.into()),
        ("status", status.into()),
        ("error", Value::Null),
        ("incomplete_details", Value::Null),
        ("model", request.model().into()),
        ("instructions", Value::Null),
        ("metadata", json!({})),
        ("temperature", 1.into()),
        ("top_p", 1.into()),
        ("max_output_tokens", Value::Null),
        ("previous_response_id", Value::Null),
        ("reasoning", json!({ "effort": null, "summary": null })),
        ("text", json!({ "format": { "type": "text" } })),
        ("truncation", "disabled".into()),
        ("user", Value::Null),
        ("store", true.into()),
        ("background", false.into()),
        ("parallel_tool_calls", true.into()),
        ("tool_choice", "auto".into()),
        ("tools", request.body().get("tools").cloned().unwrap_or_else(|| json!([]))),
    ]);
    envelope.extend(answer.extra.clone());
    envelope
}

/// The response once it has ended.
fn ended(answer: &Answer, request: &Request<'_>, output: Value) -> Value {
    let reason = match answer.said().first().map(finish_reason) {
        Some("length") => Some("max_output_tokens"),
        Some("content_filter") => Some("content_filter"),
        _ => None,
    };
    let mut response = envelope(answer, request, if reason.is_some() { "incomplete" } else { "completed" });
    if let Some(reason) = reason {
        response.insert("incomplete_details".into(), json!({ "reason": reason }));
    }
    response.insert("output".into(), output);
    response.insert("usage".into(), counted(answer, request));
    response.into()
}

fn counted(answer: &Answer, request: &Request<'_>) -> Value {
    let usage = usage(answer, request);
    if usage.get("prompt_tokens").is_none() {
        return usage;
    }
    json!({
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage["total_tokens"],
    })
}
