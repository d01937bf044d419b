//! Reads values: finds the sort that begins at a place, and enters it.

use alloc::string::String;
use alloc::vec::Vec;

use super::cost::APOSTROPHE;
use super::follow::Key;
use super::{DOUBTFUL, Frame, Last, NONE, Quote, Search, Shape, State, Step};
use crate::layers::{characters, escape};
use crate::scan::skip_space;
use crate::{Kinds, Problem, RepairKind, Span, python, quote, strict_end};

/// Other signs for a minus.
const MINUS: [char; 5] = ['-', '−', '–', '－', '﹣'];

/// The effect of a sign before a value.
enum Opener {
    /// The sign opens a container.
    Container(Shape),
    /// The sign opens an object, and stands for a curly bracket.
    Swapped,
    /// The sign opens the list around it once more.
    Again(Frame),
    /// The sign encloses one value, which the given sign ends.
    Group(u8),
}

impl Search<'_, '_> {
    /// Reads a value, or enters one, at or behind `s.at`.
    pub(super) fn value(&mut self, s: State) -> Option<State> {
        let kinds = self.kinds(self.place(&s));
        self.comment_as_text(s, kinds);
        let s = self.blank(s);
        let at = s.at as usize;
        let Some((b, len)) = self.sign_at(at) else { return self.out_of_text(s) };
        if len == 1 && may_open(b, kinds) {
            match escaped(self.text, at) {
                Ok((inner, end)) => {
                    return Some(behind(self.replace(s, RepairKind::Unwrap, end, inner), at));
                }
                Err(looked) => self.fuel -= (looked - at) as i64,
            }
        }
        self.lost_opener(s, kinds, b);
        match b {
            b'{' | b'[' | b'(' | b'"' if let Some(opener) = self.opener(&s, b, len, kinds) => {
                self.enter(s, opener, b, len)
            }
            b']' | b')' | b'}' if let Some(frame) = self.frame(&s).filter(|f| !f.is_object()) => {
                // The bracket may be text whose opening quote is missing: `[), "x"]`
                if b != frame.close && kinds.has(Kinds::STRING) {
                    let quoted = self.open_bare_string(s, Quote::DOUBLE);
                    self.fork(quoted);
                }
                self.closer(s, b, len)
            }
            b',' if self.frame(&s).is_some_and(|f| !f.is_object()) => self.drop_extra_comma(s, len),
            b'`' if let Some(inner) = self.fenced(at, kinds) => {
                self.group(s, RepairKind::DropFence, inner, b'`')
            }
            _ if self.marker_at(at).is_some() => self.out_of_text(s),
            _ if let Some(digits) = self.behind_minus(at, kinds) => {
                let s = self.replace(s, RepairKind::SwapLiteral, digits, "-");
                self.bare_value(s)
            }
            _ if let Some(behind) = self.noise_before(at, kinds) => {
                let fork = self.replace(s, RepairKind::DropNoise, behind, "");
                self.fork(fork);
                self.bare_value(s)
            }
            _ if let Some((quote, len)) = self.quote_at(at) => self.quoted(s, quote, len),
            _ if let Some(inner) = self.constructor(&s, at).filter(|_| kinds != Kinds::ANY) => {
                // `print("x")` may be a text without quotes.
                let doubt = if kinds.has(Kinds::STRING) { DOUBTFUL } else { 0 };
                let named = State { habits: s.habits | doubt, ..s };
                let group = self.group(named, RepairKind::SwapSyntax, inner, b')');
                self.fork(group);
                self.bare_value(s)
            }
            _ => match python::prefix(self.bytes, at) {
                0 => self.bare_value(s),
                len => self.prefixed(s, len),
            },
        }
    }

    /// Forks where a text that looks like a comment may begin, as its opening quote is lost:
    /// `"code": // x", …`
    fn comment_as_text(&mut self, s: State, kinds: Kinds) {
        let start = skip_space(self.bytes, s.at as usize);
        if !matches!(self.bytes.get(start), Some(b'/' | b'#')) || !kinds.has(Kinds::STRING) {
            return;
        }
        let here = State { at: start as u32, ..s };
        let fork = self.open_bare_string(here, Quote::DOUBLE);
        self.fork(fork);
        if let Some(behind) = self.noise_before(start, kinds) {
            let fork = self.replace(here, RepairKind::DropNoise, behind, "");
            self.fork(fork);
        }
    }

