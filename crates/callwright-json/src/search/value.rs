//! Values: which sort begins here, and the way into it.

use alloc::string::String;

use super::cost::APOSTROPHE;
use super::{Frame, NONE, Quote, SchemaMode, Search, Shape, State, Step};
use crate::scan::skip_space;
use crate::{Kinds, Problem, RepairKind, Span, python, quote, strict};

impl Search<'_, '_> {
    pub(super) fn value(&mut self, s: State) -> Option<State> {
        let start = skip_space(self.bytes, s.at as usize);
        let place = self.place(&s);
        if let Some(b'/' | b'#') = self.bytes.get(start)
            && self.kinds(place).has(Kinds::STRING)
            && !self.strict_quotes
        {
            // What looks like a comment may be a text whose opening quote is lost: `"code": // x", …`
            let fork = self.open_bare_string(State { at: start as u32, ..s }, Quote::Double);
            self.heap.push(fork);
            if let Some(behind) = self.noise_before(start, self.kinds(place)) {
                let fork = self.edit(s, RepairKind::DropNoise, Span::new(start, behind), "");
                self.heap.push(State { at: behind as u32, ..fork });
            }
        }
        let s = self.blank(s);
        let at = s.at as usize;
        let Some((b, len)) = self.sign_at(at) else { return self.out_of_text(s) };
        let kinds = self.kinds(self.place(&s));
        let is_admitted = || kinds.has(if b == b'{' { Kinds::OBJECT } else { Kinds::ARRAY });
        if matches!(b, b'{' | b'[') && len == 1 && is_admitted() {
            match escaped(self.text, at) {
                Ok((inner, end)) => {
                    let s = self.edit(s, RepairKind::Unwrap, Span::new(at, end), inner);
                    return Some(behind(s, at, end));
                }
                Err(looked) => self.fuel -= (looked - at) as i64,
            }
        }
        self.lost_opener(s, kinds, b);
        match b {
            b'{' if kinds.has(Kinds::OBJECT) => self.open(s, Shape::Object, b, len),
            b'[' if kinds.has(Kinds::ARRAY) => self.open(s, Shape::Array, b, len),
            b'[' if !kinds.has(Kinds::ARRAY)
                && kinds.has(Kinds::OBJECT)
                && self.begins_members(&s, at + len) =>
            {
                let s = self.edit(s, RepairKind::SwapBracket, Span::new(at, at + len), "{");
                let s = self.push_frame(s, Shape::Object, b'}')?;
                Some(State { at: (at + len) as u32, ..s })
            }
            b'(' if kinds.has(Kinds::OBJECT) && self.begins_members(&s, at + len) => {
                self.open(s, Shape::Object, b, len)
            }
            b'(' if kinds.has(Kinds::ARRAY) => self.open(s, Shape::Array, b, len),
            b'[' if !kinds.has(Kinds::ARRAY)
                && self.frame(&s).is_some_and(|f| f.shape == Shape::Array && !f.doubled) =>
            {
                let frame = *self.frame(&s)?;
                let s = self.edit(s, RepairKind::DropOpener, Span::new(at, at + len), "");
                let s = self.with_frame(s, Frame { doubled: true, ..frame });
                Some(State { at: (at + len) as u32, ..s })
            }
            // A list of one, where the object itself was asked for.
            b'[' if s.frame == NONE && kinds.has(Kinds::OBJECT) => self.group(s, len, b']'),
            // Its text was put into quotes as it is: `"{"a": 1}"`
            b'"' if !kinds.has(Kinds::STRING) && self.begins_container(at + 1, kinds) => {
                self.group(s, 1, b'"')
            }
            // A set of Python: `{'a', 'b'}`
            b'{' if kinds.has(Kinds::ARRAY)
                && !matches!(self.sign_at(self.peek_blank(at + len)), None | Some((b'}', _))) =>
            {
                self.open(s, Shape::Array, b, len)
            }
            b']' | b')' | b'}' if self.frame(&s).is_some_and(|f| !f.is_object()) => self.closer(s, b, len),
            b',' if self.frame(&s).is_some_and(|f| !f.is_object()) => self.drop_extra_comma(s, len),
            b'`' if let Some(inner) = self.fenced(at, kinds) => {
                let s = self.edit(s, RepairKind::DropFence, Span::new(at, inner), "");
                let s = self.push_frame(s, Shape::Group, b'`')?;
                Some(State { at: inner as u32, ..s })
            }
            _ if self.at_marker(at) => self.out_of_text(s),
            _ if let Some(behind) = self.noise_before(at, kinds) => {
                let fork = self.edit(s, RepairKind::DropNoise, Span::new(at, behind), "");
                self.heap.push(State { at: behind as u32, ..fork });
                self.bare_value(s)
            }
            _ => match Quote::opening(&self.bytes[at..]) {
                Some((quote, len)) => self.quoted(s, quote, len),
                None if let Some(inner) = self.constructor(&s, at).filter(|_| kinds != Kinds::ANY) => {
                    let group = self.group(s, inner - at, b')');
                    self.heap.extend(group);
                    self.bare_value(s)
                }
                None if let Some(behind) = self.junk_before(&s, at, kinds) => {
                    let fork = self.leave_out(s, Span::new(at, behind));
                    self.heap.push(State { at: behind as u32, ..fork });
                    self.bare_value(s)
                }
                None => match python::prefix(self.bytes, at) {
                    0 => self.bare_value(s),
                    len => self.prefixed(s, len),
                },
            },
        }
    }

