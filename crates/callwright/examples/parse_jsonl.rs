//! Reads lines `{"id", "text", "tools"[, "tool_calls"]}` and prints lines `{"id", "calls", "text"}`.
//!
//! `cargo run --release --example parse_jsonl < answers.jsonl`

use std::collections::HashMap;
use std::io::{self, BufRead, Write};

use callwright::{Context, NativeCall, ToolSet, parse};
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut tool_sets: HashMap<String, ToolSet> = HashMap::new();
    let mut out = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?).map_err(io::Error::other)?;
        let key = case["tools"].to_string();
        if !tool_sets.contains_key(&key) {
            let tool_set = ToolSet::from_value(&case["tools"]).map_err(io::Error::other)?;
            tool_sets.insert(key.clone(), tool_set);
        }
        let native: Vec<NativeCall<'_>> = case["tool_calls"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|call| {
                let name = call["name"].as_str()?;
                Some(NativeCall { id: call["id"].as_str(), name, arguments: call["arguments"].as_str()? })
            })
            .collect();
        let context = Context {
            finish_reason: case["finish_reason"].as_str(),
            starts_in_reasoning: case["start"] == "reasoning",
            dialect: None,
        };
        let outcome = parse(&tool_sets[&key], case["text"].as_str().unwrap_or(""), &native, &context);
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
