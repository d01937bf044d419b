//! Answers that are made up for a request: a call of the tool that the task is about, its arguments out of the
//! task's words, and a sentence once the tool has answered.
//!
//! It ends: behind a result there is a sentence, and an error is answered by another call only where that
//! call is a different one.

use callwright_value::json;
use callwright_value::{Map, Value};
use serde::Deserialize;

use crate::conversation::{Conversation, FEEDBACK, SENTENCES};
use crate::declared::Tool;
use crate::fill::Source;
use crate::request::Request;
use crate::script::Choice;
use crate::task::{self, Task};

/// The most characters of a result that a sentence holds.
const MAX_RESULT: usize = 400;

/// The way in which an answer is made up.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Improvise {
    /// Arguments by the names of their parameters. Only tools that take all of them are called.
    pub arguments: Map,
    /// The first call has a comma too many.
    pub comma: bool,
}

impl Improvise {
    /// Makes up a choice; `None` where there is nothing to make up.
    pub(crate) fn choice(&self, request: &Request<'_>) -> Option<Choice> {
        let Conversation { tools, task, calls, results, is_native, .. } = request.conversation();
        let wanted = Wanted::of(request.body());
        if wanted == Wanted::Text || tools.is_empty() {
            return self.json(request);
        }
        let is_demanded = wanted != Wanted::Any;
        if !results.is_empty() && !is_demanded && !results.iter().any(|result| is_error(result)) {
            return Some(Choice::text(&sentence(results, tools, *is_native)));
        }
        let tool = self.tool(task, tools, &wanted)?;
        let words = Task::new(task, Some(tool));
        let source = Source { task: &words, with: &self.arguments, root: &tool.parameters };
        let arguments = match source.value() {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        let is_same = |call: &String| holds(call, &tool.name, &arguments, *is_native);
        if !results.is_empty() && !is_demanded && calls.iter().any(is_same) {
            return Some(Choice::text(&sentence(results, tools, *is_native)));
        }
        let has_comma = self.comma && calls.is_empty() && !arguments.is_empty();
        let mut text = Value::Object(arguments).to_string();
        if has_comma {
            text.insert(text.len().saturating_sub(1), ',');
        }
        Some(if *is_native { Choice::call(&tool.name, text) } else { Choice::text(&in_text(tool, &text)) })
    }

    /// The tool that the task is about. One that is demanded, or the only one, is called whatever the task says.
    fn tool<'t>(&self, task: &str, tools: &'t [Tool], wanted: &Wanted<'_>) -> Option<&'t Tool> {
        if let Wanted::Named(name) = wanted {
            return tools.iter().find(|tool| tool.name == *name);
        }
        let fits = |tool: &&Tool| self.arguments.keys().all(|name| tool.takes(name));
        let mut best: Option<(&Tool, f64)> = None;
        for tool in tools.iter().filter(fits) {
            let score = task::overlap(task, tool, tools);
            if best.is_none_or(|(_, other)| other < score) {
                best = Some((tool, score));
            }
        }
        let is_only = tools.len() == 1 || *wanted == Wanted::Call;
        best.filter(|(_, score)| is_only || 0.0 < *score).map(|(tool, _)| tool)
    }

    /// JSON that fits the schema of `response_format`, with a comma too many in a fence where that is wanted.
    fn json(&self, request: &Request<'_>) -> Option<Choice> {
        let root = &request.body()["response_format"]["json_schema"]["schema"];
        if !root.is_object() {
            return None;
        }
        let task = Task::new(&request.conversation().task, None);
        let mut text = Source { task: &task, with: &self.arguments, root }.value().to_string();
        if self.comma && text.ends_with('}') && 2 < text.len() {
            text.insert(text.len() - 1, ',');
            text = format!("```json\n{text}\n```");
        }
        Some(Choice::text(&text))
    }
}

/// The calls that a request wants.
#[derive(Debug, PartialEq)]
enum Wanted<'a> {
    Any,
    Text,
    Call,
    Named(&'a str),
}

impl Wanted<'_> {
    fn of(body: &Value) -> Wanted<'_> {
        let choice =
            if body["tool_choice"].is_null() { &body["function_call"] } else { &body["tool_choice"] };
        let name = [&choice["function"]["name"], &choice["name"]].into_iter().find_map(Value::as_str);
        match (choice.as_str(), name) {
            (_, Some(name)) => Wanted::Named(name),
            (Some("none"), None) => Wanted::Text,
            (Some("required" | "any"), None) => Wanted::Call,
            _ => Wanted::Any,
        }
    }
}

