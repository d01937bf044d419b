//! Provides the built-in tools: files of the workspace, shell commands, and the user.

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
mod work;

use std::sync::Arc;

use callwright::value::Value;

use crate::changes::Changes;
use crate::command::Commands;
use crate::tool::Tool;
use work::Blocking;

pub use ask::{Answer, AskUser, Host, Question};
pub use finish::Finish;
pub use program::Program;
pub use run_command::RunCommand;

/// Returns the built-in tools, in the order of their declaration.
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

/// Returns the definitions of the built-in tools, like [`crate::Toolbox::definitions`].
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
