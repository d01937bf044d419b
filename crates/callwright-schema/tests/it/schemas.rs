//! Schemas and values made by choices: each applicator of JSON Schema, most of them leading back to themselves.

use callwright_value::{Map, Value, json};

/// Chooses a number below the one it is given, which is not zero.
pub(crate) type Choose<'c> = dyn FnMut(usize) -> usize + 'c;

const NAMES: [&str; 4] = ["a", "b", "ab", "é"];
const PATTERNS: [&str; 6] = ["^a", "b$", "^[a-c]{1,2}$", "(a|é)+", "^(?!b)", r"^\w+$"];

fn pick<'a>(choose: &mut Choose<'_>, of: &[&'a str]) -> &'a str {
    of[choose(of.len())]
}

/// A schema of three definitions that refer to each other.
pub(crate) fn schema(choose: &mut Choose<'_>) -> Value {
    let mut definitions = Map::new();
    for name in ["x", "y", "z"] {
        let mut definition = object(choose, 2, true);
        // A dynamic name has one meaning in one document.
        if name == "x" {
            definition.insert("$dynamicAnchor".into(), json!("node"));
        }
        definitions.insert(name.into(), Value::Object(definition));
    }
    json!({"$ref": "#/$defs/x", "$defs": definitions})
}

fn object(choose: &mut Choose<'_>, depth: usize, speaks_of_same: bool) -> Map {
    let mut keywords = Map::new();
    for _ in 0..1 + choose(3) {
        let (keyword, held) = keyword(choose, depth, speaks_of_same);
        keywords.insert(keyword.into(), held);
        if choose(4) == 0 {
            keywords.insert("additionalProperties".into(), inner(choose, depth, false));
        }
    }
    keywords
}

/// A schema inside another one; `speaks_of_same` says that it is about the same value, where a reference back would say nothing.
fn inner(choose: &mut Choose<'_>, depth: usize, speaks_of_same: bool) -> Value {
    match choose(if depth == 0 { 4 } else { 9 }) {
        0 if choose(3) == 0 => Value::Bool(choose(2) == 0),
        0 | 1 => leaf(choose),
        2 | 3 if speaks_of_same => json!({"$ref": pick(choose, &["#/$defs/y", "#/$defs/z"])}),
        2 => json!({"$dynamicRef": "#node"}),
        3 => json!({"$ref": pick(choose, &["#/$defs/x", "#/$defs/y", "#/$defs/z"])}),
        _ => Value::Object(object(choose, depth - 1, speaks_of_same)),
    }
}

fn leaf(choose: &mut Choose<'_>) -> Value {
    match choose(10) {
        0 => {
            json!({"type": pick(choose, &["string", "integer", "object", "array", "null", "number", "boolean"])})
        }
        1 => json!({"type": ["object", "array"]}),
        2 => json!({"minLength": 1 + choose(3)}),
        3 => json!({"maximum": choose(3)}),
        4 => json!({"enum": [1, "a", null, [1]]}),
        5 => json!({"const": pick(choose, &NAMES)}),
        6 => json!({"pattern": pick(choose, &PATTERNS)}),
        7 => json!({"required": [pick(choose, &NAMES)]}),
        8 => json!({"maxProperties": choose(3), "minItems": choose(2)}),
        _ => json!({"uniqueItems": true, "multipleOf": 2}),
    }
}

fn keyword(choose: &mut Choose<'_>, depth: usize, same: bool) -> (&'static str, Value) {
    let list = |choose: &mut Choose<'_>, same| {
        let n = 1 + choose(3);
        Value::Array((0..n).map(|_| inner(choose, depth, same)).collect())
    };
    let map = |choose: &mut Choose<'_>, names: &[&str], same| {
        let n = 1 + choose(3);
        let one =
            |choose: &mut Choose<'_>| (names[choose(names.len())].to_owned(), inner(choose, depth, same));
        Value::Object((0..n).map(|_| one(choose)).collect())
    };
    match choose(18) {
        0 | 1 => ("properties", map(choose, &NAMES, false)),
        2 => ("patternProperties", map(choose, &PATTERNS, false)),
        3 => ("additionalProperties", inner(choose, depth, false)),
        4 => ("items", inner(choose, depth, false)),
        5 => ("prefixItems", list(choose, false)),
        6 => ("contains", inner(choose, depth, false)),
        7 => ("propertyNames", inner(choose, depth, false)),
        8 | 9 => ("anyOf", list(choose, same)),
        10 | 11 => ("oneOf", list(choose, same)),
        12 | 13 => ("allOf", list(choose, same)),
        14 => ("not", inner(choose, depth, same)),
        15 => ("if", inner(choose, depth, same)),
        16 => (pick(choose, &["then", "else"]), inner(choose, depth, same)),
        _ => match choose(4) {
            0 => ("dependentSchemas", map(choose, &NAMES, same)),
            1 => ("dependentRequired", json!({"a": [pick(choose, &NAMES)]})),
            2 => ("unevaluatedProperties", inner(choose, depth, false)),
            _ => ("unevaluatedItems", inner(choose, depth, false)),
        },
    }
}

/// A small value.
pub(crate) fn value(choose: &mut Choose<'_>, depth: usize) -> Value {
    let n = choose(4);
    match choose(if depth == 0 { 5 } else { 9 }) {
        0 => Value::Null,
        1 => json!(choose(2) == 0),
        2 => json!(choose(4)),
        3 => json!(1.5),
        4 => json!(pick(choose, &["", "a", "ab", "b1", "é"])),
        5 | 6 => Value::Array((0..n).map(|_| value(choose, depth - 1)).collect()),
        _ => {
            let member = |choose: &mut Choose<'_>| (NAMES[choose(4)].to_owned(), value(choose, depth - 1));
            Value::Object((0..n).map(|_| member(choose)).collect())
        }
    }
}

/// The JSON text of a value of at most 64 KB that is deep or wide, with one odd leaf.
pub(crate) fn large(choose: &mut Choose<'_>) -> String {
    let leaf = pick(choose, &["5", "null", "\"\"", "{}", "[]"]);
    match choose(5) {
        0 => format!("{}{leaf}{}", "{\"a\":".repeat(120), "}".repeat(120)),
        1 => format!("{}{leaf}{}", "[".repeat(120), "]".repeat(120)),
        2 => {
            let levels = 60;
            let wide = |n: usize| format!("{{\"b\":{n},\"ab\":[{}],\"a\":", "1,".repeat(120) + "2");
            let open: String = (0..levels).map(wide).collect();
            format!("{open}{leaf}{}", "}".repeat(levels))
        }
        3 => format!("[{}{leaf}]", "{\"a\":{\"b\":\"ab\"}},".repeat(3_400)),
        _ => {
            let members: String = (0..5_000).map(|n| format!("\"a{n}\":\"b\",")).collect();
            format!("{{{members}\"é\":\"{}\"}}", "ab".repeat(1_000))
        }
    }
}
