//! The calls into the engine, all in one place.

use std::path::Path;
use std::time::Instant;

use callwright::{
    CallDelta, Context, Delta, Feedback, Healed, NativeCall, Outcome, Reason, Refusal, Scanner, Schema,
    ToolSet,
};

use crate::chunks::Chunks;
use crate::failure::Failure;
use crate::input;

/// Compiles tool definitions: a JSON array.
pub(crate) fn tool_set(definitions: &str) -> Result<ToolSet, String> {
    ToolSet::from_json(definitions).map_err(|error| error.to_string())
}

/// Compiles a JSON Schema.
pub(crate) fn schema(definition: &str) -> Result<Schema, String> {
    let definition: callwright::value::Value =
        serde_json::from_str(definition).map_err(|error| format!("not JSON: {error}"))?;
    Schema::compile(&definition).map_err(|error| error.to_string())
}

/// Reads the tools that `path` declares.
pub(crate) fn tools_of(path: &Path) -> Result<ToolSet, Failure> {
    tool_set(&input::text(path)?).map_err(|why| Failure::Definitions(path.to_path_buf(), why))
}

/// Reads the schema in `path`.
pub(crate) fn schema_of(path: &Path) -> Result<Schema, Failure> {
    schema(&input::text(path)?).map_err(|why| Failure::Definitions(path.to_path_buf(), why))
}

/// Finds the calls, whole or in pieces, in a text and in what the upstream marked as reasoning, which comes before it.
pub(crate) fn parse(
    tools: &ToolSet,
    (reasoning, text): (&str, &str),
    native: &[NativeCall<'_>],
    context: &Context<'_>,
    chunks: Option<Chunks>,
) -> Outcome {
    if chunks.is_none() && reasoning.is_empty() {
        return callwright::parse(tools, text, native, context);
    }
    let chunks = chunks.unwrap_or(Chunks::WHOLE);
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tools, context);
    for piece in chunks.of(reasoning) {
        scanner.feed(Delta::Reasoning(piece), &mut events);
    }
    for (index, call) in native.iter().enumerate() {
        let index = Some(index);
        let begin = CallDelta { index, id: call.id, name: Some(call.name), arguments: None };
        scanner.feed(Delta::ToolCall(begin), &mut events);
        for piece in chunks.of(call.arguments) {
            let more = CallDelta { index, arguments: Some(piece), ..CallDelta::default() };
            scanner.feed(Delta::ToolCall(more), &mut events);
        }
    }
    for piece in chunks.of(text) {
        scanner.feed(Delta::Text(piece), &mut events);
    }
    scanner.finish().1
}

/// Repairs one text.
pub(crate) fn heal(
    text: &str,
    schema: Option<&Schema>,
    finish_reason: Option<&str>,
) -> Result<Healed, Reason> {
    callwright::heal(text, schema, finish_reason)
}

/// Returns the fault of a text that was to be repaired: it is refused like the payload of a call.
pub(crate) fn why(text: &str, reason: &Reason) -> Feedback {
    Refusal::of_text(text, reason.clone()).feedback()
}

/// One line that says what is wrong.
pub(crate) fn sentence(feedback: &Feedback) -> String {
    match &feedback.json_error {
        _ if feedback.code == "truncated" => String::from("cut off before it was complete"),
        Some(error) => format!("not valid JSON: {error}"),
        None => feedback.message.clone(),
    }
}

/// The result of `work` and the microseconds it took, to a tenth.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let done = work();
    (done, (start.elapsed().as_nanos() as f64 / 100.0).round() / 10.0)
}
