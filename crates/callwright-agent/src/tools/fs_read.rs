//! Implements `fsRead`: it reads a text file, or some of its lines.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::RangeInclusive;
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;

use super::work::{Work, define, go_on, object};
use crate::arguments::Arguments;
use crate::rights::Why;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};
use crate::workspace::{FileError, Workspace, has_other_names};

/// The number of lines between two checks for a cancellation.
const LOOK: u64 = 4096;

pub(super) struct FsRead(pub(super) Arc<Workspace>);

pub(super) fn definition() -> Value {
    let properties = json!({
        "path": {"type": "string", "description": "File (e.g., 'src/main.py')"},
        "start_line": {"type": "integer", "description": "First line, counted from 1"},
        "end_line": {"type": "integer", "description": "Last line"},
    });
    let description = "Read a text file, or lines of it. Use this before changing a file.";
    define("fsRead", description, properties, &["path"])
}

impl Work for FsRead {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::READ
    }

    fn needs_approval(&self, arguments: &Arguments) -> Option<Why> {
        let file = self.0.open_file(arguments.string("path").ok()?).ok()?;
        has_other_names(&file).then_some(Why::Linked)
    }

    fn run(&self, arguments: &Arguments, context: &CallContext) -> Result<ToolResult, ToolError> {
        let path = arguments.string("path")?;
        let first = arguments.optional_number("start_line")?.unwrap_or(1).max(1);
        let last = arguments.optional_number("end_line")?.unwrap_or(u64::MAX);
        if last < first {
            return Err(ToolError::at(path, format!("end_line {last} is before start_line {first}")));
        }
        let file = context.workspace.open_file(path).map_err(|error| ToolError::at(path, error))?;
        if has_other_names(&file) && !context.approved {
            return Err(ToolError::at(path, FileError::Linked));
        }
        let Read { kept, n_lines } = Read::new(file, path, first..=last, context)?;
        if n_lines < first && 1 < first {
            return Err(ToolError::at(
                path,
                format!("there is no line {first}: the file has {n_lines} lines"),
            ));
        }
        let (is_cut, kept_to) = (kept.full, kept.last);
        let content = kept
            .text()
            .map_err(|at| ToolError::at(path, format!("not UTF-8 text, from byte {at} of these lines on")))?;
        let mut result =
            object([("path", json!(path)), ("content", json!(content)), ("lines", json!(n_lines))]);
        if 1 < first || last < n_lines {
            result.insert("start_line".to_owned(), json!(first));
            result.insert("end_line".to_owned(), json!(kept_to));
        }
        if is_cut {
            let asked = last.min(n_lines);
            let more = match asked - kept_to {
                0 => "… the last line is cut".to_owned(),
                more => format!("… {more} more lines: read on with start_line {}", kept_to + 1),
            };
            result.insert("more".to_owned(), json!(more));
        }
        Ok(ToolResult::Object(result))
    }
}

/// The part of a file that was read.
struct Read {
    kept: Kept,
    n_lines: u64,
}

impl Read {
    /// Reads the file to its end, and keeps as much of `wanted` as fits.
    fn new(
        file: File,
        path: &str,
        wanted: RangeInclusive<u64>,
        context: &CallContext,
    ) -> Result<Read, ToolError> {
        let size = file.metadata().map(|metadata| metadata.len()).unwrap_or_default();
        let mut lines = BufReader::with_capacity(64 << 10, file);
        let system = |error: std::io::Error| ToolError::at(path, FileError::from(error));
        if let Some(sort) = binary(lines.fill_buf().map_err(system)?) {
            return Err(ToolError::at(path, format!("a binary file ({sort}), not text")).with("bytes", size));
        }
        let mut kept = Kept { bytes: Vec::new(), full: false, last: 0 };
        let mut n_lines = 0;
        let mut at_line_start = true;
        loop {
            // The file is read in pieces, as a line may be as long as the file.
            let piece = lines.fill_buf().map_err(system)?;
            if piece.is_empty() {
                return Ok(Read { kept, n_lines });
            }
            let length = piece.iter().position(|byte| *byte == b'\n').map_or(piece.len(), |at| at + 1);
            if at_line_start {
                n_lines += 1;
                if n_lines % LOOK == 0 {
                    go_on(context)?;
                }
            }
            if wanted.contains(&n_lines) {
                let too_many = context.limits.entries as u64 <= n_lines - wanted.start();
                kept.push(&piece[..length], n_lines, context.limits.bytes, too_many);
            }
            at_line_start = piece[length - 1] == b'\n';
            lines.consume(length);
        }
    }
}

/// The text for the model: whole lines as far as they fit, and a first line even in part.
struct Kept {
    bytes: Vec<u8>,
    full: bool,
    /// The last kept line.
    last: u64,
}

impl Kept {
    fn push(&mut self, piece: &[u8], line: u64, max: usize, too_many: bool) {
        if self.full || too_many {
            self.full = true;
            return;
        }
        let room = max - self.bytes.len();
        if piece.len() <= room {
            self.bytes.extend_from_slice(piece);
            self.last = line;
            return;
        }
        self.full = true;
        if self.last == line || self.last == 0 {
            self.bytes.extend_from_slice(&piece[..room]);
            self.last = line;
        }
    }

    /// Returns the kept text.
    ///
    /// # Errors
    /// Fails with the first byte that is not UTF-8.
    fn text(self) -> Result<String, usize> {
        String::from_utf8(self.bytes).or_else(|error| {
            let (at, reason) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len());
            // The cut may have split a character.
            let is_cut = self.full && reason.is_none();
            if is_cut { Ok(String::from_utf8_lossy(&error.as_bytes()[..at]).into_owned()) } else { Err(at) }
        })
    }
}

/// Returns the sort of binary file that begins like this; `None` for text.
fn binary(begin: &[u8]) -> Option<&'static str> {
    const SORTS: [(&[u8], &str); 12] = [
        (b"\x89PNG", "PNG image"),
        (b"\xff\xd8\xff", "JPEG image"),
        (b"GIF8", "GIF image"),
        (b"%PDF-", "PDF"),
        (b"PK\x03\x04", "ZIP archive"),
        (b"\x1f\x8b", "gzip"),
        (b"\x7fELF", "program"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"BZh", "bzip2"),
        (b"SQLite format 3", "SQLite database"),
        (b"\0asm", "WebAssembly"),
        (b"RIFF", "RIFF media"),
    ];
    let known = SORTS.iter().find(|(mark, _)| begin.starts_with(mark)).map(|(_, sort)| *sort);
    let holds_nul = begin.iter().take(8192).any(|byte| *byte == 0);
    match known {
        // A signature of plain letters may also begin a text.
        Some(sort) if holds_nul || !begin.iter().take(512).all(u8::is_ascii) => Some(sort),
        Some("PDF") => Some("PDF"),
        _ => holds_nul.then_some("it holds NUL bytes"),
    }
}
