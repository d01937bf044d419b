//! Any schema: no panic, its normal form means the same, and what fits it once fits it again. The same bytes are also read as
//! choices, which make a schema of all applicators that leads back to itself, and values that are deep or wide.

use callwright::value::Value;
use callwright::{Schema, heal};
use callwright_json::strict;

#[path = "../../crates/callwright-schema/tests/it/schemas.rs"]
mod schemas;

/// What is checked against each schema.
const INSTANCES: [&str; 5] =
    ["{}", "[1, \"a\", null]", "\"a\"", r#"{"x": {"x": [1, {"y": "a"}]}, "y": [{"x": null}]}"#, "1.5"];

/// Panics if a law does not hold for `data`, a schema as JSON.
pub fn check(data: &[u8]) {
    check_made(data);
    let Ok(schema) = serde_json::from_slice::<Value>(data) else { return };
    let Ok(schema) = Schema::compile(&schema) else { return };
    let normal = Schema::compile(schema.value()).expect("a normal form compiles");
    assert_eq!(normal.value(), schema.value(), "it has a normal form, too");
    // What makes the whole undecidable, as two parts of one name, stays: the tables still guide by the rest.
    assert!(normal.unchecked().iter().all(|part| part.pointer.is_empty()), "nothing is left to leave out");
    for instance in INSTANCES {
        let healed = heal(instance, Some(&schema), None);
        assert_eq!(healed.is_ok(), heal(instance, Some(&normal), None).is_ok(), "{instance}");
        if let Ok(healed) = healed {
            assert!(heal(&healed.text, Some(&schema), None).is_ok(), "{instance}");
        }
    }
}

/// What is made of `data` is checked in bounded time and memory, and a second time says the same.
fn check_made(data: &[u8]) {
    let mut left = data.iter();
    let mut choose = |below: usize| left.next().map_or(0, |byte| usize::from(*byte) % below);
    let schema = schemas::schema(&mut choose);
    let compiled = Schema::compile(&schema).expect("a schema of all applicators");
    for text in [schemas::value(&mut choose, 4).to_string(), schemas::large(&mut choose)] {
        let tree = strict(&text).expect("values are strict JSON");
        let checked = compiled.check_whole(tree.root(&text));
        assert_eq!(compiled.check_whole(tree.root(&text)), checked, "{schema} {text}");
    }
}
