//! A tool as a type of TypeScript, its descriptions as comments:
//!
//! ```text
//! // Get the weather
//! type get_weather = (_: {
//! // Where
//! city: string,
//! unit?: "celsius" | "fahrenheit", // default: celsius
//! }) => any;
//! ```

use crate::value::Value;

use super::super::marks::in_json;
use super::{MAX_DEPTH, clean, description_of, members, name_in_code, of_type, resolve, ways};
use crate::tools::Tool;

pub(super) fn told(tool: &Tool) -> String {
    let root = tool.schema().value();
    let name = name_in_code(tool.name());
    let mut told = comment(tool.description());
    let schema = resolve(root, root);
    match members(schema).next() {
        Some(_) => told.push_str(&format!("type {name} = (_: {}) => any;", object(root, schema, 0))),
        None => told.push_str(&format!("type {name} = () => any;")),
    }
    told
}

/// Each line of a description as a comment, and a line break behind it.
fn comment(description: &str) -> String {
    let lines = description.lines().map(clean).filter(|line| !line.is_empty());
    lines.map(|line| format!("// {line}\n")).collect()
}

fn object(root: &Value, schema: &Value, depth: usize) -> String {
    let mut text = "{\n".to_owned();
    for (name, member, is_required) in members(schema) {
        text.push_str(&comment(description_of(member)));
        let optional = if is_required { "" } else { "?" };
        text.push_str(&format!("{}{optional}: {},", name_in_code(name), kind(root, member, depth + 1)));
        if let Some(default) = member.get("default") {
            text.push_str(&format!(" // default: {}", in_json(&default.to_string())));
        }
        text.push('\n');
    }
    text.push('}');
    text
}

fn kind(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolve(root, schema);
    if MAX_DEPTH < depth {
        return "any".to_owned();
    }
    if let Some(ways) = ways(schema, |choice| kind(root, choice, depth + 1)) {
        return ways;
    }
    let one = |word: &str| match word {
        "string" => "string".to_owned(),
        "integer" | "number" => "number".to_owned(),
        "boolean" => "boolean".to_owned(),
        "null" => "null".to_owned(),
        "array" => match schema.get("items").filter(|items| items.is_object()) {
            Some(items) => match kind(root, items, depth + 1) {
                items if items.contains(" | ") => format!("({items})[]"),
                items => format!("{items}[]"),
            },
            None => "any[]".to_owned(),
        },
        "object" if members(schema).next().is_some() => object(root, schema, depth),
        "object" => "object".to_owned(),
        _ => "any".to_owned(),
    };
    of_type(schema, one)
}
