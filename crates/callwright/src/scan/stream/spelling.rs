//! The languages in which the arguments of a call are spelt, as far as what goes out before its verdict needs them: what
//! begins and ends a text, where a value ends, and the JSON of what was read.

use std::borrow::Cow;
use std::sync::Arc;

use callwright_json::{Class, Guide, Options, quote};

use crate::payload::{self, relaxed};
use crate::syntax::{Incomplete, Seen};

/// The language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::scan) enum Spelling {
    /// Strict JSON.
    #[default]
    Json,
    /// Keyword arguments of a call expression.
    Call,
    /// Bare keys, and strings between two of these marks.
    Marks(Arc<str>),
}

/// What ends a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    /// One quote.
    Quote(u8),
    /// Three of them.
    Triple(u8),
    /// The mark.
    Mark,
}

/// A place inside a value, as far as quotes and brackets tell.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scan) struct Inside {
    /// How many brackets are open.
    depth: usize,
    text: Option<Delimiter>,
}

impl Inside {
    /// Is neither a string nor a bracket open?
    pub(in crate::scan) fn is_outermost(self) -> bool {
        self.depth == 0 && self.text.is_none()
    }

    /// The place behind what stands at `at`, and where that is; `None` where the value has ended, or is none. What is
    /// spelt began at `start`.
    pub(in crate::scan) fn behind(
        mut self,
        spelling: &Spelling,
        text: &str,
        start: usize,
        at: usize,
    ) -> Seen<(Inside, usize)> {
        let bytes = text.as_bytes();
        let byte = *bytes.get(at).ok_or(Incomplete)?;
        if let Some(delimiter) = self.text {
            let len = match spelling.closing(delimiter, bytes, at)? {
                None if byte == b'\\' && delimiter != Delimiter::Mark => 2,
                None => 1,
                Some(len) => {
                    self.text = None;
                    len
                }
            };
            return Ok(Some((self, at + len)));
        }
        match byte {
            b',' if self.depth == 0 => return Ok(None),
            b'(' | b')' if *spelling == Spelling::Json => {}
            b'(' | b'[' | b'{' => self.depth += 1,
            b')' | b']' | b'}' if self.depth == 0 => return Ok(None),
            b')' | b']' | b'}' => self.depth -= 1,
            _ => match spelling.opening(bytes, at)? {
                // `{a:x<|"|>,`: it ends a text whose first mark is missing.
                Some((Delimiter::Mark, _)) if !relaxed::may_open(text.get(start..at).unwrap_or("")) => {
                    return Ok(None);
                }
                Some((delimiter, from)) => {
                    self.text = Some(delimiter);
                    return Ok(Some((self, from)));
                }
                None => {}
            },
        }
        Ok(Some((self, at + 1)))
    }
}

impl Spelling {
    /// What ends the text that begins at `at`, and the place behind its opening mark.
    pub(super) fn opening(&self, bytes: &[u8], at: usize) -> Seen<(Delimiter, usize)> {
        let rest = bytes.get(at..).unwrap_or(&[]);
        match (self, rest) {
            (Spelling::Json, [b'"', ..]) => Ok(Some((Delimiter::Quote(b'"'), at + 1))),
            (Spelling::Marks(mark), _) if rest.starts_with(mark.as_bytes()) => {
                Ok(Some((Delimiter::Mark, at + mark.len())))
            }
            (Spelling::Marks(mark), _) if mark.as_bytes().starts_with(rest) => Err(Incomplete),
            (Spelling::Call, [quote @ (b'"' | b'\''), behind @ ..]) => match behind {
                [first, second, ..] if first == quote && second == quote => {
                    Ok(Some((Delimiter::Triple(*quote), at + 3)))
                }
                [first] if first == quote => Err(Incomplete),
                [] => Err(Incomplete),
                // One of no length, too.
                _ => Ok(Some((Delimiter::Quote(*quote), at + 1))),
            },
            (Spelling::Json | Spelling::Marks(_) | Spelling::Call, _) => Ok(None),
        }
    }

    /// The length of what ends a text at `at`.
    pub(super) fn closing(&self, delimiter: Delimiter, bytes: &[u8], at: usize) -> Seen<usize> {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let triple;
        let mark: &[u8] = match (delimiter, self) {
            (Delimiter::Quote(quote), _) => return Ok((rest.first() == Some(&quote)).then_some(1)),
            (Delimiter::Triple(quote), _) => {
                triple = [quote; 3];
                &triple
            }
            (Delimiter::Mark, Spelling::Marks(mark)) => mark.as_bytes(),
            (Delimiter::Mark, Spelling::Json | Spelling::Call) => return Ok(None),
        };
        match rest.starts_with(mark) {
            false if !rest.is_empty() && mark.starts_with(rest) => Err(Incomplete),
            is_it => Ok(is_it.then_some(mark.len())),
        }
    }

    /// The JSON of the arguments whose beginning is `source`, as the verdict's reader has it; with `is_open`, an empty
    /// text is its last value. `None` for what is JSON as it stands.
    pub(super) fn json_of(&self, source: &str, is_open: bool, guide: &impl Guide) -> Option<String> {
        match self {
            Spelling::Json => None,
            Spelling::Call => {
                let source = format!("{source}{})", if is_open { "''" } else { "" });
                let read = payload::read_arguments_at(&source, 0, guide, Options::default());
                // What had to be inferred may be inferred in another way once more is there.
                let reading =
                    payload::settled_object(&read.parse).filter(|r| r.class() <= Class::Lossless)?;
                Some(reading.value().raw().to_owned())
            }
            Spelling::Marks(mark) => {
                let text = if is_open { [&**mark, mark].concat() } else { String::new() };
                let spelt = relaxed::json_like(&format!("{source}{text}}}"), mark, &|_| false)?;
                let read = payload::read_json_at(&spelt.json, 0, guide, Options::default());
                Some(payload::settled_object(&read.parse)?.value().raw().to_owned())
            }
        }
    }

    /// A piece of a text as the inside of a string of JSON.
    pub(super) fn inside_of<'p>(&self, piece: &'p str) -> Cow<'p, str> {
        match self {
            Spelling::Json => Cow::Borrowed(piece),
            Spelling::Marks(_) => Cow::Owned(inside(&quote(piece)).to_owned()),
            Spelling::Call => {
                let mut json = String::with_capacity(piece.len());
                let mut chars = piece.chars();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => json.push_str("\\\""),
                        '\n' => json.push_str("\\n"),
                        '\r' => json.push_str("\\r"),
                        '\t' => json.push_str("\\t"),
                        // What is no escape of JSON is not let out, but for `\'`.
                        '\\' => match chars.next() {
                            Some('\'') | None => json.push('\''),
                            Some(c) => json.extend(['\\', c]),
                        },
                        c => json.push(c),
                    }
                }
                Cow::Owned(json)
            }
        }
    }
}

/// What stands between the quotes of `json`.
pub(super) fn inside(json: &str) -> &str {
    json.get(1..json.len() - 1).unwrap_or("")
}
