#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]
use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::time::Instant;

use callwright_json::{AnyValue, read};
use serde_json::{Value, json};

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
        let mut best = f64::MAX;
        let mut answer = json!({});
        for _ in 0..3 {
            let t = Instant::now();
            let parse = match schema {
                Some(s) => read(input, s.guide()),
                None => read(input, &AnyValue),
            };
            best = best.min(t.elapsed().as_nanos() as f64 / 1000.0);
            answer = match parse.settled() {
                Some(r) => {
                    let v: Vec<String> =
                        r.repairs.iter().map(|r| format!("{}@{}", r.kind.code(), r.at)).collect();
                    let conflict = r.value().conflict().is_some() && schema.is_some();
                    let valid = serde_json::from_str::<Value>(&r.text)
                        .is_ok_and(|v| schema.is_none() || jsonschema::is_valid(&case["schema"], &v));
                    if conflict || !valid {
                        json!({"id": case["id"], "error": "invalid", "text": r.text, "repairs": v})
                    } else {
                        json!({"id": case["id"], "output_text": r.text, "repairs": v})
                    }
                }
                None => {
                    let r: Vec<&str> = parse.readings.iter().map(|r| &*r.text).collect();
                    json!({"id": case["id"], "error": format!("{:?}", parse.diagnostics), "readings": r})
                }
            };
        }
        answer["us"] = json!(best);
        writeln!(out, "{answer}").unwrap();
    }
}
