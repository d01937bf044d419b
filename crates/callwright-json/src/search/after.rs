//! What stands behind a complete value: a comma, a bracket, another piece of the same string, or a gap.

use super::cost::{Cost, NOISE_BEHIND_TEXT, STRAY};
use super::{Frame, Quote, Search, Shape, State, Step};
use crate::{Problem, RepairKind, Span};

impl Search<'_, '_> {
    pub(super) fn after(&mut self, s: State) -> Option<State> {
        let Some(frame) = self.frame(&s).copied() else { return Some(State { step: Step::Tail, ..s }) };
        let end = s.at as usize;
        let edits = s.edits;
        let s = self.blank(s);
        let at = s.at as usize;
        // Where something missing is put: right behind the value, unless a comment was dropped in between.
        let gap = if s.edits == edits { end } else { at };
        let Some((b, len)) = self.sign_at(at) else {
            return self.out_of_text(State { at: gap as u32, firm: s.firm || at > end, ..s });
        };
        match b {
            b',' if len == 1 => {
                self.lost_bracket(s, frame, gap, at);
                let s = State { at: s.at + 1, open: s.at, comma: true, firm: true, text_end: 0, ..s };
                return Some(self.next_element(s, frame));
            }
            b'}' | b']' | b')' => return self.closer(s, b, len),
            b'+' if s.text_end > 0 && self.joins(at) => {
                return self.join(s, end, at + 1, RepairKind::JoinStrings);
            }
            b',' | b';' if b == b',' || frame.shape == Shape::Arguments || self.may_go_on(&s, end) => {
                let s = self.odd_comma(s, len);
                return Some(self.next_element(s, frame));
            }
            b'"' if frame.close == b'"' => return self.closer(s, b, len),
            b'`' if frame.close == b'`' && self.is_fence(at) => {
                let s = self.edit(s, RepairKind::DropFence, Span::new(at, at + 3), "");
                return self.pop(State { at: at as u32 + 3, ..s }, frame);
            }
            _ if self.at_marker(at) => {
                return self.out_of_text(State { at: gap as u32, firm: true, ..s });
            }
            _ => {}
        }
        if let Some(len) = self.stray_comma(&s, at) {
            let s = self.odd_comma(s, len);
            let s = State { cost: s.cost.plus(STRAY), ..s };
            return Some(self.next_element(s, frame));
        }
        // Nothing that may follow a value: a comma is missing, or two strings are one.
        let quoted = Quote::opening(&self.bytes[at..]).is_some();
        if frame.is_object() {
            if let Some(key) = self.key_at(&s, at)
                && (key.from > at || at > end)
            {
                let s = self.edit(s, RepairKind::AddComma, Span::at(gap), ",");
                return Some(State { step: Step::Key, comma: false, text_end: 0, ..s });
            }
            // Without a blank between them they may be one string with quotes in it: `"a = "", b = """`
            if quoted && s.text_end > 0 && at > end {
                return self.join(s, end, at, RepairKind::JoinStrings);
            }
        } else if self.strict_quotes {
            // What Python reads has its commas.
        } else if quoted
            || (at > end && (b.is_ascii_alphanumeric() || matches!(b, b'{' | b'[' | b'-')))
            || matches!(b, b'{' | b'[')
        {
            let s = self.edit(s, RepairKind::AddComma, Span::at(gap), ",");
            return Some(self.next_element(State { comma: false, text_end: 0, firm: true, ..s }, frame));
        }
        if let Some(behind) = self.noise(&s, at) {
            let s = self.edit(s, RepairKind::DropNoise, Span::new(at, behind), "");
            let extra = if 0 < s.text_end { NOISE_BEHIND_TEXT } else { Cost::default() };
            return Some(State { at: behind as u32, cost: s.cost.plus(extra), ..s });
        }
        if let Some(behind) = self.junk(&s, at) {
            let s = self.leave_out(s, Span::new(at, behind));
            return Some(State { at: behind as u32, ..s });
        }
        self.fail(Problem::Unreadable, Span::at(at));
        None
    }

    /// Passes over what stands for a comma at `s.at`, `len` bytes long: `，`, `;`. A last one is dropped.
    fn odd_comma(&mut self, s: State, len: usize) -> State {
        let at = s.at as usize;
        let next = self.sign_at(self.peek_blank(at + len));
        let last = matches!(next, None | Some((b'}' | b']' | b')', _)));
        let (kind, put) = if last { (RepairKind::DropComma, "") } else { (RepairKind::SwapPunctuation, ",") };
        let s = self.edit(s, kind, Span::new(at, at + len), put);
        State { at: s.at + len as u32, open: s.at, comma: !last, firm: true, text_end: 0, ..s }
    }

    /// The key behind the comma at `comma` may belong to the object around this container, whose closing
    /// bracket was lost: `{"labels": ["a", "b", "draft": true}`.
    fn lost_bracket(&mut self, s: State, frame: Frame, gap: usize, comma: usize) {
        let Some(parent) = self.frames.get(frame.parent as usize) else { return };
        if !parent.is_object() || frame.added || matches!(frame.shape, Shape::Arguments | Shape::Group) {
            return;
        }
        let key = self.peek_blank(comma + 1);
        // A key may begin with any of these; most elements do not.
        if !matches!(
            self.bytes.get(key),
            Some(b'"' | b'\'' | b'`' | 0x80.. | b'_' | b'a'..=b'z' | b'A'..=b'Z')
        ) {
            return;
        }
        // Where the key is declared it belongs; where any key may stand, it may.
        let outside = State { frame: frame.parent, ..s };
        let here = frame.is_object() && self.unused_key(&s, key);
        let there = match here {
            true => self.declared_key(&outside, key) && !self.declared_key(&s, key),
            false => self.unused_key(&outside, key),
        };
        if !there {
            return;
        }
        let put = frame.json_close();
        let s = self.edit(s, RepairKind::AddCloser, Span::at(gap), put);
        if let Some(s) = self.pop(State { at: comma as u32, ..s }, frame) {
            self.heap.push(s);
        }
    }

    /// Gets ready for the next element or member, behind a comma.
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

    /// Joins the string that ended at `end` with the one that opens at or behind `from`.
    fn join(&mut self, s: State, end: usize, from: usize, kind: RepairKind) -> Option<State> {
        let open = self.peek_blank(from);
        let (quote, len) = Quote::opening(self.bytes.get(open..)?)?;
        let mut s = s;
        let closing = end - usize::from(s.text_end);
        // What was put for the closing quote, and what was dropped behind it, goes with it.
        while let Some(edit) = self.edits.get(s.edits as usize) {
            if (edit.at.start as usize) < closing {
                break;
            }
            s.edits = edit.before;
        }
        let s = self.edit(s, kind, Span::new(closing, open + len), "");
        let s = if quote == Quote::Double { s } else { super::pay(s, RepairKind::SwapQuote) };
        let body = (open + len) as u32;
        Some(State { at: body, open: body, quote, step: Step::Body, text_end: 0, ..s })
    }
}
