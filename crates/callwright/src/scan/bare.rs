//! Finds bare texts among the arguments of a call expression: `f(city=Paris)` means the text, `f(city=cities[0])` does
//! not.
//!
//! The repairs of a reading go in, which show the missing quotes; the texts without quotes come out. An expression is
//! not a literal: nobody knows its value. Nobody knows the end of several words.

use callwright_json::{Guide as _, Place, Repair, RepairKind};

use crate::payload::value::place_of;
use crate::tools::Tool;

/// Most bytes at the end of a text that are searched for the assignment to a variable.
const MAX_BACK: usize = 4096;
/// Most bytes that are searched for the quote behind the head of an expression: `root + "/data"`.
const MAX_BEGINNING: usize = 1024;

/// A text without quotes.
#[derive(Debug)]
pub(super) struct Bare<'t> {
    text: &'t str,
}

/// Returns the bare texts that `repairs` of an argument list in `text` put quotes around.
pub(super) fn values<'t>(text: &'t str, repairs: &[Repair]) -> Vec<Bare<'t>> {
    let mut found = Vec::new();
    let mut opened: Option<usize> = None;
    for repair in repairs {
        let at = repair.at.start as usize;
        match (repair.kind, opened) {
            (RepairKind::QuoteValue, None) => opened = Some(at),
            (RepairKind::QuoteValue, Some(from)) => {
                found.extend(text.get(from..at).map(|text| Bare { text }));
                opened = None;
            }
            // `f"{root}/data"`, `root + "/data"`: only the first quote was added.
            (RepairKind::AddQuote, _) => {
                let rest = text.get(at..).unwrap_or("");
                let quote = rest.bytes().take(MAX_BEGINNING).position(|byte| matches!(byte, b'"' | b'\''));
                let begins = rest.get(..quote.map_or(0, |quote| quote + 1)).filter(|piece| 1 < piece.len());
                found.extend(begins.map(|text| Bare { text }));
            }
            _ => {}
        }
    }
    found
}

impl Bare<'_> {
    /// Returns whether the text is a variable that has its value from `before`.
    pub(super) fn is_variable(&self, before: &str) -> bool {
        binds(before, self.text.trim())
    }

    /// Returns whether the text is more than one word, and not one of the choices of `tool`: an expression, several
    /// arguments, or words without a clear end.
    pub(super) fn is_expression(&self, tool: &Tool) -> bool {
        let text = self.text.trim();
        let is_formatted = matches!(text.as_bytes(), [b'f' | b'F' | b'b', b'"' | b'\'', ..]);
        let is_open = |c: char| c.is_whitespace() || "()[]{},.".contains(c);
        let guide = tool.schema().guide();
        let places = guide.names(guide.root()).filter_map(|key| place_of(guide, guide.root(), key));
        let is_choice = |place: Place| guide.longest(place).is_some() && guide.admits(place, text);
        is_formatted || text.contains(is_open) && !places.into_iter().any(is_choice)
    }
}

/// Returns whether `before` gives `word` a value: `word = …` at the beginning of a line, `for word in …`.
fn binds(before: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if word.is_empty() || !word.chars().all(is_name) || word.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let near = before.len().saturating_sub(MAX_BACK);
    let before = (near..=before.len()).find_map(|from| before.get(from..)).unwrap_or("");
    before.match_indices(word).any(|(at, _)| {
        let (front, behind) = (&before[..at], &before[at + word.len()..]);
        if front.ends_with(is_name) || behind.starts_with(is_name) {
            return false;
        }
        let line = front.rsplit('\n').next().unwrap_or("");
        let behind = behind.trim_start_matches(' ');
        let is_assigned = behind.starts_with('=') && !behind.starts_with("==");
        let is_statement = matches!(line.trim(), "" | "let" | "const" | "var");
        let loops = || line.rsplit_once("for ").is_some_and(|(_, names)| !names.contains(" in "));
        is_assigned && is_statement || behind.starts_with("in ") && loops()
    })
}
