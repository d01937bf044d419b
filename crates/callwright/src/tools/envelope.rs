//! The shapes of a call in a text, as a schema that guides the reader of a JSON call.

use callwright_json::{Guide, Kinds, Member, Place};
use callwright_schema::{Schema, SchemaGuide};
use indexmap::IndexMap;

use crate::json;
use crate::value::{Map, Value};

use super::{Tool, ToolSet};
use crate::shape::keys;

/// Compiles the guide for a call of one of `tools`.
///
/// Its root admits an object `{"name": …, "arguments": …}` under any of the keys that models use, `{"f": {…}}`, the
/// flat `{"name": "f", …}`, the wire's `{"type": "function", "function": {…}}`, `{"tool_calls": […]}` and
/// `{"function_call": {…}}`, arguments alone, a list of any of these, and a string. A call may have any name, unless
/// one tool is known to be the `only` one.
pub(crate) fn guide(tools: &[&Tool], only: Option<&Tool>) -> SchemaGuide {
    let envelope = envelope(tools, only);
    let schemas: Vec<&Schema> = tools.iter().map(|tool| tool.schema()).collect();
    SchemaGuide::compile(&envelope, &schemas)
}

/// The expected form of a payload, as a guide that is compiled on first use. A right payload never uses it, and
/// compiling the guide of all calls takes longer than reading one.
pub(crate) enum Expected<'t> {
    /// A call of any of the tools.
    AnyCall(&'t ToolSet),
    /// A call of this tool.
    Call(&'t Tool),
    /// The arguments of this tool.
    Arguments(&'t Tool),
    /// The value at this place of another guide.
    At(&'t dyn Guide, Place),
}

impl<'t> Expected<'t> {
    fn guide(&self) -> &'t dyn Guide {
        match self {
            Expected::AnyCall(tools) => tools.call_guide(),
            Expected::Call(tool) => tool.call_guide(),
            Expected::Arguments(tool) => tool.schema().guide(),
            Expected::At(guide, _) => *guide,
        }
    }
}

impl Guide for Expected<'_> {
    fn root(&self) -> Place {
        match self {
            Expected::At(_, place) => *place,
            _ => self.guide().root(),
        }
    }
    fn kinds(&self, place: Place) -> Kinds {
        self.guide().kinds(place)
    }
    fn member(&self, place: Place, key: &str) -> Member {
        self.guide().member(place, key)
    }
    fn name(&self, place: Place, slot: u8) -> Option<&str> {
        self.guide().name(place, slot)
    }
    fn slots(&self, place: Place) -> usize {
        self.guide().slots(place)
    }
    fn required(&self, place: Place) -> u128 {
        self.guide().required(place)
    }
    fn element(&self, place: Place, index: usize) -> Place {
        self.guide().element(place, index)
    }
    fn longest(&self, place: Place) -> Option<usize> {
        self.guide().longest(place)
    }
    fn admits(&self, place: Place, text: &str) -> bool {
        self.guide().admits(place, text)
    }
}

fn envelope(tools: &[&Tool], only: Option<&Tool>) -> Value {
    let tool = |n: usize| json!({"$ref": format!("schema:{n}")});
    let tools_and = |other: &Value| (0..tools.len()).map(tool).chain([other.clone()]).collect::<Vec<Value>>();
    let [call, text, name, arguments] = ["#", "#/$defs/text", "#/$defs/name", "#/$defs/arguments"]
        .map(|reference| json!({"$ref": reference}));

    // One key may mean several things: a tool may be called `input`.
    let mut meanings: IndexMap<&str, Vec<Value>> = IndexMap::new();
    let mut add = |key, schema: &Value| meanings.entry(key).or_default().push(schema.clone());
    for &key in keys::NAME {
        // `function` is a name, or the whole call; a call may be a string.
        add(key, if key == "function" { &call } else { &name });
    }
    for (keys, schema) in [
        (keys::ARGUMENTS, &arguments),
        (&["function_call", "tool_call", "tool_calls"], &call),
        (&["type", "id"], &text),
    ] {
        keys.iter().for_each(|key| add(key, schema));
    }
    for (n, declared) in tools.iter().enumerate() {
        add(declared.name(), &json!({"anyOf": [tool(n), text]}));
    }
    let members: Map = meanings
        .into_iter()
        .map(|(key, choices)| match choices.as_slice() {
            [only] => (key.to_owned(), only.clone()),
            _ => (key.to_owned(), json!({"anyOf": choices})),
        })
        .collect();

    let mut forms =
        vec![json!({"type": "object", "properties": members}), json!({"type": "array", "items": call})];
    forms.extend(tools_and(&text));
    let name = only.map_or(text.clone(), |only| json!({"type": "string", "enum": [only.name()]}));
    json!({
        "anyOf": forms,
        "$defs": {"text": {"type": "string"}, "name": name, "arguments": {"anyOf": tools_and(&text)}},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Context, parse};

    #[test]
    fn a_right_call_needs_no_guide() {
        let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#).unwrap();
        let is_compiled = |tools: &ToolSet| tools.call_guide.get().is_some();
        let read = |text: &str| parse(&tools, text, &[], &Context::default()).calls().count();
        assert_eq!(read(r#"<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>"#), 1);
        assert!(!is_compiled(&tools));
        assert_eq!(read(r#"<tool_call>{"name": "f", "arguments": {"a": 1</tool_call>"#), 1);
        assert!(is_compiled(&tools));
    }
}
