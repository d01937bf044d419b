//! Writes a tool as a type of TypeScript, its descriptions as comments:
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
use super::schema::{
    MAX_DEPTH, Types, alternatives, clean, description_of, members, name_in_code, of_type, resolve,
};
use crate::tools::Tool;

const TYPES: Types = Types { depth: MAX_DEPTH, any: "any", values: alternatives, plain };

pub(super) fn told(tool: &Tool) -> String {
    let root = tool.schema().value();
    let name = name_in_code(tool.name());
    let schema = resolve(root, root);
    let parameter = members(schema).next().map(|_| format!("_: {}", object(root, schema, 0)));
    format!("{}type {name} = ({}) => any;", comment(tool.description()), parameter.unwrap_or_default())
}

/// Writes each line of a description as a comment, with a line break behind it.
fn comment(description: &str) -> String {
    let lines = description.lines().map(clean).filter(|line| !line.is_empty());
    lines.map(|line| format!("// {line}\n")).collect()
}

fn object(root: &Value, schema: &Value, depth: usize) -> String {
    let told = |(name, member, is_required): (&str, &Value, bool)| {
        let head = comment(description_of(member)) + &name_in_code(name);
        let (optional, kind) = (if is_required { "" } else { "?" }, TYPES.of(root, member, depth + 1));
        let default = member.get("default").map(|value| in_json(&value.to_string()));
        let default = default.map(|value| format!(" // default: {value}")).unwrap_or_default();
        format!("{head}{optional}: {kind},{default}\n")
    };
    format!("{{\n{}}}", members(schema).map(told).collect::<String>())
}

fn plain(root: &Value, schema: &Value, depth: usize) -> String {
    let one = |word: &str| match word {
        "string" | "boolean" | "null" => word.to_owned(),
        "integer" | "number" => "number".to_owned(),
        "array" => match schema.get("items").filter(|items| items.is_object()) {
            Some(items) => match TYPES.of(root, items, depth + 1) {
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
