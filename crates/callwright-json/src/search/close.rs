//! Closing containers: by the right bracket, the wrong one, or none at all.

use super::cost::{EXTRA_COMMA, FOREIGN_CLOSER, MIDDLE, NOISE};
use super::{Frame, NONE, SchemaMode, Search, Shape, State, Step};
use crate::scan::skip_space;
use crate::{Member, Problem, RepairKind, Span};

impl Search<'_, '_> {
    /// A closing bracket, `b` or `len` bytes that stand for it, stands at `s.at`, where it may stand or not.
    pub(super) fn closer(&mut self, s: State, b: u8, len: usize) -> Option<State> {
        let at = s.at as usize;
        let end = at + len;
        let frame = *self.frame(&s)?;
        if b == frame.close {
            let after = self.peek_blank(end);
            let parent = self.frames.get(frame.parent as usize).copied();
            // {"a": {"b": 1}, "c": 2} with a bracket too many behind 1: the keys that follow tell.
            if frame.shape == Shape::Object && self.bytes.get(after) == Some(&b',') && !frame.doubled {
                let key = self.peek_blank(after + 1);
                let here = self.unused_key(&s, key);
                let there = parent.is_some_and(|p| !p.is_object())
                    || parent.is_some() && self.unused_key(&State { frame: frame.parent, ..s }, key);
                if here && !there {
                    let fork = self.edit(s, RepairKind::DropCloser, Span::new(at, end), "");
                    let fork =
                        State { at: end as u32, step: Step::After, cost: fork.cost.plus(MIDDLE), ..fork };
                    self.heap.push(fork);
                }
            }
            return self.close(s, frame, len);
        }
        if !s.bare.is_empty() {
            self.fail(Problem::Unreadable, Span::at(at));
            return None;
        }
        // The wrong bracket: this container's own was lost, this one was meant to be it, or it is surplus.
        let ancestor = self.has_ancestor(&frame, b);
        if frame.shape != Shape::Group {
            let put = frame.json_close();
            let fork = self.drop_comma(s);
            let fork = self.edit(fork, RepairKind::SwapBracket, Span::new(at, end), put);
            let fork = State { at: end as u32, ..fork };
            if let Some(fork) = self.pop(fork, frame) {
                self.heap.push(fork);
            }
        }
        let fork = self.edit(s, RepairKind::DropCloser, Span::new(at, end), "");
        let fork = State { at: end as u32, cost: fork.cost.plus(MIDDLE), ..fork };
        self.heap.push(fork);
        if ancestor && !frame.added {
            let s = self.drop_comma(s);
            let put = frame.json_close();
            let gap = self.gap_before(at);
            let s = self.edit(s, RepairKind::AddCloser, Span::at(gap), put);
            let s = State { cost: s.cost.plus(FOREIGN_CLOSER), ..s };
            return self.pop(s, frame);
        }
        None
    }

    /// Does a container around `frame` close with `b`?
    pub(super) fn has_ancestor(&self, frame: &Frame, b: u8) -> bool {
        let mut parent = frame.parent;
        while let Some(f) = self.frames.get(parent as usize) {
            if f.close == b {
                return true;
            }
            parent = f.parent;
        }
        false
    }

    /// Is the key at `at` declared and not used in the object that `s` stands in, or may it be any?
    pub(super) fn unused_key(&self, s: &State, at: usize) -> bool {
        self.key_kind(s, at).is_some()
    }

    /// Is the key at `at` declared and not used in the object that `s` stands in?
    pub(super) fn declared_key(&self, s: &State, at: usize) -> bool {
        self.key_kind(s, at) == Some(true)
    }

    /// Whether the key at `at`, which may still come in the object that `s` stands in, is declared there.
    pub(super) fn key_kind(&self, s: &State, at: usize) -> Option<bool> {
        let frame = self.frame(s)?;
        let key = self.key_at(s, at)?;
        match self.guide.member(frame.place, self.text.get(key.from..key.to).unwrap_or("")) {
            Member::Declared(slot, _) => (frame.used & (1 << slot) == 0).then_some(true),
            Member::Open(_) => Some(false),
            Member::Forbidden => None,
        }
    }

    /// The end of what stands before `at`, blanks aside.
    fn gap_before(&self, at: usize) -> usize {
        self.bytes[..at].trim_ascii_end().len()
    }

    /// Drops a comma that stands where a key or an element should: `[1,, 2]`.
    pub(super) fn drop_extra_comma(&mut self, s: State, len: usize) -> Option<State> {
        let at = s.at as usize;
        let s = self.edit(s, RepairKind::DropComma, Span::new(at, at + len), "");
        let cost = s.cost.plus(EXTRA_COMMA);
        (cost < NOISE).then_some(State { at: (at + len) as u32, cost, ..s })
    }

