//! Reads lines `{"id", "text", "tools"[, "tool_calls"]}` and prints lines `{"id", "calls", "text", "refused"}`.
//! With an argument, each text is fed as it would arrive: in pieces of that many characters.
//!
//! `cargo run --release -p callwright --example parse_jsonl [PIECE] < answers.jsonl`

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use callwright::{CallDelta, Context, Delta, Scanner, ToolSet};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut tool_sets: HashMap<String, ToolSet> = HashMap::new();
    let piece = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?).map_err(io::Error::other)?;
        let key = case["tools"].to_string();
        if !tool_sets.contains_key(&key) {
            let tool_set = ToolSet::from_value(&case["tools"]).map_err(io::Error::other)?;
            tool_sets.insert(key.clone(), tool_set);
        }
        let context = Context {
            finish_reason: case["finish_reason"].as_str(),
            starts_in_reasoning: case["start"] == "reasoning",
            native: !case["tool_calls"].is_null(),
            dialect: None,
            ..Context::default()
        };
        let mut events = Vec::new();
        let mut scanner = Scanner::new(&tool_sets[&key], &context);
        for (index, call) in case["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let (id, name) = (call["id"].as_str(), call["name"].as_str());
            let delta = CallDelta { index: Some(index), id, name, arguments: call["arguments"].as_str() };
            scanner.feed(Delta::ToolCall(delta), &mut events);
        }
        let mut rest = case["text"].as_str().unwrap_or("");
        while let Some((at, _)) = rest.char_indices().nth(piece) {
            scanner.feed(Delta::Text(&rest[..at]), &mut events);
            rest = &rest[at..];
        }
        scanner.feed(Delta::Text(rest), &mut events);
        let outcome = scanner.finish(&mut events);
        let calls: Vec<Value> = outcome
            .calls()
            .map(|call| {
                let arguments: Value = serde_json::from_str(&call.arguments).unwrap_or(Value::Null);
                json!({"name": call.name, "arguments": arguments})
            })
            .collect();
        let refused: Vec<Value> = outcome
            .refusals()
            .map(|r| json!({"name": r.name, "reason": format!("{:?}", r.reason), "block": r.block, "dialect": r.dialect}))
            .collect();
        let line = json!({"id": case["id"], "calls": calls, "text": outcome.text, "refused": refused});
        writeln!(out, "{line}")?;
    }
    out.flush()
}
