//! Looks ahead, cheaply, to tell whether the document can go on at a place. It may say yes too often, but
//! never no wrongly.

use super::token::literal;
use super::{Frame, NONE, Quote, Search, Shape, State};
use core::iter::once;
use core::ops::Range;

use crate::scan::string_stop;
use crate::spelling::sign;
use crate::{Kinds, Member, Place};

/// The place of a key: `at..end` with its quotes, `from..to` without them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    pub(super) at: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(crate) end: usize,
}

/// The reader finds no key longer than this.
const LONGEST_KEY: usize = 256;
/// The fuel for a search for a key at one place, besides one unit for each declared name.
const KEY: usize = 12;
/// A longer run of signs between a name and its neighbours did not slip in.
const MOST_SIGNS: usize = 3;
/// A longer run of signs did not slip in, in bytes.
const LONGEST_NOISE: usize = 6;

impl Search<'_, '_> {
    /// Returns whether a value may have ended right before `at`.
    pub(super) fn may_go_on(&self, s: &State, at: usize) -> bool {
        let next = self.peek_blank(at);
        let (Some((b, len)), Some(frame)) = (self.sign_at(next), self.frame(s)) else { return true };
        let on_next_line = || self.bytes[at..next].contains(&b'\n');
        match b {
            b'}' | b']' => true,
            // A parenthesis may stand for another bracket at the end of the text.
            b')' if frame.close == b')' || self.has_ancestor(frame, b')') => true,
            b')' => {
                let behind = self.peek_blank(next + len);
                match self.sign_at(behind) {
                    None | Some((b'}' | b']' | b')', _)) => true,
                    Some((b',', _)) => frame.parent != NONE,
                    Some(_) => self.marker_at(behind).is_some(),
                }
            }
            b',' | b';' => {
                let next = self.peek_blank(next + len);
                match self.sign_at(next) {
                    None | Some((b'}' | b']' | b')' | b',', _)) => true,
                    Some(_) if frame.is_object() => {
                        // The key may belong to the object around this one, whose bracket is missing.
                        self.key_at(s, next).is_some()
                            || self.declared_key(&State { frame: frame.parent, ..*s }, next)
                            || (frame.shape == Shape::Arguments && !matches!(b, b';'))
                    }
                    Some((first, _)) => self.may_begin(frame, next, first),
                }
            }
            // A comma is missing, or strings stand side by side.
            _ if self.quote_at(next).is_some() => {
                !frame.is_object() || on_next_line() || self.key_at(s, next).is_some()
            }
            // `{a: "x"⏎ b: "y"}`, `f(a="x" b=1)`
            _ if frame.is_object() && on_next_line() && self.key_at(s, next).is_some() => true,
            _ if frame.shape == Shape::Arguments && at < next && self.declared_key(s, next) => true,
            b'+' if self.joins(next) => true,
            _ if self.marker_at(next).is_some() => true,
            _ => self.stray_comma(s, next).is_some() || self.noise(s, next).is_some(),
        }
    }

    /// Returns whether a string follows the `+` at `at`.
    pub(super) fn joins(&self, at: usize) -> bool {
        self.quote_at(self.peek_blank(at + 1)).is_some()
    }

