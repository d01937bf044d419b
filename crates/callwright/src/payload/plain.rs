//! An argument that is one text, as agents' prompts ask for it: `Action Input: Paris⏎Observation:`.
//!
//! The text ends where the next label of such a log stands, or with the answer. A code block, backticks or quotes around
//! all of it are not part of it. Where it looks like arguments with names, or where nothing says whether its second line
//! still belongs to it, there are two readings.

use crate::syntax::Incomplete;
use crate::syntax::marks;

/// What stands at the beginning of the line behind the text.
const NEXT: &[&str] =
    &["observation:", "thought:", "action:", "final answer:", "question:", "pause\n", "✿result✿", "✿return✿"];

/// A text whose end is looked for.
#[derive(Debug)]
pub(crate) struct Plain {
    /// The line break that is looked behind; before the next one there is no label.
    line_end: Option<usize>,
    /// Up to here nothing is to be found: no line break, or behind one only blanks.
    looked: usize,
}

impl Plain {
    /// A plain payload that begins at `at`.
    pub(crate) fn new(at: usize) -> Plain {
        Plain { line_end: None, looked: at }
    }

    /// The end of the line before the next label; `None` where there is none yet.
    pub(crate) fn advance(&mut self, text: &str) -> Option<usize> {
        loop {
            let rest = text.get(self.looked..).unwrap_or("");
            let Some(at) = self.line_end else {
                let found = memchr::memchr(b'\n', rest.as_bytes()).map(|len| self.looked + len);
                self.line_end = found;
                self.looked = found.map_or(text.len(), |at| at + 1);
                found?;
                continue;
            };
            let next = rest.trim_start();
            self.looked = text.len() - next.len();
            let mut fits = NEXT.iter().map(|label| marks::fit(next.as_bytes(), label));
            if fits.clone().any(|fit| matches!(fit, Ok(Some(_)))) {
                return Some(at);
            }
            if fits.any(|fit| fit == Err(Incomplete)) {
                return None;
            }
            self.line_end = None;
        }
    }
}

/// What the text `written` says, or all that it may say. With `is_bounded` something behind it says that all of it belongs
/// together. `keys` are those of the tool, whose name is `tool`.
pub(crate) fn said<'t>(
    written: &'t str,
    is_bounded: bool,
    tool: &str,
    mut keys: impl Iterator<Item = &'t str>,
) -> Result<&'t str, Vec<&'t str>> {
    let text = written.trim();
    if let Some(inside) = fenced(text) {
        return Ok(inside);
    }
    let first = text.lines().next().unwrap_or("").trim_end();
    if first.len() < text.len() && !is_bounded {
        return Err(vec![first, text]);
    }
    if let Some(inside) = quoted(text) {
        return Ok(inside);
    }
    let is_call = text.strip_prefix(tool).is_some_and(|rest| rest.trim_start().starts_with(['(', '[', '{']));
    if is_call || keys.any(|key| names(text, key)) { Err(vec![text]) } else { Ok(text) }
}

/// The content of the only code block in `text`, which is nothing else.
fn fenced(text: &str) -> Option<&str> {
    let (label, inside) = text.strip_prefix("```")?.split_once('\n')?;
    let inside = inside.strip_suffix("```")?;
    let is_label = !label.trim().contains(|c: char| c.is_whitespace() || c == '`');
    let is_one = !inside.contains("```");
    (is_label && is_one).then(|| inside.strip_suffix('\n').unwrap_or(inside))
}

/// `"Paris"`, `'Paris'`, `` `Paris` ``
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inside.is_empty() && !inside.contains([quote, '\\', '\n'])).then_some(inside)
}

/// Does `text` give an argument by its name: `key=`, `"key":`, `<key>`, also behind others?
fn names(text: &str, key: &str) -> bool {
    let lower = (text.to_ascii_lowercase(), key.to_ascii_lowercase());
    lower.0.match_indices(&lower.1).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + key.len()..]);
        let outside = before.trim_end_matches(|c: char| c.is_whitespace() || "\"'`*-([{".contains(c));
        let is_first = outside.is_empty() || outside.ends_with([',', ';', '\n']) || before.ends_with("--");
        if before.ends_with('<') && behind.starts_with('>') {
            return true;
        }
        let sign = behind.trim_start_matches(['"', '\'', '`', '*', ' ']);
        let is_given = sign.starts_with(':') || sign.starts_with('=') && !sign.starts_with("==");
        is_first && is_given
    })
}
