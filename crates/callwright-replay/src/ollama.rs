//! An answer as Ollama's own API has it: one JSON object, or one a line.

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::answer::{call_id, finish_reason, input, usage};
use crate::fault::Midway;
use crate::form::Form;
use crate::request::Request;
use crate::script::{Answer, Call, Choice};

/// When each answer was made: the same in every run.
const CREATED_AT: &str = "2026-01-01T00:00:00Z";

/// The whole answer.
pub(crate) fn whole(answer: &Answer, request: &Request<'_>, form: &Form) -> Value {
    let Some(choice) = answer.said().first() else { return Value::Null };
    let calls = calls(choice, request, form);
    let mut message = said("content", choice.text.as_deref().unwrap_or_default());
    message.extend(choice.reasoning.as_ref().map(|thought| ("thinking".into(), thought.as_str().into())));
    message.extend((!calls.is_empty()).then(|| ("tool_calls".into(), calls.into())));
    done(answer, choice, request, message)
}

/// The lines, each as it is written.
pub(crate) fn lines(answer: &Answer, request: &Request<'_>, form: &Form) -> Vec<String> {
    let Some(choice) = answer.said().first() else { return Vec::new() };
    let mut messages: Vec<Map> = Vec::new();
    for (key, text) in [("thinking", &choice.reasoning), ("content", &choice.text)] {
        let pieces = form.pieces.of_text(text.as_deref().unwrap_or_default()).into_iter();
        messages.extend(pieces.map(|piece| said(key, piece)));
    }
    for call in calls(choice, request, form) {
        let mut message = said("content", "");
        message.insert("tool_calls".into(), json!([call]));
        messages.push(message);
    }
    let mut lines: Vec<Value> =
        messages.into_iter().map(|message| line(request, message, false).into()).collect();
    lines.push(done(answer, choice, request, said("content", "")));
    if let Some(Midway { after_events, message, .. }) = &answer.fault.midway {
        lines.truncate(*after_events);
        lines.push(json!({ "error": message }));
    }
    let end = if form.crlf { "\r\n" } else { "\n" };
    lines.iter().map(|line| format!("{line}{end}")).collect()
}

/// Writes the words of the model; its content is there in any case.
fn said(key: &str, text: &str) -> Map {
    let mut message = Map::from_iter([("role".into(), "assistant".into()), ("content".into(), "".into())]);
    message.insert(key.into(), text.into());
    message
}

fn line(request: &Request<'_>, message: Map, is_done: bool) -> Map {
    Map::from_iter([
        ("model".into(), request.model().into()),
        ("created_at".into(), CREATED_AT.into()),
        ("message".into(), message.into()),
        ("done".into(), is_done.into()),
    ])
}

/// The last line, which counts the tokens.
fn done(answer: &Answer, choice: &Choice, request: &Request<'_>, message: Map) -> Value {
    let mut last = line(request, message, true);
    // A call is no reason of its own here.
    let reason = match finish_reason(choice) {
        "tool_calls" | "function_call" => "stop",
        other => other,
    };
    last.insert("done_reason".into(), reason.into());
    let usage = usage(answer, request);
    last.insert("prompt_eval_count".into(), usage["prompt_tokens"].clone());
    last.insert("eval_count".into(), usage["completion_tokens"].clone());
    last.extend(answer.extra.clone());
    last.into()
}

fn calls(choice: &Choice, request: &Request<'_>, form: &Form) -> Vec<Value> {
    let call = |(at, call): (usize, &Call)| {
        let function = json!({ "index": at, "name": call.name, "arguments": input(&call.arguments.text()) });
        let id = call_id(call, request, 0, at, form.ids).map(|id| ("id".into(), id.into()));
        Value::Object(id.into_iter().chain([("function".into(), function)]).collect())
    };
    choice.tool_calls.iter().enumerate().map(call).collect()
}
