//! Implements `fsAppend`: it adds text to the end of a file.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;

use super::work::{EditError, Work, define, go_on, note_undo, object};
use crate::arguments::Arguments;
use crate::changes::Changes;
use crate::rights::Why;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

pub(super) struct FsAppend(pub(super) Arc<Changes>);

pub(super) fn definition() -> Value {
    let properties = json!({
        "path": {"type": "string", "description": "File (e.g., 'notes/log.md')"},
        "content": {"type": "string", "description": "Text to add, with its line ends"},
    });
    let description = "Add text to the end of a file, which is made if missing. Use this when a file grows.";
    define("fsAppend", description, properties, &["path", "content"])
}

impl Work for FsAppend {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::WRITE
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        self.0.needs_approval(arguments.string("path").ok()?, true)
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let (path, content) = (arguments.string("path")?, arguments.string("content")?);
        go_on(context)?;
        let grown = self.0.edit(context, path, true, |before| {
            Ok::<_, EditError>([before.unwrap_or_default(), content.as_bytes()].concat())
        });
        let changed = grown.map_err(|error| error.at(path))?;
        let mut result = object([
            ("appended", json!(path)),
            ("bytes", json!(content.len())),
            ("size", json!(changed.bytes)),
        ]);
        note_undo(&mut result, changed.can_be_undone);
        Ok(ToolResult::Object(result))
    }
}