    /// Enters the container whose opening bracket, `bracket` or `len` bytes that stand for it, stands at `s.at`.
    fn open(&mut self, s: State, shape: Shape, bracket: u8, len: usize) -> Option<State> {
        let at = Span::new(s.at as usize, s.at as usize + len);
        let (close, put) = match bracket {
            b'{' => (b'}', "{"),
            b'[' => (b']', "["),
            _ => (b')', "("),
        };
        let json = if shape == Shape::Object { "{" } else { "[" };
        let s = match shape {
            _ if json == put && len == 1 => s,
            _ if json == put => self.edit(s, RepairKind::SwapPunctuation, at, json),
            // What closes it is swapped as well.
            Shape::Object => self.edit(s, RepairKind::SwapBracket, at, json),
            _ => self.edit(s, RepairKind::SwapSyntax, at, json),
        };
        let s = self.push_frame(s, shape, close)?;
        Some(State { at: at.end, ..s })
    }

    /// The value at `s.at` may be the first one in an object or a list whose opening bracket is missing: `"to": "name": "x"}`.
    fn lost_opener(&mut self, s: State, kinds: Kinds, first: u8) {
        let at = s.at as usize;
        if kinds.has(Kinds::STRING) || s.frame == NONE || self.strict_quotes || matches!(first, b'[' | b'(') {
            return;
        }
        let place = self.place(&s);
        let is_declared = self.guide.name(place, 0).is_some();
        let (shape, close, put) = match first {
            _ if kinds.has(Kinds::OBJECT) && is_declared && self.begins_members(&s, at) => {
                (Shape::Object, b'}', "{")
            }
            b'"' | b'{' | b']' | b'-' | b'0'..=b'9' if kinds == Kinds::ARRAY => (Shape::Array, b']', "["),
            _ => return,
        };
        let s = self.edit(s, RepairKind::AddOpener, Span::at(at), put);
        let Some(s) = self.push_frame(s, shape, close) else { return };
        let Some(frame) = self.frame(&s).copied() else { return };
        let s = self.with_frame(s, Frame { added: true, ..frame });
        self.heap.push(s);
    }

    /// Enters the wrapping around one value whose first `len` bytes stand at `s.at`, and which ends with `close`.
    fn group(&mut self, s: State, len: usize, close: u8) -> Option<State> {
        let at = Span::new(s.at as usize, s.at as usize + len);
        let s = self.edit(s, RepairKind::SwapSyntax, at, "");
        let s = self.push_frame(s, Shape::Group, close)?;
        Some(State { at: at.end, ..s })
    }

