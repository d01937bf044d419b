//! An argument that is one text, as agents' prompts ask for it: `Action Input: Paris⏎Observation:`.
//!
//! The text ends before the next label of such a log, or with the answer. A code block, backticks or quotes around all
//! of it are not part of it. There are two readings if the text looks like arguments with names, or if nothing tells
//! whether its second line belongs to it.

use crate::syntax::Incomplete;
use crate::syntax::marks;

/// Labels at the beginning of the line behind the text.
const NEXT: &[&str] =
    &["observation:", "thought:", "action:", "final answer:", "question:", "pause\n", "✿result✿", "✿return✿"];

/// A text in search of its end.
#[derive(Debug)]
pub(crate) struct Plain {
    /// The last line break that was found; no label stands before the next one.
    line_end: Option<usize>,
    /// The place up to which the search is done: no line break, or only blanks behind one.
    looked: usize,
}

impl Plain {
    /// Makes a plain payload that begins at `at`.
    pub(crate) fn new(at: usize) -> Plain {
        Plain { line_end: None, looked: at }
    }

    /// Returns the end of the line before the next label; `None` if there is none yet.
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

/// Returns the argument in `written`, or all that it may be. If the text `is_bounded`, a mark behind it shows that all
/// of it belongs together. `keys` belong to the tool of the name `tool`.
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

/// Returns the content of the only code block in `text`, which holds nothing else.
fn fenced(text: &str) -> Option<&str> {
    let (label, inside) = text.strip_prefix("```")?.split_once('\n')?;
    let inside = inside.strip_suffix("```")?;
    let is_label = !label.trim().contains(|c: char| c.is_whitespace() || c == '`');
    let is_one = !inside.contains("```");
    (is_label && is_one).then(|| inside.strip_suffix('\n').unwrap_or(inside))
}

/// Returns the text in its quotes: `"Paris"`, `'Paris'`, `` `Paris` ``
fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inside = text.strip_prefix(quote)?.strip_suffix(quote)?;
    (!inside.is_empty() && !inside.contains([quote, '\\', '\n'])).then_some(inside)
}

/// Returns whether `text` gives an argument by its name, also behind others: `key=`, `"key":`, `<key>`.
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