    /// Decides the effect of the sign `b` at `s.at`, `len` bytes long, before a value of one of these
    /// `kinds`.
    fn opener(&mut self, s: &State, b: u8, len: usize, kinds: Kinds) -> Option<Opener> {
        let behind = s.at as usize + len;
        let group = |close: u8| Some(Opener::Group(close));
        match b {
            b'{' if kinds.has(Kinds::OBJECT) => Some(Opener::Container(Shape::Object)),
            b'[' if kinds.has(Kinds::ARRAY) => Some(Opener::Container(Shape::Array)),
            b'[' if kinds.has(Kinds::OBJECT) && self.first_key(s, behind).is_some() => Some(Opener::Swapped),
            b'(' if self.strict_quotes && python::is_group(self.bytes, s.at as usize) => group(b')'),
            // Python writes a long text so: `("a" "b")`
            b'(' if kinds.has(Kinds::STRING) && self.parenthesizes_text(behind) => group(b')'),
            b'(' if kinds.has(Kinds::OBJECT) && self.first_key(s, behind).is_some() => {
                Some(Opener::Container(Shape::Object))
            }
            b'(' if kinds.has(Kinds::ARRAY) => Some(Opener::Container(Shape::Array)),
            b'[' if let Some(frame) = self.frame(s).filter(|f| f.shape == Shape::Array && !f.doubled) => {
                Some(Opener::Again(*frame))
            }
            // The list holds one object where the object itself was wanted.
            b'[' if s.frame == NONE && kinds.has(Kinds::OBJECT) => group(b']'),
            // The value was put into quotes without escapes: `"{"a": 1}"`
            b'"' if !kinds.has(Kinds::STRING) && self.opens_at(self.peek_blank(s.at as usize + 1), kinds) => {
                group(b'"')
            }
            // A set of Python: `{'a', 'b'}`
            b'{' if kinds.has(Kinds::ARRAY)
                && !matches!(self.sign_at(self.peek_blank(behind)), None | Some((b'}', _))) =>
            {
                Some(Opener::Container(Shape::Array))
            }
            _ => None,
        }
    }

    /// Enters the container or group that the sign `b` at `s.at`, `len` bytes long, opens.
    fn enter(&mut self, s: State, opener: Opener, b: u8, len: usize) -> Option<State> {
        let behind = s.at as usize + len;
        match opener {
            Opener::Container(shape) => self.open(s, shape, b, len),
            Opener::Swapped => {
                let s = self.replace(s, RepairKind::SwapBracket, behind, "{");
                self.push_frame(s, Shape::Object, b'}')
            }
            Opener::Again(frame) => {
                let s = self.replace(s, RepairKind::DropOpener, behind, "");
                Some(self.with_frame(s, Frame { doubled: true, ..frame }))
            }
            Opener::Group(close) => self.group(s, RepairKind::SwapSyntax, behind, close),
        }
    }

    /// Enters the container whose opening bracket stands at `s.at`: `bracket`, or `len` bytes for it.
    pub(super) fn open(&mut self, s: State, shape: Shape, bracket: u8, len: usize) -> Option<State> {
        let end = s.at as usize + len;
        let (close, put) = match bracket {
            b'{' => (b'}', "{"),
            b'[' => (b']', "["),
            _ => (b')', "("),
        };
        let json = if shape == Shape::Object { "{" } else { "[" };
        let s = match shape.swap(json == put, len) {
            // Its closing bracket is swapped as well.
            Some(kind) => self.replace(s, kind, end, json),
            None => State { at: end as u32, ..s },
        };
        self.push_frame(s, shape, close)
    }

    /// Forks where the value at `s.at` may be the first in an object or list that lost its opening bracket:
    /// `"to": "name": "x"}`.
    fn lost_opener(&mut self, s: State, kinds: Kinds, first: u8) {
        let at = s.at as usize;
        // Nothing stands before an argument without a name that could have lost a bracket.
        let is_apart = self.frame(&s).is_none_or(|frame| frame.shape == Shape::Arguments && !frame.is_named);
        if is_apart || matches!(first, b'[' | b'(') {
            return;
        }
        let place = self.place(&s);
        let is_member = kinds.has(Kinds::OBJECT)
            && match kinds.has(Kinds::STRING) {
                // Where a string may stand, only a declared name in quotes proves an object.
                true => {
                    let is_sure = |key: Key| self.is_declared(place, key) && self.has_colon(key.end);
                    first == b'"' && self.first_key(&s, at).is_some_and(is_sure)
                }
                false => self.guide.name(place, 0).is_some() && self.first_key(&s, at).is_some(),
            };
        let (shape, close, put) = match first {
            _ if is_member => (Shape::Object, b'}', "{"),
            b'"' | b'{' | b']' | b'-' | b'0'..=b'9' | b'n' if kinds == Kinds::ARRAY => {
                (Shape::Array, b']', "[")
            }
            _ => return,
        };
        let s = self.replace(s, RepairKind::AddOpener, at, put);
        let s = self.push_frame(s, shape, close);
        self.fork(s);
    }