    /// Drops the comma that was read last, when a container closes behind it.
    fn drop_comma(&mut self, s: State) -> State {
        if !s.comma {
            return s;
        }
        let at = s.open as usize;
        let s = self.edit(s, RepairKind::DropComma, Span::new(at, at + 1), "");
        State { comma: false, ..s }
    }

    /// Closes the container that the right bracket at `s.at` belongs to, `len` bytes long.
    fn close(&mut self, s: State, frame: Frame, len: usize) -> Option<State> {
        let at = s.at as usize;
        let bracket = Span::new(at, at + len);
        let s = self.drop_comma(s);
        let s = match (frame.shape, frame.close) {
            (Shape::Group, _) => self.edit(s, RepairKind::SwapSyntax, bracket, ""),
            (Shape::Arguments, _) => self.edit(s, RepairKind::SwapSyntax, bracket, "}"),
            (Shape::Object, b')') => self.edit(s, RepairKind::SwapBracket, bracket, "}"),
            (Shape::Array, b')' | b'}') => self.edit(s, RepairKind::SwapSyntax, bracket, "]"),
            _ if len == 1 => s,
            _ => self.edit(s, RepairKind::SwapPunctuation, bracket, frame.json_close()),
        };
        let mut s = State { at: bracket.end, ..s };
        if frame.doubled {
            let next = skip_space(self.bytes, s.at as usize);
            if self.bytes.get(next) == Some(&frame.close) {
                // Only the opening one may be.
                let once = self.pop(s, frame);
                self.heap.extend(once);
                // Its cost was paid with the opening bracket.
                let cost = s.cost;
                s = self.edit(s, RepairKind::DropCloser, Span::new(next, next + 1), "");
                s = State { at: next as u32 + 1, cost, ..s };
            }
        }
        self.pop(s, frame)
    }

    /// Leaves a container, if it has all that it must have.
    pub(super) fn pop(&mut self, s: State, frame: Frame) -> Option<State> {
        if self.schema_mode == SchemaMode::Typed && frame.is_object() && frame.shape != Shape::Group {
            let missing = self.guide.required(frame.place) & !frame.used;
            if missing != 0 {
                self.fail(Problem::Unreadable, Span::at(s.at as usize));
                return None;
            }
        }
        Some(State { frame: frame.parent, step: Step::After, firm: true, text_end: 0, comma: false, ..s })
    }

    /// The text, or the part of it that a marker ends, is over before the value is.
    pub(super) fn out_of_text(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let ended_by_marker = at < self.bytes.len() && self.peek_blank(at) < self.bytes.len();
        let expects_value = s.step == Step::Value && self.frame(&s).is_none_or(|f| f.is_object());
        // A quote that was taken for text may have been the end of the string after all: `{"a": "neuron", "`
        // So may a text whose quotes do not come out even: `{"a": [true, "b: 0 `
        let quoted = s.bare.is_empty() && !s.has_paid(RepairKind::EscapeQuote);
        let even = quoted && !s.has_paid(RepairKind::AddQuote) && !s.has_paid(RepairKind::DropNoise);
        // A fence may be a part of such a text, unless it closes one that stands in front of the value.
        let marked = ended_by_marker && (quoted || self.at_own_marker(self.peek_blank(at)));
        let firm = (s.firm || s.comma) && even || marked;
        let is_added = self.frame(&s).is_some_and(|frame| frame.added);
        if expects_value || !firm || is_added || (self.cut && !ended_by_marker) || s.frame == NONE {
            self.fail(Problem::Truncated, Span::new(s.open as usize, at));
            return None;
        }
        let frame = *self.frame(&s)?;
        let s = self.drop_comma(s);
        let gap = if ended_by_marker { at } else { at.min(self.bytes.len()) };
        let s = match frame.shape {
            Shape::Group => s,
            _ => {
                let put = frame.json_close();
                self.edit(s, RepairKind::AddCloser, Span::at(gap), put)
            }
        };
        self.pop(s, frame)
    }

    /// Does what closes the fence or tag around the value stand at `at`?
    pub(super) fn at_own_marker(&self, at: usize) -> bool {
        match self.bytes.get(at..at + 2) {
            Some(b"``") => self.in_fence,
            _ => self.in_tag && self.at_tag(at),
        }
    }

    /// Does something that ends a value from outside stand at `at`: a fence, a closing tag, a special token?
    pub(super) fn at_marker(&self, at: usize) -> bool {
        self.bytes.get(at..at + 2) == Some(b"``") || self.at_tag(at)
    }

    /// Does a closing tag stand at `at`, or a special token, `<|` or, as DeepSeek writes it, `<｜`?
    pub(super) fn at_tag(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        [&b"</"[..], b"<|", "<｜".as_bytes()].iter().any(|mark| rest.starts_with(mark))
    }
}
