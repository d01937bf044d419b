//! Brings the schemas of tool lists into a form that means the same to every validator.
//!
//! A right schema comes out as it went in. Other forms from the field are read as follows:
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
//! | `"any"` | no constraint |
//! | `"properties": null`, `"required": true` inside a member | left out |
//! | any other word as a type, and any other value that its keyword cannot have | left out, and said so |
//! | `"requried"` | left as it is, and said so |
//! | `"exclusiveMinimum": true` beside `"minimum": 1`, where the draft wants a number | `"exclusiveMinimum": 1` |
//! | a list as `items`, where the draft has `prefixItems` | `prefixItems` |
//! | `"nullable": true`, as OpenAPI 3.0 has it | `null` is one of the types, or one of the forms |
//! | a definition that nothing refers to | left out, whatever is wrong with it |
//! | a `$ref` that names nothing, or leads back to itself: see the module `references` | left out |

use std::collections::HashSet;

use indexmap::IndexSet;

use callwright_value::json;
use callwright_value::{Map, Value};

use super::keywords::{
    Draft, Holds, holds, inside, inside_mut, keyword_meant, local_pointer, pointer_key, pointer_step,
    standard_type,
};
use super::unchecked::Unchecked;

/// The keywords whose schemas only references lead to.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The parts of a schema that say nothing, though they were meant to.
pub(crate) struct Wrong {
    /// Parts that neither a draft nor a form of the field gives a meaning; they are left out.
    pub(crate) faults: Vec<Unchecked>,
    /// Keywords that a letter keeps from being one. They may be an extension's own.
    pub(crate) slips: Vec<Unchecked>,
}

/// Brings `root` into its normal form. The caller has bounded it before. Returns what it finds wrong.
pub(crate) fn normalise(root: &mut Value, draft: Draft) -> Wrong {
    let (mut faults, mut slips) = (Vec::new(), Vec::new());
    let mut todo = vec![(String::new(), root)];
    while let Some((pointer, schema)) = todo.pop() {
        let Value::Object(schema) = schema else { continue };
        let mut note = |at: &str, value: &Value| faults.push(fault(format!("{pointer}/{at}"), at, value));
        if let Some(written) = repair_types(schema) {
            note("type", &written);
        }
        repair_nullable(schema);
        repair_bounds(schema, draft);
        repair_items(schema, draft);
        schema.retain(|keyword, value| {
            let fits = fits_keyword(keyword, value);
            if !fits && !says_nothing(keyword, value) {
                note(keyword, value);
            }
            fits
        });
        for (keyword, meant) in schema.keys().filter_map(|word| Some((word, keyword_meant(word)?))) {
            let reason = format!("`{keyword}` is not a keyword; `{meant}` is");
            slips.push(Unchecked { pointer: format!("{pointer}/{}", pointer_step(keyword)), reason });
        }
        if let Some(Value::Array(names)) = schema.get_mut("required") {
            let mut seen = HashSet::new();
            names.retain(|name| name.as_str().is_some_and(|name| seen.insert(name.to_owned())));
            // Draft 4 does not allow an empty list, and it says nothing.
            if names.is_empty() {
                schema.remove("required");
            }
        }
        if let Some(Value::Object(members)) = schema.get_mut("properties") {
            for (name, member) in members.iter_mut().filter(|(_, member)| !is_schema(member)) {
                // A description in another form, `"name": "string"`, stands for a schema.
                let word = member.as_str().and_then(standard_type);
                if word.is_none() && !is_free(member) {
                    note(&format!("properties/{}", pointer_step(name)), member);
                }
                *member = word.map_or_else(|| json!({}), |word| json!({"type": word}));
            }
        }
        for keyword in DEFINITIONS {
            if let Some(Value::Object(definitions)) = schema.get_mut(keyword) {
                definitions.retain(|_, definition| is_schema(definition));
            }
        }
        todo.extend(inside_mut(schema).map(|(at, held)| (format!("{pointer}{at}"), held)));
    }
    Wrong { faults, slips }
}

fn fault(pointer: String, at: &str, value: &Value) -> Unchecked {
    /// Longer values are not shown.
    const MAX_SHOWN: usize = 64;
    let written = value.to_string();
    let reason = match written.len() {
        0..=MAX_SHOWN => format!("`{at}` cannot be {written}"),
        _ => format!("`{at}` cannot have this value"),
    };
    Unchecked { pointer, reason }
}

/// Returns whether a value that `keyword` cannot have means the same as its absence, or is a form of an older draft:
/// `"required": true`.
fn says_nothing(keyword: &str, value: &Value) -> bool {
    let is_empty = value.as_array().is_some_and(Vec::is_empty);
    value.is_null() || is_empty || keyword == "required" && value.is_boolean()
}

/// Returns whether `value`, where a type or a schema is due, means that any value may stand.
fn is_free(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|word| word.eq_ignore_ascii_case("any"))
}

/// Leaves out the definitions at the top of `root` that nothing refers to: a fault in one of them does no harm.
/// Documents with other references than pointers keep theirs.
pub(crate) fn without_unused(root: &mut Value) {
    let Some(used) = used_definitions(root) else { return };
    let Value::Object(schema) = root else { return };
    for keyword in DEFINITIONS {
        if let Some(Value::Object(definitions)) = schema.get_mut(keyword) {
            definitions.retain(|name, _| used.contains(&(keyword.to_owned(), name.clone())));
        }
    }
}

