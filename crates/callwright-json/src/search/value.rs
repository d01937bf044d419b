//! Values: which sort begins here, and the way into it.

use super::{Quote, Search, Shape, State};
use crate::scan::skip_space;
use crate::{Kinds, RepairKind, Span};

impl Search<'_, '_> {
    pub(super) fn value(&mut self, s: State) -> Option<State> {
        let start = skip_space(self.bytes, s.at as usize);
        let place = self.place(&s);
        if let Some(b'/' | b'#') = self.bytes.get(start)
            && self.kinds(place).has(Kinds::STRING)
        {
            // What looks like a comment may be a text whose opening quote is lost: `"code": // x", …`
            let fork = self.open_bare_string(State { at: start as u32, ..s });
            self.heap.push(fork);
        }
        let s = self.blank(s);
        let at = s.at as usize;
        let Some(&b) = self.bytes.get(at) else { return self.out_of_text(s) };
        let kinds = self.kinds(self.place(&s));
        match b {
            b'{' if kinds.has(Kinds::OBJECT) => {
                let s = self.push_frame(s, Shape::Object, b'}')?;
                Some(State { at: s.at + 1, ..s })
            }
            b'[' if kinds.has(Kinds::ARRAY) => {
                let s = self.push_frame(s, Shape::Array, b']')?;
                Some(State { at: s.at + 1, ..s })
            }
            b'(' if kinds.has(Kinds::ARRAY) => {
                let s = self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + 1), "[");
                let s = self.push_frame(s, Shape::Array, b')')?;
                Some(State { at: s.at + 1, ..s })
            }
            b']' | b')' | b'}' if self.frame(&s).is_some_and(|f| !f.is_object()) => self.closer(s, b),
            b',' if self.frame(&s).is_some_and(|f| !f.is_object()) => self.drop_extra_comma(s),
            _ if self.at_marker(at) => self.out_of_text(s),
            0xef => {
                let (json, len) = wide(&self.bytes[at..])?;
                let shape = match json {
                    b'{' => Shape::Object,
                    b'[' => Shape::Array,
                    _ => return None,
                };
                let (put, close) = if json == b'{' { ("{", b'}') } else { ("[", b']') };
                let s = self.edit(s, RepairKind::SwapPunctuation, Span::new(at, at + len), put);
                let s = self.push_frame(s, shape, close)?;
                Some(State { at: s.at + len as u32, ..s })
            }
            _ => match Quote::opening(&self.bytes[at..]) {
                Some((quote, len)) => self.quoted(s, quote, len),
                None => {
                    let s = self.string_prefix(s);
                    match Quote::opening(&self.bytes[s.at as usize..]) {
                        Some((quote, len)) if s.at as usize > at => self.open_string(s, quote, len),
                        _ => self.bare_value(s),
                    }
                }
            },
        }
    }

    /// A string value; three quotes in a row may be one opening quote or three.
    fn quoted(&mut self, s: State, quote: Quote, len: usize) -> Option<State> {
        let at = s.at as usize;
        let triple = match self.bytes.get(at..at + 3) {
            Some(b"\"\"\"") => Some(Quote::TripleDouble),
            Some(b"'''") => Some(Quote::TripleSingle),
            _ => None,
        };
        if let Some(triple) = triple
            && let Some(fork) = self.open_string(s, triple, 3)
        {
            self.heap.push(fork);
        }
        self.open_string(s, quote, len)
    }

    /// Passes over the `u` or `b` in front of a Python string: `u'a'`.
    fn string_prefix(&mut self, s: State) -> State {
        let at = s.at as usize;
        match self.bytes.get(at..at + 2) {
            Some([b'u' | b'U' | b'b', b'"' | b'\'']) => {
                let s = self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + 1), "");
                State { at: s.at + 1, ..s }
            }
            _ => s,
        }
    }
}

/// The ASCII form of the full-width punctuation at the start of `bytes`, and its length.
pub(super) fn wide(bytes: &[u8]) -> Option<(u8, usize)> {
    let ascii = match bytes.get(..3)? {
        [0xef, 0xbc, 0x8c] => b',',
        [0xef, 0xbc, 0x9a] => b':',
        [0xef, 0xbd, 0x9b] => b'{',
        [0xef, 0xbd, 0x9d] => b'}',
        [0xef, 0xbc, 0xbb] => b'[',
        [0xef, 0xbc, 0xbd] => b']',
        _ => return None,
    };
    Some((ascii, 3))
}
