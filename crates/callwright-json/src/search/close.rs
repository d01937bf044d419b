//! Closing containers: by the right bracket, the wrong one, or none at all.

use super::cost::{FOREIGN_CLOSER, MIDDLE};
use super::{Frame, Last, SchemaMode, Search, Shape, State, Step};
use crate::scan::skip_space;
use crate::{MAX_SLOTS, Member, Problem, RepairKind, Span};

impl Search<'_, '_> {
    /// Reads a closing bracket at `s.at`, right or wrong: `b`, or `len` bytes that stand for it.
    pub(super) fn closer(&mut self, s: State, b: u8, len: usize) -> Option<State> {
        let at = s.at as usize;
        let end = at + len;
        let frame = *self.frame(&s)?;
        if b == frame.close {
            let after = self.peek_blank(end);
            // {"a": {"b": 1}, "c": 2} with one bracket too many behind 1: the next keys decide.
            if frame.shape == Shape::Object && self.bytes.get(after) == Some(&b',') && !frame.doubled {
                let key = self.peek_blank(after + 1);
                let outside = State { frame: frame.parent, ..s };
                let there = self.frame(&outside).is_some_and(|parent| !parent.is_object())
                    || self.key_kind(&outside, key).is_some();
                if self.key_kind(&s, key).is_some() && !there {
                    let fork = self.replace(s, RepairKind::DropCloser, end, "");
                    self.fork(State { step: Step::After, cost: fork.cost.plus(MIDDLE), ..fork });
                }
            }
            return self.close(s, frame, len);
        }
        if !s.bare.is_empty() {
            return self.fail(Problem::Unreadable, Span::at(at));
        }
        // A wrong bracket replaces the container's own, closes a container around it, or is surplus.
        if frame.shape != Shape::Group {
            let fork = self.drop_comma(s);
            let fork = self.replace(fork, RepairKind::SwapBracket, end, frame.json_close());
            let fork = self.pop(fork, frame);
            self.fork(fork);
        }
        let fork = self.replace(s, RepairKind::DropCloser, end, "");
        self.fork(State { cost: fork.cost.plus(MIDDLE), ..fork });
        if !self.has_ancestor(&frame, b) {
            return None;
        }
        let s = State { cost: s.cost.plus(FOREIGN_CLOSER), ..s };
        let gap = self.bytes[..at].trim_ascii_end().len();
        self.close_at(s, frame, gap)
    }

    /// Returns whether a container around `frame` closes with `b`.
    pub(super) fn has_ancestor(&self, frame: &Frame, b: u8) -> bool {
        self.containers(frame.parent).any(|one| one.close == b)
    }

    /// Returns whether the object of `s` declares the key at `at` and has not used it.
    pub(super) fn declared_key(&self, s: &State, at: usize) -> bool {
        self.key_kind(s, at) == Some(true)
    }

    /// Returns whether the object of `s` declares the key at `at`; `None` where the key may not come in it.
    pub(super) fn key_kind(&self, s: &State, at: usize) -> Option<bool> {
        let frame = self.frame(s)?;
        let key = self.key_at(s, at)?;
        match self.member(frame.place, key) {
            Member::Declared(slot, _) => (frame.used & (1 << slot) == 0).then_some(true),
            Member::Open(_) => Some(false),
            Member::Forbidden => None,
        }
    }

    /// Drops a comma that stands where a key or an element should: `[1,, 2]`.
    pub(super) fn drop_extra_comma(&mut self, s: State, len: usize) -> Option<State> {
        Some(self.replace(s, RepairKind::DropComma, s.at as usize + len, ""))
    }

    /// Drops the comma before the closing bracket of a container.
    fn drop_comma(&mut self, s: State) -> State {
        if s.last != Last::Comma {
            return s;
        }
        let at = s.open as usize;
        let s = self.edit(s, RepairKind::DropComma, Span::new(at, at + 1), "");
        State { last: Last::Firm, ..s }
    }

