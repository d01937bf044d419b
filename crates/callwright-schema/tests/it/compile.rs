//! What a schema is compiled to: the guide that readers ask, and what of it nothing is held against.

use callwright_json::{Guide, Kinds, Member, Place, strict};
use callwright_schema::{MAX_NESTING, MAX_NODES, Schema, SchemaError};
use callwright_value::{Map, Value, json};

fn schema(value: Value) -> Schema {
    Schema::compile(&value).unwrap()
}

/// What is wrong with a schema, whatever the tables of a build express.
fn told(schema: &Schema) -> Vec<&str> {
    let parts = schema.unchecked().iter().filter(|part| !part.reason.starts_with("the tables of this build"));
    parts.map(|part| part.pointer.as_str()).collect()
}

fn unchecked(value: &Value) -> Vec<String> {
    told(&schema(value.clone())).into_iter().map(str::to_owned).collect()
}

fn fits(schema: &Schema, text: &str) -> bool {
    schema.check(strict(text).unwrap().root(text)).is_empty()
}

fn declared(schema: &Schema, at: Place, name: &str) -> Place {
    match schema.guide().member(at, name) {
        Member::Declared(_, place) => place,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn the_guide_knows_members_in_order() {
    let schema = schema(json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "mode": {"enum": ["r", "w"]}, "n": {"type": ["integer", "null"]}},
        "required": ["mode"], "additionalProperties": false,
    }));
    let guide = schema.guide();
    let root = guide.root();
    assert_eq!(guide.kinds(root), Kinds::OBJECT);
    assert_eq!(guide.names(root).collect::<Vec<_>>(), ["path", "mode", "n"]);
    assert_eq!(guide.name(root, 1), Some("mode"));
    assert_eq!(guide.required(root), 0b010);
    assert_eq!(guide.member(root, "other"), Member::Forbidden);
    let mode = declared(&schema, root, "mode");
    assert_eq!(guide.kinds(mode), Kinds::STRING);
    assert!(guide.admits(mode, "w") && !guide.admits(mode, "x"));
    assert_eq!(guide.kinds(declared(&schema, root, "n")), Kinds::NUMBER.or(Kinds::NULL));
    assert!(schema.is_fully_checked());
}

