//! A call and its result in full, as a box: `verbose on`.

use std::fmt::Write;
use std::io;

use callwright::value::{Map, Value};
use callwright_agent::shown;
use serde::Serialize;
use serde_json::ser::Formatter;

/// The width of the frame, its corner aside.
const WIDTH: usize = 70;
/// The longest text of an argument in the first line.
const LONGEST: usize = 120;
/// The most lines of one text.
const MAX_LINES: usize = 400;

/// The box of a call: what it is, each text of it with numbered lines, and what came of it.
///
/// ```text
/// ▸ fsWrite(path='a.py', content='x = 1')
/// ╭────
/// │ FILE: a.py
/// │ CONTENT (5 chars):
/// ├────
/// │    1 x = 1
/// ├────
/// │ RESULT:
/// │ {"written": "a.py", "bytes": 5}
/// ╰────
/// ```
pub(crate) fn boxed(tool: &str, arguments: &str, result: &str) -> String {
    let object: Map = serde_json::from_str(arguments).unwrap_or_default();
    let frame = "─".repeat(WIDTH);
    let mut out = format!("{}\n╭{frame}\n", headline(tool, arguments));
    let mut is_first = true;
    for (name, value) in &object {
        match value {
            Value::String(text) if name == "path" => row(&mut out, &format!("FILE: {text}")),
            Value::String(text) => {
                if !is_first {
                    let _ = writeln!(out, "├{frame}");
                }
                is_first = false;
                let n_chars = text.chars().count();
                row(&mut out, &format!("{} ({n_chars} char{}):", name.to_uppercase(), s(n_chars)));
                let _ = writeln!(out, "├{frame}");
                numbered(&mut out, text);
            }
            value => row(&mut out, &format!("{}: {}", name.to_uppercase(), spaced(value))),
        }
    }
    if 3 < out.lines().count() || !object.is_empty() {
        let _ = writeln!(out, "├{frame}");
    }
    row(&mut out, "RESULT:");
    let result = match serde_json::from_str::<Value>(result) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => spaced(&value),
        _ => result.to_owned(),
    };
    let lines: Vec<&str> = result.lines().collect();
    for line in lines.iter().take(MAX_LINES) {
        row(&mut out, line);
    }
    if MAX_LINES < lines.len() {
        row(&mut out, &format!("… {} more lines", lines.len() - MAX_LINES));
    }
    let _ = writeln!(out, "╰{frame}");
    out
}

/// A call in one line, as Python would write it: `▸ fsWrite(path='a.py', content='x = 1')`.
pub(crate) fn headline(tool: &str, arguments: &str) -> String {
    let object: Map = serde_json::from_str(arguments).unwrap_or_default();
    let arguments: Vec<String> =
        object.iter().map(|(name, value)| format!("{name}={}", python(value))).collect();
    let line = format!("▸ {}({})", shown(tool), shown(&arguments.join(", ")));
    line.replace('\n', "⏎")
}

fn numbered(out: &mut String, text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    for (number, line) in (1..).zip(lines.iter().take(MAX_LINES)) {
        row(out, &format!("{number:4} {line}"));
    }
    if MAX_LINES < lines.len() {
        row(out, &format!("   … {} more lines", lines.len() - MAX_LINES));
    }
}

fn row(out: &mut String, text: &str) {
    // One row is one line, whatever is in the text.
    let text = shown(text).replace('\n', "⏎");
    let _ = writeln!(out, "│ {}", text.trim_end());
}

fn s(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// A value as Python writes it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => quoted(text),
        other => {
            let text = spaced(other);
            cut(&text).unwrap_or(text)
        }
    }
}

/// `'print("hello")'`, or `"it's"`.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let cut = cut(text);
    let mut out = String::from(quote);
    for c in cut.as_deref().unwrap_or(text).chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// The beginning of a text that is too long for the first line.
fn cut(text: &str) -> Option<String> {
    let (at, _) = text.char_indices().nth(LONGEST)?;
    Some(format!("{}…", &text[..at]))
}

/// JSON on one line, with a space behind each comma and colon.
fn spaced(value: &Value) -> String {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Spaced);
    // Writing to memory cannot fail, and all keys are strings.
    let _ = value.serialize(&mut serializer);
    String::from_utf8(out).unwrap_or_default()
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: io::Write + ?Sized>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0-64: the whole box, to the byte.
    #[test]
    fn the_box_of_a_written_file() {
        let arguments = r#"{"path": "test.py", "content": "print(\"hello\")"}"#;
        let frame = "─".repeat(70);
        let golden = format!(
            "▸ fsWrite(path='test.py', content='print(\"hello\")')\n\
             ╭{frame}\n\
             │ FILE: test.py\n\
             │ CONTENT (14 chars):\n\
             ├{frame}\n\
             │    1 print(\"hello\")\n\
             ├{frame}\n\
             │ RESULT:\n\
             │ {{\"written\": \"test.py\", \"bytes\": 14}}\n\
             ╰{frame}\n"
        );
        assert_eq!(boxed("fsWrite", arguments, r#"{"written":"test.py","bytes":14}"#), golden);
    }

    #[test]
    fn other_tools_and_other_values() {
        let arguments = r#"{"path": "a", "old": "it's", "new": "b\nc", "all": true, "n": 1.50, "x": null}"#;
        let drawn = boxed("strReplace", arguments, "plain\ntext");
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[0], "▸ strReplace(path='a', old=\"it's\", new='b\\nc', all=True, n=1.50, x=None)");
        assert!(
            drawn.contains("│ OLD (4 chars):\n├")
                && drawn.contains("│    1 b\n│    2 c\n│ ALL: true\n│ N: 1.50\n")
        );
        assert!(drawn.contains("│ RESULT:\n│ plain\n│ text\n╰"), "{drawn}");
        let none = boxed("undo", "{}", "{}");
        assert!(none.starts_with("▸ undo()\n╭") && none.contains("\n│ RESULT:\n│ {}\n"), "{none}");
    }

    #[test]
    fn no_text_leaves_its_row_or_reaches_the_terminal() {
        let arguments = "{\"content\": \"a\\u001b[2J\\rb\\n│ RESULT:\\n│ ok\", \"pa\\nth\": 1}";
        let drawn = boxed("x\u{1b}", arguments, "\u{9b}2J");
        assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
        assert!(drawn.lines().skip(2).all(|line| line.starts_with(['│', '├', '╰'])), "{drawn}");
        assert_eq!(drawn.matches("\n│ RESULT:").count(), 1, "{drawn}");
    }
}
