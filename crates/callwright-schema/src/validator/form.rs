//! The values that a draft admits for a keyword, as far as that matters for a check.

use super::super::keywords::{Draft, Holds, holds, pointer_step};
use super::super::number::{compare, whole};
use callwright_value::Value;

/// Returns the parts of `keyword` and its value `held` that the draft does not allow, as JSON pointers from their
/// schema: `/minLength`, `/allOf/1`. It skips the faults that the normal form repairs.
pub(super) fn misfits(keyword: &str, held: &Value, draft: Draft) -> Vec<String> {
    let all = || vec![format!("/{}", pointer_step(keyword))];
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let is_name_list =
        |value: &Value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
    let is_right = match keyword {
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => held.as_number().is_some_and(|n| whole(n.as_str()).is_some()),
        "multipleOf" => held.as_number().is_some_and(|n| compare(n.as_str(), "0").is_gt()),
        "exclusiveMinimum" | "exclusiveMaximum" => held.is_boolean() == (draft == Draft::D4),
        "$ref" | "$dynamicRef" | "$recursiveRef" => held.is_string(),
        "$id" => {
            let fragment =
                held.as_str().and_then(|id| id.split_once('#')).map_or("", |(_, fragment)| fragment);
            held.is_string() && (draft <= Draft::D7 || fragment.is_empty())
        }
        "$anchor" | "$dynamicAnchor" => held.as_str().is_some_and(is_anchor),
        "dependentRequired" => held.as_object().is_some_and(|lists| lists.values().all(is_name_list)),
        _ => {
            // Each of several is checked alone.
            let wrong: Vec<String> = match (holds(keyword), held) {
                (Holds::List | Holds::SchemaOrList, Value::Array(list)) => {
                    let wrong = list.iter().enumerate().filter(|(_, held)| !is_schema(held));
                    wrong.map(|(n, _)| format!("/{keyword}/{n}")).collect()
                }
                (Holds::Map, Value::Object(map)) => {
                    let fits =
                        |held: &Value| is_schema(held) || keyword == "dependencies" && is_name_list(held);
                    let wrong = map.iter().filter(|(_, held)| !fits(held));
                    wrong.map(|(name, _)| format!("/{keyword}/{}", pointer_step(name))).collect()
                }
                _ => Vec::new(),
            };
            return wrong;
        }
    };
    if is_right { Vec::new() } else { all() }
}

/// Returns whether `name` may be an anchor: `a-b.c_1`
fn is_anchor(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:".contains(&b))
}
