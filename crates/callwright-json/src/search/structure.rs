//! The structure between strings: keys, colons, commas, brackets, and where it all ends.

use alloc::borrow::Cow;
use alloc::format;

use super::follow::Key;
use super::{Cost, Found, Frame, MIDDLE, NONE, Quote, Rigor, Search, Shape, State, Step, TWICE, UNDECLARED};
use crate::scan::skip_space;
use crate::{Kinds, Member, Problem, RepairKind, Span};

/// Text on the same line behind the value.
const SAME_LINE: Cost = Cost::units(2);
/// Text on a later line behind the value, or another value.
const LATER_LINE: Cost = Cost::units(1);
/// Brackets behind the value, or commas in a row, that cost more than this are not surplus, but noise.
const NOISE: Cost = Cost::units(256);
/// What follows looks as if the value went on: the text ends in a closing bracket or quote of its own.
const GOES_ON: Cost = Cost::units(14);

impl<'t> Search<'t, '_> {
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

    pub(super) fn key(&mut self, s: State) -> Option<State> {
        let s = self.blank(s);
        let at = s.at as usize;
        let frame = *self.frame(&s)?;
        let Some(&b) = self.bytes.get(at) else { return self.out_of_text(s) };
        match b {
            b'}' | b']' | b')' => return self.closer(s, b),
            b',' => return self.drop_extra_comma(s),
            // {{"a": 1}}
            b'{' if frame.count == 0 && !s.comma && frame.shape == Shape::Object && !frame.doubled => {
                let s = self.edit(s, RepairKind::DropOpener, Span::new(at, at + 1), "");
                let s = self.with_frame(s, Frame { doubled: true, ..frame });
                return Some(State { at: s.at + 1, ..s });
            }
            _ if self.at_marker(at) => return self.out_of_text(s),
            _ => {}
        }
        if frame.shape == Shape::Arguments && !self.is_keyword(&s, at) {
            return self.positional(s, frame);
        }
        let Some(key) = self.key_at(&s, at) else {
            self.fail(Problem::Unreadable, Span::at(at));
            return None;
        };
        self.take_key(s, frame, key)
    }

    /// Takes a key and its colon.
    fn take_key(&mut self, s: State, frame: Frame, key: Key) -> Option<State> {
        let Key { at, from, to, end } = key;
        let open = &self.bytes[at..from];
        let close = &self.bytes[to..end];
        let mut s = State { open: at as u32, ..s };
        match (open, close) {
            (b"\"", b"\"") => {}
            (b"", b"") => {
                s = self.edit(s, RepairKind::QuoteKey, Span::at(at), "\"");
            }
            (b"", _) => s = self.edit(s, RepairKind::AddQuote, Span::at(at), "\""),
            (b"\"", b"") => {}
            _ => s = self.edit(s, RepairKind::SwapQuote, Span::new(at, from), "\""),
        }
        let mut name = Cow::Borrowed(self.text.get(from..to)?);
        if name.contains('\\') {
            for i in (from..to).filter(|&i| self.bytes[i] == b'\\') {
                // get\_weather: Markdown escapes what JSON need not.
                if self.bytes.get(i + 1) == Some(&b'_') {
                    s = self.edit(s, RepairKind::DropBackslash, Span::new(i, i + 1), "");
                }
            }
            name = Cow::Owned(crate::tree::unescape(&name.replace("\\_", "_")).into_owned());
        }
        match (open, close) {
            (_, b"\"") => {}
            (b"", b"") => s = self.edit(s, RepairKind::QuoteKey, Span::at(end), "\""),
            (_, b"") => s = self.edit(s, RepairKind::AddQuote, Span::at(to), "\""),
            _ => s = self.edit(s, RepairKind::SwapQuote, Span::new(to, end), "\""),
        }
        let (used, inner) = match self.member(frame.place, &name) {
            Member::Declared(slot, inner) => {
                let bit = 1_u128 << slot;
                if frame.used & bit != 0 {
                    s.cost = s.cost.plus(TWICE);
                }
                (bit, inner)
            }
            Member::Open(inner) => {
                if self.guide.name(frame.place, 0).is_some() {
                    s.cost = s.cost.plus(UNDECLARED);
                }
                (0, inner)
            }
            Member::Forbidden => {
                self.fail(Problem::Unreadable, Span::new(at, end));
                return None;
            }
        };
        let s = State { at: end as u32, ..s };
        let s = self.colon(s, end);
        let frame = Frame { used: frame.used | used, last: used, inner, count: frame.count + 1, ..frame };
        Some(State { step: Step::Value, comma: false, firm: false, ..self.with_frame(s, frame) })
    }

    /// Passes over the colon behind a key, or puts one where it is missing (`key_at` has seen what follows).
    fn colon(&mut self, s: State, key_end: usize) -> State {
        let s = self.blank(s);
        let at = s.at as usize;
        let len = match self.bytes.get(at..).unwrap_or(&[]) {
            [b':', b'=', ..] | [b'=', b'>', ..] => 2,
            [b':', ..] => return State { at: s.at + 1, ..s },
            [b'=', ..] => 1,
            [0xef, 0xbc, 0x9a, ..] => 3,
            _ => return self.edit(s, RepairKind::AddColon, Span::at(key_end), ":"),
        };
        let s = self.edit(s, RepairKind::SwapPunctuation, Span::new(at, at + len), ":");
        State { at: s.at + len as u32, ..s }
    }

    /// Does a keyword stand at `at` in a list of arguments: `a=`, `"a": `?
    fn is_keyword(&self, s: &State, at: usize) -> bool {
        let Some(key) = self.key_at(s, at) else { return false };
        let colon = &self.bytes[self.peek_blank(key.end)..];
        matches!(colon, [b':' | b'=', ..] | [0xef, 0xbc, 0x9a, ..])
    }

    /// An argument without a name: it gets the name that is declared for its position.
    fn positional(&mut self, s: State, frame: Frame) -> Option<State> {
        let at = s.at as usize;
        let in_order = frame.used == (1_u128 << frame.count.min(127)) - 1;
        let name = u8::try_from(frame.count)
            .ok()
            .filter(|_| in_order)
            .and_then(|slot| Some((slot, self.guide.name(frame.place, slot)?)));
        let Some((slot, name)) = name else {
            self.fail(Problem::Unreadable, Span::at(at));
            return None;
        };
        let Member::Declared(_, inner) = self.guide.member(frame.place, name) else { return None };
        let put = format!("\"{name}\": ");
        let s = self.edit(s, RepairKind::AddKey, Span::at(at), Cow::Owned(put));
        let bit = 1_u128 << slot;
        let frame = Frame { used: frame.used | bit, last: bit, inner, count: frame.count + 1, ..frame };
        let s = State { open: at as u32, ..s };
        Some(State { step: Step::Value, comma: false, firm: false, ..self.with_frame(s, frame) })
    }

    /// Enters the argument list whose `(` is at `s.at`.
    pub(super) fn open_arguments(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        if self.bytes.get(at) != Some(&b'(') {
            return None;
        }
        let inner = self.peek_blank(at + 1);
        if self.bytes.get(inner) == Some(&b'{') || self.bytes.get(inner..inner + 3) == Some(b"**{") {
            // f({'a': 1}): the dict is the arguments.
            let dict = inner + self.bytes[inner..].iter().position(|&b| b == b'{').unwrap_or(0);
            let group = self.edit(s, RepairKind::SwapSyntax, Span::new(at, dict), "");
            if let Some(group) = self.push_frame(group, Shape::Group, b')')
                && let Some(object) = self.push_frame(group, Shape::Object, b'}')
            {
                self.heap.push(State { at: dict as u32 + 1, ..object });
            }
        }
        let s = self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + 1), "{");
        let s = self.push_frame(s, Shape::Arguments, b')')?;
        Some(State { at: s.at + 1, ..s })
    }

    pub(super) fn after(&mut self, s: State) -> Option<State> {
        let Some(frame) = self.frame(&s).copied() else { return Some(State { step: Step::Tail, ..s }) };
        let end = s.at as usize;
        let edits = s.edits;
        let s = self.blank(s);
        let at = s.at as usize;
        // Where something missing is put: right behind the value, unless a comment was dropped in between.
        let gap = if s.edits == edits { end } else { at };
        let Some(&b) = self.bytes.get(at) else {
            return self.out_of_text(State { at: gap as u32, firm: s.firm || at > end, ..s });
        };
        match b {
            b',' => {
                self.lost_bracket(s, frame, gap, at);
                let s = State { at: s.at + 1, open: s.at, comma: true, firm: true, text_end: 0, ..s };
                return Some(self.next_element(s, frame));
            }
            b'}' | b']' | b')' => return self.closer(s, b),
            b'+' if s.text_end > 0 => return self.join(s, end, at + 1, RepairKind::JoinStrings),
            b';' if frame.shape == Shape::Arguments || self.may_go_on(&s, end) => {
                let s = self.odd_comma(s, 1);
                return Some(self.next_element(s, frame));
            }
            0xef => {
                let (json, len) = wide(&self.bytes[at..])?;
                let put = match json {
                    b',' => {
                        let s = self.odd_comma(s, len);
                        return Some(self.next_element(s, frame));
                    }
                    b'}' => "}",
                    b']' => "]",
                    _ => return None,
                };
                let s = self.edit(s, RepairKind::SwapPunctuation, Span::new(at, at + len), put);
                let s = State { at: s.at + len as u32, open: s.at, text_end: 0, ..s };
                return if json == frame.json_close() { self.pop(s, frame) } else { None };
            }
            _ if self.at_marker(at) => {
                return self.out_of_text(State { at: gap as u32, firm: true, ..s });
            }
            _ => {}
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
            if quoted && s.text_end > 0 {
                return self.join(s, end, at, RepairKind::JoinStrings);
            }
        } else if quoted
            || (at > end && (b.is_ascii_alphanumeric() || matches!(b, b'{' | b'[' | b'-')))
            || matches!(b, b'{' | b'[')
        {
            let s = self.edit(s, RepairKind::AddComma, Span::at(gap), ",");
            return Some(self.next_element(State { comma: false, text_end: 0, firm: true, ..s }, frame));
        }
        // A blank line and prose: the value was over, though it was not closed.
        let blank_line = self.bytes[end..at].iter().filter(|&&b| b == b'\n').count() > 1;
        if blank_line && s.bare.is_empty() && (b.is_ascii_alphabetic() || matches!(b, b'*' | b'-' | b'#')) {
            return self.out_of_text(State { at: gap as u32, firm: true, ..s });
        }
        self.fail(Problem::Unreadable, Span::at(at));
        None
    }

    /// Passes over what stands for a comma at `s.at`, `len` bytes long: `，`, `;`. A last one is dropped.
    fn odd_comma(&mut self, s: State, len: usize) -> State {
        let at = s.at as usize;
        let next = &self.bytes[self.peek_blank(at + len)..];
        let last =
            matches!(next, [] | [b'}' | b']' | b')', ..]) || matches!(wide(next), Some((b'}' | b']', _)));
        let (kind, put) = if last { (RepairKind::DropComma, "") } else { (RepairKind::SwapPunctuation, ",") };
        let s = self.edit(s, kind, Span::new(at, at + len), put);
        State { at: s.at + len as u32, open: s.at, comma: !last, firm: true, text_end: 0, ..s }
    }

    /// The key behind the comma at `comma` may belong to the object around this container, whose closing
    /// bracket was lost: `{"labels": ["a", "b", "draft": true}`.
    fn lost_bracket(&mut self, s: State, frame: Frame, gap: usize, comma: usize) {
        let Some(parent) = self.frames.get(frame.parent as usize) else { return };
        if !parent.is_object() || frame.shape == Shape::Arguments || frame.shape == Shape::Group {
            return;
        }
        let key = self.peek_blank(comma + 1);
        // A key may begin with any of these; most elements do not.
        if !matches!(self.bytes.get(key), Some(b'"' | b'\'' | b'`' | 0xe2 | b'_' | b'a'..=b'z' | b'A'..=b'Z'))
        {
            return;
        }
        let there = self.unused_key(&State { frame: frame.parent, ..s }, key);
        let here = frame.is_object() && self.unused_key(&s, key);
        if !there || here {
            return;
        }
        let put = if frame.is_object() { "}" } else { "]" };
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

    /// A closing bracket stands at `s.at`, where it may stand or not.
    fn closer(&mut self, s: State, b: u8) -> Option<State> {
        let at = s.at as usize;
        let frame = *self.frame(&s)?;
        if b == frame.close {
            let after = self.peek_blank(at + 1);
            let parent = self.frames.get(frame.parent as usize).copied();
            // {"a": {"b": 1}, "c": 2} with a bracket too many behind 1: the keys that follow tell.
            if frame.shape == Shape::Object && self.bytes.get(after) == Some(&b',') && !frame.doubled {
                let key = self.peek_blank(after + 1);
                let here = self.unused_key(&s, key);
                let there = parent.is_some_and(|p| !p.is_object())
                    || parent.is_some() && self.unused_key(&State { frame: frame.parent, ..s }, key);
                if here && !there {
                    let fork = self.edit(s, RepairKind::DropCloser, Span::new(at, at + 1), "");
                    let fork =
                        State { at: at as u32 + 1, step: Step::After, cost: fork.cost.plus(MIDDLE), ..fork };
                    self.heap.push(fork);
                }
            }
            return self.close(s, frame);
        }
        if !s.bare.is_empty() {
            self.fail(Problem::Unreadable, Span::at(at));
            return None;
        }
        // The wrong bracket: this container's own was lost, this one was meant to be it, or it is surplus.
        let ancestor = self.has_ancestor(&frame, b);
        let swap = matches!((b, frame.json_close()), (b'}' | b']' | b')', _));
        if swap && frame.shape != Shape::Group {
            let put = if frame.is_object() { "}" } else { "]" };
            let fork = self.drop_comma(s);
            let fork = self.edit(fork, RepairKind::SwapBracket, Span::new(at, at + 1), put);
            let fork = State { at: at as u32 + 1, ..fork };
            if let Some(fork) = self.pop(fork, frame) {
                self.heap.push(fork);
            }
        }
        let fork = self.edit(s, RepairKind::DropCloser, Span::new(at, at + 1), "");
        let fork = State { at: at as u32 + 1, cost: fork.cost.plus(MIDDLE), ..fork };
        self.heap.push(fork);
        if ancestor {
            let s = self.drop_comma(s);
            let put = if frame.is_object() { "}" } else { "]" };
            let gap = self.gap_before(at);
            let s = self.edit(s, RepairKind::AddCloser, Span::at(gap), put);
            let s = State { cost: s.cost.plus(Cost::units(2)), ..s };
            return self.pop(s, frame);
        }
        None
    }

    /// Does a container around `frame` close with `b`?
    fn has_ancestor(&self, frame: &Frame, b: u8) -> bool {
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
    fn unused_key(&self, s: &State, at: usize) -> bool {
        let Some(frame) = self.frame(s) else { return false };
        let Some(key) = self.key_at(s, at) else { return false };
        match self.member(frame.place, self.text.get(key.from..key.to).unwrap_or("")) {
            Member::Declared(slot, _) => frame.used & (1 << slot) == 0,
            Member::Open(_) => true,
            Member::Forbidden => false,
        }
    }

    /// The end of what stands before `at`, blanks aside.
    fn gap_before(&self, at: usize) -> usize {
        self.bytes[..at].trim_ascii_end().len()
    }

    /// Drops a comma that stands where a key or an element should: `[1,, 2]`.
    fn drop_extra_comma(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let s = self.edit(s, RepairKind::DropComma, Span::new(at, at + 1), "");
        let cost = s.cost.plus(Cost::units(1));
        (cost < NOISE).then_some(State { at: s.at + 1, cost, ..s })
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

    /// Closes the container that the right bracket at `s.at` belongs to.
    fn close(&mut self, s: State, frame: Frame) -> Option<State> {
        let at = s.at as usize;
        let s = self.drop_comma(s);
        let s = match (frame.shape, frame.close) {
            (Shape::Group, _) => self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + 1), ""),
            (Shape::Arguments, _) => self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + 1), "}"),
            (Shape::Array, b')') => self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + 1), "]"),
            _ => s,
        };
        let mut s = State { at: s.at + 1, ..s };
        if frame.doubled {
            let next = skip_space(self.bytes, s.at as usize);
            if self.bytes.get(next) == Some(&b'}') {
                // Its cost was paid with the opening bracket.
                let cost = s.cost;
                s = self.edit(s, RepairKind::DropCloser, Span::new(next, next + 1), "");
                s = State { at: next as u32 + 1, cost, ..s };
            }
        }
        self.pop(s, frame)
    }

    /// Leaves a container, if it has all that it must have.
    fn pop(&mut self, s: State, frame: Frame) -> Option<State> {
        if self.rigor == Rigor::Full && frame.is_object() && frame.shape != Shape::Group {
            let missing = self.guide.required(frame.place) & !frame.used;
            if missing != 0 {
                self.fail(Problem::Unreadable, Span::at(s.at as usize));
                return None;
            }
        }
        Some(State { frame: frame.parent, step: Step::After, firm: true, text_end: 0, comma: false, ..s })
    }

    /// The text, or the part of it that a marker ends, is over before the value is.
    fn out_of_text(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let ended_by_marker = at < self.bytes.len() && self.peek_blank(at) < self.bytes.len();
        let expects_value = s.step == Step::Value && self.frame(&s).is_none_or(|f| f.is_object());
        // A quote that was taken for text may have been the end of the string after all: `{"a": "neuron", "`
        // So may a text whose quotes do not come out even: `{"a": [true, "b: 0 `
        let even = s.bare.is_empty() && !s.doubt && !has_paid(&s, RepairKind::AddQuote);
        let firm = (s.firm || s.comma) && even || ended_by_marker;
        if expects_value || !firm || (self.cut && !ended_by_marker) || s.frame == NONE {
            self.fail(Problem::Truncated, Span::new(s.open as usize, at));
            return None;
        }
        let frame = *self.frame(&s)?;
        let s = self.drop_comma(s);
        let gap = if ended_by_marker { at } else { at.min(self.bytes.len()) };
        let s = match frame.shape {
            Shape::Group => s,
            _ => {
                let put = if frame.is_object() { "}" } else { "]" };
                self.edit(s, RepairKind::AddCloser, Span::at(gap), put)
            }
        };
        self.pop(s, frame)
    }

    /// Does something that ends a value from outside stand at `at`: a fence, a closing tag, a special token?
    fn at_marker(&self, at: usize) -> bool {
        match self.bytes.get(at..).unwrap_or(&[]) {
            [b'<', b'/' | b'|', ..] => true,
            [b'`', b'`', ..] => true,
            _ => false,
        }
    }

    /// The value is complete: takes note of it, with what its end costs.
    pub(super) fn tail(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let next = skip_space(self.bytes, at);
        let rest = &self.bytes[next..];
        let arguments = self.arguments;
        if !arguments && let Some(b'}' | b']' | b')') = rest.first() {
            let s = self.edit(s, RepairKind::DropCloser, Span::new(next, next + 1), "");
            let too_many = s.cost > NOISE;
            return (!too_many).then_some(State { at: next as u32 + 1, ..s });
        }
        let newline = self.bytes[at..next].contains(&b'\n');
        let by_accident = match rest.first() {
            _ if self.cut => s.doubt || is_evened(&s),
            None => false,
            _ if arguments => false,
            Some(b',' | b':' | b'"') => s.doubt || is_evened(&s),
            // Only prose on a line of its own may follow.
            Some(b) => s.doubt && !(newline && b.is_ascii_alphabetic()),
        };
        if by_accident && !self.at_marker(next) {
            self.fail(Problem::Truncated, Span::at(at));
            return None;
        }
        let before = &self.bytes[..self.start as usize];
        let goes_on = self.last_at > at && matches!(self.last, b'}' | b']' | b'"' | b'\'');
        let cost = match rest {
            [] => Cost::default(),
            _ if arguments => match rest[0] {
                b')' | b']' | b',' | b'\n' | b';' | b'`' | b'<' | b'.' | b'"' | b'\'' => Cost::default(),
                _ if newline => Cost::default(),
                _ => SAME_LINE,
            },
            [b'<', b'/' | b'|', ..] if before.trim_ascii_end().ends_with(b">") => Cost::default(),
            [b'`', b'`', ..] if before.windows(3).any(|w| w == b"```") => Cost::default(),
            [b'{' | b'[', ..] => LATER_LINE,
            // A string with quotes that are text, and prose behind it: a cut text looks like that, too.
            _ if !s.bare.is_empty() && !super::body::is_balanced(&self.bytes[s.bare.range()]) => {
                self.fail(Problem::Truncated, Span::new(s.bare.start as usize, self.bytes.len()));
                return None;
            }
            // On the same line: the value itself goes on, so this was not its end.
            _ if goes_on && !newline => {
                self.fail(Problem::Unreadable, Span::at(next));
                return None;
            }
            _ if goes_on => GOES_ON,
            [b'<' | b'`', ..] => Cost::default(),
            _ if newline => LATER_LINE,
            _ => SAME_LINE,
        };
        Some(State { step: Step::Done, cost: s.cost.plus(cost), ..s })
    }

    /// Takes note of a complete reading.
    pub(super) fn done(&mut self, s: State) {
        if self.found.len() < super::MOST_READINGS {
            let span = Span::new(self.start as usize, s.at as usize);
            let repairs = self.repairs(&s);
            self.found.push(Found { cost: s.cost, span, repairs });
        }
    }
}

/// Was a bracket or quote edited, without which the text might not have come out even?
fn is_evened(s: &State) -> bool {
    use RepairKind::{AddCloser, AddQuote, DropOpener, SwapBracket};
    [AddCloser, AddQuote, DropOpener, SwapBracket].into_iter().any(|kind| has_paid(s, kind))
}

fn has_paid(s: &State, kind: RepairKind) -> bool {
    s.habits & (1 << kind as u64) != 0
}

/// The ASCII form of the full-width punctuation at the start of `bytes`, and its length.
fn wide(bytes: &[u8]) -> Option<(u8, usize)> {
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
