//! Any schema and any value: the right answer, with bounded work. One seed to work on, one that judges.

use allocation_counter::measure;
use callwright_json::strict;
use callwright_schema::Schema;
use callwright_value::{Value, json};

use crate::schemas;

const SEEDS: [u64; 2] = [7, 1_000_003];
/// The most memory that one check may take.
const MEMORY: u64 = 16 << 20;

/// How many rounds a test takes where it usually takes `usual`: as many times that as the variable `CALLWRIGHT_LAWS` says, and
/// one at least.
fn rounds(usual: u64) -> u64 {
    let times = std::env::var("CALLWRIGHT_LAWS").map_or(1.0, |times| times.parse().unwrap());
    ((usual as f64 * times).ceil() as u64).max(1)
}

/// Numbers below others, from a seed.
fn choices(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 16).unwrap() % below
    }
}

/// Another validator says the same of small schemas and values.
#[test]
fn the_answer_is_that_of_another_validator() {
    compared(rounds(25));
}

fn compared(rounds: u64) {
    let (mut fitting, mut n) = (0, 0);
    for seed in SEEDS {
        for round in 0..rounds {
            let mut choose = choices(seed + round);
            let schema = schemas::schema(&mut choose);
            let compiled = Schema::compile(&schema).unwrap();
            if compiled.unchecked().iter().any(|part| part.pointer.is_empty()) {
                continue;
            }
            // As it is checked, without what says nothing.
            let plain: serde_json::Value = serde_json::from_str(&compiled.value().to_string()).unwrap();
            let other =
                jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&plain).unwrap();
            for _ in 0..8 {
                let text = schemas::value(&mut choose, 3).to_string();
                let checked = compiled.check_whole(strict(&text).unwrap().root(&text));
                assert!(checked.is_whole, "{schema} {text}");
                let fits = other.is_valid(&serde_json::from_str(&text).unwrap());
                assert_eq!(
                    checked.violations.is_empty(),
                    fits,
                    "seed {seed}, round {round}: {plain} {text} {:?}",
                    checked.violations
                );
                fitting += usize::from(fits);
                n += 1;
            }
        }
    }
    assert!(n / 5 < fitting && fitting < n / 5 * 4, "{fitting} of {n} fit");
}

fn bounded(rounds: u64) {
    // What nests in schema or value takes no stack.
    let check = move || {
        for seed in SEEDS {
            for round in 0..rounds {
                let mut choose = choices(seed + round);
                let schema = schemas::schema(&mut choose);
                let compiled = Schema::compile(&schema).unwrap();
                let text = schemas::large(&mut choose);
                let tree = strict(&text).unwrap();
                let taken = measure(|| drop(compiled.check_whole(tree.root(&text))));
                assert!(
                    taken.bytes_max < MEMORY,
                    "seed {seed}, round {round}: {} bytes for {schema} and {} bytes",
                    taken.bytes_max,
                    text.len()
                );
            }
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(check).unwrap().join().unwrap();
}

#[test]
fn memory_and_stack_are_bounded() {
    bounded(rounds(8));
}

/// A definition that leads back to itself through each applicator, by two ways or more.
fn recursive(keyword: &str) -> Value {
    let to_b = json!({"properties": {"c": {"$ref": "#/$defs/n"}}, "required": ["b"]});
    let to_d = json!({"properties": {"c": {"$ref": "#/$defs/n"}}, "required": ["d"]});
    let free = json!({"properties": {"c": {"$ref": "#/$defs/n"}}});
    let own = match keyword {
        "anyOf" | "oneOf" | "allOf" => json!({keyword: [to_b, to_d]}),
        "allOf, valid" => json!({"allOf": [free, free]}),
        "oneOf, valid" => json!({"oneOf": [free, free, free]}),
        "anyOf, the last" => json!({"anyOf": [to_b, free]}),
        "not" => json!({"not": {"not": {"anyOf": [to_b, to_d]}}}),
        "if" => json!({"if": to_b, "then": free, "else": to_d}),
        "dependentSchemas" => json!({"dependentSchemas": {"c": to_b}, "anyOf": [free, to_d]}),
        "unevaluatedProperties" => {
            json!({"anyOf": [to_b, free], "allOf": [free], "unevaluatedProperties": false})
        }
        "contains" => {
            json!({"properties": {"c": {"contains": {"$ref": "#/$defs/n"}, "not": {"contains": {"$ref": "#/$defs/n"}}}},
            "anyOf": [to_b, free]})
        }
        "propertyNames" => json!({"propertyNames": {"pattern": "^(c|d)$"}, "anyOf": [to_b, free, to_d]}),
        "patternProperties" => {
            json!({"patternProperties": {"^c": {"$ref": "#/$defs/n"}, "c$": {"$ref": "#/$defs/n"}}, "additionalProperties": {"$ref": "#/$defs/n"}})
        }
        "items" => {
            json!({"prefixItems": [{"$ref": "#/$defs/n"}], "items": {"$ref": "#/$defs/n"}, "anyOf": [free, {"items": {"$ref": "#/$defs/n"}}]})
        }
        "$dynamicRef" => json!({"$dynamicAnchor": "n", "anyOf": [
            {"properties": {"c": {"$dynamicRef": "#n"}}, "required": ["b"]}, {"properties": {"c": {"$dynamicRef": "#n"}}}]}),
        other => panic!("{other}"),
    };
    json!({"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": own}})
}

/// Four times the depth takes hardly more than four times the memory, all of it together, and nothing is left unchecked.
#[test]
fn schemas_that_lead_back_to_themselves_cost_in_proportion() {
    let keywords = [
        "anyOf",
        "oneOf",
        "allOf",
        "allOf, valid",
        "oneOf, valid",
        "anyOf, the last",
        "not",
        "if",
        "dependentSchemas",
        "unevaluatedProperties",
        "contains",
        "propertyNames",
        "patternProperties",
        "items",
        "$dynamicRef",
    ];
    for keyword in keywords {
        let schema = Schema::compile(&recursive(keyword)).unwrap();
        assert_eq!(schema.unchecked(), [], "{keyword}");
        let taken = |depth: usize| {
            let text = format!("{{\"a\":{}1{}}}", "{\"c\":".repeat(depth), "}".repeat(depth));
            let tree = strict(&text).unwrap();
            measure(|| assert!(schema.check_whole(tree.root(&text)).is_whole, "{keyword}"))
        };
        let (small, large) = (taken(24), taken(96));
        assert!(large.bytes_total < 5 * small.bytes_total.max(8_000), "{keyword}: {small:?} {large:?}");
    }
}

/// The forms of a tree of a page, and one leaf that is none of them.
#[test]
fn a_page_with_one_wrong_leaf_is_refused_and_no_more() {
    let kinds = ["row", "column"].map(|kind| {
        json!({"type": "object", "required": ["type"],
            "properties": {"type": {"const": kind}, "children": {"type": "array", "items": {"$ref": "#/$defs/n"}}}})
    });
    let schema = json!({"properties": {"page": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"anyOf": kinds}}});
    let compiled = Schema::compile(&schema).unwrap();
    let text = format!("{{\"page\":{}1{}}}", "{\"type\":\"row\",\"children\":[".repeat(60), "]}".repeat(60));
    let violations = compiled.check(strict(&text).unwrap().root(&text));
    let told: Vec<(&str, &str)> = violations.iter().map(|v| (&*v.pointer, v.keyword)).collect();
    assert_eq!(told, [("/page", "anyOf")]);
}

