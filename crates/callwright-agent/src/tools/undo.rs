//! Implements `undo`: it restores a file from before a change of this run.

use std::sync::Arc;

use callwright::json;
use callwright::value::{Map, Value};

use super::work::{Work, define, go_on, object};
use crate::arguments::Arguments;
use crate::changes::{Change, ChangeError, Changes, State};
use crate::rights::Why;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

pub(super) struct Undo(pub(super) Arc<Changes>);

pub(super) fn definition() -> Value {
    let properties = json!({
        "change": {"type": "integer", "description": "Number of the change; the last one if left out"},
        "list": {"type": "boolean", "description": "Only list the changes"},
    });
    let description = "Undo a change that a file tool made. Use this when a change was wrong.";
    define("undo", description, properties, &[])
}

impl Work for Undo {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::WRITE
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        if arguments.flag("list").ok()? {
            return None;
        }
        self.0.undoing_needs_approval(arguments.optional_number("change").ok()?)
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        if arguments.flag("list")? {
            let changes = self.0.list();
            let missing = changes.len().saturating_sub(context.limits.entries);
            let listed: Vec<Value> =
                changes.iter().skip(missing).map(|c| Value::Object(described(c))).collect();
            let mut result = object([("changes", json!(listed))]);
            if 0 < missing {
                result.insert("more".to_owned(), json!(format!("… {missing} more before")));
            }
            return Ok(ToolResult::Object(result));
        }
        let number = arguments.optional_number("change")?;
        go_on(context)?;
        let undone = self.0.undo(context, number).map_err(|error| match &error {
            ChangeError::Elsewhere(path) => ToolError::at(&path.to_string_lossy(), &error),
            _ => ToolError::new(error.to_string()),
        })?;
        let path = undone.path.to_string_lossy();
        let what = match &undone.before {
            State::Nothing => "removed",
            State::File { .. } | State::Link(_) => "restored",
        };
        let mut result = object([(what, json!(path)), ("change", json!(undone.number))]);
        if let State::File { bytes, .. } = undone.before {
            result.insert("bytes".to_owned(), json!(bytes));
        }
        Ok(ToolResult::Object(result))
    }
}

/// Describes a change: `{"change": 2, "path": "a.txt", "before": "5 bytes", "after": "nothing"}`
fn described(change: &Change) -> Map {
    let state = |state: &State| match state {
        State::Nothing => "nothing".to_owned(),
        State::File { bytes, .. } => format!("{bytes} bytes"),
        State::Link(target) => format!("link to {}", target.display()),
    };
    let mut described = object([
        ("change", json!(change.number)),
        ("path", json!(change.path.to_string_lossy())),
        ("before", json!(state(&change.before))),
        ("after", json!(state(&change.after))),
    ]);
    if let Some(number) = change.undoes {
        described.insert("undoes".to_owned(), json!(number));
    }
    described
}