    /// Returns whether models often write the sign at `at` for a comma.
    pub(super) fn is_usual_comma(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), Some(b'.' | b'/' | b'&' | b'|'))
    }

    /// Returns the length of the sign at `at` that stands for a comma, before a key or a string: `"a"| "b"`.
    pub(super) fn stray_comma(&self, s: &State, at: usize) -> Option<usize> {
        let sign = self.text.get(at..)?.chars().next()?;
        let is_usual = self.is_usual_comma(at);
        let is_token = sign.is_whitespace() || "{}[](),;\"'`".contains(sign);
        let next = || self.peek_blank(at + sign.len_utf8());
        let is_stray = match self.frame(s).is_some_and(Frame::is_object) {
            true if is_usual => self.key_at(s, next()).is_some(),
            // Any other sign counts only before a declared key: `"a"e "b": 1`.
            true => !is_token && self.quote_at(next()).is_some() && self.declared_key(s, next()),
            false => is_usual && self.quote_at(next()).is_some(),
        };
        is_stray.then(|| sign.len_utf8())
    }

    /// Returns the end of the signs at `at`, behind a value, that belong to nothing: `"a"*, "b"`. Behind a
    /// number they may be part of it: `50%`.
    pub(super) fn noise(&self, s: &State, at: usize) -> Option<usize> {
        let end = at + self.signs_at(at)?;
        let is_of_number = self.bytes[..at].trim_ascii_end().last().is_some_and(u8::is_ascii_digit);
        let next = self.peek_blank(end);
        let goes_on = matches!(self.sign_at(next)?, (b',' | b'}' | b']', _)) && self.may_go_on(s, next);
        (goes_on && !is_of_number).then_some(end)
    }

    /// Returns the length of the signs at `at` that are no token and no part of one: no quotes, brackets,
    /// dots, commas or backslashes.
    pub(super) fn signs_at(&self, at: usize) -> Option<usize> {
        let is_sign =
            |c: char| !c.is_alphanumeric() && !c.is_whitespace() && !"{}[](),.:;\"'`\\…⋯".contains(c);
        let text = self.text.get(at..)?;
        let len = text.find(|c| !is_sign(c)).unwrap_or(text.len());
        (0 < len && len <= LONGEST_NOISE && super::mark(&self.bytes[at..]).is_none()).then_some(len)
    }

    /// Returns the byte at `at`, or the ASCII sign that is spelt there, and its length.
    pub(super) fn sign_at(&self, at: usize) -> Option<(u8, usize)> {
        sign(self.bytes.get(at..)?)
    }

    /// Returns the quote that opens at `at`, and its length.
    pub(super) fn quote_at(&self, at: usize) -> Option<(Quote, usize)> {
        Quote::opening(self.bytes.get(at..)?)
    }

    /// Returns whether the next element of the array `frame` may begin with `first`.
    pub(super) fn may_begin(&self, frame: &Frame, at: usize, first: u8) -> bool {
        let kinds = self.kinds(self.guide.element(frame.place, frame.count as usize + 1));
        match first {
            _ if self.quote_at(at).is_some() => kinds.has(Kinds::STRING),
            b'{' => kinds.has(Kinds::OBJECT),
            b'[' | b'(' => kinds.has(Kinds::ARRAY),
            b'-' | b'+' | b'.' | b'0'..=b'9' => kinds.meets(Kinds::NUMBER) || kinds.has(Kinds::STRING),
            _ => {
                let word = self.text.get(at..self.word_end(at)).unwrap_or("");
                self.noise_before(at, kinds).is_some()
                    || literal(word, kinds).is_some()
                    || first.is_ascii_alphabetic() && kinds.has(Kinds::STRING) && kinds != Kinds::ANY
            }
        }
    }

    /// Returns the key at `at`, if a colon or its like follows. Keys that the guide forbids do not count.
    pub(super) fn key_at(&self, s: &State, at: usize) -> Option<Key> {
        let frame = self.frame(s)?;
        self.key_in(frame.place, frame.used, at)
    }

    /// Returns the key at `at` in an object at `place` that has `used` some of its members.
    pub(super) fn key_in(&self, place: Place, used: u128, at: usize) -> Option<Key> {
        if let Some(all) = self.options.fuel {
            all.spend(KEY + self.guide.slots(place));
        }
        let plain = self.whole_key(at).filter(|key| self.is_key(place, *key));
        let is_sure = |key: &Key| self.is_declared(place, *key) && self.has_colon(key.end);
        plain
            .filter(is_sure)
            .or_else(|| self.anchored_key(place, used, at))
            .or(plain.map(|key| self.without_colon(key)))
            .or_else(|| self.torn_key(place, used, at))
    }

    /// Returns the meaning of `key` in an object at `place`.
    pub(super) fn member(&self, place: Place, key: Key) -> Member {
        self.guide.member(place, self.text.get(key.from..key.to).unwrap_or(""))
    }

    pub(super) fn is_declared(&self, place: Place, key: Key) -> bool {
        matches!(self.member(place, key), Member::Declared(..))
    }

    /// Returns whether a colon, or a sign for one, follows the text that ends at `end`.
    pub(super) fn has_colon(&self, end: usize) -> bool {
        self.colon_at(self.peek_blank(end)).is_some()
    }

    /// Returns the declared name behind a few signs at `at` and before a colon: `"title:" "x"`,
    /// `*title* = 1`.
    fn anchored_key(&self, place: Place, used: u128, at: usize) -> Option<Key> {
        let rest = self.text.get(at..)?;
        let unused = (0..self.guide.slots(place)).filter(|slot| used & (1 << slot) == 0);
        let mut names = unused.filter_map(|slot| self.guide.name(place, slot as u8));
        // Only a name that itself begins with a sign can begin before the end of the signs.
        let behind_signs = signs(rest).last()?;
        let first = rest.as_bytes().get(behind_signs);
        names.find_map(|name| {
            let open = match name.starts_with(char::is_alphanumeric) {
                // Few other names begin with the letter at this place.
                true if name.as_bytes().first() != first => None,
                true => Some(behind_signs).filter(|len| rest[*len..].starts_with(name)),
                false => signs(rest).find(|len| rest[*len..].starts_with(name)),
            }?;
            let (from, to) = (at + open, at + open + name.len());
            let behind = self.text.get(to..)?;
            let is_mark = |text: Option<&str>| text.is_some_and(|text| text.contains(['"', '\'']));
            let len = signs(behind).find(|len| {
                let colon = self.peek_blank(to + len);
                // Behind an unclosed quote a sign may belong to a text: `'a=1'`
                let is_torn = is_mark(rest.get(..open)) && !is_mark(behind.get(..*len));
                // `{"a="x"`
                let is_run_together =
                    || !self.begin.start.is_arguments() && self.bytes.get(colon..colon + 2) == Some(b"=\"");
                self.colon_at(colon).is_some()
                    && (!is_torn || self.bytes.get(colon) == Some(&b':') || is_run_together())
            })?;
            let end = to + len + if self.is_colon_inside(at..from, to + len) { 2 } else { 0 };
            Some(Key { at, from, to, end })
        })
    }

    /// Returns whether the colon at `at` stands before the closing quote of the key that `open` opens:
    /// `"title:" "x"`.
    fn is_colon_inside(&self, open: Range<usize>, at: usize) -> bool {
        let quote = self.bytes[open].iter().find(|b| matches!(b, b'"' | b'\''));
        let next = self.peek_blank(at + 2);
        quote.is_some() && self.bytes.get(at + 1) == quote && self.begins_value(next)
    }

    /// Returns `key`, of any name, without a colon that its quotes enclose and that does not follow them:
    /// `"a:" 1`.
    fn without_colon(&self, key: Key) -> Key {
        let is_inside = key.from + 1 < key.to
            && key.to < key.end
            && self.bytes[key.to - 1] == b':'
            && !self.has_colon(key.end);
        Key { to: key.to - usize::from(is_inside), ..key }
    }

    /// Returns the name behind a quote at `at` that ends at a quote of another sort, or at none.
    fn torn_key(&self, place: Place, used: u128, at: usize) -> Option<Key> {
        let (_, len) = self.quote_at(at)?;
        let from = at + len;
        let to = self.word_end(from);
        let close = super::mark(&self.bytes[to..]).unwrap_or(0);
        // A name without its closing quote may be a text with a sign in it: `'base=6'`
        let is_closed = 0 < close && self.has_colon(to + close);
        let end = if is_closed { to + close } else { to };
        let key = Key { at, from, to, end };
        let fits = match self.member(place, key) {
            Member::Declared(slot, _) => used & (1 << slot) == 0,
            Member::Open(_) => self.guide.name(place, 0).is_none(),
            Member::Forbidden => false,
        };
        let is_key = is_closed || self.bytes.get(self.peek_blank(to)) == Some(&b':');
        (from < to && fits && is_key).then_some(key)
    }

    /// Returns the name that begins at `at`, in quotes of any sort or none.
    pub(crate) fn whole_key(&self, at: usize) -> Option<Key> {
        let rest = self.text.get(at..)?;
        if let Some((quote, len)) = self.quote_at(at) {
            let from = at + len;
            let (to, end) = self.key_end(from, quote)?;
            // `'k'': 1`. Only single quotes: the second of other quotes may begin a text.
            let is_twice =
                quote == Quote::SINGLE && self.bytes.get(end) == Some(&b'\'') && self.has_colon(end + 1);
            return Some(Key { at, from, to, end: end + usize::from(is_twice) });
        }
        if !rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$' | '@')) {
            return None;
        }
        let end = self.word_end(at + 1);
        // `n+=5`
        let is_operator = |byte: &&u8| matches!(byte, b'+' | b'-' | b'.');
        let to = end - self.bytes[at + 1..end].iter().rev().take_while(is_operator).count();
        let is_quoted = matches!(self.bytes.get(to), Some(b'"' | b'\''));
        Some(Key { at, from: at, to, end: to + usize::from(is_quoted) })
    }

    /// Returns whether `key`, with the text behind it, may stand in an object at `place`.
    fn is_key(&self, place: Place, key: Key) -> bool {
        let member = self.member(place, key);
        // A key without a proper colon counts only if it is declared, or if nothing is.
        let may_lack_it = || {
            let is_known = matches!(member, Member::Declared(..)) || self.guide.name(place, 0).is_none();
            let at = self.peek_blank(key.end);
            let is_quoted = key.from < key.to && key.to < key.end;
            is_known && is_quoted && (self.begins_value(at) || self.stray_colon(at).is_some())
        };
        member != Member::Forbidden && (self.has_colon(key.end) || may_lack_it())
    }

    /// Returns whether the byte at `at` may begin a value.
    fn begins_value(&self, at: usize) -> bool {
        self.bytes.get(at).is_some_and(|b| b"\"'{[-tfn".contains(b) || b.is_ascii_digit())
    }

    /// Returns the end of the sign at `at` that stands for a colon before a value: `"a"_ 1`.
    pub(super) fn stray_colon(&self, at: usize) -> Option<usize> {
        let sign = self.text.get(at..)?.chars().next()?;
        let is_token = sign.is_whitespace() || sign.is_ascii_digit() || "{}[](),:;\"'`".contains(sign);
        let end = at + sign.len_utf8();
        let next = self.peek_blank(end);
        // A letter that no blank follows begins a word.
        let is_apart = !sign.is_alphanumeric() || end < next;
        let is_value = || self.bytes.get(next).is_some_and(|b| b"\"'{[-".contains(b) || b.is_ascii_digit());
        (!is_token && is_apart && !self.begins_value(at) && is_value()).then_some(end)
    }

    /// Returns the place of the closing quote of the key whose text begins at `from`, and the quote's end.
    fn key_end(&self, from: usize, quote: Quote) -> Option<(usize, usize)> {
        let window = &self.bytes[..self.bytes.len().min(from + LONGEST_KEY)];
        let mut at = from;
        loop {
            at = string_stop(window, at, quote.lead());
            let rest = window.get(at..)?;
            match (quote.closing(rest), rest.first()?) {
                (Some(len), _) => return Some((at, at + len)),
                (None, b'\\') => at += 2,
                // The character shares only its first byte with the quote.
                (None, 0x80..) => at += 1,
                (None, _) => return None,
            }
        }
    }
}

/// Returns the lengths of the runs of signs at the start of `text`, shortest first. Brackets and commas are
/// no such signs.
fn signs(text: &str) -> impl Iterator<Item = usize> {
    let mut count = 0;
    let run = text.char_indices().take(LONGEST_KEY).take_while(move |(_, c)| {
        count += usize::from(!c.is_whitespace());
        !c.is_alphanumeric() && !"{}[](),".contains(*c) && count <= MOST_SIGNS
    });
    once(0).chain(run.map(|(at, c)| at + c.len_utf8()))
}
