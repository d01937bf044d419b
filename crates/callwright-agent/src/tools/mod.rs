//! The built-in tools: files of the workspace, shell commands, and the user.

mod ask;
mod delete_file;
mod finish;
mod fs_append;
mod fs_read;
mod fs_write;
mod list_directory;
mod names;
mod program;
mod run_command;
mod search_files;
mod search_text;
mod str_replace;
mod undo;
mod walk;

use std::sync::Arc;

use callwright::json;
use callwright::value::{Map, Value};

use crate::arguments::Arguments;
use crate::changes::{ChangeError, Changes};
use crate::command::Commands;
use crate::known_as::KnownAs;
use crate::rights::Why;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolError, ToolResult};

pub use ask::{Answer, AskUser, Host, Question};
pub use finish::Finish;
pub use program::Program;
pub use run_command::RunCommand;

/// The built-in tools, in the order in which they are declared.
pub fn built_in(
    changes: &Arc<Changes>,
    commands: &Arc<Commands>,
    host: &Arc<dyn Host>,
) -> Vec<Arc<dyn Tool>> {
    vec![
        Blocking::tool(fs_write::FsWrite(changes.clone())),
        Blocking::tool(fs_append::FsAppend(changes.clone())),
        Blocking::tool(fs_read::FsRead(changes.workspace().clone())),
        Blocking::tool(str_replace::StrReplace(changes.clone())),
        Blocking::tool(list_directory::ListDirectory),
        Blocking::tool(search_files::FileSearch),
        Blocking::tool(search_text::GrepSearch),
        Arc::new(RunCommand::new(commands.clone())),
        Blocking::tool(delete_file::DeleteFile(changes.clone())),
        Blocking::tool(undo::Undo(changes.clone())),
        Arc::new(AskUser::new(host.clone())),
        Arc::new(Finish::new(host.clone())),
    ]
}

/// The definitions of the built-in tools, as [`crate::Toolbox::definitions`] has them.
pub fn definitions() -> Vec<Value> {
    vec![
        fs_write::definition(),
        fs_append::definition(),
        fs_read::definition(),
        str_replace::definition(),
        list_directory::definition(),
        search_files::definition(),
        search_text::definition(),
        run_command::definition(),
        delete_file::definition(),
        undo::definition(),
        ask::definition(),
        finish::definition(),
    ]
}

/// Work that keeps a thread busy, and looks every now and then whether it is to end.
trait Work: Send + Sync + 'static {
    fn definition(&self) -> Value;
    fn kind(&self) -> Kind;
    /// As [`Tool::needs_approval`].
    fn needs_approval(&self, _arguments: &Arguments) -> Option<Why> {
        None
    }
    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError>;
}

/// Such work, on a thread of its own.
struct Blocking<W>(Arc<W>);

impl<W: Work> Blocking<W> {
    fn tool(work: W) -> Arc<dyn Tool> {
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

/// A definition as OpenAI has it. All parameters but the `required` ones may be left out.
fn define(name: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({"type": "function", "function": {
        "name": name,
        "description": description,
        "parameters": {"type": "object", "properties": properties, "required": required},
    }})
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Map {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An error about a file that was to be changed.
enum EditError {
    Change(ChangeError),
    Tool(ToolError),
}

impl From<ChangeError> for EditError {
    fn from(error: ChangeError) -> EditError {
        EditError::Change(error)
    }
}

impl EditError {
    fn at(self, path: &str) -> ToolError {
        match self {
            EditError::Change(error) => ToolError::at(path, error),
            EditError::Tool(error) => error,
        }
    }
}

/// Ends here when the call is cancelled: nothing is changed any more.
fn go_on(context: &CallContext) -> Result<(), ToolError> {
    if context.cancellation.is_cancelled() { Err(ToolError::new("cancelled")) } else { Ok(()) }
}

/// Said with a change that cannot be undone.
fn note_undo(result: &mut Map, can_be_undone: bool) {
    if !can_be_undone {
        let note = "not possible: the file that stood there was too large to be kept";
        result.insert("undo".to_owned(), json!(note));
    }
}
