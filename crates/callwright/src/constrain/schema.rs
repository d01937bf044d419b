//! The tools as one JSON schema of the answer.
//!
//! ```text
//! {"tool_calls": [{"name": "f", "arguments": {…}}]}     a call of one of the tools
//! {"no_tool_helps": "…"}                                prose, where no call is demanded
//! ```

use callwright_schema::keywords::{Draft, has_inner_id, inside_mut, local_pointer, schemas};

use crate::json;
use crate::value::{Map, Value};

use super::PROSE_KEY;
use crate::tools::{Tool, ToolChoice, ToolSet};

/// Most calls in one answer.
pub(super) const MAX_CALLS: usize = 16;

/// Longest repetition that servers compile.
const MAX_REPEATS: u64 = 512;

/// Returns the schema that an answer to a request for `choice` must fit; `None` if it leaves no tool to call.
///
/// Each tool's arguments must fit its own schema, which is closed if it declares members and does not ask for others. A
/// tool takes any object if its schema cannot stand inside another: it refers to itself by names, or belongs to another
/// draft. If `parallel`, an answer may hold up to 16 calls.
pub fn schema(tool_set: &ToolSet, choice: &ToolChoice, parallel: bool) -> Option<Value> {
    let tools = choice.tools(tool_set);
    if tools.is_empty() {
        return None;
    }
    let (parts, definitions) = call_parts(&tools);
    let calls = parts.into_iter().map(|(name, arguments)| {
        // More servers understand a list of one than `const`.
        object(json!({"name": {"type": "string", "enum": [name]}, "arguments": arguments}))
    });
    let calls: Vec<Value> = calls.collect();
    let call = match <[Value; 1]>::try_from(calls) {
        Ok([only]) => only,
        Err(calls) => json!({"anyOf": calls}),
    };
    let most = if parallel { MAX_CALLS } else { 1 };
    let calls = json!({"type": "array", "items": call, "minItems": 1, "maxItems": most});
    let calls = object(json!({"tool_calls": calls}));
    let mut schema = match choice.is_required() {
        true => calls,
        false => json!({"anyOf": [calls, object(json!({PROSE_KEY: {"type": "string"}}))]}),
    };
    if let (false, Value::Object(schema)) = (definitions.is_empty(), &mut schema) {
        schema.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Some(schema)
}

/// Returns the schema of an object with these members.
fn object(members: Value) -> Value {
    let required: Vec<String> = members.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    json!({"type": "object", "properties": members, "required": required, "additionalProperties": false})
}

/// Returns each tool's name with the schema of its arguments, and the definitions that these refer to as `#/$defs/…`.
pub(super) fn call_parts<'t>(tools: &[&'t Tool]) -> (Vec<(&'t str, Value)>, Map) {
    let mut definitions = Map::new();
    let parts = tools.iter().map(|tool| (tool.name(), arguments(tool, &mut definitions))).collect();
    (parts, definitions)
}

/// Returns the schema of the tool's arguments as it can stand inside another. A schema that refers to its own parts
/// goes into `definitions`, with its references.
fn arguments(tool: &Tool, definitions: &mut Map) -> Value {
    let own = tool.schema().value();
    if !own.is_object() || !is_portable(own) {
        return json!({"type": "object"});
    }
    let key = format!("arguments{}", definitions.len());
    let closes = !combines(own);
    let mut schema = own.clone();
    let mut refers = false;
    let mut todo = vec![&mut schema];
    while let Some(inner) = todo.pop() {
        let Value::Object(inner) = inner else { continue };
        widen(inner);
        if let Some(pointer) = inner.get("$ref").and_then(Value::as_str).and_then(local_pointer) {
            refers = true;
            inner.insert("$ref".to_owned(), Value::from(format!("#/$defs/{key}{pointer}")));
        }
        let declares = inner.get("properties").and_then(Value::as_object).is_some_and(|p| !p.is_empty());
        if closes && declares && !inner.contains_key("additionalProperties") {
            inner.insert("additionalProperties".to_owned(), json!(false));
        }
        todo.extend(inside_mut(inner).map(|(_, held)| held));
    }
    // Arguments are always an object; not every schema says so.
    if let Value::Object(root) = &mut schema
        && ["type", "$ref", "anyOf", "oneOf", "allOf"].iter().all(|keyword| !root.contains_key(keyword))
    {
        root.insert("type".to_owned(), json!("object"));
    }
    if !refers {
        return schema;
    }
    if !resolves(&schema, &format!("#/$defs/{key}")) {
        return json!({"type": "object"});
    }
    let reference = json!({"$ref": format!("#/$defs/{key}")});
    definitions.insert(key, schema);
    reference
}

/// Takes out keywords that only describe, and those that servers refuse or cannot enforce.
fn widen(schema: &mut Map) {
    // An object with patterns for names cannot be closed without these patterns.
    if schema.contains_key("patternProperties") {
        schema.insert("additionalProperties".to_owned(), json!(true));
    }
    schema.retain(|keyword, value| match keyword.as_str() {
        "$ref"
        | "$defs"
        | "definitions"
        | "type"
        | "enum"
        | "const"
        | "anyOf"
        | "oneOf"
        | "allOf"
        | "properties"
        | "required"
        | "additionalProperties"
        | "items"
        | "prefixItems"
        | "minimum"
        | "maximum"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "format" => true,
        "minLength" | "maxLength" | "minItems" | "maxItems" => {
            value.as_u64().is_some_and(|n| n <= MAX_REPEATS)
        }
        "pattern" => value.as_str().is_some_and(is_plain_pattern),
        _ => false,
    });
}

/// Returns whether the pattern covers the whole string, without look-around and classes that only some engines have.
fn is_plain_pattern(pattern: &str) -> bool {
    let Some(inside) = pattern.strip_prefix('^').and_then(|p| p.strip_suffix('$')) else { return false };
    let known = |c: char| matches!(c, 'd' | 'w' | 's') || c.is_ascii_punctuation();
    let (mut depth, mut escaped) = (0_usize, false);
    for c in inside.chars() {
        match c {
            _ if !c.is_ascii() => return false,
            _ if escaped && !known(c) => return false,
            '(' if !escaped => depth += 1,
            ')' if !escaped => depth = depth.saturating_sub(1),
            // `^a|b$` concerns the beginning or the end, not the whole.
            '|' if !escaped && depth == 0 => return false,
            _ => {}
        }
        escaped = !escaped && c == '\\';
    }
    !escaped && !inside.contains("(?")
}

/// Returns whether some object takes its members from several schemas at once. None of them may then be closed.
fn combines(root: &Value) -> bool {
    schemas(root).any(|schema| {
        let has = |keyword: &str| schema.get(keyword).is_some();
        has("allOf") || has("properties") && ["$ref", "anyOf", "oneOf"].into_iter().any(has)
    })
}

/// Returns whether every reference in the schema names a place in it by pointer.
fn is_portable(root: &Value) -> bool {
    let is_by_name = |schema: &Value| {
        schema.get("$ref").is_some_and(|r| r.as_str().and_then(local_pointer).is_none())
            || ["$dynamicRef", "$recursiveRef"].iter().any(|keyword| schema.get(*keyword).is_some())
    };
    !has_inner_id(root) && Draft::D6 <= Draft::of(root) && !schemas(root).any(is_by_name)
}

/// Returns whether all references, which begin with `base`, still name something in `root`.
fn resolves(root: &Value, base: &str) -> bool {
    schemas(root).all(|schema| {
        let pointer = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix(base));
        pointer.is_none_or(|pointer| root.pointer(pointer).is_some())
    })
}
