//! Schemas as tool lists carry them, brought into a form that means the same to every validator.
//!
//! A schema that is right already comes out as it went in. What the field writes otherwise is read as follows:
//!
//! | written | read as |
//! |---|---|
//! | `"type": "dict"`, `"map"`, `"struct"` | `object` |
//! | `"float"`, `"double"`, `"decimal"` | `number` |
//! | `"int"`, `"long"` | `integer` |
//! | `"str"`, `"text"` | `string` |
//! | `"bool"` | `boolean` |
//! | `"list"`, `"tuple"`, `"set"` | `array` |
//! | `"none"`, `"nil"` | `null` |
//! | any of these and the standard words in another case (`"STRING"`) | the same |
//! | `"any"` and any other word | no constraint |
//! | `"required": true` inside a member, `"properties": null`, and other values that their keyword cannot have | left out |
//! | `"exclusiveMinimum": true` beside `"minimum": 1`, where the draft wants a number | `"exclusiveMinimum": 1` |
//! | a list as `items`, where the draft has `prefixItems` | `prefixItems` |

use serde_json::{Map, Value, json};

use super::keywords::{Draft, Holds, holds};

/// Brings `root` into its normal form. The caller has bounded it before.
pub(crate) fn normalise(root: &mut Value, draft: Draft) {
    let mut todo = vec![root];
    while let Some(schema) = todo.pop() {
        let Value::Object(schema) = schema else { continue };
        repair_types(schema);
        repair_bounds(schema, draft);
        repair_items(schema, draft);
        schema.retain(|keyword, value| fits_keyword(keyword, value));
        if let Some(Value::Array(names)) = schema.get_mut("required") {
            names.retain(Value::is_string);
            let mut seen = std::collections::HashSet::new();
            names.retain(|name| seen.insert(name.clone()));
        }
        // Draft 4 does not allow an empty list, and it says nothing.
        schema
            .retain(|keyword, value| keyword != "required" || value.as_array().is_none_or(|n| !n.is_empty()));
        for (keyword, held) in schema.iter_mut() {
            match (holds(keyword).0, held) {
                (Holds::Schema | Holds::SchemaOrList, held @ Value::Object(_)) => todo.push(held),
                (Holds::List | Holds::SchemaOrList, Value::Array(list)) => todo.extend(list),
                (Holds::Map, Value::Object(map)) => {
                    if keyword == "properties" {
                        map.values_mut().filter(|s| !is_schema(s)).for_each(|s| *s = member(s));
                    }
                    todo.extend(map.values_mut());
                }
                _ => {}
            }
        }
    }
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// The schema that a member's description in another form stands for: `"name": "string"`.
fn member(written: &Value) -> Value {
    match written.as_str().and_then(standard_type) {
        Some(word) => json!({"type": word}),
        None => json!({}),
    }
}

/// The standard word for the type that `word` names; `None` where it names none, and anything fits.
pub(crate) fn standard_type(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "object" | "dict" | "map" | "struct" => "object",
        "number" | "float" | "double" | "decimal" => "number",
        "integer" | "int" | "long" => "integer",
        "string" | "str" | "text" => "string",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "set" => "array",
        "null" | "none" | "nil" => "null",
        _ => return None,
    })
}

fn repair_types(schema: &mut Map<String, Value>) {
    let types = match schema.get("type") {
        None => return,
        Some(Value::String(word)) => standard_type(word).map(Value::from),
        Some(Value::Array(words)) => {
            let words: Option<Vec<&str>> = words.iter().map(|w| w.as_str().and_then(standard_type)).collect();
            words.filter(|words| !words.is_empty()).map(|mut words| {
                let mut seen = std::collections::HashSet::new();
                words.retain(|word| seen.insert(*word));
                Value::from(words)
            })
        }
        Some(_) => None,
    };
    match types {
        Some(types) => drop(schema.insert("type".into(), types)),
        None => drop(schema.shift_remove("type")),
    }
}

fn repair_bounds(schema: &mut Map<String, Value>, draft: Draft) {
    if draft == Draft::D4 {
        return;
    }
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let Some(&Value::Bool(is_exclusive)) = schema.get(exclusive) else { continue };
        schema.shift_remove(exclusive);
        if is_exclusive && let Some(bound) = schema.shift_remove(inclusive) {
            schema.insert(exclusive.into(), bound);
        }
    }
}

fn repair_items(schema: &mut Map<String, Value>, draft: Draft) {
    if draft == Draft::D2020 && schema.get("items").is_some_and(Value::is_array) {
        let items = schema.shift_remove("items").unwrap_or_default();
        schema.entry("prefixItems").or_insert(items);
        if let Some(rest) = schema.shift_remove("additionalItems") {
            schema.insert("items".into(), rest);
        }
    }
}

/// May `keyword` have this sort of value? A value that it cannot have says nothing, and would make validators
/// refuse the whole schema.
fn fits_keyword(keyword: &str, value: &Value) -> bool {
    match keyword {
        "$schema" => value.as_str().is_some_and(|uri| !uri.is_empty()),
        "$ref" | "$id" | "$anchor" | "$comment" | "title" | "description" | "format" | "pattern" => {
            value.is_string()
        }
        "enum" | "required" => value.is_array(),
        "minimum" | "maximum" | "multipleOf" => value.is_number(),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number() || value.is_boolean(),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => value.is_number(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        "examples" => value.is_array(),
        _ => match holds(keyword).0 {
            Holds::Nothing => true,
            Holds::Schema => is_schema(value),
            Holds::SchemaOrList => is_schema(value) || value.is_array(),
            Holds::List => value.as_array().is_some_and(|list| !list.is_empty() || keyword == "prefixItems"),
            Holds::Map => value.is_object(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(mut schema: Value) -> Value {
        normalise(&mut schema, Draft::D2020);
        schema
    }

    #[test]
    fn words_of_the_field_are_understood() {
        let schema = json!({"type": "dict", "properties": {
            "a": {"type": "float"}, "b": {"type": "tuple", "items": {"type": "INT"}}, "c": {"type": "any"},
            "d": {"type": ["str", "none"]}, "e": "string", "f": {"type": "wheel"},
        }});
        assert_eq!(
            normal(schema),
            json!({"type": "object", "properties": {
                "a": {"type": "number"}, "b": {"type": "array", "items": {"type": "integer"}}, "c": {},
                "d": {"type": ["string", "null"]}, "e": {"type": "string"}, "f": {},
            }})
        );
    }

    #[test]
    fn values_that_a_keyword_cannot_have_are_left_out() {
        let schema =
            json!({"properties": {"a": {"type": "string", "required": true, "enum": "x"}}, "items": null});
        assert_eq!(normal(schema), json!({"properties": {"a": {"type": "string"}}}));
        assert_eq!(normal(json!({"minimum": 1, "exclusiveMinimum": true})), json!({"exclusiveMinimum": 1}));
        assert_eq!(
            normal(json!({"items": [{"type": "int"}], "additionalItems": false})),
            json!({"prefixItems": [{"type": "integer"}], "items": false})
        );
    }

    #[test]
    fn data_is_left_alone() {
        let schema =
            json!({"enum": [{"type": "dict"}], "default": {"type": "dict"}, "const": {"required": true}});
        assert_eq!(normal(schema.clone()), schema);
    }
}
