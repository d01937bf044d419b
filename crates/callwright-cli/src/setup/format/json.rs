//! JSON as people write it into files: with comments, and with commas at the end.

use callwright::value::{Map, Value};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};

use super::{Lists, below, holds_no, name_of};

/// Puts the members of `set` into the object that `text` holds.
pub(super) fn merge(text: &str, set: &Value, lists: &Lists) -> Result<String, String> {
    let root = CstRootNode::parse(text, &OPTIONS).map_err(|error| lower(&error.to_string()))?;
    let object = root.object_value_or_create().ok_or_else(|| holds_no("", "object"))?;
    if let Some(set) = set.as_object() {
        put_members(&object, set, "", lists)?;
    }
    let merged = root.to_string();
    Ok(if text.trim().is_empty() && !merged.ends_with('\n') { merged + "\n" } else { merged })
}

/// The liberties of the agents' own readers: comments and commas at the end.
const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn put_members(object: &CstObject, set: &Map, at: &str, lists: &Lists) -> Result<(), String> {
    for (key, value) in set {
        let at = below(at, key);
        match member(object, key) {
            None => _ = object.append(key, input(value)),
            Some(member) => put(&member, value, &at, lists)?,
        }
    }
    Ok(())
}

/// The member of this name. Of several the last counts, as it does for those who read the file.
fn member(object: &CstObject, key: &str) -> Option<CstObjectProp> {
    object.properties().into_iter().rev().find(|member| member.decoded_name().as_deref() == Some(key))
}

fn put(member: &CstObjectProp, value: &Value, at: &str, lists: &Lists) -> Result<(), String> {
    let there = member.value();
    match (value, lists.get(at)) {
        (Value::Object(set), _) => {
            let object = member.object_value().ok_or_else(|| holds_no(at, "object"))?;
            put_members(&object, set, at, lists)
        }
        (Value::Array(elements), Some(name)) => {
            let array = member.array_value().ok_or_else(|| holds_no(at, "array"))?;
            put_elements(&array, elements, name, at, lists)
        }
        (Value::Array(_), None) if member.array_value().is_none() => Err(holds_no(at, "array")),
        (Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null, _)
            if there.as_ref().is_some_and(is_container) =>
        {
            Err(holds_no(at, "single value"))
        }
        (value, _) => {
            if there.and_then(|there| read(&there)).as_ref() != Some(value) {
                member.set_value(input(value));
            }
            Ok(())
        }
    }
}

fn put_elements(
    array: &CstArray,
    elements: &[Value],
    name: &str,
    at: &str,
    lists: &Lists,
) -> Result<(), String> {
    for element in elements {
        let wanted = name_of(element, name);
        let same = array.elements().into_iter().filter_map(|node| node.as_object()).find(|object| {
            let named = member(object, name).and_then(|member| member.value());
            named.and_then(|value| read(&value)).is_some_and(|value| value.as_str() == wanted)
        });
        match (same, element.as_object()) {
            (Some(object), Some(set)) => put_members(&object, set, at, lists)?,
            (_, _) => _ = array.append(input(element)),
        }
    }
    Ok(())
}

/// The value of a node; none where it has comments.
fn read(node: &CstNode) -> Option<Value> {
    node.to_string().parse().ok()
}

fn is_container(node: &CstNode) -> bool {
    node.as_object().is_some() || node.as_array().is_some()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(*is),
        Value::Number(number) => CstInputValue::Number(number.as_str().to_owned()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(elements) => CstInputValue::Array(elements.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
