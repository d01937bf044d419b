//! Calls as JSON: the whole answer in one object, or each call in Hermes' tags.
//!
//! The tools are listed as short signatures for the first, which goes with constrained decoding and small models,
//! and as the JSON definitions that Hermes models were trained on for the second.

use serde_json::{Number, Value, json};

use super::Speaking;
use super::example::Examples;
use super::marks::{in_json, neutralise, one_line};
use crate::constrain::PROSE_KEY;
use crate::tools::Tool;

/// How deep a signature goes into the values of a parameter.
const MAX_DEPTH: usize = 6;

/// The prompt of [`PromptDialect::Json`](super::PromptDialect::Json).
pub(super) fn json_prompt(tools: &[&Tool], speaking: &Speaking, examples: &Examples) -> String {
    let listing: Vec<String> = tools.iter().map(|tool| signature(tool)).collect();
    let example: Vec<(String, String)> =
        examples.iter().map(|example| (example.name.clone(), example.arguments_text())).collect();
    // What stands last weighs most with small models: the form of a call.
    let otherwise = match (speaking.choice.is_required(), speaking.constraint) {
        (true, _) => String::new(),
        (false, Some(_)) => {
            format!("Only if no tool can help, answer with {{\"{PROSE_KEY}\": \"...\"}}.\n\n")
        }
        (false, None) => "Only if no tool can help, answer in plain text.\n\n".to_owned(),
    };
    let several = if speaking.parallel { " The list may hold several calls." } else { "" };
    format!(
        "You can call these tools:\n\n{}\n\n{otherwise}To call a tool, answer with JSON only, with values from the \
         conversation.{several}\n{}\n",
        listing.join("\n\n"),
        json_calls(&example),
    )
}

/// The prompt of [`PromptDialect::Hermes`](super::PromptDialect::Hermes).
pub(super) fn hermes_prompt(tools: &[&Tool], examples: &Examples) -> String {
    let definition = |tool: &&Tool| {
        let function = json!({"name": tool.name(), "description": tool.description(), "parameters": tool.schema().value()});
        in_json(&json!({"type": "function", "function": function}).to_string())
    };
    let tools: Vec<String> = tools.iter().map(definition).collect();
    let example: Vec<(String, String)> =
        examples.iter().map(|example| (example.name.clone(), example.arguments_text())).collect();
    format!(
        "# Tools\n\nYou may call one or more functions to assist with the user query.\n\nYou are provided with \
         function signatures within <tools></tools> XML tags:\n<tools>\n{}\n</tools>\n\nFor each function call, return \
         a json object with function name and arguments within <tool_call></tool_call> XML tags:\n{}\n",
        tools.join("\n"),
        hermes_calls(&example),
    )
}

/// `{"tool_calls": [{"name": "f", "arguments": {…}}]}`
pub(super) fn json_calls(calls: &[(String, String)]) -> String {
    let calls: Vec<String> = calls.iter().map(call).collect();
    format!("{{\"tool_calls\": [{}]}}", calls.join(", "))
}

/// `<tool_call>⏎{"name": "f", "arguments": {…}}⏎</tool_call>`
pub(super) fn hermes_calls(calls: &[(String, String)]) -> String {
    let calls: Vec<String> =
        calls.iter().map(|c| format!("<tool_call>\n{}\n</tool_call>", call(c))).collect();
    calls.join("\n")
}

fn call((name, arguments): &(String, String)) -> String {
    let name = in_json(&Value::from(name.as_str()).to_string());
    format!("{{\"name\": {name}, \"arguments\": {}}}", in_json(arguments))
}

/// JSON with a space after each comma and colon, as people write it. The value is from a schema, so it is not deep.
pub(crate) fn spaced(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}

/// The tool in a few lines:
/// ```text
/// get_weather: Get the current weather
///   city (string): Where
///   unit ("celsius" | "fahrenheit", optional)
/// ```
fn signature(tool: &Tool) -> String {
    let root = tool.schema().value();
    let mut lines = vec![described(tool.name(), tool.description())];
    members(root, root, 1, &mut lines);
    lines.join("\n")
}

