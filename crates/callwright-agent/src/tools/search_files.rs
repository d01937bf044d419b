//! Implements `fileSearch`: it finds files by name.

use callwright::json;
use callwright::value::Value;
use globset::{GlobBuilder, GlobMatcher};

use super::walk::{Next, walk};
use super::work::{Work, define, go_on, object};
use crate::arguments::Arguments;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

pub(super) struct FileSearch;

pub(super) fn definition() -> Value {
    let properties = json!({
        "pattern": {"type": "string", "description": "Glob or part of the name (e.g., '*.rs', 'src/**/test_*')"},
        "path": {"type": "string", "description": "Where to search (e.g., 'src'); everywhere if left out"},
    });
    let description = "Search for files by name pattern. Use this when you do not know a path.";
    define("fileSearch", description, properties, &["pattern"])
}

impl Work for FileSearch {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::READ
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let pattern = Pattern::of(arguments.string("pattern")?)?;
        let path = arguments.optional_string("path")?.filter(|path| !path.is_empty()).unwrap_or(".");
        let (mut found, mut missing) = (Vec::new(), 0_usize);
        let all = walk(&context.workspace, path, |file| {
            if pattern.matches(file.path) || pattern.matches(file.inside) {
                if found.len() < context.limits.entries {
                    found.push(file.path.to_string_lossy().into_owned());
                } else {
                    missing += 1;
                }
            }
            if context.cancellation.is_cancelled() { Next::Stop } else { Next::GoOn }
        });
        let all = all.map_err(|error| ToolError::at(path, error))?;
        go_on(context)?;
        let mut result = object([("files", json!(found))]);
        match (missing, all) {
            (0, true) => {}
            (_, true) => {
                result.insert("more".to_owned(), json!(format!("… {missing} more")));
            }
            (_, false) => {
                result.insert("more".to_owned(), json!("… there are too many files: search in a directory"));
            }
        }
        Ok(ToolResult::Object(result))
    }
}

/// A glob over names or paths; a word without glob signs matches part of a name.
pub(super) enum Pattern {
    Part(String),
    Name(GlobMatcher),
    Path(GlobMatcher),
}

impl Pattern {
    pub(super) fn of(pattern: &str) -> Result<Pattern, ToolError> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if !pattern.contains(['*', '?', '[', '{', '/']) {
            return Ok(Pattern::Part(pattern.to_lowercase()));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob =
            glob.map_err(|error| ToolError::new(format!("pattern is not a glob: {}", error.kind())))?;
        let matcher = glob.compile_matcher();
        Ok(if pattern.contains('/') { Pattern::Path(matcher) } else { Pattern::Name(matcher) })
    }

    pub(super) fn matches(&self, path: &std::path::Path) -> bool {
        let name = path.file_name().unwrap_or_default();
        match self {
            Pattern::Part(part) => name.to_string_lossy().to_lowercase().contains(part),
            Pattern::Name(glob) => glob.is_match(name),
            Pattern::Path(glob) => glob.is_match(path),
        }
    }
}
