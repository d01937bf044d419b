//! Writes a tool as a declaration with strings between marks of their own, as Gemma's templates list it:
//!
//! ```text
//! declaration:get_weather{description:<|"|>Get the weather<|"|>,parameters:{properties:{city:{description:<|"|>Where
//! <|"|>,type:<|"|>STRING<|"|>}},required:[<|"|>city<|"|>],type:<|"|>OBJECT<|"|>}}
//! ```

use crate::value::Value;

use super::super::literal::{Style, WORDS};
use super::super::marks::neutralise;
use super::schema::{MAX_DEPTH, description_of, members, name_in_code, resolve};
use crate::tools::Tool;

pub(super) fn told(tool: &Tool, mark: &str) -> String {
    let root = tool.schema().value();
    format!(
        "declaration:{}{{description:{},parameters:{}}}",
        name_in_code(tool.name()),
        string(tool.description(), mark),
        schema_told(root, root, mark, 0)
    )
}

/// Writes the keywords that models know, then `type` in capitals.
fn schema_told(root: &Value, schema: &Value, mark: &str, depth: usize) -> String {
    let schema = resolve(root, schema);
    let mut parts: Vec<String> = Vec::new();
    if depth != 0 && !description_of(schema).is_empty() {
        parts.push(format!("description:{}", string(description_of(schema), mark)));
    }
    if depth < MAX_DEPTH {
        parts.extend(schema.get("enum").map(|values| format!("enum:{}", value(values, mark))));
        let inner = |member: &Value| schema_told(root, member, mark, depth + 1);
        let properties: Vec<String> = members(schema)
            .map(|(name, member, _)| format!("{}:{}", name_in_code(name), inner(member)))
            .collect();
        if !properties.is_empty() {
            parts.push(format!("properties:{{{}}}", properties.join(",")));
        }
        parts.extend(schema.get("items").map(|items| format!("items:{}", inner(items))));
        let required = schema.get("required").filter(|r| r.as_array().is_some_and(|r| !r.is_empty()));
        parts.extend(required.map(|required| format!("required:{}", value(required, mark))));
    }
    let word = match schema.get("type") {
        Some(Value::String(word)) => Some(word.as_str()),
        Some(Value::Array(words)) => words.iter().find_map(Value::as_str),
        _ => schema.get("properties").map(|_| "object"),
    };
    parts.extend(word.map(|word| format!("type:{}", string(&word.to_uppercase(), mark))));
    format!("{{{}}}", parts.join(","))
}

fn value(value: &Value, mark: &str) -> String {
    let string = |text: &str| string(text, mark);
    Style { comma: ",", colon: ":", words: WORDS, key: &name_in_code, string: &string }.value(value)
}

fn string(text: &str, mark: &str) -> String {
    format!("{mark}{}{mark}", neutralise(text))
}
