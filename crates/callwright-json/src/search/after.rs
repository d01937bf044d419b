//! The text behind a complete value: a comma, a bracket, another piece of the same string, or a gap.

use super::{DOUBTFUL, Frame, Last, Quote, Search, Shape, State, Step};
use crate::{Problem, RepairKind, Span};

impl Search<'_, '_> {
    /// Reads the text behind a complete value.
    pub(super) fn after(&mut self, s: State) -> Option<State> {
        let Some(frame) = self.frame(&s).copied() else { return Some(State { step: Step::Tail, ..s }) };
        let end = s.at as usize;
        let edits = s.edits;
        let s = self.blank(s);
        let at = s.at as usize;
        // A missing sign goes right behind the value, unless a comment was dropped in between.
        let gap = if s.edits == edits { end } else { at };
        let Some((b, len)) = self.sign_at(at) else {
            let last = if end < at { Last::Firm } else { s.last };
            return self.out_of_text(State { at: gap as u32, last, ..s });
        };
        match b {
            b',' if len == 1 => {
                self.lost_bracket(s, frame, gap, at);
                let s = State { at: s.at + 1, open: s.at, last: Last::Comma, ..s };
                Some(self.next_element(s, frame))
            }
            b'}' | b']' | b')' => self.closer(s, b, len),
            b'+' if self.joins(at)
                && let Last::Text(len) = s.last =>
            {
                self.join(s, end - usize::from(len), at + 1)
            }
            b',' | b';' => {
                let s = self.odd_comma(s, len);
                Some(self.next_element(s, frame))
            }
            _ if let Some(len) = self.stray_comma(&s, at) => {
                let s = self.odd_comma(s, len);
                Some(self.next_element(s, frame))
            }
            b'"' if frame.close == b'"' => self.closer(s, b, len),
            b'`' if frame.close == b'`' && self.bytes[at..].starts_with(b"```") => {
                let s = self.replace(s, RepairKind::DropFence, at + 3, "");
                self.pop(s, frame)
            }
            _ if self.marker_at(at).is_some() => {
                self.out_of_text(State { at: gap as u32, last: Last::Firm, ..s })
            }
            _ => self.without_comma(s, frame, end, gap),
        }
    }

    /// Reads a sign that cannot follow the value that ends at `end`: a comma is missing at `gap`, or two
    /// strings are one.
    fn without_comma(&mut self, s: State, frame: Frame, end: usize, gap: usize) -> Option<State> {
        let at = s.at as usize;
        let quoted = self.quote_at(at).is_some();
        // Python joins strings that stand side by side; parentheses around one value mean nothing else.
        let is_group = frame.shape == Shape::Group && frame.close == b')';
        if quoted
            && (self.strict_quotes || is_group)
            && let Last::Text(len) = s.last
        {
            return self.join(s, end - usize::from(len), at);
        }
        let begins_next = match frame.is_object() {
            true => self.key_at(&s, at).is_some(),
            false => {
                let begins =
                    |b: u8| matches!(b, b'{' | b'[') || end < at && (b.is_ascii_alphanumeric() || b == b'-');
                quoted || self.sign_at(at).is_some_and(|(b, _)| begins(b))
            }
        };
        if begins_next {
            let s = self.add_comma(s, gap);
            return Some(self.next_element(State { last: Last::Firm, ..s }, frame));
        }
        // Without a blank between them they may be one string with quotes in it: `"a = "", b = """`
        if quoted
            && end < at
            && let Last::Text(len) = s.last
        {
            return self.join(s, end - usize::from(len), at);
        }
        if let Some(behind) = self.noise(&s, at) {
            return Some(self.replace(s, RepairKind::DropNoise, behind, ""));
        }
        self.fail(Problem::Unreadable, Span::at(at))
    }

    /// Adds the comma that is missing at `gap`, behind a value. A text that ends in a comma may have changed
    /// places with its quote, `"a," "b": 1`, unless other commas are missing as well.
    fn add_comma(&mut self, s: State, gap: usize) -> State {
        let text = self.bytes.get(s.open as usize..gap).unwrap_or(&[]);
        let is_moved = matches!(text, [.., b',', b'"' | b'\'']) && !s.has_paid(RepairKind::AddComma);
        let doubt = if is_moved { DOUBTFUL } else { 0 };
        self.edit(State { habits: s.habits | doubt, ..s }, RepairKind::AddComma, Span::at(gap), ",")
    }

