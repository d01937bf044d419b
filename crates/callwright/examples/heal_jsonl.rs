#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Instant;

fn main() {
    let mut cache: HashMap<String, callwright::Schema> = HashMap::new();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let case: Value = serde_json::from_str(&line).unwrap();
        let input = case["input"].as_str().unwrap();
        let key = case["schema"].to_string();
        if !case["schema"].is_null() {
            cache.entry(key.clone()).or_insert_with(|| callwright::Schema::compile(&case["schema"]).unwrap());
        }
        let schema = cache.get(&key);
        let t = Instant::now();
        let healed = callwright::heal(input, schema, None);
        let us = t.elapsed().as_nanos() as f64 / 1000.0;
        let mut answer = match healed {
            Ok(r) => {
                let v: Vec<String> =
                    r.repairs.iter().map(|r| format!("{}@{}", r.kind.code(), r.at)).collect();
                json!({"id": case["id"], "output_text": r.text, "repairs": v})
            }
            Err(e) => json!({"id": case["id"], "error": format!("{:?}", e)}),
        };
        answer["us"] = json!(us);
        writeln!(out, "{answer}").unwrap();
    }
}
