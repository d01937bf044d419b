//! The shapes that a call in a text may have, as a schema: what the reader of a JSON call is guided by.

use serde_json::{Map, Value, json};

use crate::schema::{Document, Schema, SchemaGuide, compile_documents};

/// The keys that may name the tool.
pub(crate) const NAME_KEYS: [&str; 5] = ["name", "tool", "function", "tool_name", "action"];
/// The keys that may hold the arguments.
pub(crate) const ARGUMENT_KEYS: [&str; 7] =
    ["arguments", "parameters", "params", "args", "input", "action_input", "tool_input"];

/// The guide for a call of one of `tools`, each a name and the schema of its arguments.
///
/// Its root admits an object `{"name": …, "arguments": …}` under any of the keys that models use, `{"f": {…}}`, the
/// flat `{"name": "f", …}`, the wire's `{"type": "function", "function": {…}}`, `{"tool_calls": […]}` and
/// `{"function_call": {…}}`, arguments alone, a list of any of these, and a string. `names` are the only names that a
/// call may have; any name where there are none.
pub(crate) fn guide(tools: &[(&str, &Schema)], names: Option<&[&str]>) -> SchemaGuide {
    let envelope = envelope(tools, names);
    let mut documents = vec![Document::new(&envelope)];
    documents.extend(tools.iter().map(|(_, schema)| Document::new(schema.value())));
    compile_documents(&documents).0
}

fn envelope(tools: &[(&str, &Schema)], names: Option<&[&str]>) -> Value {
    let tool = |n: usize| json!({"$ref": format!("tool:{n}")});
    let any_tool = || (0..tools.len()).map(tool);
    let text = json!({"type": "string"});
    let name = match names {
        Some(names) => json!({"type": "string", "enum": names}),
        None => text.clone(),
    };
    let call = json!({"$ref": "#/$defs/call"});
    let arguments = json!({"$ref": "#/$defs/arguments"});

    // One key may mean several things: `function` names the tool or holds the call, and a tool may be called `input`.
    let mut members: Map<String, Value> = Map::new();
    let mut add = |key: &str, schema: Value| {
        let choices = members.entry(key).or_insert_with(|| json!({"anyOf": []}));
        if let Some(Value::Array(choices)) = choices.get_mut("anyOf") {
            choices.push(schema);
        }
    };
    for key in NAME_KEYS {
        add(key, name.clone());
    }
    for key in ARGUMENT_KEYS {
        add(key, arguments.clone());
    }
    for key in ["function", "function_call", "tool_call"] {
        add(key, call.clone());
    }
    add("tool_calls", json!({"type": "array", "items": call}));
    add("type", text.clone());
    add("id", text.clone());
    for (n, (name, _)) in tools.iter().enumerate() {
        add(name, json!({"anyOf": [tool(n), text]}));
    }

    let object = json!({"type": "object", "properties": members});
    let one: Vec<Value> = [object].into_iter().chain(any_tool()).collect();
    let given: Vec<Value> = any_tool().chain([text.clone()]).collect();
    json!({
        "anyOf": [call, text, {"type": "array", "items": {"$ref": "#"}}],
        "$defs": {"call": {"anyOf": one}, "arguments": {"anyOf": given}},
    })
}
