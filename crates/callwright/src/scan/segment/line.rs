//! The beginnings of lines, and the ends of words and blanks.

use callwright_json::is_blank;

use crate::scan::Scanner;
use crate::tools::names::is_name_byte;

/// Longest whitespace before a line's first word, in characters.
const MAX_INDENT: usize = 64;

impl Scanner<'_> {
    /// Returns whether a line begins at `at`, or the model's speech behind its reasoning.
    pub(in crate::scan) fn begins_line(&self, at: usize) -> bool {
        let is_behind_block = || {
            let before = self.text.get(self.at..at).unwrap_or("");
            self.space.removed && !self.has_calls() && before.trim().is_empty()
        };
        // `f{…}f{…}` without its tokens.
        let is_behind_call = || self.has_calls() && at == self.markup.last_call_end;
        self.is_line_start(at) || is_behind_block() || is_behind_call()
    }

    /// Returns whether only blanks stand before `at` on its line.
    pub(super) fn is_line_start(&self, at: usize) -> bool {
        is_line_start(&self.text, at)
    }
}

/// Returns whether only blanks stand before `at` on its line, and no more than an indent has.
pub(super) fn is_line_start(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or("");
    let indent = before.chars().rev().take(MAX_INDENT).take_while(|c| is_gap(*c));
    let line = &before[..before.len() - indent.map(char::len_utf8).sum::<usize>()];
    line.is_empty() || line.ends_with('\n')
}

/// Returns whether `before` ends in a word.
pub(super) fn ends_in_word(before: &str) -> bool {
    before.chars().next_back().is_some_and(is_of_word)
}

/// Returns the number of bytes with which `rest` continues a word.
pub(super) fn rest_of_word(rest: &str) -> usize {
    rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())
}

/// Returns the place of the first sign that is not a blank, at `from` or behind it.
pub(super) fn behind_blanks(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or("");
    from + rest.find(|c| !is_gap(c)).unwrap_or(rest.len())
}

fn is_of_word(c: char) -> bool {
    if c.is_ascii() { is_name_byte(c as u8) } else { c.is_alphanumeric() }
}

/// Returns whether `c` is a blank within a line.
fn is_gap(c: char) -> bool {
    c != '\n' && is_blank(c)
}
