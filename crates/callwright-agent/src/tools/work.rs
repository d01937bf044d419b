//! Provides the parts of the built-in tools: work on a thread of its own, definitions, and errors.

use std::sync::Arc;

use callwright::json;
use callwright::value::{Map, Value};

use super::names;
use crate::arguments::Arguments;
use crate::changes::ChangeError;
use crate::known_as::KnownAs;
use crate::rights::Why;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolError, ToolResult};

/// Work that keeps a thread busy, and checks now and then whether it should end.
pub(super) trait Work: Send + Sync + 'static {
    fn definition(&self) -> Value;
    fn kind(&self) -> Kind;
    /// Returns the same reason as [`Tool::needs_approval`].
    fn needs_approval(&self, _arguments: &Arguments) -> Option<Why> {
        None
    }
    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError>;
}

/// A tool that does its work on a thread of its own.
pub(super) struct Blocking<W>(Arc<W>);

impl<W: Work> Blocking<W> {
    pub(super) fn tool(work: W) -> Arc<dyn Tool> {
        Arc::new(Blocking(Arc::new(work)))
    }
}

impl<W: Work> Tool for Blocking<W> {
    fn definition(&self) -> Value {
        self.0.definition()
    }

    fn known_as(&self) -> KnownAs {
        let definition = self.0.definition();
        names::known_as(definition["function"]["name"].as_str().unwrap_or_default())
    }

    fn kind(&self) -> Kind {
        self.0.kind()
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        self.0.needs_approval(arguments)
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, context: &'a CallContext) -> Calling<'a> {
        let (work, arguments, context) = (self.0.clone(), arguments.clone(), context.clone());
        Box::pin(async move {
            let done = tokio::task::spawn_blocking(move || work.run(&arguments, &context)).await;
            match done {
                Ok(result) => result.unwrap_or_else(ToolResult::from),
                Err(_) => ToolError::new("the tool broke down").into(),
            }
        })
    }
}

/// Returns a definition in OpenAI's form. All parameters except the `required` ones may be left out.
pub(super) fn define(name: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({"type": "function", "function": {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties, "required": required},
    }})
}

/// Returns the object with these members.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Map {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An error about a file that the tool should have changed.
pub(super) enum EditError {
    Change(ChangeError),
    Tool(ToolError),
}

impl From<ChangeError> for EditError {
    fn from(error: ChangeError) -> EditError {
        EditError::Change(error)
    }
}

impl EditError {
    pub(super) fn at(self, path: &str) -> ToolError {
        match self {
            EditError::Change(error) => ToolError::at(path, error),
            EditError::Tool(error) => error,
        }
    }
}

/// Fails once the call is cancelled, so that nothing more changes.
pub(super) fn go_on(context: &CallContext) -> Result<(), ToolError> {
    if context.cancellation.is_cancelled() { Err(ToolError::new("cancelled")) } else { Ok(()) }
}

/// Adds to a result that its change cannot be undone.
pub(super) fn note_undo(result: &mut Map, can_be_undone: bool) {
    if !can_be_undone {
        let note = "not possible: the file that stood there was too large to be kept";
        result.insert("undo".to_owned(), json!(note));
    }
}