    /// Closes the container at its right bracket, which stands at `s.at` and has `len` bytes.
    fn close(&mut self, s: State, frame: Frame, len: usize) -> Option<State> {
        let at = s.at as usize;
        let bracket = Span::new(at, at + len);
        let s = self.drop_comma(s);
        let put = frame.json_close();
        let s = match frame.shape.swap(put.as_bytes() == [frame.close], len) {
            Some(kind) => self.edit(s, kind, bracket, put),
            None => s,
        };
        let mut s = State { at: bracket.end, ..s };
        if frame.doubled {
            let next = skip_space(self.bytes, s.at as usize);
            if self.bytes.get(next) == Some(&frame.close) {
                // The opening bracket paid for it.
                let cost = s.cost;
                s = self.replace(State { at: next as u32, ..s }, RepairKind::DropCloser, next + 1, "");
                s.cost = cost;
            }
        }
        self.pop(s, frame)
    }

    /// Leaves a container whose closing bracket is missing at `gap`.
    pub(super) fn close_at(&mut self, s: State, frame: Frame, gap: usize) -> Option<State> {
        let s = self.drop_comma(s);
        let s = match frame.shape {
            Shape::Group => s,
            _ => self.edit(s, RepairKind::AddCloser, Span::at(gap), frame.json_close()),
        };
        self.pop(s, frame)
    }

    /// Leaves a container that has all its required members.
    pub(super) fn pop(&mut self, s: State, frame: Frame) -> Option<State> {
        let asks_for_all = self.schema_mode == SchemaMode::Typed && frame.is_object();
        if asks_for_all && self.guide.required(frame.place) & !frame.used != 0 {
            return self.fail(Problem::Unreadable, Span::at(s.at as usize));
        }
        Some(State { frame: frame.parent, step: Step::After, last: Last::Firm, ..s })
    }

    /// Ends the reading where the text, or its part before a marker, is over before the value.
    pub(super) fn out_of_text(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let ended_by_marker = at < self.bytes.len() && self.peek_blank(at) < self.bytes.len();
        // A quote that was taken for text may have ended the string after all: `{"a": "neuron", "`
        // The same holds for a text with an odd number of quotes: `{"a": [true, "b: 0 `
        let quoted = s.bare.is_empty() && !s.has_paid(RepairKind::EscapeQuote);
        let even = quoted && !s.has_paid(RepairKind::AddQuote) && !s.has_paid(RepairKind::DropNoise);
        // A fence may be part of such a text, unless it closes a fence that opened before the value.
        let marked = ended_by_marker && (quoted || self.marker_at(self.peek_blank(at)) == Some(true));
        let firm = s.last != Last::Open && even || marked;
        let frame = self.frame(&s).copied();
        // A comma announces another member: `{"a": 1,`
        let is_full = frame.is_some_and(|frame| self.is_full(&frame));
        let goes_on = self.options.cut || s.last == Last::Comma && !is_full;
        match frame {
            Some(frame) if firm && (ended_by_marker || !goes_on) => self.close_at(s, frame, at),
            _ => self.fail(Problem::Truncated, Span::new(s.open as usize, at)),
        }
    }

    /// Returns whether the object has all its declared members. An object with declared members expects no
    /// others.
    fn is_full(&self, frame: &Frame) -> bool {
        let slots = self.guide.slots(frame.place);
        let is_used =
            |slot: usize| frame.used & (1 << slot) != 0 || self.guide.name(frame.place, slot as u8).is_none();
        frame.is_object() && frame.used != 0 && slots < MAX_SLOTS && (0..slots).all(is_used)
    }

    /// Returns whether the sign at `at` ends a value from outside: a fence, a closing tag, a special token
    /// `<|`, or `<｜` as DeepSeek writes it. `Some(true)`: the sign closes one that opened before the value.
    pub(super) fn marker_at(&self, at: usize) -> Option<bool> {
        match self.bytes.get(at..)? {
            [b'`', b'`', ..] => Some(self.begin.in_fence),
            [b'<', b'/' | b'|', ..] => Some(self.begin.in_tag),
            rest => rest.starts_with("<｜".as_bytes()).then_some(self.begin.in_tag),
        }
    }
}
