//! The tools that a request declares: in `tools`, or in the words of its prompt, where it goes to a model that is
//! said to have no native calls.

use callwright_value::json;
use callwright_value::{Map, Value};

use crate::{markup, signature};

/// A tool as far as a call of it has to know it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Its purpose.
    pub(crate) about: String,
    /// The schema of its arguments.
    pub(crate) parameters: Value,
}

impl Tool {
    /// The parameters that have a name.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.parameters["properties"].get(name).is_some()
    }

    /// A definition in any of the forms that are in use.
    fn of(value: &Value) -> Option<Tool> {
        let name = value["name"].as_str()?;
        let keys = ["parameters", "inputSchema", "input_schema", "arguments"];
        let parameters = keys.iter().find_map(|key| value.get(key).filter(|schema| is_schema(schema)))?;
        let about = value["description"].as_str().unwrap_or("");
        Some(Tool { name: name.into(), about: about.into(), parameters: parameters.clone() })
    }
}

fn is_schema(value: &Value) -> bool {
    value["type"].as_str().is_some_and(|kind| kind.eq_ignore_ascii_case("object"))
        || value["properties"].is_object()
}

/// The tools that stand in `tools` or `functions`.
pub(crate) fn native(body: &Value) -> Vec<Tool> {
    let lists = ["tools", "functions"].into_iter().filter_map(|key| body[key].as_array());
    let bare = |definition: &Value| {
        let function = if definition["function"].is_object() { &definition["function"] } else { definition };
        let name = function["name"].as_str()?;
        let about = function["description"].as_str().unwrap_or("");
        // A tool that takes nothing need not say so.
        Some(Tool { name: name.into(), about: about.into(), parameters: json!({}) })
    };
    lists
        .flatten()
        .filter_map(|definition| {
            let inner = definition.get("function").unwrap_or(definition);
            Tool::of(inner).or_else(|| bare(definition))
        })
        .collect()
}

/// The tools that a prompt tells of: as JSON or in marks that stand for it, in lines of words, in signatures, or in
/// elements.
pub(crate) fn in_prompt(text: &str) -> Vec<Tool> {
    let mut tools = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        let from = rest.get(at..).unwrap_or("");
        let mut values = serde_json::Deserializer::from_str(from).into_iter::<Value>();
        let found = tools.len();
        if let Some(Ok(value)) = values.next() {
            collect(&value, &mut tools);
        }
        let read = if found < tools.len() { values.byte_offset() } else { 1 };
        rest = from.get(read..).unwrap_or("");
    }
    if tools.is_empty() {
        markup::declarations(text).iter().for_each(|value| collect(value, &mut tools));
    }
    [in_words, signature::tools, markup::elements]
        .into_iter()
        .fold(tools, |tools, find| if tools.is_empty() { find(text) } else { tools })
}

/// All definitions in `value`, however deep.
fn collect(value: &Value, tools: &mut Vec<Tool>) {
    if let Some(tool) = Tool::of(value) {
        tools.push(tool);
        return;
    }
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, tools)),
        Value::Object(members) => members.values().for_each(|value| collect(value, tools)),
        _ => {}
    }
}

/// ```text
/// get_weather: Get the weather.
///   city (string): The city
///   unit ("c" | "f", optional)
/// ```
fn in_words(text: &str) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((name, about)) = line.split_once(": ") else { continue };
        let mut properties = Map::new();
        let mut required = Vec::new();
        while let Some((name, schema, is_optional)) = lines.peek().and_then(|line| parameter(line)) {
            lines.next();
            if !is_optional {
                required.push(name);
            }
            properties.insert(name.into(), schema);
        }
        if !name.contains(' ') && !properties.is_empty() {
            let parameters = json!({ "type": "object", "properties": properties, "required": required });
            tools.push(Tool { name: name.into(), about: about.into(), parameters });
        }
    }
    tools
}

/// A line of a parameter: its name, its schema, and whether it may be left out.
fn parameter(line: &str) -> Option<(&str, Value, bool)> {
    let (name, rest) = line.strip_prefix("  ")?.split_once(" (")?;
    let (kind, about) = rest.split_once("): ").or_else(|| Some((rest.strip_suffix(')')?, "")))?;
    let (kind, is_optional) = kind.strip_suffix(", optional").map_or((kind, false), |kind| (kind, true));
    let values: Option<Vec<Value>> = kind.split(" | ").map(|part| serde_json::from_str(part).ok()).collect();
    let schema = match values {
        Some(values) => json!({ "enum": values, "description": about }),
        None => json!({ "type": kind.split(' ').next(), "description": about }),
    };
    Some((name, schema, is_optional))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_in_each_form_that_declares_them() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        let tool = Tool { name: "f".into(), about: "F.".into(), parameters: schema.clone() };
        let function = json!({ "name": "f", "description": "F.", "parameters": schema });
        for body in [
            json!({ "tools": [{ "type": "function", "function": function }] }),
            json!({ "tools": [function] }),
            json!({ "functions": [function] }),
            json!({ "tools": [{ "name": "f", "description": "F.", "input_schema": schema }] }),
        ] {
            assert_eq!(native(&body), std::slice::from_ref(&tool), "{body}");
        }
        let nothing = json!({ "tools": [{ "type": "function", "function": { "name": "now" } }] });
        assert_eq!(native(&nothing)[0].parameters, json!({}));
        let prompt = format!(
            "Call {{}} <tools>\n{}\n</tools> as {{\"name\": \"f\", \"arguments\": {{}}}}",
            json!({ "function": function })
        );
        assert_eq!(in_prompt(&prompt), [tool]);
    }

    #[test]
    fn tools_are_found_in_words() {
        let prompt = "You can call:\n\nget_weather: Get it.\n  city (string): The city\n  unit (\"c\" | \"f\", optional)\n\nNote: none.\n";
        let parameters = json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "description": "The city" },
                "unit": { "enum": ["c", "f"], "description": "" },
            },
            "required": ["city"],
        });
        assert_eq!(
            in_prompt(prompt),
            [Tool { name: "get_weather".into(), about: "Get it.".into(), parameters }]
        );
    }
}
