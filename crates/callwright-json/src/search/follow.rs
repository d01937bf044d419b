//! Can the document go on here? A cheap look ahead that may say yes too often, but never no wrongly.

use super::{Frame, Search, Shape, State};
use crate::scan::string_stop;
use crate::{Kinds, Member};

/// Where a key stands: its wrapping at `at..end`, its name at `from..to`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) at: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) end: usize,
}

/// A key longer than this is not looked for.
const LONGEST_KEY: usize = 256;

impl Search<'_, '_> {
    /// May a value have ended right before `at`?
    pub(super) fn may_go_on(&self, s: &State, at: usize) -> bool {
        let frame = self.frame(s);
        let next = self.peek_blank(at);
        let Some(&b) = self.bytes.get(next) else { return true };
        let Some(frame) = frame else { return true };
        match b {
            b'}' | b']' => true,
            b')' => true,
            b',' | b';' => {
                let next = self.peek_blank(next + 1);
                match self.bytes.get(next) {
                    None | Some(b'}' | b']' | b')' | b',') => true,
                    Some(_) if frame.is_object() => {
                        self.key_at(s, next).is_some()
                            || (frame.shape == Shape::Arguments && !matches!(b, b';'))
                    }
                    Some(&first) => self.may_begin(s, next, first),
                }
            }
            b'`' if self.is_fence(next) => true,
            b'"' | b'\'' | b'`' => {
                // A comma is missing, or strings stand side by side.
                if frame.is_object() { self.key_at(s, next).is_some() } else { true }
            }
            b'+' => matches!(self.bytes.get(self.peek_blank(next + 1)), Some(b'"' | b'\'')),
            b'<' => self.at_tag(next),
            0xef | 0xe2 => true,
            _ if next > at => frame.is_object() && self.key_at(s, next).is_some() || self.is_fence(next),
            _ => self.is_fence(next),
        }
    }

    pub(super) fn is_fence(&self, at: usize) -> bool {
        self.bytes.get(at..at + 3) == Some(b"```")
    }

    /// May an element of the array that `s` stands in begin with `first`?
    fn may_begin(&self, s: &State, at: usize, first: u8) -> bool {
        let place = self
            .frame(s)
            .map_or_else(|| self.place(s), |f| self.guide.element(f.place, f.count as usize + 1));
        let kinds = self.kinds(place);
        match first {
            b'"' | b'\'' | b'`' | 0xe2 => kinds.has(Kinds::STRING),
            b'{' => kinds.has(Kinds::OBJECT),
            b'[' | b'(' => kinds.has(Kinds::ARRAY),
            b'-' | b'+' | b'.' | b'0'..=b'9' => kinds.meets(Kinds::NUMBER) || kinds.has(Kinds::STRING),
            _ => {
                first.is_ascii_alphabetic()
                    && (self.literal_at(at, kinds) || kinds.has(Kinds::STRING) && kinds != Kinds::ANY)
            }
        }
    }

    fn literal_at(&self, at: usize, kinds: Kinds) -> bool {
        let word = self.text.get(at..self.word_end(at)).unwrap_or("");
        match word {
            "true" | "false" | "True" | "False" => kinds.has(Kinds::BOOL),
            "null" | "None" => kinds.has(Kinds::NULL),
            _ => false,
        }
    }

    /// The key that begins at `at` and is followed by a colon or its like. A key that the guide forbids is none.
    pub(super) fn key_at(&self, s: &State, at: usize) -> Option<Key> {
        let frame = self.frame(s)?;
        let whole = self.whole_key(at);
        let odd = || self.odd_key(frame, at).filter(|odd| whole.is_none_or(|whole| whole.to < odd.to));
        if let Some(key) = odd().into_iter().chain(whole).find(|key| self.is_key(frame, *key)) {
            return Some(key);
        }
        // The closing quote is lost: `"radius: 10`. Only a colon right behind a name that fits tells.
        if !matches!(self.bytes.get(at), Some(b'"' | b'\'')) {
            return None;
        }
        let to = self.word_end(at + 1);
        let name = self.text.get(at + 1..to).filter(|name| !name.is_empty())?;
        let fits = match self.guide.member(frame.place, name) {
            Member::Declared(slot, _) => frame.used & (1 << slot) == 0,
            Member::Open(_) => self.guide.name(frame.place, 0).is_none(),
            Member::Forbidden => false,
        };
        let colon = self.bytes.get(self.peek_blank(to)) == Some(&b':');
        (fits && colon).then_some(Key { at, from: at + 1, to, end: to })
    }

    /// The declared name at `at` that is no word of letters, without quotes: `@id: 1`, `unit/price=2`.
    fn odd_key(&self, frame: &Frame, at: usize) -> Option<Key> {
        let rest = self.text.get(at..).filter(|rest| !rest.starts_with('"'))?;
        let names = (0..=u8::MAX).map_while(|slot| self.guide.name(frame.place, slot));
        let fitting = names.filter(|name| !name.is_empty() && rest.starts_with(*name));
        let name = fitting.max_by_key(|name| name.len())?;
        let to = at + name.len();
        Some(Key { at, from: at, to, end: to })
    }

    /// The name that begins at `at`, in quotes of any sort or none.
    fn whole_key(&self, at: usize) -> Option<Key> {
        let (from, to, end) = match *self.bytes.get(at)? {
            quote @ (b'"' | b'\'' | b'`') => {
                let to = self.key_end(at + 1, quote)?;
                (at + 1, to, to + 1)
            }
            0xe2 => {
                let body = at + 3;
                let rest = self.bytes.get(body..(body + LONGEST_KEY).min(self.bytes.len()))?;
                let len = rest.iter().position(|&b| b == 0xe2 || b == b'"')?;
                let close = if rest[len] == b'"' { 1 } else { 3 };
                (body, body + len, body + len + close)
            }
            _ if self.text.get(at..)?.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$')) => {
                let to = self.word_end(at);
                let quoted = matches!(self.bytes.get(to), Some(b'"' | b'\''));
                (at, to, to + usize::from(quoted))
            }
            _ => return None,
        };
        Some(Key { at, from, to, end })
    }

    /// May `key` stand in `frame`, with what follows it?
    fn is_key(&self, frame: &Frame, key: Key) -> bool {
        let Some(name) = self.text.get(key.from..key.to) else { return false };
        let member = self.guide.member(frame.place, name);
        let follows = match self.bytes.get(self.peek_blank(key.end)..).unwrap_or(&[]) {
            [b':', ..] | [0xef, 0xbc, 0x9a, ..] => true,
            [b'=', b'=', ..] => false,
            [b'=', ..] => true,
            // The colon is missing: believed only where the key is declared, or nothing is.
            [b'"' | b'\'' | b'{' | b'[' | b'0'..=b'9' | b'-' | b't' | b'f' | b'n', ..]
                if key.end > key.to && key.to > key.from =>
            {
                matches!(member, Member::Declared(..)) || self.guide.name(frame.place, 0).is_none()
            }
            _ => false,
        };
        follows && member != Member::Forbidden
    }

    /// Where the quoted key whose text begins at `from` is closed.
    fn key_end(&self, from: usize, quote: u8) -> Option<usize> {
        let window = &self.bytes[..self.bytes.len().min(from + LONGEST_KEY)];
        let mut at = from;
        loop {
            at = string_stop(window, at, quote);
            match *window.get(at)? {
                b'\\' => at += 2,
                b if b == quote => return Some(at),
                _ => return None,
            }
        }
    }
}