    /// Does an object or a list of one of these `kinds` begin at or behind `at`, with plain quotes in it?
    fn begins_container(&self, at: usize, kinds: Kinds) -> bool {
        let open = self.peek_blank(at);
        let kind = match self.bytes.get(open) {
            Some(b'{') => Kinds::OBJECT,
            Some(b'[') => Kinds::ARRAY,
            _ => return false,
        };
        kinds.has(kind) && self.bytes.get(skip_space(self.bytes, open + 1)) != Some(&b'\\')
    }

    /// Does a member of an object that would stand here begin at or behind `at`: `("a": 1)`?
    fn begins_members(&self, s: &State, at: usize) -> bool {
        let next = self.peek_blank(at);
        let frame = Frame::of(Shape::Object, b')', s.frame, self.place(s));
        self.key_in(&frame, next).is_some()
    }

    /// Where the object or list of one of these `kinds` begins that stands in a fence of its own, which opens at `at`:
    /// ``{"a": ```json⏎{}⏎```}``
    fn fenced(&self, at: usize, kinds: Kinds) -> Option<usize> {
        let behind = self.bytes.get(at..)?.strip_prefix(b"```")?;
        let label = behind.iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let inner = skip_space(self.bytes, at + 3 + label);
        let kind = match self.bytes.get(inner)? {
            b'{' => Kinds::OBJECT,
            b'[' => Kinds::ARRAY,
            _ => return None,
        };
        kinds.has(kind).then_some(inner)
    }

    /// Where the signs end that stand at `at` in front of a value of one of these `kinds`: `"a": * "x"`.
    pub(super) fn noise_before(&self, at: usize, kinds: Kinds) -> Option<usize> {
        let len = self.signs_at(at)?;
        let next = self.peek_blank(at + len);
        let is_value = match self.sign_at(next)?.0 {
            b'{' => kinds.has(Kinds::OBJECT),
            b'[' => kinds.has(Kinds::ARRAY),
            b'"' | b'\'' => kinds.has(Kinds::STRING),
            // What belongs to a number is not known.
            b'0'..=b'9' => {
                let is_sign = matches!(self.bytes[at + len - 1], b'-' | b'+');
                kinds.meets(Kinds::NUMBER) && (at + len < next || !is_sign)
            }
            b']' | b'}' => true,
            _ => matches!(self.text.get(next..self.word_end(next)), Some("true" | "false" | "null")),
        };
        is_value.then_some(at + len)
    }

    /// The place behind the name and the bracket that stand at `at` around a value: `str("x")`, `int(2)`.
    fn constructor(&self, s: &State, at: usize) -> Option<usize> {
        let end = self.word_end(at);
        let name = self.bytes.get(at..end).filter(|_| s.frame != NONE && !self.arguments)?;
        let is_name = name.first().is_some_and(u8::is_ascii_alphabetic) && self.bytes.get(end) == Some(&b'(');
        let inner = self.peek_blank(end + 1);
        let is_value = self.bytes.get(inner).is_some_and(|b| matches!(b, b'"' | b'\'' | b'-' | b'0'..=b'9'));
        (is_name && is_value).then_some(end + 1)
    }

    /// Where the piece of text ends that stands at `at`, in front of a value of one of these `kinds`, and belongs to nothing:
    /// `"a": um "x"`.
    fn junk_before(&self, s: &State, at: usize, kinds: Kinds) -> Option<usize> {
        let end = self.junk_end(at).filter(|_| s.frame != NONE && !self.strict_quotes)?;
        let is_value = match self.sign_at(end)?.0 {
            b'{' => kinds.has(Kinds::OBJECT),
            b'[' => kinds.has(Kinds::ARRAY),
            _ => Quote::opening(&self.bytes[end..]).is_some() && kinds.has(Kinds::STRING),
        };
        // Letters right before a quote say how it is to be read.
        let is_apart = self.bytes.get(end - 1).is_some_and(|byte| !byte.is_ascii_alphanumeric());
        (is_value && is_apart).then_some(end)
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
        let behind = self.quotes_end(at, len);
        if at + len < behind && !self.strict_quotes {
            // The quote is written twice: `""Paris"`
            let last = behind - len;
            let fork = self.double_quote(s, quote, Span::new(at, last));
            let fork = self.open_string(State { at: last as u32, ..fork }, quote, len);
            self.heap.extend(fork);
        }
        self.open_string(s, quote, len)
    }

