//! What crates that repair JSON make of texts, and what that takes: `callwright-repair-peers CASES TEXTS`.
//!
//! CASES has lines `{"input", "schema", …}`; TEXTS is an object of texts by name, whose time is taken. A line comes out for each
//! library: `{"library", "version", "values": [a value, or null where it gives an error], "speed": {name: µs}}`.

use std::hint::black_box;
use std::time::Instant;

use callwright::{Schema, heal};
use serde_json::{Map, Value, json};

type Read<'a> = dyn Fn(&str, Option<&Schema>) -> Option<Value> + 'a;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut file = || std::fs::read_to_string(arguments.next().expect("two files")).expect("a file to read");
    let (cases, texts) = (file(), file());
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    let texts: Map<String, Value> = serde_json::from_str(&texts).expect("texts");
    let healed =
        |text: &str, schema: Option<&Schema>| serde_json::from_str(&heal(text, schema, None).ok()?.text).ok();
    let without = |text: &str, _: Option<&Schema>| healed(text, None);
    let llm_json =
        |text: &str, _: Option<&Schema>| llm_json::loads(text, &llm_json::RepairOptions::default()).ok();
    tell("callwright (crate), with the schema", "", &healed, &cases, &texts);
    tell("callwright (crate)", "", &without, &cases, &texts);
    tell("llm_json (crate)", "1", &llm_json, &cases, &texts);
}

fn tell(library: &str, version: &str, read: &Read<'_>, cases: &[Value], texts: &Map<String, Value>) {
    let value = |case: &Value| {
        let schema = case["schema"].as_str().map(|schema| {
            Schema::compile(&schema.parse::<callwright::value::Value>().expect("a schema"))
                .expect("a schema that can be compiled")
        });
        // What panics gives no value either.
        let read = std::panic::AssertUnwindSafe(|| {
            read(case["input"].as_str().unwrap_or_default(), schema.as_ref())
        });
        std::panic::catch_unwind(read).ok().flatten()
    };
    let values: Vec<Option<Value>> = cases.iter().map(value).collect();
    let speed: Map<String, Value> = texts
        .iter()
        .map(|(name, text)| (name.clone(), json!(cost(text.as_str().unwrap_or_default(), read))))
        .collect();
    println!("{}", json!({"library": library, "version": version, "values": values, "speed": speed}));
}

/// Microseconds to a value: the best of many short runs, as a machine is seldom alone with them.
fn cost(text: &str, read: &Read<'_>) -> f64 {
    let run = |_| {
        let start = Instant::now();
        (0..20).for_each(|_| drop(black_box(read(black_box(text), None))));
        start.elapsed().as_secs_f64() * 1e6 / 20.0
    };
    (0..200).map(run).fold(f64::MAX, f64::min)
}