/// Returns whether `call` holds exactly these arguments.
fn holds(call: &str, name: &str, arguments: &Map, is_native: bool) -> bool {
    let is_it = |value: Value| value.as_object() == Some(arguments);
    if is_native && let Ok(value) = serde_json::from_str(call) {
        return is_it(value);
    }
    // In text it is enough that all values are there, whatever the dialect of the history.
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let in_json = |value: &Value| value.to_string().trim_matches('"').to_owned();
    let has = |value: &Value| call.contains(&text(value)) || call.contains(&in_json(value));
    call.contains(name) && !call.contains(",}") && arguments.values().all(has)
}

/// Returns whether a result is an error that another call may answer.
fn is_error(result: &str) -> bool {
    let is_object = || {
        let value: Option<Value> = serde_json::from_str(result).ok();
        value.is_some_and(|value| value.get("error").is_some())
    };
    result.starts_with(FEEDBACK) || is_object()
}

/// Tells the answers of the tools in a sentence.
fn sentence(results: &[String], tools: &[Tool], is_native: bool) -> String {
    let [done, failed] = SENTENCES;
    let begins = if results.iter().any(|result| is_error(result)) { failed } else { done };
    let said: Vec<String> = results.iter().map(|result| plain(result, tools, is_native)).collect();
    let said = said.join("; ");
    match said.is_empty() {
        true => format!("{begins}: the tool gave nothing back."),
        false => format!("{begins}. The tool says: {said}"),
    }
}

/// A result without what a prompt puts around it.
fn plain(result: &str, tools: &[Tool], is_native: bool) -> String {
    let mut text = result.trim();
    let unwrapped;
    if !is_native {
        let is_around = |line: &str| {
            let line = line.trim();
            line.starts_with('<') && line.find('>') == Some(line.len() - 1)
                || line.starts_with("```")
                || line.ends_with(':') && tools.iter().any(|tool| line.contains(&tool.name))
        };
        while let Some((_, rest)) = text.split_once('\n').filter(|(first, _)| is_around(first)) {
            text = rest.trim_start();
        }
        while let Some((rest, _)) = text.rsplit_once('\n').filter(|(_, last)| is_around(last)) {
            text = rest.trim_end();
        }
        // JSON that names the tool holds its words, and they are the longest of it.
        if let Some(words) = text.find('{').and_then(|at| wrapped(text.get(at..)?, tools)) {
            unwrapped = words;
            text = &unwrapped;
        }
    }
    text.chars().take(MAX_RESULT).collect()
}

fn wrapped(json: &str, tools: &[Tool]) -> Option<String> {
    let value: Value = serde_json::Deserializer::from_str(json).into_iter().next()?.ok()?;
    let members = value.as_object()?;
    let is_name = |value: &Value| tools.iter().any(|tool| value.as_str() == Some(&tool.name));
    if 1 < members.len() && !members.values().any(is_name) {
        return None;
    }
    let texts = members.values().filter(|value| !is_name(value)).filter_map(Value::as_str);
    texts.max_by_key(|text| text.len()).map(str::to_owned)
}

/// A call as text: in the form that most models with native calls were trained on.
fn in_text(tool: &Tool, arguments: &str) -> String {
    format!("<tool_call>\n{{\"name\": {}, \"arguments\": {arguments}}}\n</tool_call>", json!(tool.name))
}