    /// Drops the second of two quotes where there should be one.
    pub(super) fn double_quote(&mut self, s: State, quote: Quote, at: Span) -> State {
        let s = self.edit(s, RepairKind::DropNoise, at, "");
        match quote {
            Quote::Single => State { cost: s.cost.plus(APOSTROPHE), ..s },
            _ => s,
        }
    }

    /// A string of Python with letters before its quote: `u'a'`, `rb"\n"`.
    fn prefixed(&mut self, s: State, letters: usize) -> Option<State> {
        let at = s.at as usize;
        let has = |letter: u8| self.bytes[at..at + letters].iter().any(|b| b.eq_ignore_ascii_case(&letter));
        let (is_raw, is_format) = (has(b'r'), has(b'f'));
        let end = python::string(self.bytes, at);
        if is_format && self.bytes[at..end.unwrap_or(self.bytes.len())].contains(&b'{') {
            self.fail(Problem::Unreadable, Span::at(at));
            return None;
        }
        if is_raw {
            return self.raw_string(s, at + letters, end?);
        }
        let s = self.edit(s, RepairKind::SwapSyntax, Span::new(at, at + letters), "");
        let s = State { at: (at + letters) as u32, ..s };
        let (quote, len) = Quote::opening(&self.bytes[s.at as usize..])?;
        self.quoted(s, quote, len)
    }

    /// A string from `s.at` to `end` whose first quote stands at `open`, and in which a backslash is one.
    fn raw_string(&mut self, s: State, open: usize, end: usize) -> Option<State> {
        let place = self.place(&s);
        let token = self.text.get(open..end)?;
        let quotes = if token.starts_with("\"\"\"") || token.starts_with("'''") { 3 } else { 1 };
        let text = token.get(quotes..token.len().checked_sub(quotes)?)?;
        let is_admitted = self.schema_mode != SchemaMode::Typed
            || self.guide.longest(place).is_none()
            || self.guide.admits(place, text);
        if !self.kinds(place).has(Kinds::STRING) || !is_admitted {
            self.fail(Problem::Unreadable, Span::at(open));
            return None;
        }
        let at = Span::new(s.at as usize, end);
        let s = self.edit(s, RepairKind::SwapSyntax, at, quote(text));
        Some(behind(s, at.start as usize, end))
    }
}

/// Behind the value from `open` to `end`, which is read.
fn behind(s: State, open: usize, end: usize) -> State {
    let bare = Span::default();
    State {
        at: end as u32,
        open: open as u32,
        step: Step::After,
        firm: true,
        text_end: 0,
        bare,
        comma: false,
        ..s
    }
}

/// The object or list at `from` whose quotes are all escaped, as if it stood in a string, `{\"a\": 1}`: its JSON, and where
/// it ends. Where it is any other, up to where it was looked at.
fn escaped(text: &str, from: usize) -> Result<(String, usize), usize> {
    let bytes = text.as_bytes();
    let inner = skip_space(bytes, from + 1);
    if !bytes.get(inner..).is_some_and(|rest| rest.starts_with(b"\\\"")) {
        return Err(from);
    }
    let mut json = String::new();
    let (mut depth, mut in_string, mut is_escape) = (0_usize, false, false);
    let mut chars = text.get(from..).unwrap_or("").char_indices();
    while let Some((at, c)) = chars.next() {
        let (at, c) = match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some((at, 'n'))) if !in_string => (at, '\n'),
            ('\\', Some((at, c @ ('"' | '\\' | '/')))) => (at, c),
            ('"' | '\\', _) => return Err(from + at),
            _ => (at, c),
        };
        json.push(c);
        match c {
            _ if is_escape => is_escape = false,
            '\\' => is_escape = true,
            '"' => in_string = !in_string,
            '{' | '[' if !in_string => depth += 1,
            '}' | ']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let end = from + at + c.len_utf8();
            return if strict(&json).is_ok() { Ok((json, end)) } else { Err(end) };
        }
    }
    Err(text.len())
}