/// What is too dear to find out is told, and the tables hold all the same.
#[test]
fn what_is_too_dear_is_told() {
    let schema =
        json!({"properties": {"a": {"type": "string", "pattern": r"^(a+)+\1$"}, "b": {"type": "integer"}}});
    let compiled = Schema::compile(&schema).unwrap();
    assert_eq!(compiled.unchecked(), []);
    let check = |text: &str| compiled.check_whole(strict(text).unwrap().root(text));
    let dear = format!("{}!", "a".repeat(64));
    let checked = check(&format!("{{\"a\": \"{dear}\"}}"));
    assert!(!checked.is_whole && checked.violations.is_empty());
    let checked = check(&format!("{{\"a\": \"{dear}\", \"b\": \"x\"}}"));
    assert_eq!((checked.is_whole, checked.violations[0].keyword), (false, "type"));
    assert!(check(r#"{"a": "aa"}"#).is_whole);
}

/// A set of many patterns costs little when it is compiled, and each call what it gives to match.
#[test]
fn patterns_cost_where_they_are_tried() {
    let pattern =
        |n: usize| json!({"type": "string", "pattern": format!(r"^[\p{{L}}\p{{N}}_.-]{{1,100}}x{n}$")});
    let members: Value = Value::Object((0..1_500).map(|n| (format!("a{n}"), pattern(n))).collect());
    let schema = json!({"type": "object", "properties": members});
    let len = schema.to_string().len() as u64;
    let mut compiled = None;
    let taken = measure(|| compiled = Some(Schema::compile(&schema).unwrap()));
    assert!(100_000 < len && taken.bytes_max < 40 * len, "{taken:?} for {len}");
    let compiled = compiled.unwrap();
    assert_eq!(compiled.unchecked(), []);
    let text: Value =
        Value::Object((0..1_500).map(|n| (format!("a{n}"), json!(format!("né{n}x{n}")))).collect());
    let text = text.to_string();
    let tree = strict(&text).unwrap();
    let mut checked = None;
    let taken = measure(|| checked = Some(compiled.check_whole(tree.root(&text))));
    assert!(
        checked.as_ref().is_some_and(|checked| checked.is_whole && checked.violations.is_empty()),
        "{checked:?}"
    );
    assert!(taken.bytes_max < MEMORY, "{taken:?}");
}
