//! Reads keys, their colons, and the arguments of calls, which may have no keys.

use alloc::format;

use super::cost::UNDECLARED;
use super::follow::Key;
use super::{Frame, Last, Search, Shape, State, Step};
use crate::spelling::colon;
use crate::tree::unescape;
use crate::{Member, Place, Problem, RepairKind, Span};

/// A longer word did not slip in, in bytes.
const LONGEST_WORD: usize = 12;

impl Search<'_, '_> {
    pub(super) fn key(&mut self, s: State) -> Option<State> {
        let s = self.blank(s);
        let at = s.at as usize;
        let frame = *self.frame(&s)?;
        let Some((b, len)) = self.sign_at(at) else { return self.out_of_text(s) };
        match b {
            b'}' | b']' | b')' => return self.closer(s, b, len),
            b',' => return self.drop_extra_comma(s, len),
            // {{"a": 1}}
            b'{' if frame.count == 0 && frame.shape == Shape::Object && !frame.doubled => {
                let s = self.replace(s, RepairKind::DropOpener, at + len, "");
                return Some(self.with_frame(s, Frame { doubled: true, ..frame }));
            }
            _ if self.marker_at(at).is_some() => return self.out_of_text(s),
            _ => {}
        }
        if let Some(behind) = self.word_before(&s, at) {
            return Some(self.replace(s, RepairKind::DropNoise, behind, ""));
        }
        let key = self.key_at(&s, at);
        // A colon makes a keyword of the word before it: `a=`, `"a": `
        if frame.shape == Shape::Arguments && !key.is_some_and(|key| self.has_colon(key.end)) {
            return self.positional(s, frame);
        }
        let Some(key) = key else { return self.fail(Problem::Unreadable, Span::at(at)) };
        self.take_key(s, frame, key)
    }

    /// Returns the end of the word at `at`, before a declared key, that belongs to nothing: `{um "a": 1}`,
    /// `, e"a": 1`.
    fn word_before(&self, s: &State, at: usize) -> Option<usize> {
        let end = self.word_end(at);
        let next = self.peek_blank(end);
        let is_apart = end < next || end - at == 1 && self.quote_at(next).is_some();
        let letters = self.text.get(at..end)?;
        let is_word = !letters.is_empty()
            && is_apart
            && letters.len() <= LONGEST_WORD
            && letters.starts_with(char::is_alphabetic)
            && letters.chars().all(char::is_alphanumeric)
            && !self.in_arguments(s)
            && self.key_at(s, at).is_none();
        (is_word && self.declared_key(s, next)).then_some(next)
    }

    /// Reads a key and its colon.
    fn take_key(&mut self, s: State, frame: Frame, key: Key) -> Option<State> {
        let Key { at, from, to, end } = key;
        let open = &self.bytes[at..from];
        let close = &self.bytes[to..end];
        let mut s = State { open: at as u32, ..s };
        s = self.key_quote(s, Span::new(at, from), close.is_empty());
        let name = unescape(self.text.get(from..to)?);
        // get\_weather: Markdown escapes an underscore that JSON does not.
        for i in (from..to).filter(|i| self.bytes[*i..].starts_with(br"\_")) {
            s = self.edit(s, RepairKind::DropBackslash, Span::new(i, i + 1), "");
        }
        s = self.key_quote(s, Span::new(to, end), open.is_empty());
        let (used, inner) = match self.guide.member(frame.place, &name) {
            Member::Declared(slot, inner) => {
                let bit = 1_u128 << slot;
                if frame.used & bit != 0 {
                    s = super::pay(s, RepairKind::DropRepeat);
                }
                (bit, inner)
            }
            Member::Open(inner) => {
                if self.guide.name(frame.place, 0).is_some() {
                    s.cost = s.cost.plus(UNDECLARED);
                }
                (0, inner)
            }
            Member::Forbidden => return self.fail(Problem::Unreadable, Span::new(at, end)),
        };
        let s = self.colon(State { at: end as u32, ..s }, end);
        Some(self.enter_member(s, Frame { is_named: true, ..frame }, used, inner))
    }