/// Returns the keyword and the name of each definition that is reached from `root`; `None` if other references hide
/// that.
fn used_definitions(root: &Value) -> Option<HashSet<(String, String)>> {
    let mut used = HashSet::new();
    let mut seen: HashSet<*const Value> = HashSet::new();
    let mut todo: Vec<&Value> = vec![root];
    while let Some(value) = todo.pop() {
        let Some(schema) = value.as_object().filter(|_| seen.insert(value)) else { continue };
        let is_root = std::ptr::eq(value, root);
        let has_other_names = |keyword: &String| {
            matches!(keyword.as_str(), "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef")
                || !is_root && matches!(keyword.as_str(), "$id" | "id")
        };
        if schema.keys().any(has_other_names) {
            return None;
        }
        todo.extend(inside(value).filter(|(by, _)| !DEFINITIONS.contains(by)).map(|(_, held)| held));
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { continue };
        // An address, `https://example.com/a#foo`, may be that of a definition.
        let pointer = local_pointer(reference)?;
        let mut parts = pointer.split('/').skip(1).map(pointer_key);
        used.extend(parts.next().zip(parts.next()));
        todo.extend(root.pointer(&pointer));
    }
    Some(used)
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// Puts the standard words for the types of `schema`. Returns what stands there where it names no types.
fn repair_types(schema: &mut Map) -> Option<Value> {
    let types = match schema.get("type")? {
        Value::String(word) => standard_type(word).map(Value::from),
        Value::Array(words) => {
            let words = words.iter().map(|word| word.as_str().and_then(standard_type));
            let words: Option<IndexSet<&str>> = words.collect();
            words.filter(|words| !words.is_empty()).map(|words| Value::from(Vec::from_iter(words)))
        }
        _ => None,
    };
    let Some(types) = types else {
        let written = schema.remove("type")?;
        let mut words = written.as_array().map_or(std::slice::from_ref(&written), Vec::as_slice).iter();
        let is_known = |word: &Value| is_free(word) || word.as_str().and_then(standard_type).is_some();
        return if words.all(is_known) { None } else { Some(written) };
    };
    schema.insert("type".into(), types);
    None
}

/// Repairs a nullable schema: `{"type": "string", "nullable": true}`, `{"$ref": "#/$defs/a", "nullable": true}`
fn repair_nullable(schema: &mut Map) {
    if schema.get("nullable").and_then(Value::as_bool) != Some(true) {
        return;
    }
    schema.remove("nullable");
    match schema.get_mut("type") {
        Some(Value::String(word)) if word != "null" => {
            let types = json!([std::mem::take(word), "null"]);
            schema.insert("type".into(), types);
        }
        Some(Value::Array(words)) if !words.contains(&json!("null")) => words.push(json!("null")),
        Some(_) => {}
        None => {
            for form in ["allOf", "$ref", "anyOf", "oneOf"] {
                if let Some(inner) = schema.remove(form) {
                    let either = json!({"anyOf": [{form: inner}, {"type": "null"}]});
                    // Several forms hold together.
                    match schema.entry("allOf").or_insert_with(|| json!([])) {
                        Value::Array(all) => all.push(either),
                        _ => drop(schema.insert("allOf".into(), json!([either]))),
                    }
                }
            }
        }
    }
}

fn repair_bounds(schema: &mut Map, draft: Draft) {
    if draft == Draft::D4 {
        return;
    }
    for (exclusive, inclusive) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        let Some(&Value::Bool(is_exclusive)) = schema.get(exclusive) else { continue };
        schema.remove(exclusive);
        if is_exclusive && let Some(bound) = schema.remove(inclusive) {
            schema.insert(exclusive.into(), bound);
        }
    }
}

fn repair_items(schema: &mut Map, draft: Draft) {
    if draft == Draft::D2020 && schema.get("items").is_some_and(Value::is_array) {
        let items = schema.remove("items").unwrap_or_default();
        schema.entry("prefixItems").or_insert(items);
        if let Some(rest) = schema.remove("additionalItems") {
            schema.insert("items".into(), rest);
        }
    }
}

/// Returns whether `keyword` may have this sort of value. A wrong value says nothing, and would make validators refuse
/// the whole schema.
fn fits_keyword(keyword: &str, value: &Value) -> bool {
    match keyword {
        "$schema" => value.as_str().is_some_and(|uri| !uri.is_empty()),
        "$ref" | "$id" | "$anchor" | "$comment" | "title" | "description" | "format" | "pattern" => {
            value.is_string()
        }
        "enum" | "required" | "examples" => value.is_array(),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number() || value.is_boolean(),
        "minimum" | "maximum" | "multipleOf" | "minLength" | "maxLength" | "minItems" | "maxItems"
        | "minProperties" | "maxProperties" | "minContains" | "maxContains" => value.is_number(),
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
        _ => match holds(keyword) {
            Holds::Nothing => true,
            Holds::Schema => is_schema(value),
            Holds::SchemaOrList => is_schema(value) || value.is_array(),
            Holds::List => value.as_array().is_some_and(|list| !list.is_empty() || keyword == "prefixItems"),
            Holds::Map => value.is_object(),
        },
    }
}