    /// Enters the wrapping around one value: it stands before `end`, and `close` ends it.
    pub(super) fn group(&mut self, s: State, kind: RepairKind, end: usize, close: u8) -> Option<State> {
        let s = self.replace(s, kind, end, "");
        self.push_frame(s, Shape::Group, close)
    }

    /// Returns whether an object or a list of one of these `kinds` begins at `at`.
    fn opens_at(&self, at: usize, kinds: Kinds) -> bool {
        self.bytes.get(at).is_some_and(|b| may_open(*b, kinds))
    }

    /// Returns the first key of an object that may begin at or behind `at`: `("a": 1)`.
    fn first_key(&self, s: &State, at: usize) -> Option<Key> {
        self.key_in(self.place(s), 0, self.peek_blank(at))
    }

    /// Returns whether the parentheses that open before `at` hold only strings, side by side or joined by a
    /// plus.
    fn parenthesizes_text(&mut self, mut at: usize) -> bool {
        let from = at;
        let mut is_text = false;
        while let Some(end) = python::string(self.bytes, skip_space(self.bytes, at)) {
            let next = skip_space(self.bytes, end);
            is_text = self.bytes.get(next) == Some(&b')');
            at = if self.bytes.get(next) == Some(&b'+') { next + 1 } else { next };
        }
        self.fuel -= (at - from) as i64;
        is_text
    }

    /// Returns the start of the object or list of one of these `kinds` in a fence of its own, which opens at
    /// `at`: ``{"a": ```json⏎{}⏎```}``
    fn fenced(&self, at: usize, kinds: Kinds) -> Option<usize> {
        let behind = self.bytes.get(at..)?.strip_prefix(b"```")?;
        let label = behind.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let inner = skip_space(self.bytes, at + 3 + label);
        self.opens_at(inner, kinds).then_some(inner)
    }

    /// Returns the end of the signs at `at` before a value of one of these `kinds`: `"a": * "x"`.
    pub(super) fn noise_before(&self, at: usize, kinds: Kinds) -> Option<usize> {
        let len = self.signs_at(at)?;
        let next = self.peek_blank(at + len);
        let is_value = match self.sign_at(next)?.0 {
            bracket @ (b'{' | b'[') => may_open(bracket, kinds),
            b'"' | b'\'' => kinds.has(Kinds::STRING),
            b']' | b'}' => true,
            // A number is excluded: a sign beside it may be part of it, `~5`, `<5`.
            _ => matches!(self.text.get(next..self.word_end(next)), Some("true" | "false" | "null")),
        };
        is_value.then_some(at + len)
    }

    /// Returns the start of the digits of a number whose minus at `at` is of another script, or stands apart:
    /// `−1`, `- 1`.
    fn behind_minus(&self, at: usize, kinds: Kinds) -> Option<usize> {
        let sign = self.text.get(at..)?.chars().next().filter(|sign| MINUS.contains(sign))?;
        let digits = skip_space(self.bytes, at + sign.len_utf8());
        let is_odd = sign != '-' || at + 1 < digits;
        (is_odd && kinds.meets(Kinds::NUMBER) && self.bytes.get(digits)?.is_ascii_digit()).then_some(digits)
    }

    /// Returns the place behind the name and the bracket at `at` that enclose a value: `str("x")`, `int(2)`.
    fn constructor(&self, s: &State, at: usize) -> Option<usize> {
        let end = self.word_end(at);
        let name = self.bytes.get(at..end).filter(|_| s.frame != NONE && !self.begin.start.is_arguments())?;
        let is_name = name.first().is_some_and(u8::is_ascii_alphabetic) && self.bytes.get(end) == Some(&b'(');
        let inner = self.peek_blank(end + 1);
        let is_value = self.bytes.get(inner).is_some_and(|b| matches!(b, b'"' | b'\'' | b'-' | b'0'..=b'9'));
        (is_name && is_value).then_some(end + 1)
    }

