//! Implements `strReplace`: it replaces one place of a file, found by its text.

use std::borrow::Cow;
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;

use super::work::{EditError, Work, define, go_on, note_undo, object};
use crate::arguments::Arguments;
use crate::changes::Changes;
use crate::rights::Why;
use crate::tool::{CallContext, Kind, ToolError, ToolResult};

/// The most places that an error names.
const NAMED: usize = 8;

pub(super) struct StrReplace(pub(super) Arc<Changes>);

pub(super) fn definition() -> Value {
    let properties = json!({
        "path": {"type": "string", "description": "File (e.g., 'src/main.py')"},
        "old": {"type": "string", "description": "Exact text that is in the file once"},
        "new": {"type": "string", "description": "Text to stand there instead"},
    });
    let description = "Replace one text in a file. Use this when a part of a file changes.";
    define("strReplace", description, properties, &["path", "old", "new"])
}

impl Work for StrReplace {
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
        let path = arguments.string("path")?;
        let (old, new) = (arguments.string("old")?, arguments.string("new")?);
        if old.is_empty() {
            return Err(ToolError::at(path, "old is empty: give the text that is to be replaced"));
        }
        if old == new {
            return Err(ToolError::at(path, "old and new are the same"));
        }
        go_on(context)?;
        let mut line = 0;
        let changed = self.0.edit(context, path, false, |before| {
            let refuse = |why: String| EditError::Tool(ToolError::at(path, why));
            let text = before.ok_or_else(|| refuse("no such file or directory".to_owned()))?;
            let text = std::str::from_utf8(text)
                .map_err(|error| refuse(format!("not UTF-8 text, from byte {} on", error.valid_up_to())))?;
            let (at, old, new) = only_place(text, old, new).map_err(refuse)?;
            line = 1 + newlines(&text[..at]);
            Ok([&text[..at], &*new, &text[at + old.len()..]].concat().into_bytes())
        });
        let changed = changed.map_err(|error: EditError| error.at(path))?;
        let mut result =
            object([("replaced", json!(path)), ("line", json!(line)), ("bytes", json!(changed.bytes))]);
        note_undo(&mut result, changed.can_be_undone);
        Ok(ToolResult::Object(result))
    }
}

/// Returns the place of the only `old`, with both texts in the file's own line ends.
///
/// # Errors
/// Fails with a sentence for the model when `old` is missing, or stands at several places.
fn only_place<'t>(
    text: &str,
    old: &'t str,
    new: &'t str,
) -> Result<(usize, Cow<'t, str>, Cow<'t, str>), String> {
    let (mut old, mut new) = (Cow::Borrowed(old), Cow::Borrowed(new));
    let mut places = places(text, &old);
    if places.is_empty() && text.contains("\r\n") && !old.contains('\r') && old.contains('\n') {
        // Models read and write \n where a file has \r\n.
        old = Cow::Owned(old.replace('\n', "\r\n"));
        new = Cow::Owned(new.replace("\r\n", "\n").replace('\n', "\r\n"));
        places = self::places(text, &old);
    }
    match places.as_slice() {
        [at] => Ok((*at, old, new)),
        [] => Err(nowhere(text, &old)),
        _ => {
            let lines: Vec<String> =
                places.iter().take(NAMED).map(|at| (1 + newlines(&text[..*at])).to_string()).collect();
            let more = match places.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            Err(format!(
                "old is in the file {} times, at lines {}{more}: add lines around it so that it is there once",
                places.len(),
                lines.join(", "),
            ))
        }
    }
}

/// Returns all places of `part`, overlapping ones included.
fn places(text: &str, part: &str) -> Vec<usize> {
    let step = part.chars().next().map_or(1, char::len_utf8);
    let mut places = Vec::new();
    let mut from = 0;
    // Twice the named number proves that there are many, but an exact count is worth more.
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(part)) {
        places.push(from + at);
        from += at + step;
    }
    places
}

/// Returns the place of a text that differs from `old` in spaces only.
fn nowhere(text: &str, old: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted: Vec<String> = old.trim().lines().map(words).collect();
    let lines: Vec<String> = text.lines().map(words).collect();
    let alike = (!wanted.is_empty()).then(|| lines.windows(wanted.len()).position(|window| window == wanted));
    match alike.flatten() {
        Some(at) => format!(
            "old is not in the file; at line {} there is a text that differs in spaces only: copy it exactly",
            at + 1
        ),
        None => "old is not in the file: read it again and copy the text exactly".to_owned(),
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_place_is_found_and_several_are_named() {
        assert_eq!(only_place("a b a", "b", "c").unwrap().0, 2);
        let why = only_place("x\nx\ny x\n", "x", "z").unwrap_err();
        assert!(why.starts_with("old is in the file 3 times, at lines 1, 2, 3:"), "{why}");
        // Overlapping places are places: aa is twice in aaa.
        assert!(only_place("aaa", "aa", "b").unwrap_err().contains("2 times"));
        let why = only_place("if x:\n\treturn  1\n", "if x:\n    return 1", "").unwrap_err();
        assert!(why.contains("at line 1 there is a text that differs in spaces only"), "{why}");
    }

    #[test]
    fn line_ends_of_the_file_are_kept() {
        let (at, old, new) = only_place("a\r\nb\r\nc\r\n", "b\nc", "b\nd\nc").unwrap();
        assert_eq!((at, &*old, &*new), (3, "b\r\nc", "b\r\nd\r\nc"));
    }
}