    /// Skips the `len` bytes at `s.at` that stand for a comma: `，`, `;`, or a sign that slipped in. It drops
    /// a last comma.
    fn odd_comma(&mut self, s: State, len: usize) -> State {
        let at = s.at as usize;
        let next = self.sign_at(self.peek_blank(at + len));
        let is_last = matches!(next, None | Some((b'}' | b']' | b')', _)));
        let is_spelling = matches!(self.sign_at(at), Some((b',' | b';', _))) || self.is_usual_comma(at);
        let (kind, put) = match is_last {
            true => (RepairKind::DropComma, ""),
            false if is_spelling => (RepairKind::SwapPunctuation, ","),
            false => (RepairKind::AddComma, ","),
        };
        let last = if is_last { Last::Firm } else { Last::Comma };
        State { open: s.at, last, ..self.replace(s, kind, at + len, put) }
    }

    /// Forks where the key or list behind the comma at `comma` may belong to the object around this
    /// container, whose closing bracket was lost: `{"labels": ["a", "b", "draft": true}`, `[[1, 2, [3, 4]]`.
    fn lost_bracket(&mut self, s: State, frame: Frame, gap: usize, comma: usize) {
        let parent = self.frames.get(frame.parent as usize);
        let key = self.peek_blank(comma + 1);
        // No key is an object, and the list around this one may hold another: `[{"a": {"b": 1}, {"a": …}]`.
        if frame.shape == Shape::Object && self.bytes.get(key) == Some(&b'{') {
            if parent.map_or(self.options.listed, |parent| parent.shape == Shape::Array) {
                let s = self.close_at(State { at: comma as u32, ..s }, frame, gap);
                self.fork(s);
            }
            return;
        }
        let Some(parent) = parent else { return };
        let is_nested = frame.shape == Shape::Array && parent.shape == Shape::Array;
        if matches!(frame.shape, Shape::Arguments | Shape::Group) || !parent.is_object() && !is_nested {
            return;
        }
        if is_nested {
            let bracket = self.bytes.get(key).filter(|byte| matches!(byte, b'[' | b'{')).copied();
            let is_outer = |first| !self.may_begin(&frame, key, first) && self.may_begin(parent, key, first);
            if bracket.is_some_and(is_outer) {
                let s = self.close_at(State { at: comma as u32, ..s }, frame, gap);
                self.fork(s);
            }
            return;
        }
        // A key may begin with any of these; most elements do not.
        let may_begin = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'"' | b'\'' | b'`' | b'_' | 0x80..);
        if !self.bytes.get(key).is_some_and(may_begin) {
            return;
        }
        // A key belongs to the object that declares it, and may belong to one that allows any key.
        let outside = State { frame: frame.parent, ..s };
        let here = if frame.is_object() { self.key_kind(&s, key) } else { None };
        let there = self.key_kind(&outside, key);
        // A declared key outranks an allowed one, and an allowed one outranks a forbidden one.
        if there <= here {
            return;
        }
        let s = self.close_at(State { at: comma as u32, ..s }, frame, gap);
        self.fork(s);
    }

    /// Prepares the state for the next element or member, behind a comma.
    fn next_element(&mut self, s: State, frame: Frame) -> State {
        match frame.shape {
            Shape::Object | Shape::Arguments => State { step: Step::Key, ..s },
            Shape::Array | Shape::Group => {
                let count = frame.count + 1;
                let inner = self.guide.element(frame.place, count as usize);
                let s = if inner == frame.inner && frame.count > 0 {
                    s
                } else {
                    self.with_frame(s, Frame { count, inner, ..frame })
                };
                State { step: Step::Value, ..s }
            }
        }
    }

    /// Joins the string whose closing quote stands at `closing` with the one that opens at or behind `from`.
    fn join(&mut self, s: State, closing: usize, from: usize) -> Option<State> {
        let open = self.peek_blank(from);
        let (quote, len) = self.quote_at(open)?;
        // The join also replaces the edits of the closing quote and of the signs behind it.
        let s = self.forget_behind(s, closing);
        let s = self.edit(s, RepairKind::JoinStrings, Span::new(closing, open + len), "");
        let s = if quote == Quote::DOUBLE { s } else { super::pay(s, RepairKind::SwapQuote) };
        let body = (open + len) as u32;
        Some(State { at: body, open: body, quote, step: Step::Body, last: Last::Firm, ..s })
    }
}
