//! Writes a tool in a few lines of words, for models that do better with words than with schemas:
//!
//! ```text
//! get_weather: Get the current weather
//!   city (string): Where
//!   unit ("celsius" | "fahrenheit", optional)
//! ```

use crate::value::{Number, Value};

use super::schema::{MAX_DEPTH, Types, alternatives, clean, description_of, members, of_type, resolve};
use crate::tools::Tool;

/// The types in words: `array of string`, `"a" | "b"`, `integer, at least 1, at most 10`
const TYPES: Types = Types { depth: MAX_DEPTH, any: "any", values: alternatives, plain };

pub(super) fn told(tool: &Tool) -> String {
    let root = tool.schema().value();
    let mut lines = vec![described(clean(tool.name()), tool.description())];
    tell_members(root, root, 1, &mut lines);
    lines.join("\n")
}

fn tell_members(root: &Value, schema: &Value, depth: usize, lines: &mut Vec<String>) {
    if MAX_DEPTH < depth {
        return;
    }
    for (name, member, is_required) in members(resolve(root, schema)) {
        let optional = if is_required { "" } else { ", optional" };
        let kind = TYPES.of(root, member, depth);
        let head = format!("{}{} ({kind}{optional})", "  ".repeat(depth), clean(name));
        lines.push(described(head, description_of(member)));
        let member = resolve(root, member);
        let inner = member.get("items").map_or(member, |items| resolve(root, items));
        tell_members(root, inner, depth + 1, lines);
    }
}

fn plain(root: &Value, schema: &Value, depth: usize) -> String {
    let mut words = match schema.get("items").filter(|_| schema.get("type").is_some_and(|t| t == "array")) {
        Some(items) => format!("array of {}", TYPES.of(root, items, depth + 1)),
        None => of_type(schema, clean),
    };
    for (keyword, word) in [
        ("format", "format"),
        ("pattern", "pattern"),
        ("minimum", "at least"),
        ("maximum", "at most"),
        ("minItems", "at least"),
        ("maxItems", "at most"),
        ("maxLength", "length at most"),
    ] {
        let bound = match schema.get(keyword) {
            Some(Value::String(text)) => clean(text),
            Some(Value::Number(number)) if !is_end_of_integers(number) => number.to_string(),
            _ => continue,
        };
        words.push_str(&format!(", {word} {bound}"));
    }
    words
}

/// Returns whether the bound is ±(2^53 - 1), the end of JavaScript's integers. Its makers of schemas write that at
/// every integer. Such a bound tells a model nothing, and a small one forgets the question over it.
fn is_end_of_integers(bound: &Number) -> bool {
    const END: u64 = (1 << 53) - 1;
    bound.as_i64().is_some_and(|bound| bound.unsigned_abs() == END)
}

fn described(head: String, description: &str) -> String {
    match clean(description) {
        description if description.is_empty() => head,
        description => format!("{head}: {description}"),
    }
}
