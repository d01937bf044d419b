//! A value that is JSON: closing tags in its strings are text, `{"html": "</parameter></function>"}</parameter>`.
//!
//! It ends behind its last bracket, if its own closing tag stands there. What is no JSON as far as that ends where any
//! other value does.

use super::value::Open;
use super::{End, Next, State, View, Walk, behind_space};
use crate::syntax::{Incomplete, Seen, Typing, at_end};

/// How many values of one call are looked at twice, as they begin like JSON and end otherwise.
const MAX_RETURNS: usize = 8;

/// Goes over one value up to its last bracket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Brackets {
    at: usize,
    depth: usize,
    in_string: bool,
    /// The last byte outside strings that is no whitespace.
    before: u8,
}

impl Brackets {
    /// For the value that begins at `from`.
    pub(super) fn new(from: usize) -> Brackets {
        Brackets { at: from, depth: 0, in_string: false, before: b':' }
    }

    /// The place behind the last bracket; none where it is no JSON.
    fn advance(&mut self, bytes: &[u8]) -> Seen<usize> {
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' if self.in_string => (self.in_string, self.before) = (false, b'"'),
                b'\\' if self.in_string && bytes.len() == self.at + 1 => return Err(Incomplete),
                b'\\' if self.in_string => self.at += 1,
                0..0x20 if self.in_string => return Ok(None),
                _ if self.in_string => {}
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ if !self.may_stand(byte) => return Ok(None),
                b'"' => self.in_string = true,
                _ => {
                    self.before = byte;
                    match byte {
                        b'{' | b'[' => self.depth += 1,
                        b'}' | b']' if self.depth == 1 => return Ok(Some(self.at + 1)),
                        b'}' | b']' => self.depth -= 1,
                        _ => {}
                    }
                }
            }
            self.at += 1;
        }
        Err(Incomplete)
    }

    /// May `byte` stand outside of strings behind what was read?
    fn may_stand(&self, byte: u8) -> bool {
        match byte {
            b'{' | b'[' => true,
            _ if self.depth == 0 => false,
            b'"' => matches!(self.before, b'{' | b'[' | b',' | b':'),
            b',' | b':' | b'}' | b']' => true,
            // `"a"b`
            _ if self.before == b'"' => false,
            _ => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.'),
        }
    }
}

impl Walk {
    /// Looks for the last bracket of a value, if it may be JSON and nothing else.
    pub(super) fn brackets(&mut self, view: View<'_>, open: Open, mut brackets: Brackets) -> Seen<End> {
        let may_be_json = match open.typing {
            Typing::Text => false,
            Typing::Json => true,
            Typing::Schema => view.takes_brackets(open.key.of(view.text)),
        };
        let closed = match may_be_json && self.n_no_json < MAX_RETURNS {
            true => at_end(brackets.advance(view.text.as_bytes()), view.end),
            false => Ok(None),
        };
        let is_closed = match closed {
            Ok(Some(closed)) => self.is_closed(view, open, closed),
            closed => closed.map(|_| false),
        };
        self.state = match is_closed {
            Err(Incomplete) => State::Brackets(open, brackets),
            Ok(true) => self.state,
            Ok(false) => {
                self.n_no_json += usize::from(open.from < brackets.at);
                State::Value(open)
            }
        };
        is_closed.map(|_| None)
    }

    /// Does the closing tag of the value stand at `at`, and what may stand behind it? Then the value ends there.
    fn is_closed(&mut self, view: View<'_>, open: Open, at: usize) -> Result<bool, Incomplete> {
        let tag_at = behind_space(view.text, at);
        let next = Next::of(view, tag_at, self.tag_in(view, tag_at, &open))?;
        let Next::Tag(tag) = next else { return Ok(false) };
        let behind = tag.at.end as usize;
        let fits = self.closes(view.text, &open, &tag) && self.follows(view, behind)?;
        if fits {
            self.close(open, tag_at, behind);
        }
        Ok(fits)
    }
}
