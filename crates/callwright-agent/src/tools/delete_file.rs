//! Implements `deleteFile`: it deletes one file.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;

use super::work::{Work, define, go_on, note_undo, object};
use crate::arguments::Arguments;
use crate::changes::Changes;
use crate::rights::Why;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

pub(super) struct DeleteFile(pub(super) Arc<Changes>);

pub(super) fn definition() -> Value {
    let properties = json!({"path": {"type": "string", "description": "File (e.g., 'old.txt')"}});
    define("deleteFile", "Delete a file. Use this when it is not needed any more.", properties, &["path"])
}

impl Work for DeleteFile {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::DESTRUCTIVE.closed()
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        self.0.needs_approval(arguments.string("path").ok()?, false)
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let path = arguments.string("path")?;
        go_on(context)?;
        let changed = self.0.delete(context, path).map_err(|error| ToolError::at(path, error))?;
        let mut result = object([("deleted", json!(path))]);
        note_undo(&mut result, changed.can_be_undone);
        Ok(ToolResult::Object(result))
    }
}
