//! The part of a native call's arguments that may go out before the verdict.
//!
//! The JSON text goes in as it grows, and its certain part comes out. Every member before that part's end is right, and
//! the string in which it ends can only get more text, or its quote. Of that string, a torn escape waits, and so does
//! everything from the first sign on that may end it: `"a\"}`. The text behind the last such string waits for the
//! verdict, so that a call that is refused after all was never a whole one.
//!
//! No byte is read twice, except those of a torn escape.

use std::ops::Range;

use callwright_json::{Guide, Member, Place, strict};

use crate::syntax::Incomplete;
use crate::syntax::escape::{Escape, escape};
use crate::tools::Tool;

/// The arguments of one call, as far as they are certain.
#[derive(Debug, Default)]
pub(super) struct Live {
    step: Step,
    /// The place up to which the arguments were read.
    at: usize,
    /// The beginning of the key or the value that is being read.
    from: usize,
    /// The declared members that have begun, one bit each.
    seen: u128,
    /// The end of the certain part.
    certain: usize,
    /// The part that went out, from the opening bracket on.
    sent: Range<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Step {
    /// The bracket is to come.
    #[default]
    Bracket,
    /// A key is to come.
    Key,
    /// Inside a key.
    InKey,
    /// A colon is to come, and then the value that is declared at this place.
    Colon(Place),
    /// A value is to come.
    Value(Place),
    /// Inside a value that has to be whole before it counts.
    InValue(Place, Inside),
    /// Inside the string that goes out.
    Text(Place),
    /// Nothing more is certain.
    Over,
}

impl Live {
    /// Returns the part of the arguments `text` that went out.
    pub(super) fn sent<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.sent.clone()).unwrap_or("")
    }

    /// Reads the part by which `text`, the arguments for `tool`, has grown, and returns the part that may go out, if
    /// any may.
    pub(super) fn advance<'t>(&mut self, tool: &Tool, text: &'t str) -> Option<&'t str> {
        while let Some(&byte) = text.as_bytes().get(self.at) {
            match self.next(byte, tool, text) {
                Ok(step) => self.step = step,
                Err(Incomplete) => break,
            }
            if let Step::Over = self.step {
                break;
            }
        }
        let fresh = text.get(self.sent.end..self.certain).filter(|fresh| !fresh.is_empty())?;
        self.sent.end = self.certain;
        Some(fresh)
    }

    /// Returns the step behind `byte`, which stands at `self.at`, or behind the rest of the string around it.
    fn next(&mut self, byte: u8, tool: &Tool, text: &str) -> Result<Step, Incomplete> {
        let at = self.at;
        let step = match self.step {
            Step::Text(place) => return self.in_text(place, text.as_bytes()),
            Step::InValue(place, mut inside) => match inside.step(byte) {
                Some(len) => {
                    self.at += len;
                    return Ok(Step::InValue(place, inside));
                }
                None if byte == b',' && self.is_right(tool, place, text) => Step::Key,
                None => Step::Over,
            },
            // A key with an escape has two spellings.
            Step::InKey => match byte {
                b'"' => self.declared(tool, text).map_or(Step::Over, Step::Colon),
                b'\\' | ..=0x1f => Step::Over,
                _ => Step::InKey,
            },
            step if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => step,
            Step::Bracket if byte == b'{' && tool.schema().judges_members_alone() => {
                (self.sent, self.certain) = (at..at, at);
                Step::Key
            }
            Step::Key if byte == b'"' => {
                self.from = at + 1;
                Step::InKey
            }
            Step::Colon(place) if byte == b':' => Step::Value(place),
            Step::Value(place) if byte == b'"' && tool.schema().takes_any_string(place) => {
                (self.from, self.certain) = (at, at + 1);
                Step::Text(place)
            }
            Step::Value(place) => {
                self.from = at;
                return Ok(Step::InValue(place, Inside::default()));
            }
            Step::Bracket | Step::Key | Step::Colon(_) | Step::Over => Step::Over,
        };
        self.at += 1;
        Ok(step)
    }

    /// Returns the declared place of the key that ends here, unless the key came before.
    fn declared(&mut self, tool: &Tool, text: &str) -> Option<Place> {
        let guide = tool.schema().guide();
        let key = text.get(self.from..self.at)?;
        let Member::Declared(slot, place) = guide.member(guide.root(), key) else { return None };
        let is_new = self.seen & 1 << slot == 0;
        self.seen |= 1 << slot;
        is_new.then_some(place)
    }

    /// Returns whether no verdict will touch the value that ends here.
    fn is_right(&self, tool: &Tool, place: Place, text: &str) -> bool {
        let raw = text.get(self.from..self.at).unwrap_or("");
        strict(raw).is_ok_and(|tree| tool.schema().fits_at(place, tree.root(raw)))
    }

    /// Reads on in the string that goes out, as far as it is decided. A model that forgets or escapes the closing quote
    /// writes `"a}` or `"a\"}`: the text behind such signs tells.
    fn in_text(&mut self, place: Place, bytes: &[u8]) -> Result<Step, Incomplete> {
        while let Some(&byte) = bytes.get(self.at) {
            let (letter, len) = match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(Step::InValue(place, Inside::default()));
                }
                ..=0x1f => return Ok(Step::Over),
                b'\\' => match escape(&bytes[self.at..])? {
                    Some(Escape { len, letter: Some(letter) }) => (letter, len),
                    _ => return Ok(Step::Over),
                },
                byte => (char::from(byte), 1),
            };
            let waits = match letter {
                '"' | ',' | '}' | ']' => true,
                ' ' | ':' | '\n' | '\r' | '\t' => self.certain < self.at,
                _ => false,
            };
            self.at += len;
            if !waits {
                self.certain = self.at;
            }
        }
        Err(Incomplete)
    }
}

/// A place inside a JSON value, as far as quotes and brackets tell.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    /// The number of brackets that are open.
    depth: usize,
    in_string: bool,
}

impl Inside {
    /// Steps over `byte`, or the escape that it begins, and returns the length of the step; `None` if the value ended
    /// before it.
    fn step(&mut self, byte: u8) -> Option<usize> {
        match byte {
            b'\\' if self.in_string => return Some(2),
            b'"' => self.in_string = !self.in_string,
            _ if self.in_string => {}
            b'[' | b'{' => self.depth += 1,
            b',' | b']' | b'}' if self.depth == 0 => return None,
            b']' | b'}' => self.depth -= 1,
            _ => {}
        }
        Some(1)
    }
}
