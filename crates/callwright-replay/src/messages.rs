//! An answer as Anthropic's messages have it: whole, or as its events.

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::answer::{call_id, finish_reason, input, usage};
use crate::fault::Midway;
use crate::form::Form;
use crate::request::Request;
use crate::script::{Answer, Choice};
use crate::stream::{argument_pieces, written_as};

/// The signature of a thought: nobody here checks it.
const SIGNATURE: &str = "c2lnbmVk";

/// The whole message.
pub(crate) fn whole(answer: &Answer, request: &Request<'_>, form: &Form) -> Value {
    let Some(choice) = answer.said().first() else { return Value::Null };
    let content = blocks(choice, request, form).into_iter().map(|block| block.whole);
    let mut message = envelope(request);
    message.insert("content".into(), content.collect());
    message.insert("stop_reason".into(), stop_reason(choice).into());
    message.insert("stop_sequence".into(), Value::Null);
    message.insert("usage".into(), counted(answer, request));
    message.extend(answer.extra.clone());
    message.into()
}

/// The events, each as it is written.
pub(crate) fn events(answer: &Answer, request: &Request<'_>, form: &Form) -> Vec<String> {
    let Some(choice) = answer.said().first() else { return Vec::new() };
    let usage = counted(answer, request);
    let mut message = envelope(request);
    message.insert("content".into(), json!([]));
    message.insert("stop_reason".into(), Value::Null);
    message.insert("stop_sequence".into(), Value::Null);
    message.insert("usage".into(), json!({ "input_tokens": usage["input_tokens"], "output_tokens": 0 }));
    message.extend(answer.extra.clone());
    let mut events = vec![
        json!({ "type": "message_start", "message": Value::Object(message) }),
        json!({ "type": "ping" }),
    ];
    for (index, block) in blocks(choice, request, form).into_iter().enumerate() {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block.start }));
        let deltas = block.deltas.into_iter();
        events.extend(
            deltas.map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    let delta = json!({ "stop_reason": stop_reason(choice), "stop_sequence": null });
    events.push(json!({ "type": "message_delta", "delta": delta, "usage": usage }));
    events.push(json!({ "type": "message_stop" }));
    if let Some(Midway { after_events, message, .. }) = &answer.fault.midway {
        events.truncate(*after_events);
        let error = json!({ "type": "overloaded_error", "message": message });
        events.push(json!({ "type": "error", "error": error }));
    }
    let named = |event: &Value| {
        let name = event["type"].as_str().unwrap_or_default().to_owned();
        written_as(Some(&name), &event.to_string(), form)
    };
    events.iter().map(named).collect()
}

/// A block: whole, and in the pieces that it streams in.
struct Block {
    whole: Value,
    start: Value,
    deltas: Vec<Value>,
}

fn blocks(choice: &Choice, request: &Request<'_>, form: &Form) -> Vec<Block> {
    let pieces = |kind: &str, key: &str, text: &str| -> Vec<Value> {
        let delta = |piece: &str| {
            Value::Object(Map::from_iter([("type".into(), kind.into()), (key.into(), piece.into())]))
        };
        form.pieces.of_text(text).into_iter().map(delta).collect()
    };
    let mut blocks = Vec::new();
    if let Some(thought) = &choice.reasoning {
        let mut deltas = pieces("thinking_delta", "thinking", thought);
        deltas.push(json!({ "type": "signature_delta", "signature": SIGNATURE }));
        blocks.push(Block {
            whole: json!({ "type": "thinking", "thinking": thought, "signature": SIGNATURE }),
            start: json!({ "type": "thinking", "thinking": "", "signature": "" }),
            deltas,
        });
    }
    if let Some(text) = &choice.text {
        blocks.push(Block {
            whole: json!({ "type": "text", "text": text }),
            start: json!({ "type": "text", "text": "" }),
            deltas: pieces("text_delta", "text", text),
        });
    }
    for (at, call) in choice.tool_calls.iter().enumerate() {
        let id = call_id(call, request, 0, at, form.ids).unwrap_or_default();
        let text = call.arguments.text();
        let parts = argument_pieces(form).of_text(&text).into_iter();
        let deltas = parts.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        blocks.push(Block {
            whole: json!({ "type": "tool_use", "id": id, "name": call.name, "input": input(&text) }),
            start: json!({ "type": "tool_use", "id": id, "name": call.name, "input": {} }),
            deltas: deltas.collect(),
        });
    }
    blocks
}

fn envelope(request: &Request<'_>) -> Map {
    Map::from_iter([
        ("id".into(), format!("msg_replay_{}", request.nth).into()),
        ("type".into(), "message".into()),
        ("role".into(), "assistant".into()),
        ("model".into(), request.model().into()),
    ])
}

/// The reason of this API; one that only it has stands in the script as it is.
fn stop_reason(choice: &Choice) -> &str {
    match finish_reason(choice) {
        "stop" => "end_turn",
        "tool_calls" | "function_call" => "tool_use",
        "length" => "max_tokens",
        "content_filter" => "refusal",
        other => other,
    }
}

fn counted(answer: &Answer, request: &Request<'_>) -> Value {
    let usage = usage(answer, request);
    match usage.get("prompt_tokens") {
        Some(prompt) => json!({
            "input_tokens": prompt,
            "output_tokens": usage["completion_tokens"],
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }),
        None => usage,
    }
}
