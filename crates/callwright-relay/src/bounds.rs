//! Bounds for a second question, where the first answer ran away in a list or a text until its tokens were spent.
//!
//! A small model that is held to a schema may go on in a list for ever, as nothing in the schema ends it. The tools of the
//! client have no bounds of ours: half a value would look whole. Only where an answer was cut does the next one get them, so
//! that it ends in time.

use callwright::value::{Map, Value};
use callwright::{Tool, ToolSet, json};

/// Tokens of the brackets and the common names of a call.
const FRAME: u64 = 24;
/// Names are made of words: a token of a tool's or an argument's name has at least this many letters.
const LETTERS_PER_TOKEN: u64 = 2;
/// The fewest tokens of an item of a list: a number or a word, its quotes and its comma.
const TOKENS_PER_ITEM: u64 = 8;
/// The shortest text that is offered: a name, a date.
const SHORTEST: u64 = 24;

/// Makes a set of `tool` alone whose texts and lists have bounds, so that its arguments fit into `tokens`. Bounds of its own
/// stay. Returns `None` for a definition that cannot be bounded.
pub(crate) fn bounded(tool: &Tool, tokens: u64) -> Option<ToolSet> {
    let mut schema = tool.schema().value().clone();
    let names = tool.name().len() + named(&schema).map(|(name, _)| name.len()).sum::<usize>();
    let frame = FRAME + names as u64 / LETTERS_PER_TOKEN;
    // Where there is hardly room for the frame, the values get what they must have.
    let share = tokens.saturating_sub(frame) / n_open(&schema).max(1);
    bound(&mut schema, share);
    let definition = json!({"name": tool.name(), "description": tool.description(), "parameters": schema});
    ToolSet::from_value(&Value::Array(vec![definition])).ok()
}

/// The members of a schema that hold schemas: alone, in a list, or by names.
const ALONE: [&str; 4] = ["items", "additionalProperties", "contains", "not"];
const LISTS: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED: [&str; 3] = ["properties", "$defs", "definitions"];

/// Counts the texts and lists without a bound in a schema. The items of a list share the bound of the list.
fn n_open(schema: &Value) -> u64 {
    match is_open(schema, "array") {
        true => 1,
        false => u64::from(is_open(schema, "string")) + parts(schema).map(n_open).sum::<u64>(),
    }
}

fn parts(schema: &Value) -> impl Iterator<Item = &Value> {
    let alone = ALONE.iter().filter_map(|key| schema.get(*key));
    let lists = LISTS.iter().filter_map(move |key| schema.get(*key)?.as_array()).flatten();
    alone.chain(lists).chain(named(schema).map(|(_, part)| part))
}

fn named(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    NAMED.iter().filter_map(|key| schema.get(*key)?.as_object()).flatten()
}

/// Returns whether a schema is of this type and sets no bound on the length.
fn is_open(schema: &Value, kind: &str) -> bool {
    let is_named = |name: &Value| name.as_str() == Some(kind);
    let is_of_type = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(is_named),
        Some(name) => is_named(name),
        None => false,
    };
    let bounds =
        ["enum", "const", "pattern", "format", if kind == "string" { "maxLength" } else { "maxItems" }];
    is_of_type && bounds.iter().all(|bound| schema.get(*bound).is_none())
}

fn bound(schema: &mut Value, share: u64) {
    let (is_text, is_list) = (is_open(schema, "string"), is_open(schema, "array"));
    let least = |schema: &Value, key: &str| schema.get(key).and_then(Value::as_u64).unwrap_or(0);
    let (least_text, least_list) = (least(schema, "minLength"), least(schema, "minItems"));
    let Some(members) = schema.as_object_mut() else { return };
    if is_text {
        // Digits and signs have a token each, and a model that runs away may write nothing else.
        let most = share.max(SHORTEST).max(least_text);
        members.insert(String::from("maxLength"), json!(most));
    }
    let n_items = (share / TOKENS_PER_ITEM).max(1).max(least_list);
    if is_list {
        members.insert(String::from("maxItems"), json!(n_items));
    }
    for (key, part) in members.iter_mut() {
        match key.as_str() {
            "items" if is_list => bound(part, share / n_items),
            key if ALONE.contains(&key) => bound(part, share),
            key if LISTS.contains(&key) => {
                part.as_array_mut().into_iter().flatten().for_each(|part| bound(part, share));
            }
            key if NAMED.contains(&key) => {
                part.as_object_mut()
                    .into_iter()
                    .flat_map(Map::values_mut)
                    .for_each(|part| bound(part, share));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lists_get_bounds_and_keep_their_own() {
        let tools =
            ToolSet::from_value(&json!([{"name": "f", "parameters": {"type": "object", "properties": {
                "days": {"type": "array", "items": {"type": "string"}},
                "day": {"enum": ["Monday"]},
                "maxItems": {"type": "string", "maxLength": 5},
                "n": {"type": "integer"},
                "note": {"type": ["string", "null"], "minLength": 200}
            }}}]))
            .unwrap();
        let set = bounded(tools.get("f").unwrap(), 120).unwrap();
        let properties = &set.get("f").unwrap().schema().value()["properties"];
        assert_eq!(properties["days"]["maxItems"], 5);
        assert_eq!(properties["days"]["items"]["maxLength"], SHORTEST);
        assert_eq!(properties["note"]["maxLength"], 200);
        assert_eq!(properties["maxItems"], json!({"type": "string", "maxLength": 5}));
        assert_eq!(properties["day"], json!({"enum": ["Monday"]}));
        assert_eq!(properties["n"], json!({"type": "integer"}));
    }
}
