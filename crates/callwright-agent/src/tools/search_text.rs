//! Implements `grepSearch`: it finds lines of files by a regular expression.

use std::path::Path;

use callwright::json;
use callwright::value::Value;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use tokio_util::sync::CancellationToken;

use super::search_files::Pattern;
use super::walk::{Next, walk};
use super::work::{Work, define, go_on, object};
use crate::arguments::Arguments;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};
use crate::workspace::{has_other_names, open_regular};

/// The longest line that is shown in full, in bytes.
const LINE: usize = 400;
/// The most memory of one file, and of one pattern, in bytes.
const HEAP: usize = 16 << 20;
const PATTERN: usize = 1 << 20;

pub(super) struct GrepSearch;

pub(super) fn definition() -> Value {
    let properties = json!({
        "pattern": {"type": "string", "description": "Regular expression (e.g., 'fn \\w+\\(')"},
        "path": {"type": "string", "description": "File or directory (e.g., 'src'); everything if left out"},
        "files": {"type": "string", "description": "Only in files of this name pattern (e.g., '*.py')"},
        "ignore_case": {"type": "boolean", "description": "Do upper and lower case not differ?"},
    });
    let description =
        "Search file contents by regular expression. Use this when you know a text, but not where.";
    define("grepSearch", description, properties, &["pattern"])
}

impl Work for GrepSearch {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::READ
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(arguments.flag("ignore_case")?)
            .size_limit(PATTERN)
            .dfa_size_limit(HEAP)
            .line_terminator(Some(b'\n'))
            .build(arguments.string("pattern")?)
            .map_err(|error| ToolError::new(format!("pattern is not a regular expression: {error}")))?;
        let files = arguments.optional_string("files")?.map(Pattern::of).transpose()?;
        let path = arguments.optional_string("path")?.filter(|path| !path.is_empty()).unwrap_or(".");
        let mut search = Search {
            matcher,
            searcher: SearcherBuilder::new()
                .heap_limit(Some(HEAP))
                .binary_detection(BinaryDetection::quit(0))
                .line_number(true)
                .build(),
            cancellation: &context.cancellation,
            max: context.limits.entries,
            max_bytes: context.limits.bytes,
            bytes: 0,
            matches: Vec::new(),
            missing: 0,
            linked: 0,
        };
        let mut all = true;
        match context.workspace.open_file(path) {
            Ok(file) => search.file(Path::new(path), file),
            Err(_) => {
                let walked = walk(&context.workspace, path, |found| {
                    let wanted = |files: &Pattern| files.matches(found.path) || files.matches(found.inside);
                    if files.as_ref().is_none_or(wanted)
                        && let Some(name) = found.path.file_name()
                        && let Ok(file) = open_regular(found.dir, Path::new(name))
                    {
                        search.file(found.path, file);
                    }
                    if context.cancellation.is_cancelled() { Next::Stop } else { Next::GoOn }
                });
                all = walked.map_err(|error| ToolError::at(path, error))?;
            }
        }
        go_on(context)?;
        let mut result = object([("matches", json!(search.matches))]);
        if 0 < search.linked {
            let why = "not searched, as they have several names (hard links): read the ones that you need";
            result.insert("linked".to_owned(), json!(format!("{} files: {why}", search.linked)));
        }
        match (search.missing, all) {
            (0, true) => {}
            (more, true) => {
                result.insert("more".to_owned(), json!(format!("… {more} more")));
            }
            (_, false) => {
                result.insert("more".to_owned(), json!("… there are too many files: search in a directory"));
            }
        }
        Ok(ToolResult::Object(result))
    }
}

struct Search<'c> {
    matcher: RegexMatcher,
    searcher: Searcher,
    cancellation: &'c CancellationToken,
    max: usize,
    max_bytes: usize,
    bytes: usize,
    matches: Vec<Value>,
    missing: usize,
    /// The number of files with several names, which are read one by one, or not at all.
    linked: usize,
}

impl Search<'_> {
    fn file(&mut self, path: &Path, file: std::fs::File) {
        if has_other_names(&file) {
            self.linked += 1;
            return;
        }
        let matcher = self.matcher.clone();
        let mut searcher = self.searcher.clone();
        let mut lines = Lines { search: self, path: path.to_string_lossy().into_owned() };
        // An unreadable file, or one with too long a line, has no more matches.
        let _ = searcher.search_reader(&matcher, file, &mut lines);
    }
}

struct Lines<'s, 'c> {
    search: &'s mut Search<'c>,
    path: String,
}

impl Sink for Lines<'_, '_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        if self.search.cancellation.is_cancelled() {
            return Ok(false);
        }
        if self.search.max <= self.search.matches.len() || self.search.max_bytes <= self.search.bytes {
            self.search.missing += 1;
            return Ok(true);
        }
        let line = String::from_utf8_lossy(found.bytes());
        let line = line.trim_end_matches(['\n', '\r']);
        let text = match line.len() {
            0..=LINE => line.to_owned(),
            n => {
                let kept = line.floor_char_boundary(LINE);
                format!("{}… {} more bytes", &line[..kept], n - kept)
            }
        };
        self.search.bytes += text.len() + self.path.len();
        self.search.matches.push(json!({"path": self.path, "line": found.line_number(), "text": text}));
        Ok(true)
    }
}