fn members(root: &Value, schema: &Value, depth: usize, lines: &mut Vec<String>) {
    let schema = resolve(root, schema);
    if MAX_DEPTH < depth {
        return;
    }
    let required = schema.get("required").and_then(Value::as_array);
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_required = required.is_some_and(|names| names.iter().any(|n| n == name));
        let optional = if is_required { "" } else { ", optional" };
        let description = member.get("description").and_then(Value::as_str).unwrap_or("");
        let kind = kind(root, member, depth);
        let head = format!("{}{} ({kind}{optional})", "  ".repeat(depth), clean(name));
        lines.push(described_line(head, description));
        let member = resolve(root, member);
        let inner = member.get("items").map_or(member, |items| resolve(root, items));
        members(root, inner, depth + 1, lines);
    }
}

/// The type in a few words: `array of string`, `"a" | "b"`, `integer, 1 to 10`.
fn kind(root: &Value, schema: &Value, depth: usize) -> String {
    let schema = resolve(root, schema);
    if MAX_DEPTH < depth {
        return "any".to_owned();
    }
    let values = schema.get("enum").and_then(Value::as_array).cloned();
    if let Some(values) = values.or_else(|| schema.get("const").map(|value| vec![value.clone()])) {
        return values.iter().map(|v| in_json(&v.to_string())).collect::<Vec<_>>().join(" | ");
    }
    if let Some(choices) = ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
        let mut kinds: Vec<String> = choices.iter().map(|choice| kind(root, choice, depth + 1)).collect();
        kinds.dedup();
        return kinds.join(" | ");
    }
    let mut words = match schema.get("type") {
        Some(Value::String(word)) if word == "array" => match schema.get("items") {
            Some(items) => format!("array of {}", kind(root, items, depth + 1)),
            None => "array".to_owned(),
        },
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ if schema.get("properties").is_some() => "object".to_owned(),
        _ => "any".to_owned(),
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
        match schema.get(keyword) {
            Some(Value::String(text)) => words.push_str(&format!(", {word} {}", clean(text))),
            Some(Value::Number(number)) if !is_end_of_integers(number) => {
                words.push_str(&format!(", {word} {number}"));
            }
            _ => {}
        }
    }
    words
}

/// ±(2^53 - 1), where JavaScript's integers end. Its makers of schemas write that at every integer; to a model such a
/// bound says nothing, and a small one forgets the question over it.
fn is_end_of_integers(bound: &Number) -> bool {
    const END: u64 = (1 << 53) - 1;
    bound.as_i64().is_some_and(|bound| bound.unsigned_abs() == END)
}

/// The schema that `schema` refers to, through at most a few references.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..MAX_DEPTH {
        let reference = schema.get("$ref").and_then(Value::as_str);
        match reference.and_then(|reference| root.pointer(reference.strip_prefix('#')?)) {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn described(name: &str, description: &str) -> String {
    described_line(clean(name), description)
}

fn described_line(head: String, description: &str) -> String {
    match clean(description) {
        description if description.is_empty() => head,
        description => format!("{head}: {description}"),
    }
}

/// Other people's words on one line, without marks.
fn clean(text: &str) -> String {
    neutralise(&one_line(text)).into_owned()
}

/// A tool's result in tags.
pub(super) fn result(result: &str) -> String {
    let result = neutralise(result);
    let end = if result.ends_with('\n') { "" } else { "\n" };
    format!("<tool_response>\n{result}{end}</tool_response>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_told_unless_they_are_no_bounds() {
        let told = |schema: Value| kind(&schema, &schema, 0);
        let far = 9_007_199_254_740_991_i64;
        assert_eq!(told(json!({"type": "integer", "minimum": -far, "maximum": far})), "integer");
        assert_eq!(told(json!({"type": "integer", "minimum": 1, "maximum": far})), "integer, at least 1");
    }
}
