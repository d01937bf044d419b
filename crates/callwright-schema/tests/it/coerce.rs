//! Which values are given the type that their schema wants, and which are left.

use callwright_json::strict;
use callwright_schema::{Coercion, Schema};
use callwright_value::{Value, json};
use proptest::prelude::*;

fn coerce(schema: &Value, text: &str) -> Option<String> {
    let schema = Schema::compile(schema).unwrap();
    let coerced = schema.coerce(text, &strict(text).unwrap())?;
    assert!(schema.check(coerced.tree.root(&coerced.text)).is_empty(), "{text}");
    assert!(!coerced.coercions.is_empty());
    Some(coerced.text)
}

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"}, "s": {"type": "string"},
        "o": {"type": ["integer", "null"]}, "list": {"type": "array", "items": {"type": "integer"}},
        "names": {"type": "array", "items": {"type": "string"}}, "d": {"type": "object"},
        "mode": {"enum": ["r", "w"]}, "level": {"enum": [1, 2]}, "case": {"enum": ["ab", "AB"]}, "must": {"type": "string"},
    }, "required": []})
}

#[test]
fn what_leaves_one_value_is_coerced() {
    let cases = [
        (r#"{"n": "5", "x" : "-1.50e3"}"#, r#"{"n": 5, "x" : -1.50e3}"#),
        (r#"{"n": "5.0"}"#, r#"{"n": 5.0}"#),
        (r#"{"b": "True"}"#, r#"{"b": true}"#),
        (r#"{"b": "false"}"#, r#"{"b": false}"#),
        (r#"{"o": "None"}"#, r#"{"o": null}"#),
        (r#"{"s": 1.50}"#, r#"{"s": "1.50"}"#),
        (r#"{"s": 123456789012345678901234567890}"#, r#"{"s": "123456789012345678901234567890"}"#),
        (r#"{"list": "[1, 2]"}"#, r#"{"list": [1, 2]}"#),
        (r#"{"list": "[\"1\", 2]"}"#, r#"{"list": [1, 2]}"#),
        (r#"{"d": "{\"a\": {\"b\": 1}}"}"#, r#"{"d": {"a": {"b": 1}}}"#),
        (r#"{"names": "['a', 'b']"}"#, r#"{"names": ["a", "b"]}"#),
        (r#"{"level": "2"}"#, r#"{"level": 2}"#),
        (r#"{"mode": "R"}"#, r#"{"mode": "r"}"#),
        (r#"{"s": null, "n": 1}"#, r#"{"n": 1}"#),
        (r#"{"n": 1, "s": null}"#, r#"{"n": 1}"#),
        (r#"{"n": 1, "s": null, "x": null, "b": null}"#, r#"{"n": 1}"#),
        (r#"{"s": null, "n": null, "b": true, "x": null}"#, r#"{"b": true}"#),
        (r#"{"s": null, "n": null}"#, "{}"),
        (r#"[{"s": 1}]"#, "-"),
    ];
    for (text, expected) in cases {
        assert_eq!(coerce(&schema(), text).as_deref().unwrap_or("-"), expected, "{text}");
    }
}

#[test]
fn guesses_are_not_made() {
    for text in [
        r#"{"n": "007"}"#,
        r#"{"n": "1,000"}"#,
        r#"{"n": " 5"}"#,
        r#"{"n": "5.5"}"#,
        r#"{"n": "+5"}"#,
        r#"{"n": ""}"#,
        r#"{"n": true}"#,
        r#"{"b": 1}"#,
        r#"{"b": "yes"}"#,
        r#"{"s": true}"#,
        r#"{"s": {"a": 1}}"#,
        r#"{"list": 5}"#,
        r#"{"names": "a"}"#,
        r#"{"names": "a, b"}"#,
        r#"{"mode": "read"}"#,
        r#"{"case": "Ab"}"#,
        r#"{"level": "3"}"#,
        r#"{"n": "5", "x": "five"}"#,
    ] {
        assert_eq!(coerce(&schema(), text), None, "{text}");
    }
    let mut strict = schema();
    strict["required"] = json!(["must"]);
    assert_eq!(coerce(&strict, r#"{"must": null}"#), None);
    assert_eq!(coerce(&strict, r#"{"n": "5"}"#), None);
    assert_eq!(coerce(&strict, r#"{"n": "5", "must": 1}"#).as_deref(), Some(r#"{"n": 5, "must": "1"}"#));
}

#[test]
fn coercions_are_recorded() {
    let text = r#"{"n": "5", "list": [1, "2"], "s": null}"#;
    let coerced = Schema::compile(&schema()).unwrap().coerce(text, &strict(text).unwrap()).unwrap();
    let coercion = |pointer: &str, from: &str, to: &str| Coercion {
        pointer: pointer.to_owned(),
        from: from.to_owned(),
        to: to.to_owned(),
    };
    let expected =
        [coercion("/n", "\"5\"", "5"), coercion("/list/1", "\"2\"", "2"), coercion("/s", "null", "")];
    assert_eq!(coerced.coercions, expected);
    assert_eq!(coerced.text, r#"{"n": 5, "list": [1, 2]}"#);
}

#[test]
fn schemas_for_the_validator_are_served_too() {
    let schema = json!({"properties": {"a": {"type": "integer", "multipleOf": 5}}});
    assert_eq!(coerce(&schema, r#"{"a": "10"}"#).as_deref(), Some(r#"{"a": 10}"#));
    assert_eq!(coerce(&schema, r#"{"a": "11"}"#), None);
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|b| json!(b)),
        any::<i32>().prop_map(|n| json!(n)),
        any::<i32>().prop_map(|n| json!(n.to_string())),
        prop_oneof!["true", "None", "[1]", "['a', 'b']", "\\{\"s\": 1\\}", ".{0,6}"].prop_map(|s| json!(s)),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let names = prop_oneof!["n", "x", "b", "s", "o", "list", "names", "d", "must"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| json!(items)),
            prop::collection::hash_map(names, inner, 0..8).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_coerced_fits(value in any_value()) {
        let text = value.to_string();
        let tree = strict(&text).unwrap();
        let compiled = Schema::compile(&schema()).unwrap();
        if let Some(coerced) = compiled.coerce(&text, &tree) {
            prop_assert!(compiled.check(coerced.tree.root(&coerced.text)).is_empty());
            prop_assert!(!compiled.check(tree.root(&text)).is_empty());
            prop_assert_eq!(strict(&coerced.text).unwrap(), coerced.tree);
        }
    }
}
