//! Calls in a tag: `<function>{"name": …, "parameters": {…}}</function>`.

use serde_json::{Value, json};

use super::example::Examples;
use super::marks::{in_json, neutralise, tag_name};
use crate::tools::Tool;

/// The prompt.
pub(super) fn function_tag(tools: &[&Tool], examples: &Examples) -> String {
    let (name, arguments) = match examples.iter().next() {
        Some(example) => (example.name.as_str(), example.arguments_text()),
        None => ("", "{...}".to_owned()),
    };
    let wrong_tag = tag_name(name);
    let tools: Vec<String> = tools
        .iter()
        .map(|tool| {
            let definition = json!({
                "name": tool.name(), "description": tool.description(), "parameters": tool.schema().value(),
            });
            in_json(&definition.to_string())
        })
        .collect();
    format!(
        "To use a tool, you MUST respond with this EXACT format:\n\
         <function>{{\"name\": \"tool_name\", \"parameters\": {{...}}}}</function>\n\
         \n\
         CRITICAL FORMAT RULES:\n\
         - Opening tag MUST be: <function> (not <tool_name>)\n\
         - Closing tag MUST be: </function> (not </tool_name>)\n\
         \n\
         CORRECT examples:\n\
         {right}\n\
         \n\
         INCORRECT examples (DO NOT USE):\n\
         <{wrong_tag}>{{...}}</function>  ❌ Wrong opening tag!\n\
         \n\
         The following tools are available:\n\
         {tools}\n",
        right = call(name, &arguments),
        tools = tools.join("\n"),
    )
}

/// `<function>{"name": "f", "parameters": {…}}</function>`
pub(super) fn call(name: &str, arguments: &str) -> String {
    let name = in_json(&Value::from(name).to_string());
    format!("<function>{{\"name\": {name}, \"parameters\": {}}}</function>", in_json(arguments))
}

/// A tool's result.
pub(super) fn result(result: &str) -> String {
    // The result's own end tag would let it speak outside of its block.
    let result = neutralise(result);
    let end = if result.ends_with('\n') { "" } else { "\n" };
    format!("<function_result>\n{result}{end}</function_result>")
}
