//! A request to a model as a conversation: who said what, which tools were called with what, what came of them.
//!
//! Any of the forms that an upstream takes is read by its members: messages of chat completions, blocks of Anthropic's
//! messages, items of OpenAI's responses. What has none of these members is shown as JSON, so that nothing is left out.

use callwright::value::Value;
use maud::{Markup, html};

use super::report::{list, pretty, pretty_text, text};
use super::visible::visible;

/// The messages of a request, then the tools that it offers and whatever else it sets.
pub(crate) fn request(body: &str) -> Markup {
    let Ok(request) = serde_json::from_str::<Value>(body) else {
        return html! { pre { (visible(body)) } };
    };
    let tools: Vec<&Value> = list(&request, "tools").chain(list(&request, "functions")).collect();
    let rest = rest(&request);
    html! {
        ol.messages {
            @for name in ["system", "instructions"] {
                @if let Some(said) = request.get(name) { li { (said_by("system", &html! { (content(said)) })) } }
            }
            @for name in ["messages", "input"] {
                @match request.get(name) {
                    Some(Value::String(said)) => li { (said_by("user", &words(said))) },
                    Some(_) => @for message in list(&request, name) { li { (message_of(message)) } },
                    None => {}
                }
            }
        }
        @if !tools.is_empty() {
            details.tools {
                summary { "Tools on offer: " (tools.len()) }
                dl { @for tool in tools { (offered(tool)) } }
            }
        }
        @if !rest.is_empty() {
            dl.facts.settings {
                @for (name, value) in rest { dt { code { (visible(name)) } } dd { code { (visible(&value.to_string())) } } }
            }
        }
    }
}

/// Shows the answer: the text and the calls of one choice as it was kept.
pub(crate) fn choice(choice: &Value) -> Markup {
    let (raw, thought) = (text(choice, "raw"), text(choice, "reasoning"));
    html! {
        div.messages {
            (said_by("assistant", &html! {
                @if !thought.is_empty() { details { summary { "Reasoning" } (words(thought)) } }
                @if !raw.is_empty() { (words(raw)) }
                @for native in list(choice, "native") { (call(text(native, "name"), native.get("arguments"), "")) }
                @if raw.is_empty() && list(choice, "native").next().is_none() { p.empty { "Nothing." } }
            }))
        }
    }
}

/// The calls that a message makes, in the form of chat completions.
pub(crate) fn calls(message: &Value) -> Markup {
    html! {
        @for made in list(message, "tool_calls") {
            @let function = made.get("function").unwrap_or(made);
            (call(text(function, "name"), function.get("arguments"), text(made, "id")))
        }
        @if let Some(function) = message.get("function_call").filter(|call| call.is_object()) {
            (call(text(function, "name"), function.get("arguments"), ""))
        }
    }
}

/// Returns the settings of a request beside the conversation and the tools.
fn rest(request: &Value) -> Vec<(&str, &Value)> {
    const SHOWN: [&str; 6] = ["system", "instructions", "messages", "input", "tools", "functions"];
    let members = request.as_object().into_iter().flatten();
    members.map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| !SHOWN.contains(name)).collect()
}

/// A message, or an item of its own.
fn message_of(message: &Value) -> Markup {
    let role = text(message, "role");
    if role.is_empty() {
        return block(message);
    }
    let of = ["tool_call_id", "name"].map(|name| text(message, name)).into_iter().find(|id| !id.is_empty());
    let thought = ["reasoning_content", "reasoning"].map(|name| text(message, name));
    said_by(
        role,
        &html! {
            @if let Some(of) = of { p.label { "For " code { (visible(of)) } } }
            @for thought in thought.into_iter().filter(|thought| !thought.is_empty()) {
                details { summary { "Reasoning" } (words(thought)) }
            }
            @if let Some(said) = message.get("content") { (content(said)) }
            (calls(message))
        },
    )
}

fn said_by(role: &str, said: &Markup) -> Markup {
    // A class is never taken from a text.
    let class = match role {
        "system" | "developer" => "system",
        "user" => "user",
        "assistant" => "assistant",
        "tool" | "function" => "result",
        _ => "other",
    };
    html! {
        div.message.(class) { p.role { (visible(role)) } div.said { (said) } }
    }
}

