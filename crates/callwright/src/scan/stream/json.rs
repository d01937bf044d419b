//! What of a call's arguments may go out before the verdict.
//!
//! In goes the argument text as it grows, out comes how much of it is certain. Certain is what only one reading is
//! left for: the text is strict JSON so far, every member is right, and a string is open where any string may stand, so
//! that all that can still come to it is more text, or its end. Of that string goes out what is decided: not a torn escape,
//! and nothing from the first bare quote on, which may end the string or be a part of it. Where a declared member follows
//! whose string may go out as well, the quote was the end. What follows the last such string waits for the verdict, so that
//! a call that is refused after all was never a whole one. The order of members is the model's.
//!
//! No byte is looked at twice, but for those of a torn escape and the first ones of the string.

use std::ops::Range;

use callwright_json::{Guide, Member, Place, strict};

use crate::syntax::Incomplete;
use crate::syntax::escape::{Escape, escape};
use crate::tools::Tool;

/// How far the arguments of one call are certain.
#[derive(Debug, Default)]
pub(in crate::scan) struct Live {
    step: Step,
    /// Everything before this place was looked at.
    at: usize,
    /// The opening bracket.
    start: usize,
    /// The member that is being read.
    member: Part,
    /// The declared members that were begun, one bit each.
    seen: u128,
    /// A run of punctuation at the end of the string so far. A model that forgets the quote that ends the string, or
    /// escapes it, writes `"a}` or `"a\"}`: whether it did is seen by what follows.
    doubtful: Option<usize>,
    /// An argument was read that is right, or the one that goes out has begun.
    is_sure: bool,
    /// What is certain ends here.
    certain: usize,
    /// What went out ends here; `None` before anything did.
    sent: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Step {
    /// Blanks in front of the object.
    #[default]
    Start,
    /// A key is to come.
    Key,
    /// Inside a key.
    InKey,
    /// A colon is to come.
    Colon,
    /// A value is to come.
    Value,
    /// Inside a value that has to be whole before it counts.
    InValue(Inside),
    /// Inside the string that goes out.
    Text,
    /// Behind a quote that may end it.
    BehindText,
    /// Nothing more is certain.
    Over,
}

/// Where a member stands.
#[derive(Debug, Default)]
struct Part {
    key: Range<usize>,
    /// The first byte of the value.
    value: usize,
    slot: u8,
    place: Option<Place>,
}

/// A place inside a value, as far as quotes and brackets tell.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scan) struct Inside {
    /// How many brackets are open.
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Live {
    /// Has anything gone out?
    pub(in crate::scan) fn is_begun(&self) -> bool {
        self.sent.is_some()
    }

    /// Is there more than a name and a key that say that this is a call?
    pub(super) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// All that went out of `text`.
    pub(in crate::scan) fn sent<'t>(&self, text: &'t str) -> &'t str {
        self.sent.and_then(|end| text.get(self.start..end)).unwrap_or("")
    }

    /// Looks at what `text`, the arguments for `tool`, has grown by; returns what may go out now, if anything may.
    pub(in crate::scan) fn advance<'t>(&mut self, tool: &Tool, text: &'t str) -> Option<&'t str> {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            self.step = match self.step {
                Step::Over => break,
                Step::Text => {
                    let step = self.text(bytes);
                    self.certain = self.doubtful.unwrap_or(self.at);
                    match step {
                        Step::Text => break,
                        Step::BehindText => self.at += 1,
                        _ => {}
                    }
                    step
                }
                step => self.next(step, byte, tool, text),
            };
        }
        self.release(text)
    }

    /// Goes over one byte, or stays where the next step has to look at it.
    fn next(&mut self, step: Step, byte: u8, tool: &Tool, text: &str) -> Step {
        let at = self.at;
        self.at += 1;
        match (step, byte) {
            (
                Step::Start | Step::Key | Step::Colon | Step::Value | Step::BehindText,
                b' ' | b'\t' | b'\n' | b'\r',
            ) => step,
            (Step::Start, b'{') if tool.schema().judges_members_alone() => {
                self.start = at;
                Step::Key
            }
            (Step::Key, b'"') => {
                self.member.key = at + 1..at + 1;
                Step::InKey
            }
            (Step::InKey, b'"') => {
                self.member.key.end = at;
                if self.declare(tool, text) { Step::Colon } else { Step::Over }
            }
            // A key with an escape has two spellings.
            (Step::InKey, byte) if byte != b'\\' && b' ' <= byte => Step::InKey,
            (Step::Colon, b':') => Step::Value,
            (Step::Value, byte) => {
                self.member.value = at;
                if byte == b'"' && self.takes_any_string(tool) {
                    self.is_sure = true;
                    self.doubtful = None;
                    self.certain = self.at;
                    return Step::Text;
                }
                self.at = at;
                Step::InValue(Inside::default())
            }
            (Step::InValue(inside), byte) => match inside.behind(byte) {
                Some(inside) => Step::InValue(inside),
                None if byte == b',' && self.is_right(tool, text, at) => {
                    self.is_sure = true;
                    Step::Key
                }
                None => Step::Over,
            },
            (Step::BehindText, b',') => Step::Key,
            (
                Step::Start
                | Step::Key
                | Step::InKey
                | Step::Colon
                | Step::Text
                | Step::BehindText
                | Step::Over,
                _,
            ) => Step::Over,
        }
    }

    /// Is the key that was read declared, and new?
    fn declare(&mut self, tool: &Tool, text: &str) -> bool {
        let guide = tool.schema().guide();
        let key = text.get(self.member.key.clone()).unwrap_or("");
        let Member::Declared(slot, place) = guide.member(guide.root(), key) else { return false };
        let is_new = self.seen & 1 << slot == 0;
        self.seen |= 1 << slot;
        self.member.slot = slot;
        self.member.place = Some(place);
        is_new
    }

    /// May the member that was begun be any string?
    fn takes_any_string(&self, tool: &Tool) -> bool {
        self.member.place.is_some_and(|place| tool.schema().takes_any_string(place))
    }

    /// Is the value that ends before `end` one that no verdict will touch?
    fn is_right(&self, tool: &Tool, text: &str, end: usize) -> bool {
        let raw = text.get(self.member.value..end).unwrap_or("");
        let (Ok(tree), Some(place)) = (strict(raw), self.member.place) else { return false };
        tool.schema().fits_at(place, tree.root(raw))
    }

    /// Goes on in the string that goes out, as far as it is decided.
    fn text(&mut self, bytes: &[u8]) -> Step {
        while let Some(&byte) = bytes.get(self.at) {
            let len = match byte {
                b'"' => return Step::BehindText,
                ..=0x1f => return Step::Over,
                b'\\' => match escape(&bytes[self.at..]) {
                    Ok(Some(Escape { len, letter: Some(_) })) => len,
                    Err(Incomplete) => return Step::Text,
                    Ok(_) => return Step::Over,
                },
                _ => 1,
            };
            match (byte, bytes.get(self.at + 1)) {
                (b',' | b'}' | b']', _) | (b'\\', Some(b'"')) => {
                    self.doubtful.get_or_insert(self.at);
                }
                (b' ' | b':', _) | (b'\\', Some(b'n' | b't' | b'r')) => {}
                _ => self.doubtful = None,
            }
            self.at += len;
        }
        Step::Text
    }

    /// Lets out what is certain and has not gone out yet.
    fn release<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let end = self.certain;
        let from = self.sent.unwrap_or(self.start);
        let piece = text.get(from..end).filter(|piece| !piece.is_empty())?;
        self.sent = Some(end);
        Some(piece)
    }
}

impl Inside {
    /// Is neither a string nor a bracket open?
    pub(in crate::scan) fn is_outermost(self) -> bool {
        self.depth == 0 && !self.in_string
    }

    /// The place behind `byte`; `None` where `byte` stands behind the value.
    pub(in crate::scan) fn behind(mut self, byte: u8) -> Option<Inside> {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return Some(self);
        }
        match byte {
            b',' | b'}' | b']' if self.depth == 0 => return None,
            b'"' => self.in_string = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        Some(self)
    }
}