    /// Reads a string value; three quotes in a row may be one opening quote or three.
    fn quoted(&mut self, s: State, quote: Quote, len: usize) -> Option<State> {
        let at = s.at as usize;
        if quote != Quote::BACK && quote.tripled().closing(&self.bytes[at..]).is_some() {
            let fork = self.open_string(s, quote.tripled(), 3);
            self.fork(fork);
        }
        let behind = self.quotes_end(at, len);
        let is_more = at + 2 * len < behind || at + len < behind && !self.may_go_on(&s, behind);
        if is_more {
            // The quote is written twice: `""Paris"`
            let last = behind - len;
            let fork = self.double_quote(s, quote, Span::new(at, last));
            let fork = self.open_string(State { at: last as u32, ..fork }, quote, len);
            self.fork(fork);
        }
        self.open_string(s, quote, len)
    }

    /// Drops the second of two quotes that stand for one.
    pub(super) fn double_quote(&mut self, s: State, quote: Quote, at: Span) -> State {
        let s = self.edit(s, RepairKind::DropNoise, at, "");
        match quote {
            Quote::SINGLE => State { cost: s.cost.plus(APOSTROPHE), ..s },
            _ => s,
        }
    }

    /// Reads a Python string with letters before its quote: `u'a'`, `rb"\n"`.
    fn prefixed(&mut self, s: State, letters: usize) -> Option<State> {
        let at = s.at as usize;
        let has = |letter: u8| self.bytes[at..at + letters].iter().any(|b| b.eq_ignore_ascii_case(&letter));
        let (is_raw, is_format) = (has(b'r'), has(b'f'));
        let end = python::string(self.bytes, at);
        if is_format && self.bytes[at..end.unwrap_or(self.bytes.len())].contains(&b'{') {
            return self.fail(Problem::Unreadable, Span::at(at));
        }
        if is_raw {
            return self.raw_string(s, at + letters, end?);
        }
        let s = self.replace(s, RepairKind::SwapSyntax, at + letters, "");
        let (quote, len) = self.quote_at(s.at as usize)?;
        self.quoted(s, quote, len)
    }

    /// Reads a string from `s.at` to `end` whose first quote stands at `open`, and whose backslashes are
    /// text.
    fn raw_string(&mut self, s: State, open: usize, end: usize) -> Option<State> {
        let place = self.place(&s);
        let token = self.text.get(open..end)?;
        let quotes = if token.starts_with("\"\"\"") || token.starts_with("'''") { 3 } else { 1 };
        let json = quote(token.get(quotes..token.len().checked_sub(quotes)?)?);
        if !self.kinds(place).has(Kinds::STRING) || !self.admits(place, &json[1..json.len() - 1]) {
            return self.fail(Problem::Unreadable, Span::at(open));
        }
        Some(behind(self.replace(s, RepairKind::SwapSyntax, end, json), s.at as usize))
    }
}

/// Returns whether `bracket` may open a value of one of these `kinds`.
pub(super) fn may_open(bracket: u8, kinds: Kinds) -> bool {
    bracket == b'{' && kinds.has(Kinds::OBJECT) || bracket == b'[' && kinds.has(Kinds::ARRAY)
}

/// Returns the state behind the value that begins at `open` and is complete.
fn behind(s: State, open: usize) -> State {
    State { open: open as u32, step: Step::After, last: Last::Firm, bare: Span::default(), ..s }
}

/// Returns the JSON and the end of the object or list at `from` whose quotes are all escaped, as in a string:
/// `{\"a\": 1}`. For any other text it returns the end of the part that it read.
fn escaped(text: &str, from: usize) -> Result<(String, usize), usize> {
    let rest = text.get(from..).unwrap_or("");
    if !rest.get(1..).is_some_and(|inside| inside.trim_start().starts_with("\\\"")) {
        return Err(from);
    }
    let is_escaped = |(c, len): &(char, usize)| 1 < *len || !matches!(c, '"' | '\\');
    let signs: Vec<(char, usize)> = characters(rest, escape).take_while(is_escaped).collect();
    let mut json: String = signs.iter().map(|(c, _)| *c).collect();
    let end = strict_end(&json, 0).map_err(|_| from + json.len())?;
    json.truncate(end);
    let count = json.chars().count();
    Ok((json, from + signs.iter().take(count).map(|(_, len)| len).sum::<usize>()))
}
