//! Implements `fsWrite`: it writes a whole file.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;

use super::work::{Work, define, go_on, note_undo, object};
use crate::arguments::Arguments;
use crate::changes::Changes;
use crate::rights::Why;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

pub(super) struct FsWrite(pub(super) Arc<Changes>);

pub(super) fn definition() -> Value {
    let properties = json!({
        "path": {"type": "string", "description": "Path to write"},
        "content": {"type": "string", "description": "Content to write"},
    });
    define("fsWrite", "Create or overwrite a file", properties, &["path", "content"])
}

impl Work for FsWrite {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::WRITE.idempotent()
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        self.0.needs_approval(arguments.string("path").ok()?, false)
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let (path, content) = (arguments.string("path")?, arguments.string("content")?);
        go_on(context)?;
        let changed = self.0.write(context, path, content.as_bytes());
        let changed = changed.map_err(|error| ToolError::at(path, error))?;
        let mut result = object([("written", json!(path)), ("bytes", json!(changed.bytes))]);
        note_undo(&mut result, changed.can_be_undone);
        Ok(ToolResult::Object(result))
    }
}