/// Shows the words of a message: a text, or blocks of several kinds.
fn content(said: &Value) -> Markup {
    html! {
        @match said {
            Value::Null => {},
            Value::String(said) => (words(said)),
            Value::Array(blocks) => @for one in blocks { (block(one)) },
            other => pre { (visible(&pretty(other))) },
        }
    }
}

fn words(said: &str) -> Markup {
    html! { @if !said.trim().is_empty() { pre.words { (visible(said)) } } }
}

/// A part of a message, or an item of a list that is a conversation.
fn block(block: &Value) -> Markup {
    match text(block, "type") {
        "text" | "input_text" | "output_text" => words(text(block, "text")),
        "tool_use" => call(text(block, "name"), block.get("input"), text(block, "id")),
        "function_call" => call(text(block, "name"), block.get("arguments"), text(block, "call_id")),
        "tool_result" => result(text(block, "tool_use_id"), block.get("content")),
        "function_call_output" => result(text(block, "call_id"), block.get("output")),
        "thinking" => html! { details { summary { "Reasoning" } (words(text(block, "thinking"))) } },
        _ => html! { pre { (visible(&pretty(block))) } },
    }
}

fn call(name: &str, arguments: Option<&Value>, id: &str) -> Markup {
    let arguments = match arguments {
        // As the model wrote it, where it is no JSON.
        Some(Value::String(arguments)) => pretty_text(arguments),
        Some(arguments) => pretty(arguments),
        None => String::new(),
    };
    html! {
        div.call {
            p.role { "calls " code { (visible(name)) } @if !id.is_empty() { span.fact { (visible(id)) } } }
            @if !arguments.is_empty() { pre { (visible(&arguments)) } }
        }
    }
}

fn result(of: &str, said: Option<&Value>) -> Markup {
    said_by(
        "tool",
        &html! {
            @if !of.is_empty() { p.label { "For " code { (visible(of)) } } }
            @if let Some(said) = said { (content(said)) }
        },
    )
}

/// A tool as it is offered: its name, what it is for, what it takes.
fn offered(tool: &Value) -> Markup {
    let function = tool.get("function").unwrap_or(tool);
    let schema = ["parameters", "input_schema"].iter().find_map(|name| function.get(name));
    html! {
        dt { code { (visible(text(function, "name"))) } }
        dd {
            (visible(text(function, "description")))
            @if let Some(schema) = schema { details { summary { "Parameters" } pre { (visible(&pretty(schema))) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    #[test]
    fn each_form_of_a_conversation_shows_the_same() {
        let chat = json!({"model": "m", "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\": 1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "Rain <b>"},
        ]});
        let anthropic = json!({"model": "m", "system": "Be brief.", "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "Rain <b>"}]},
        ]});
        let responses = json!({"model": "m", "instructions": "Be brief.", "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
            {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{\"at\": 1}"},
            {"type": "function_call_output", "call_id": "c1", "output": "Rain <b>"},
        ]});
        for body in [chat, anthropic, responses] {
            let shown = request(&body.to_string()).into_string();
            let mut rest = shown.as_str();
            for part in [
                "system",
                "Be brief.",
                "user",
                "Weather?",
                "calls <code>look</code>",
                "&quot;at&quot;: 1",
                "Rain &lt;b&gt;",
            ] {
                let at = rest.find(part).unwrap_or_else(|| panic!("no {part} in {shown}"));
                rest = &rest[at + part.len()..];
            }
            assert_eq!(shown.matches("class=\"message result\"").count(), 1, "{shown}");
        }
    }

    #[test]
    fn what_has_no_known_form_is_shown_as_it_is() {
        assert!(request("no {json").into_string().contains("no {json"));
        let odd = json!({"messages": [{"role": "<x>", "content": [{"type": "image_url", "image_url": {"url": "a"}}]}, 7],
            "temperature": 0.5, "tools": [{"name": "t", "input_schema": {"type": "object"}}]});
        let shown = request(&odd.to_string()).into_string();
        for part in ["&lt;x&gt;", "image_url", "<pre>7</pre>", "temperature", "0.5", "Tools on offer: 1"] {
            assert!(shown.contains(part), "no {part} in {shown}");
        }
    }
}
