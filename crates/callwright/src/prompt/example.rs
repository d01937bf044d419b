//! The call that a prompt shows. It has no value that a model could repeat as an argument, only dots:
//! `{"city": ..., "days": ...}`.

use callwright_schema::Violation;

use super::definition::schema::members;
use crate::tools::Tool;
use crate::value::{Map, Value};

/// The dots in the place of a value.
const DOTS: &str = "...";

/// The calls that a prompt shows: one, if there is a tool. [`Examples::echoed`] recognises an argument that was copied
/// from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples(Option<Example>);

/// A call for show.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The tool's name.
    pub name: String,
    /// The keys of its arguments, each with dots for its value: `("tags", "[...]")`.
    pub(super) form: Vec<(String, &'static str)>,
}

impl Examples {
    /// Returns the calls.
    pub fn iter(&self) -> impl Iterator<Item = &Example> {
        self.0.iter()
    }

    /// Returns the violation of a call that copies the example: its `arguments`, strict JSON text, hold the dots. Dots
    /// between quotes in the client's `messages` allow them: `name it "..."`.
    pub fn echoed(&self, arguments: &str, messages: &[Value]) -> Option<Violation> {
        self.0.as_ref()?;
        let arguments: Map = serde_json::from_str(arguments).ok()?;
        let (key, _) = arguments.iter().find(|(_, value)| holds_dots(value))?;
        if messages.iter().filter_map(|message| message.get("content")).any(says_dots) {
            return None;
        }
        let message = format!("\"{key}\" needs its real value: the dots only showed where it stands");
        Some(Violation { pointer: format!("/{key}"), keyword: "example", message })
    }
}

/// Returns a call that shows all arguments of one of `tools`: the first one with arguments, or else the first.
pub(super) fn examples(tools: &[&Tool]) -> Examples {
    let all = tools.iter().map(|tool| form(tool, |_| true));
    Examples(all.clone().find(|example| !example.form.is_empty()).or_else(|| all.clone().next()))
}

/// Returns a call that shows the required arguments of the first of `tools`. A small model that is held to a form fills
/// in every argument that it sees.
pub(super) fn required(tools: &[&Tool]) -> Examples {
    Examples(tools.first().map(|tool| form(tool, |is_required| is_required)))
}

/// Returns the call of `tool` with the members that are `shown`, a function of whether each is required.
fn form(tool: &Tool, shown: impl Fn(bool) -> bool) -> Example {
    let dots = |member: &Value| match member.get("type").and_then(Value::as_str) {
        Some("array") => "[...]",
        Some("object") => "{...}",
        _ => DOTS,
    };
    let members = members(tool.schema().value()).filter(|(.., is_required)| shown(*is_required));
    let form = members.map(|(name, member, _)| (name.to_owned(), dots(member))).collect();
    Example { name: tool.name().to_owned(), form }
}

fn holds_dots(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim() == DOTS,
        Value::Array(elements) => elements.iter().any(holds_dots),
        Value::Object(members) => members.values().any(holds_dots),
        _ => false,
    }
}

/// Returns whether dots between quotes stand in a message's content, a text or a list of parts.
fn says_dots(content: &Value) -> bool {
    let is_quote = |c: Option<char>| c.is_some_and(|c| "\"'`“”‘’«»".contains(c));
    let says = |text: &str| {
        text.match_indices(DOTS).any(|(at, _)| {
            let (before, after) = (&text[..at], &text[at + DOTS.len()..]);
            is_quote(before.chars().next_back()) && is_quote(after.chars().next())
        })
    };
    match content {
        Value::String(text) => says(text),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).any(says),
        _ => false,
    }
}
