//! Rebuilds a run from its journal: the machine as it was, and the calls whose outcome is unknown.

use std::fmt;

use callwright::value::Value;
use callwright_store::{Node, NodeKind, Session};

use super::journal::FED;
use super::machine::{Machine, Settings};
use super::stop::Account;
use super::turn::{Call, ModelTurn};
use crate::tool::{ToolError, ToolResult};

/// A run that goes on.
#[derive(Debug)]
pub struct Resumed {
    /// The machine as it was when the last node was written.
    pub machine: Machine,
    /// The calls that had begun and have no result.
    pub begun: Vec<Call>,
    /// The ids of calls whose arguments the store may have kept without a secret in them.
    pub masked: Vec<String>,
    /// The caller's facts, kept with the settings.
    pub facts: Value,
    /// The user's first words.
    pub title: String,
}

/// The reason why a session cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResumeError {
    /// The session was not written by a run.
    NoRun,
    /// The node of this number cannot be read.
    Unreadable(i64, String),
}

impl fmt::Display for ResumeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResumeError::NoRun => f.write_str("the session was not written by a run, and cannot be resumed"),
            ResumeError::Unreadable(number, why) => {
                write!(f, "node {number} of the session cannot be read: {why}")
            }
        }
    }
}

impl std::error::Error for ResumeError {}

impl Resumed {
    /// Feeds a machine with all inputs that the session holds.
    ///
    /// # Errors
    /// Fails when the session does not belong to a run, or belongs to a later version.
    pub fn of(session: &Session) -> Result<Resumed, ResumeError> {
        let mut resumed: Option<Resumed> = None;
        for node in &session.nodes {
            let Some(fed) = node.payload.get(FED) else { continue };
            if let Some(settings) = fed.get("settings") {
                let facts = settings["facts"].clone();
                let settings: Settings = read(node, &settings["settings"])?;
                match &mut resumed {
                    Some(resumed) => *resumed.machine.settings_mut() = settings,
                    None => {
                        let machine = Machine::new(settings);
                        let title = session.summary.title.clone();
                        let (begun, masked) = Default::default();
                        resumed = Some(Resumed { machine, begun, masked, facts, title });
                    }
                }
                continue;
            }
            let Some(resumed) = &mut resumed else { return Err(ResumeError::NoRun) };
            feed(resumed, node, fed)?;
        }
        let mut resumed = resumed.ok_or(ResumeError::NoRun)?;
        let unfinished: Vec<&str> =
            session.unfinished().into_iter().filter_map(|intent| intent.call.as_deref()).collect();
        let open = resumed.machine.undecided();
        resumed.begun = open.into_iter().filter(|call| unfinished.contains(&call.id.as_str())).collect();
        Ok(resumed)
    }
}

fn feed(resumed: &mut Resumed, node: &Node, fed: &Value) -> Result<(), ResumeError> {
    let machine = &mut resumed.machine;
    let text = || node.payload["text"].as_str().unwrap_or_default();
    let call = node.call.as_deref().unwrap_or_default();
    if node.kind == NodeKind::User {
        machine.say(text());
    } else if let Some(answer) = fed.get("answered") {
        let answer: ModelTurn = read(node, answer)?;
        // The store keeps a secret as stars.
        let lacks = |call: &&Call| node.masked && call.arguments.contains('*');
        resumed.masked.extend(answer.calls().filter(lacks).map(|call| call.id.clone()));
        machine.answered(answer);
    } else if let Some(form) = fed.get("finished") {
        let spent: Account = read(node, &fed["spent"])?;
        machine.spent(spent);
        machine.finished(call, &result(form.as_str().unwrap_or_default(), text()));
    } else if fed.get("approved").is_some() {
        machine.approved(call, true);
    } else if fed.get("cancelled").is_some() {
        machine.cancel();
    } else if let Some(stopped) = fed.get("stopped") {
        machine.stop(stopped["text"].as_str().unwrap_or_default());
    } else if fed.get("goes_on").is_some() {
        machine.go_on();
    } else {
        return Err(ResumeError::Unreadable(node.number, String::from("it is of a later version")));
    }
    Ok(())
}

/// Returns a result that reads as it did.
fn result(form: &str, content: &str) -> ToolResult {
    let object = |text: &str| serde_json::from_str::<callwright::value::Map>(text).ok();
    match form {
        "error" => {
            let behind = content.split_once('\n').and_then(|(first, lines)| Some((object(first)?, lines)));
            let (more, lines) = match behind {
                Some((more, lines)) => (Some(more), Some(lines.to_owned())),
                None => (object(content), None),
            };
            let mut more = more.unwrap_or_default();
            let text = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
            let message = text(more.remove("error")).unwrap_or_else(|| content.to_owned());
            let path = text(more.remove("path"));
            ToolResult::Error(ToolError { message, path, more: Box::new(more), lines })
        }
        "object" => object(content).map_or_else(|| ToolResult::Text(content.to_owned()), ToolResult::Object),
        _ => ToolResult::Text(content.to_owned()),
    }
}

fn read<T: serde::de::DeserializeOwned>(node: &Node, value: &Value) -> Result<T, ResumeError> {
    value.to().map_err(|error| ResumeError::Unreadable(node.number, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_reads_as_it_did() {
        let error = ToolError::at("a.txt", "no such file").with("also", vec!["x"]);
        for before in [
            ToolResult::Text("{\"a\": 1}".into()),
            ToolResult::of(callwright::json!({"written": "a", "bytes": 3})),
            error.into(),
            ToolError::new("no").into(),
            ToolError::new("no").with_lines("{\"a\": 1}\nb").into(),
        ] {
            let form = match &before {
                ToolResult::Text(_) => "text",
                ToolResult::Object(_) => "object",
                ToolResult::Error(_) => "error",
            };
            assert_eq!(result(form, &before.content()), before);
        }
    }
}