    /// Prepares the state for the value of a member: `used` is its bit, and `inner` its place.
    fn enter_member(&mut self, s: State, frame: Frame, used: u128, inner: Place) -> State {
        let frame = Frame { used: frame.used | used, last: used, inner, count: frame.count + 1, ..frame };
        State { step: Step::Value, last: Last::Open, ..self.with_frame(s, frame) }
    }

    /// Adds or replaces the quote on one side of a name; that side may be empty.
    fn key_quote(&mut self, s: State, at: Span, is_bare: bool) -> State {
        let kind = match &self.bytes[at.range()] {
            b"\"" => return s,
            b"" if is_bare => RepairKind::QuoteKey,
            b"" => RepairKind::AddQuote,
            mark if super::mark(mark) == Some(mark.len()) => RepairKind::SwapQuote,
            _ => RepairKind::DropNoise,
        };
        self.edit(s, kind, at, "\"")
    }

    /// Reads the colon behind a key, or adds it where it is missing (`key_at` checked the text behind it).
    fn colon(&mut self, s: State, key_end: usize) -> State {
        let s = self.blank(s);
        let at = s.at as usize;
        let Some(len) = self.colon_at(at) else {
            if let Some(end) = self.stray_colon(at) {
                return self.replace(s, RepairKind::AddColon, end, ":");
            }
            return self.edit(s, RepairKind::AddColon, Span::at(key_end), ":");
        };
        let mut end = at + len;
        while let next = self.peek_blank(end)
            && let Some(len) = self.colon_at(next)
        {
            end = next + len;
        }
        match end - at {
            1 if self.bytes[at] == b':' => State { at: end as u32, ..s },
            _ => self.replace(s, RepairKind::SwapPunctuation, end, ":"),
        }
    }

    /// Returns the length of the colon at `at`, or of the sign that stands for it.
    pub(super) fn colon_at(&self, at: usize) -> Option<usize> {
        colon(self.bytes.get(at..)?)
    }

    /// Reads an argument without a name under the name that is declared for its position.
    fn positional(&mut self, s: State, frame: Frame) -> Option<State> {
        let at = s.at as usize;
        let in_order = !frame.is_named && frame.used == (1_u128 << frame.count.min(127)) - 1;
        let slot = u8::try_from(frame.count).unwrap_or(u8::MAX);
        let Some(name) = self.guide.name(frame.place, slot).filter(|_| in_order) else {
            return self.fail(Problem::Unreadable, Span::at(at));
        };
        let Member::Declared(_, inner) = self.guide.member(frame.place, name) else { return None };
        let s = self.replace(State { open: s.at, ..s }, RepairKind::AddKey, at, format!("\"{name}\": "));
        Some(self.enter_member(s, frame, 1 << slot, inner))
    }

    /// Enters the argument list whose `(` is at `s.at`.
    pub(super) fn open_arguments(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        if self.bytes.get(at) != Some(&b'(') {
            return None;
        }
        let dict = self.peek_blank(at + 1);
        // f({'a': 1}): the dict is the arguments.
        if self.bytes.get(dict) == Some(&b'{')
            && let Some(group) = self.group(s, RepairKind::SwapSyntax, dict, b')')
        {
            self.fork(group);
        }
        let s = self.replace(s, RepairKind::SwapSyntax, at + 1, "{");
        // `f((a=1)`
        let key = self.peek_blank(dict + 1);
        let is_doubled = self.bytes.get(dict) == Some(&b'(')
            && self.key_in(self.place(&s), 0, key).is_some_and(|key| self.has_colon(key.end));
        let s = if is_doubled { self.replace(s, RepairKind::DropOpener, dict + 1, "") } else { s };
        self.push_frame(s, Shape::Arguments, b')')
    }
}