#[test]
fn choices_and_references_are_folded() {
    let schema = schema(json!({
        "type": "object",
        "properties": {
            "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": null},
            "child": {"$ref": "#"},
            "shape": {"oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}]},
            "all": {"allOf": [{"$ref": "#/$defs/circle"}], "description": "one"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
        },
        "$defs": {
            "circle": {"type": "object", "properties": {"r": {"type": "number"}, "name": {"type": "string"}},
                       "required": ["r", "name"]},
            "square": {"type": "object", "properties": {"side": {"type": "number"}, "name": {"type": "null"}},
                       "required": ["side", "name"]},
        },
    }));
    let guide = schema.guide();
    let root = guide.root();
    assert_eq!(guide.kinds(declared(&schema, root, "limit")), Kinds::NUMBER.or(Kinds::NULL));
    assert_eq!(declared(&schema, root, "child"), root);
    let shape = declared(&schema, root, "shape");
    assert_eq!(guide.names(shape).collect::<Vec<_>>(), ["r", "name", "side"]);
    assert_eq!(guide.required(shape), 0b010);
    assert_eq!(guide.kinds(declared(&schema, shape, "name")), Kinds::STRING.or(Kinds::NULL));
    assert_eq!(guide.names(declared(&schema, root, "all")).collect::<Vec<_>>(), ["r", "name"]);
    let pair = declared(&schema, root, "pair");
    assert_eq!(guide.kinds(guide.element(pair, 0)), Kinds::STRING);
    assert_eq!(guide.kinds(guide.element(pair, 1)), Kinds::NUMBER);
    // Two objects may both fit, so only the validator can tell.
    assert_eq!(schema.is_fully_checked(), cfg!(feature = "full-schemas"));
}

#[test]
fn doubling_definitions_cost_little() {
    let mut defs = Map::new();
    for n in 0..24 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(format!("d{n}"), json!({"properties": {"a": next, "b": next}, "allOf": [next, next]}));
    }
    defs.insert("d24".into(), json!({"type": "object"}));
    let bomb = json!({"$ref": "#/$defs/d0", "$defs": defs.clone()});
    // Nothing is expanded.
    assert_eq!(unchecked(&bomb), [""; 0]);
    assert!(fits(&schema(bomb), r#"{"a": {"b": {"a": {}}}}"#));
    for n in 0..24 {
        defs.get_mut(&format!("d{n}")).and_then(Value::as_object_mut).unwrap().remove("allOf");
    }
    // Each definition has one place, however many ways lead to it.
    let compiled = schema(json!({"$ref": "#/$defs/d0", "$defs": defs}));
    assert_eq!(compiled.guide().names(compiled.guide().root()).count(), 2);
    for n in 0..24 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(
            format!("d{n}"),
            json!({"anyOf": [{"allOf": [next, {"minLength": n}]}, next, {"maxLength": n}]}),
        );
    }
    let choices = json!({"$ref": "#/$defs/d0", "$defs": defs});
    assert_eq!(unchecked(&choices), [""; 0]);
    assert!(fits(&schema(choices), "{}"));
}

#[test]
fn nothing_is_fetched_and_the_rest_holds() {
    for uri in ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "other.json#/a"] {
        let compiled = schema(json!({"properties": {"a": {"$ref": uri}, "b": {"type": "integer"}}}));
        assert_eq!(told(&compiled), ["/properties/a/$ref"], "{uri}");
        assert!(fits(&compiled, r#"{"a": [], "b": 1}"#) && !fits(&compiled, r#"{"b": "x"}"#));
    }
}

/// The validator panics where two parts of a schema have one identity and one of them a name that both refer to.
#[cfg(feature = "full-schemas")]
#[test]
fn an_identity_that_two_parts_have_is_told() {
    for id in ["http://example.com/a", "http://example.com/b/../a", "HTTP://example.com:80/%61"] {
        let named = json!({"$id": "http://example.com/a", "$ref": "#b", "items": {"$anchor": "b"}});
        assert_eq!(
            unchecked(&json!({"properties": {"x": named, "y": {"$id": id, "$ref": "#b"}}})),
            [""],
            "{id}"
        );
    }
}

#[cfg(feature = "full-schemas")]
#[test]
fn a_pattern_that_cannot_be_tried_is_told_and_the_rest_holds() {
    for pattern in ["((a{1000}){1000}){1000}", "(", "a\\Z", "[^]"] {
        let compiled = schema(json!({
            "properties": {"a": {"type": "string", "pattern": pattern}, "b": {"pattern": "^x"}, "c": {"$ref": "#/$defs/c"}},
            "$defs": {"c": {"maxLength": 2, "pattern": pattern}},
        }));
        assert_eq!(told(&compiled), ["/properties/a/pattern", "/$defs/c/pattern"], "{pattern}");
        assert!(fits(&compiled, r#"{"a": "y", "b": "x", "c": "zz"}"#));
        for wrong in [r#"{"a": 1}"#, r#"{"b": "y"}"#, r#"{"c": "zzz"}"#] {
            assert!(!fits(&compiled, wrong), "{wrong}");
        }
    }
    let named =
        schema(json!({"patternProperties": {"(": {"type": "string"}}, "additionalProperties": false}));
    assert!(fits(&named, r#"{"a": 1}"#) && !named.unchecked().is_empty());
    // Look-ahead is not in the linear engine.
    assert_eq!(unchecked(&json!({"pattern": "^(?!x).*$"})), [""; 0]);
}

#[test]
fn what_is_nested_too_deep_is_told_and_the_rest_holds() {
    let mut deep = json!({"type": "integer"});
    for _ in 0..45 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let compiled = schema(deep);
    assert_eq!(told(&compiled), ["/properties/a".repeat(32)]);
    assert!(!fits(&compiled, r#"{"a": 1}"#));
    assert!(fits(&compiled, &format!("{}1{}", r#"{"a": "#.repeat(32), "}".repeat(32))));
}

#[test]
fn unknown_languages_are_read_as_the_newest_draft() {
    schema(json!({"$schema": "https://example.com/own", "type": "string", "pattern": "a"}));
    assert_eq!(Schema::compile(&json!([])).unwrap_err(), SchemaError::NotASchema);
}

#[test]
fn compiled_schemas_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<Schema>();
}

#[test]
#[cfg(feature = "full-schemas")]
fn what_one_part_lacks_the_others_do_not_lose() {
    let strange: Map = (0..100).map(|n| (format!("p{n}"), json!({"pattern": format!("(?>{n})")}))).collect();
    let mut schema = json!({"properties": strange, "required": ["y"], "not": {"required": ["z"]}});
    schema["properties"]["y"] = json!({"$dynamicRef": "#nowhere", "pattern": "^y"});
    schema["properties"]["u"] = json!({"$dynamicRef": "https://example.com/s.json#name"});
    let compiled = Schema::compile(&schema).unwrap();
    let mut places: Vec<&str> = compiled.unchecked().iter().map(|part| &*part.pointer).collect();
    places.sort_unstable();
    assert_eq!(places.len(), 102);
    assert_eq!(places[100..], ["/properties/u/$dynamicRef", "/properties/y/$dynamicRef"]);
    let fits = |value: &str| fits(&compiled, value);
    assert!(fits(r#"{"y": "yes", "p1": "x"}"#) && !fits(r#"{"y": "no"}"#) && !fits(r#"{"y": "y", "z": 1}"#));
}

#[test]
fn deep_and_large_schemas_are_refused() {
    let mut deep = json!({});
    for _ in 0..MAX_NESTING {
        deep = json!({"items": deep});
    }
    assert_eq!(Schema::compile(&deep).unwrap_err(), SchemaError::TooDeep);
    let large = json!({"enum": vec![0; MAX_NODES]});
    assert_eq!(Schema::compile(&large).unwrap_err(), SchemaError::TooLarge);
}

#[test]
fn what_is_not_checked_is_named() {
    for (value, at) in [
        (json!({"properties": {"a": {"pattern": "^x"}}}), "/properties/a/pattern"),
        (json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), ""),
    ] {
        let schema = schema(value);
        let named: Vec<&str> = schema.unchecked().iter().map(|part| part.pointer.as_str()).collect();
        let expected = if cfg!(feature = "full-schemas") { vec![] } else { vec![at] };
        assert_eq!((named, schema.is_fully_checked()), (expected.clone(), expected.is_empty()));
    }
}

/// The cases of `corpus/schema`.
#[test]
fn what_is_left_of_a_schema_is_what_its_case_says() {
    let cases =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/schema/compile.toml"))
            .unwrap()
            .parse::<toml::Table>()
            .unwrap();
    let mut wrong = Vec::new();
    for case in cases["case"].as_array().unwrap() {
        if case.get("needs").is_some() && cfg!(not(feature = "full-schemas")) {
            continue;
        }
        let text = |key: &str| case.get(key).map(|text| text.as_str().unwrap().parse::<Value>().unwrap());
        let written = text("schema").unwrap();
        let left = text("normal").unwrap_or_else(|| written.clone());
        let places: Vec<&str> = case
            .get("unchecked")
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .map(|place| place.as_str().unwrap())
            .collect();
        let compiled = schema(written);
        if (compiled.value(), told(&compiled)) != (&left, places) {
            wrong.push(format!(
                "{}: {} {:?}",
                case["name"].as_str().unwrap(),
                compiled.value(),
                told(&compiled)
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
