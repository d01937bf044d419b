//! What arguments break of their schema, and the words for it.

use callwright_json::strict;
use callwright_schema::Schema;
use callwright_value::{Value, json};

fn check(schema: Value, text: &str) -> Vec<(String, &'static str, String)> {
    let tree = strict(text).unwrap();
    let violations = Schema::compile(&schema).unwrap().check(tree.root(text));
    violations.into_iter().map(|v| (v.pointer, v.keyword, v.message)).collect()
}

fn messages(schema: Value, text: &str) -> Vec<String> {
    check(schema, text).into_iter().map(|(_, _, message)| message).collect()
}

fn file_schema() -> Value {
    json!({"type": "object", "properties": {
        "path": {"type": "string"}, "content": {"type": "string"}, "mode": {"enum": ["append", "replace"]},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}},
                  "required": ["n"]}},
    }, "required": ["path", "content"], "additionalProperties": false})
}

/// S0-58: arguments are validated, and the model is told in these words.
#[test]
fn wrong_types_are_named() {
    assert_eq!(
        messages(file_schema(), r#"{"path": 5, "content": []}"#),
        ["path must be a string", "content must be a string"]
    );
}

#[test]
fn each_violation_is_one_sentence_with_its_place() {
    let found = check(
        file_schema(),
        r#"{"pth": "a", "mode": "x", "lines": [{"n": 1.0}, {"n": 0}, {}, 7, {"n": 1.5}]}"#,
    );
    let expected = [
        ("", "required", "missing required: path, content"),
        (
            "/pth",
            "additionalProperties",
            "unknown: pth (nearest: path; declared: path, content, mode, lines)",
        ),
        ("/mode", "enum", "mode must be one of \"append\", \"replace\""),
        ("/lines/1/n", "minimum", "/lines/1/n must be at least 1"),
        ("/lines/2", "required", "missing required: n in /lines/2"),
        ("/lines/3", "type", "/lines/3 must be an object"),
        ("/lines/4/n", "type", "/lines/4/n must be an integer"),
    ];
    let found: Vec<(&str, &str, &str)> = found.iter().map(|(p, k, m)| (p.as_str(), *k, m.as_str())).collect();
    assert_eq!(found, expected);
    assert_eq!(messages(file_schema(), "[]"), ["the value must be an object"]);
}

#[cfg(feature = "full-schemas")]
#[test]
fn the_validator_speaks_the_same_words() {
    // `pattern` makes the schema one for the validator.
    let mut schema = file_schema();
    schema["properties"]["path"]["pattern"] = json!("^[a-z]+$");
    assert_eq!(
        messages(schema.clone(), r#"{"path": 5, "content": [], "mode": "x"}"#),
        ["path must be a string", "content must be a string", "mode must be one of \"append\", \"replace\""]
    );
    assert_eq!(messages(schema.clone(), r#"{"path": "a"}"#), ["missing required: content"]);
    assert_eq!(
        messages(schema, r#"{"path": "A", "content": "", "lines": [{"n": 0}]}"#),
        ["path must match the pattern ^[a-z]+$", "/lines/0/n must be at least 1"]
    );
}

#[test]
fn duplicates_and_surrogates_are_violations_at_any_depth() {
    for schema in [json!({}), json!({"pattern": "a"})] {
        let keywords =
            |text: &str| -> Vec<&str> { check(schema.clone(), text).iter().map(|v| v.1).collect() };
        assert_eq!(keywords(r#"{"a": [{"b": 1, "\u0062": 1.0}]}"#), [""; 0]);
        assert_eq!(keywords(r#"{"a": [{"b": 1, "\u0062": 2}]}"#), ["duplicate"]);
        assert_eq!(keywords(r#"["\ud800"]"#), ["surrogate"]);
        assert_eq!(keywords(r#"{"\udc00": "\ud83d\ude00"}"#), ["surrogate"]);
    }
    let declared = json!({"properties": {"a": {"type": "integer"}}});
    assert_eq!(
        check(declared, r#"{"a": 1, "a": 2}"#),
        [("/a".to_owned(), "duplicate", "a stands twice with different values".to_owned())]
    );
    let many: Vec<String> = (0..100).map(|n| format!("\"k{}\": {n}", n % 99)).collect();
    assert_eq!(check(json!({}), &format!("{{{}}}", many.join(",")))[0].1, "duplicate");
}

#[test]
fn values_are_compared_exactly() {
    let big = json!({"enum": [1, {"a": [1, "\u{e9}"]}]});
    assert!(check(big.clone(), "1.0").is_empty());
    assert!(check(big, r#"{"a": [1e0, "\u00e9"]}"#).is_empty());
    let schema: Value = serde_json::from_str(r#"{"maximum": 123456789012345678901234567890}"#).unwrap();
    assert!(check(schema.clone(), "123456789012345678901234567890").is_empty());
    assert_eq!(check(schema, "123456789012345678901234567891")[0].1, "maximum");
    assert_eq!(check(json!({"uniqueItems": true}), "[1, 1.0]")[0].1, "uniqueItems");
    assert_eq!(check(json!({"minLength": 2}), r#""\ud83d\ude00""#)[0].1, "minLength");
}

/// Alone the tables say all of it; under `not`, `oneOf` and a pattern the validator is asked.
#[cfg(feature = "full-schemas")]
#[test]
fn numbers_are_compared_as_they_are_spelt() {
    let big = "123456789012345678901234567890";
    for (schema, right, wrong) in [
        (
            format!(r#"{{"maximum": {big}}}"#),
            vec![big, "1e29", "-1e400"],
            vec!["123456789012345678901234567890.1", "1e400"],
        ),
        (
            format!(r#"{{"exclusiveMinimum": {big}}}"#),
            vec!["123456789012345678901234567891"],
            vec![big, "1.2345678901234567890123456789e29"],
        ),
        (r#"{"minimum": 1e400}"#.into(), vec!["1e400", "10e399", "1e401"], vec!["9.9e399", "0"]),
        (
            format!(r#"{{"enum": [{big}, 0.10, "x"]}}"#),
            vec![big, "0.1", "1e-1", "\"x\""],
            vec!["123456789012345678901234567891", "0.10000000000000000001"],
        ),
        (
            format!(r#"{{"const": {{"a": [{big}]}}}}"#),
            vec![r#"{"a": [1.23456789012345678901234567890e29]}"#],
            vec![r#"{"a": [123456789012345678901234567891]}"#],
        ),
        (r#"{"multipleOf": 0.1}"#.into(), vec!["0.3", "1e400", "-0"], vec!["0.35"]),
        (
            format!(r#"{{"multipleOf": {big}}}"#),
            vec![big, "246913578024691357802469135780"],
            vec!["246913578024691357802469135781"],
        ),
        (
            r#"{"type": "integer"}"#.into(),
            vec!["1e400", big, "5.0"],
            vec!["123456789012345678901234567890.5"],
        ),
        (
            r#"{"uniqueItems": true}"#.into(),
            vec!["[123456789012345678901234567890, 123456789012345678901234567891]"],
            vec!["[1e400, 10e399]"],
        ),
    ] {
        let not = format!(r#"{{"not": {{"not": {schema}}}}}"#);
        let one = format!(r#"{{"oneOf": [{schema}, {{"type": "string", "pattern": "^never$"}}]}}"#);
        let beside = format!(r#"{{"allOf": [{schema}], "not": {{"const": "never"}}}}"#);
        let reference = format!(r##"{{"$ref": "#/x/0", "not": {{"const": "never"}}, "x": [{schema}]}}"##);
        for schema in [schema, not, one, beside, reference] {
            for text in &right {
                assert_eq!(check(schema.parse().unwrap(), text), [], "{schema} {text}");
            }
            for text in &wrong {
                assert_ne!(check(schema.parse().unwrap(), text), [], "{schema} {text}");
            }
        }
    }
}

#[test]
fn what_speaks_of_numbers_has_the_same_words_from_the_validator() {
    let schema = json!({"properties": {"n": {"minimum": 1, "multipleOf": 0.5}, "e": {"enum": [1, "a"]}}});
    let mut strict = schema.clone();
    strict["not"] = json!({"const": 1});
    let text = r#"{"n": 0.3, "e": 2}"#;
    let (mut by_tables, mut by_validator) = (check(schema, text), check(strict, text));
    by_tables.sort();
    by_validator.sort();
    assert_eq!(by_tables.len(), 3);
    assert_eq!(by_tables, by_validator);
}

#[cfg(feature = "full-schemas")]
#[test]
fn draft_4_makes_a_bound_exclusive_by_a_second_keyword() {
    let schema =
        json!({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": true});
    assert_eq!(messages(schema.clone(), "1"), ["the value must be more than 1"]);
    assert!(messages(schema, "1.5").is_empty());
}

#[test]
fn the_deepest_values_need_little_stack() {
    let text = format!("{}1{}", r#"{"a":["#.repeat(64), "]}".repeat(64));
    let exact = json!({"properties": {"a": {"items": {"$ref": "#"}}}});
    let judged = json!({"properties": {"a": {"items": {"$ref": "#"}}}, "if": {"minLength": 1}, "then": true});
    let [exact, judged] = [exact, judged].map(|schema| Schema::compile(&schema).unwrap());
    let check = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
        let tree = strict(&text).unwrap();
        exact.check(tree.root(&text)).len() + judged.check(tree.root(&text)).len()
    });
    assert_eq!(check.unwrap().join().unwrap(), 0);
}

/// Does `text` fit a schema of one keyword?
fn fits(keyword: &str, bound: &str, text: &str) -> bool {
    check(format!("{{\"{keyword}\": {bound}}}").parse().unwrap(), text).is_empty()
}

#[test]
fn numbers_are_ordered_by_value() {
    let ascending = [
        "-1e400",
        "-123456789012345678901234567890.5",
        "-123456789012345678901234567890",
        "-2",
        "-1.5",
        "-1e-400",
        "0",
        "1e-400",
        "0.1",
        "0.10001",
        "1",
        "1.5e1",
        "16",
        "9007199254740993",
        "9007199254740994",
        "1e99999999999999999999",
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            assert_eq!(fits("minimum", b, a), j <= i, "{a} {b}");
            assert_eq!(fits("exclusiveMaximum", b, a), i < j, "{a} {b}");
        }
    }
    assert!(fits("enum", "[1.50]", "15e-1") && fits("enum", "[-0]", "0.0e7"));
}

#[test]
fn multiples_and_whole_numbers_are_known_in_any_spelling() {
    for (number, divisor) in [
        ("0", "7"),
        ("-0.0", "0.1"),
        ("21", "7"),
        ("0.3", "0.1"),
        ("-4.5", "1.5"),
        ("0.0075", "0.0001"),
        ("1e400", "5e-3"),
        ("1e99999999999", "1024"),
        ("123456789012345678901234567890", "10"),
        ("1230", "1.23e1"),
    ] {
        assert!(fits("multipleOf", divisor, number), "{number} {divisor}");
    }
    for (number, divisor) in [
        ("35", "10"),
        ("0.00751", "0.0001"),
        ("123456789012345678901234567891", "10"),
        ("1e400", "7"),
        ("1e308", "0.123456789"),
        ("12.3", "123"),
    ] {
        assert!(!fits("multipleOf", divisor, number), "{number} {divisor}");
    }
    for whole in ["0", "-7", "5.0", "1.5e1", "1e400", "0.0", "100e-2", "-0"] {
        assert!(fits("type", "\"integer\"", whole), "{whole}");
    }
    for fraction in ["0.5", "1.05e1", "1e-1", "1e-400", "12345678901234567890.5"] {
        assert!(!fits("type", "\"integer\"", fraction), "{fraction}");
    }
}
