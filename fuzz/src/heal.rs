//! Any text, read with and without a schema: no panic, and the laws of repairs hold for each reading.
//!
//! The first byte chooses the schema and the options; the rest is the text.

use std::sync::LazyLock;

use callwright::value::Value;
use callwright::{Schema, heal};
use callwright_json::{AnyValue, Guide, Options, apply, read_with, strict};

/// What the first byte can choose: none, a flat object with code in it, a nested one, and a closed one.
static SCHEMAS: LazyLock<Vec<Option<Schema>>> = LazyLock::new(|| {
    let texts = [
        r#"{"type": "object", "required": ["path", "content"],
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}"#,
        r#"{"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "integer"}}},
            "list": {"type": "array", "items": {"type": "string"}}, "ok": {"type": "boolean"},
            "n": {"type": ["number", "null"]}}}"#,
        r#"{"type": "object", "additionalProperties": false, "required": ["code"],
            "properties": {"code": {"type": "string"}, "language": {"enum": ["text", "rust", "python"]}}}"#,
    ];
    let compile = |text: &str| {
        let schema: Value = serde_json::from_str(text).expect("the schemas above are JSON");
        Schema::compile(&schema).expect("the schemas above compile")
    };
    std::iter::once(None).chain(texts.iter().map(|text| Some(compile(text)))).collect()
});

/// Panics if a law does not hold for `data`.
pub fn check(data: &[u8]) {
    let Some((choice, text)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(text);
    let schema = SCHEMAS[usize::from(choice & 3)].as_ref();
    let cut = choice & 4 != 0;
    let guide: &dyn Guide = schema.map_or(&AnyValue, |schema| schema.guide());

    let options = Options { cut, ..Options::default() };
    for reading in &read_with(&text, guide, &options).readings {
        assert_eq!(apply(&text, &reading.repairs), reading.text, "the edits do not give the reading");
        assert!(strict(&reading.text).is_ok(), "not strict: {}", reading.text);
    }

    if let Ok(healed) = heal(&text, schema, cut.then_some("length")) {
        // Not by `serde_json`, which takes no lone surrogate: `"\ud800"`
        assert!(strict(&healed.text).is_ok(), "not JSON: {}", healed.text);
        let again = heal(&healed.text, schema, None).expect("a healed text is healthy");
        assert_eq!(again.text, healed.text, "healing twice is healing more");
        assert!(again.repairs.is_empty() && again.coercions.is_empty());
    }
}
