//! Decides whether the backslashes of one string are escapes of JSON or unescaped text.
//!
//! A string with an escape that JSON lacks, `\s`, `\U`, has two readings: only those backslashes are text, or
//! all are. The string itself decides: `\"`, `\\` and layout in its usual places show that the writer
//! escapes; `\t` before a letter shows nothing. A string that stays undecided is refused.

use super::body::foreign_escape;
use super::{Quote, Search, State};
use crate::scan::string_stop;
use crate::strict::escape_len;
use crate::{Problem, Span};

/// The meaning of the backslashes of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Every backslash is an escape of JSON.
    #[default]
    Json,
    /// Backslashes are escapes of JSON, but `\b`, `\f` and `\'` are text: the string has a backslash that
    /// escapes nothing, and no text has those controls.
    Repaired,
    /// Every backslash is text, except before a quote.
    Literal,
}

impl Escapes {
    /// Returns whether the backslash at `at` is text, in a string whose quotes begin with `lead`.
    pub(super) fn is_text(self, bytes: &[u8], at: usize, lead: u8) -> bool {
        match (self, bytes.get(at + 1)) {
            (Escapes::Json, _) | (_, None) => false,
            (_, Some(next)) if *next == lead => false,
            (Escapes::Repaired, Some(next)) => matches!(next, b'b' | b'f' | b'\''),
            (Escapes::Literal, Some(next)) => *next != b'"',
        }
    }
}

/// The evidence that the backslashes of a string give.
#[derive(Default)]
struct Seen {
    /// Backslashes that begin no escape of JSON.
    invalid: usize,
    /// Escapes that can be nothing else: `\"`, `\\`, layout before anything but a letter.
    working: usize,
    /// Layout before a letter: `\name`.
    line_breaks: usize,
    /// Tabs and returns before a letter, but not at the beginning of a line: `\temp`.
    tabs: usize,
    raw_breaks: bool,
    /// The string has quotes that are text without an escape.
    bare_quotes: bool,
    /// `\"` or `\\`
    escaped: bool,
}

impl Search<'_, '_> {
    /// Decides the meaning of the backslashes of the string whose body begins at `open`; `None` where two
    /// meanings are equally likely.
    pub(super) fn escapes(&mut self, s: &State, open: usize, quote: Quote) -> Option<Escapes> {
        // Most texts have no backslash, so the end of the string does not matter.
        if self.last_backslash.is_none_or(|last| last < open) {
            return Some(Escapes::Json);
        }
        let body = self.bytes.get(open..).unwrap_or(&[]);
        let mut seen = Seen::default();
        let mut at = string_stop(body, 0, quote.lead());
        while let Some(&byte) = body.get(at) {
            match byte {
                b'\\' => at += seen.escape(body, at, quote),
                b'\n' => {
                    seen.raw_breaks = true;
                    at += 1;
                }
                _ if let Some(len) = quote.closing(&body[at..]) => {
                    if self.may_go_on(s, open + at + len) {
                        break;
                    }
                    seen.bare_quotes = true;
                    at += len;
                }
                _ => at += 1,
            }
            at = string_stop(body, at, quote.lead());
        }
        // Each reading that comes here pays for the search.
        self.fuel -= at as i64;
        if seen.invalid == 0 {
            return Some(Escapes::Json);
        }
        // The string escapes neither its line breaks nor its quotes.
        if seen.raw_breaks && seen.bare_quotes && !seen.escaped {
            return Some(Escapes::Literal);
        }
        let body = &body[..at];
        let layout = seen.line_breaks + seen.tabs;
        // The path of a network share begins with two backslashes.
        let is_path =
            has_drive(body) || body.starts_with(br"\\") && body.get(2).is_some_and(u8::is_ascii_alphanumeric);
        let working = seen.working - usize::from(is_path && body.starts_with(br"\\"));
        let way = match (working, seen.tabs) {
            _ if layout == 0 && working == seen.working => Some(Escapes::Repaired),
            (0, 0) if !is_path => None,
            (0, _) => Some(Escapes::Literal),
            _ if is_path && 0 < layout || 0 < seen.tabs => None,
            _ => Some(Escapes::Repaired),
        };
        if way.is_none() {
            self.fail(Problem::OpenEscape, Span::new(open, open + at));
        }
        way
    }
}

impl Seen {
    /// Counts the backslash at `at` and returns the length of its escape.
    fn escape(&mut self, body: &[u8], at: usize, quote: Quote) -> usize {
        let Some(len) = escape_len(body, at) else {
            if quote.foreign_escapes()
                && let Some((_, len)) = foreign_escape(&body[at..])
            {
                self.working += 1;
                return len;
            }
            // An escape of another language is handled in its own place.
            let is_told = |next: &u8| matches!(next, b'\'' | b'$' | b'`' | b'\n');
            self.invalid += usize::from(body.get(at + 1).is_some_and(|next| !is_told(next)));
            return 1;
        };
        let is_before_letter = body.get(at + len).is_some_and(u8::is_ascii_alphabetic);
        match body.get(at + 1) {
            Some(b'n') if is_before_letter => self.line_breaks += 1,
            Some(b't' | b'r') if is_before_letter && !begins_line(&body[..at]) => self.tabs += 1,
            Some(b'b' | b'f' | b'/') => {}
            next => {
                self.escaped |= matches!(next, Some(b'"' | b'\\'));
                self.working += 1;
            }
        }
        len
    }
}

/// Returns whether a line begins behind `body`, judged by its escapes: `x:\n\t`.
fn begins_line(body: &[u8]) -> bool {
    let lines = body.trim_ascii_end();
    lines.is_empty() || [b"\\n", b"\\t", b"\\r"].iter().any(|escape| lines.ends_with(*escape))
}

/// Returns whether `body` names a drive, `C:\`; the end of a line does not: `for x in y:\n`.
fn has_drive(body: &[u8]) -> bool {
    let mut windows = body.windows(4).enumerate();
    windows.any(|(n, window)| {
        window[0].is_ascii_alphabetic() && &window[1..3] == br":\" && (window[3] != b'n' || n == 0)
    })
}
