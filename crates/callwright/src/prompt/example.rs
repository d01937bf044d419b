//! Worked examples: calls made from the caller's own tools, for a prompt to show, and how an echo of one is known.

use crate::json;
use crate::value::Value;
use callwright_json::strict;
use callwright_schema::Violation;

use super::definition::{members, referred};
use crate::tools::Tool;

/// How deep the values of an example go.
const MAX_DEPTH: usize = 4;

/// The calls that a prompt shows: one, if there is a tool. Small models say it back instead of calling: see
/// [`Examples::echoed`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Examples(Option<Example>);

/// A call for show.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The tool.
    pub name: String,
    /// The arguments; `None` where only the form is shown, or none could be made that fit the tool's schema.
    pub arguments: Option<Value>,
    /// The keys that stand for them then, each with dots for its value.
    pub(super) form: Vec<(String, &'static str)>,
    /// The strings and numbers in it that the schema leaves free, and that a call would have from elsewhere.
    free: Vec<Value>,
}

impl Examples {
    /// The calls.
    pub fn iter(&self) -> impl Iterator<Item = &Example> {
        self.0.iter()
    }

    /// Is the call of `name` with `arguments`, strict JSON text, an example said back? It is when it equals the
    /// example, and when something in it that the schema leaves free was never said in `messages`, the conversation
    /// that was rendered. The violation is one to refuse it with.
    pub fn echoed(&self, name: &str, arguments: &str, messages: &[Value]) -> Option<Violation> {
        let shown = self.0.as_ref().filter(|example| example.name == name)?;
        if serde_json::from_str::<Value>(arguments).ok()? != *shown.arguments.as_ref()? {
            return None;
        }
        let unsaid = shown.free.iter().find(|value| !is_said(value, messages))?;
        let message =
            format!("the arguments must have real values, not those of the example such as {unsaid}");
        Some(Violation { pointer: String::new(), keyword: "example", message })
    }
}

/// Examples for a prompt that lists `tools`: one call of a tool that shows its arguments, if there is one.
pub(super) fn examples(tools: &[&Tool]) -> Examples {
    let fitting = |tool: &&Tool| {
        let mut free = Vec::new();
        let root = tool.schema().value();
        let value = value(root, root, 0, &mut free);
        let text = value.to_string();
        let tree = strict(&text).ok()?;
        let fits = tool.schema().check(tree.root(&text)).is_empty();
        fits.then(|| Example { name: tool.name().to_owned(), arguments: Some(value), form: Vec::new(), free })
    };
    let has_arguments = |example: &Example| example.arguments.as_ref().is_some_and(|a| *a != json!({}));
    let calls = || tools.iter().filter_map(fitting);
    // A call with arguments shows more than one without.
    let shown = calls().find(has_arguments).or_else(|| calls().next());
    shown.map_or_else(|| forms(tools), |shown| Examples(Some(shown)))
}

/// The form of a call without values: `{"city": ..., "days": [...]}`.
pub(super) fn forms(tools: &[&Tool]) -> Examples {
    let form = |tool: &&Tool| {
        let (name, form) = (tool.name().to_owned(), form(tool.schema().value()));
        Example { name, arguments: None, form, free: Vec::new() }
    };
    Examples(tools.first().map(form))
}

/// The required members of `schema`, each with dots for its value.
fn form(schema: &Value) -> Vec<(String, &'static str)> {
    let dots = |member: &Value| match member.get("type").and_then(Value::as_str) {
        Some("array") => "[...]",
        Some("object") => "{...}",
        _ => "...",
    };
    required_members(schema).map(|(name, member)| (name.to_owned(), dots(member))).collect()
}

/// The declared members of `schema` that are required, each with its schema.
fn required_members(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    members(schema).filter(|(.., is_required)| *is_required).map(|(name, member, _)| (name, member))
}

/// A value that probably fits `schema`, made of what it says itself; what it leaves free goes into `free` too. At
/// most [`MAX_DEPTH`] levels deep.
fn value(root: &Value, schema: &Value, depth: usize, free: &mut Vec<Value>) -> Value {
    let given = schema.get("const").or_else(|| schema.get("default").filter(|d| !d.is_null()));
    let listed = ["examples", "enum"].iter().find_map(|keyword| schema.get(keyword)?.as_array()?.first());
    if let Some(value) = given.or(listed) {
        return value.clone();
    }
    if MAX_DEPTH <= depth {
        return json!({});
    }
    let chosen =
        ["anyOf", "oneOf", "allOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()?.first());
    if let Some(other) = referred(root, schema).or(chosen) {
        return value(root, other, depth + 1, free);
    }
    let types = schema.get("type");
    let made = match types.and_then(|t| t.as_str().or_else(|| t.as_array()?.first()?.as_str())) {
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("number") => schema.get("minimum").cloned().unwrap_or(json!(1.5)),
        Some("boolean") => return json!(true),
        Some("null") => return Value::Null,
        Some("array") => {
            let element = schema.get("items").map(|items| value(root, items, depth + 1, free));
            return element.into_iter().collect();
        }
        Some("string") => {
            let described = schema.get("description").and_then(Value::as_str).and_then(quoted_example);
            json!(described.unwrap_or("text"))
        }
        Some(_) | None => {
            let made = |(name, member)| (name, value(root, member, depth + 1, free));
            return required_members(schema).map(made).collect();
        }
    };
    free.push(made.clone());
    made
}

/// `Relative path (e.g., 'src/main.py')` → `src/main.py`
fn quoted_example(description: &str) -> Option<&str> {
    let (_, after) = description.split_once("e.g.")?;
    let after = after.trim_start_matches([',', ' ', ':']);
    let quote = after.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    let (example, _) = after.get(1..)?.split_once(quote)?;
    (!example.is_empty() && example.len() <= 80 && !example.contains(char::is_control)).then_some(example)
}

/// Does `value` stand in what anyone said?
fn is_said(value: &Value, messages: &[Value]) -> bool {
    let wanted = match value {
        Value::String(text) => text.to_lowercase(),
        other => other.to_string(),
    };
    let is_number = value.is_number();
    let says = |text: &str| {
        let text = text.to_lowercase();
        text.match_indices(&wanted).any(|(at, _)| {
            let around = [text[..at].chars().next_back(), text[at + wanted.len()..].chars().next()];
            !is_number || !around.into_iter().flatten().any(|c| c.is_ascii_digit())
        })
    };
    let parts = |content: &Value| match content {
        Value::String(text) => says(text),
        Value::Array(parts) => parts.iter().filter_map(|part| part.get("text")?.as_str()).any(says),
        _ => false,
    };
    messages.iter().filter_map(|message| message.get("content")).any(parts)
}
