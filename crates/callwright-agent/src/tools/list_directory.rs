//! Implements `listDirectory`: it lists one directory.

use callwright::json;
use callwright::value::Value;

use super::work::{Work, define, go_on, object};
use crate::arguments::Arguments;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

/// The most entries that are read.
const MAX_ENTRIES: usize = 100_000;

pub(super) struct ListDirectory;

pub(super) fn definition() -> Value {
    let properties = json!({"path": {"type": "string", "description": "Directory (e.g., 'src'); the workspace if left out"}});
    let description = "List the entries of a directory. Use this when you do not know what there is.";
    define("listDirectory", description, properties, &[])
}

impl Work for ListDirectory {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::READ
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let path = arguments.optional_string("path")?.filter(|path| !path.is_empty()).unwrap_or(".");
        let wrong = |error: std::io::Error| ToolError::at(path, crate::FileError::from(error));
        let dir = context.workspace.open_dir(path).map_err(|error| ToolError::at(path, error))?;
        let mut entries = Vec::new();
        for entry in dir.entries().map_err(wrong)?.take(MAX_ENTRIES) {
            if entries.len() % 256 == 0 {
                go_on(context)?;
            }
            let entry = entry.map_err(wrong)?;
            let kind = entry.file_type().map_err(wrong)?;
            entries.push((!kind.is_dir(), entry.file_name().to_string_lossy().into_owned(), entry, kind));
        }
        // Directories come first, each part by name.
        entries.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        let missing = entries.len().saturating_sub(context.limits.entries);
        let listed: Vec<Value> = entries
            .iter()
            .take(context.limits.entries)
            .map(|(_, name, entry, kind)| {
                // The entry may have gone since.
                let size = entry.metadata().map(|metadata| metadata.len()).ok();
                match () {
                    () if kind.is_dir() => json!({"name": format!("{name}/")}),
                    () if kind.is_symlink() => json!({"name": name, "type": "link"}),
                    () if kind.is_file() => json!({"name": name, "bytes": size}),
                    () => json!({"name": name, "type": "device, pipe or socket"}),
                }
            })
            .collect();
        let mut result = object([("path", json!(path)), ("entries", json!(listed))]);
        if 0 < missing {
            result.insert("more".to_owned(), json!(format!("… {missing} more")));
        }
        Ok(ToolResult::Object(result))
    }
}
