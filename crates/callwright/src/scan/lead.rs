//! What stands in front of a payload: markers, fences, brackets, quotes, `print(`, `x =`.
//!
//! [`look`] takes a place in a text and says whether a call may begin there, and with which markup. It looks
//! a bounded way ahead, so that a stream can be asked again when more of it is there.

use callwright_json::Span;

use crate::dialect::{self, Anchor, NameAt, Record};
use crate::name::{MAX_NAME, Names, Prefix};

/// The most markup that one payload may have in front of it, in bytes.
const MAX_LEAD: usize = 768;
/// And in pieces.
const MAX_PIECES: usize = 10;

/// The longest run of backticks that is a fence.
pub(crate) const MAX_TICKS: usize = 16;

/// Keys by which a value whose opening brace is missing is known.
const FIRST_KEYS: &[&str] =
    &["name", "tool", "function", "arguments", "parameters", "tool_name", "function_name"];

/// A call that may begin.
#[derive(Debug)]
pub(crate) struct Lead {
    /// Where the markup begins.
    pub(crate) start: usize,
    /// The payload.
    pub(crate) item: Item,
    /// What was opened in front of it, outermost first.
    pub(crate) glue: Vec<Glue>,
    /// The dialect.
    pub(crate) record: &'static Record,
}

/// A payload that may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// `{…}` that may hold a name and arguments; at its brace, or at its first key where that is missing.
    Value {
        /// Where it begins.
        at: usize,
    },
    /// `f(…)`
    Call {
        /// The name as it is written.
        name: Span,
        /// The opening parenthesis.
        at: usize,
    },
    /// The arguments of a call whose name stood in the markup: `<f>{…}`, `f⏎{…}`.
    Named {
        /// The name as it is written.
        name: Span,
        /// Where the value begins.
        at: usize,
    },
}

impl Item {
    /// Where the payload's first bracket stands.
    pub(crate) fn at(self) -> usize {
        match self {
            Item::Value { at } | Item::Call { at, .. } | Item::Named { at, .. } => at,
        }
    }
}

/// Something opened in front of a payload, to be closed behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glue {
    /// `[`
    Bracket,
    /// `print(`
    Paren,
    /// `"` or `'`
    Quote(u8),
    /// `` ` `` once or twice
    Ticks(usize),
    /// Three or more backticks and a label.
    Fence(usize),
    /// A tag or special token.
    Tag,
}

/// What [`look`] finds.
#[derive(Debug)]
pub(crate) enum Look {
    /// A payload.
    Found(Lead),
    /// More text is needed to tell.
    Wait,
    /// No call begins here.
    Nothing,
}

/// What is known about the place.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a, 't> {
    /// The tools.
    pub(crate) names: &'a Names<'t>,
    /// Is there only whitespace before it on its line?
    pub(crate) line_start: bool,
    /// Is it inside a fence that was left in the text? A fence mark there is a closing one.
    pub(crate) in_fence: bool,
    /// Will no more text come?
    pub(crate) end: bool,
}

/// Does a call begin at `from`?
pub(crate) fn look(text: &str, from: usize, place: Place<'_, '_>) -> Look {
    let bytes = text.as_bytes();
    let mut lead = Leading { text, bytes, at: from, from, place, glue: Vec::new(), record: None };
    for _ in 0..MAX_PIECES {
        if lead.at > from {
            while bytes.get(lead.at).is_some_and(u8::is_ascii_whitespace) {
                lead.at += 1;
            }
        }
        if MAX_LEAD < lead.at - from {
            return Look::Nothing;
        }
        match lead.step() {
            Step::Over => {}
            Step::Item(item) => {
                let record = lead.record.unwrap_or_else(|| lead.plain_record(item));
                return Look::Found(Lead { start: from, item, glue: lead.glue, record });
            }
            Step::Wait if place.end => return Look::Nothing,
            Step::Wait => return Look::Wait,
            Step::Nothing => return Look::Nothing,
        }
    }
    Look::Nothing
}

struct Leading<'a, 't> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    from: usize,
    place: Place<'a, 't>,
    glue: Vec<Glue>,
    record: Option<&'static Record>,
}

enum Step {
    /// A piece of markup was stepped over.
    Over,
    Item(Item),
    Wait,
    Nothing,
}

impl Leading<'_, '_> {
    fn step(&mut self) -> Step {
        let Some(&byte) = self.bytes.get(self.at) else { return Step::Wait };
        match byte {
            b'{' => Step::Item(Item::Value { at: self.at }),
            b'[' => self.bracket(),
            b'(' => self.tuple(),
            b'`' => self.ticks(),
            b'<' => self.tag(),
            b'"' | b'\'' => self.quote(byte),
            b'#' if self.in_own_fence() => self.comment(),
            _ if is_name_byte(byte) => self.word(),
            _ => Step::Nothing,
        }
    }

    fn distinct(&self) -> bool {
        self.record.is_some_and(|record| record.anchor == Anchor::Distinct)
    }

    fn prefix(&self) -> Prefix {
        if self.distinct() { Prefix::Any } else { Prefix::Known }
    }

    fn in_own_fence(&self) -> bool {
        self.glue.iter().any(|glue| matches!(glue, Glue::Fence(_)))
    }

    fn over(&mut self, end: usize, glue: Glue) -> Step {
        self.at = end;
        self.glue.push(glue);
        Step::Over
    }

    /// The dialect of a payload that no marker announces.
    fn plain_record(&self, item: Item) -> &'static Record {
        dialect::named(match item {
            Item::Named { .. } => "name_line",
            Item::Call { .. } => "pythonic",
            Item::Value { .. } if self.in_own_fence() => "json_fence",
            Item::Value { .. } => "json_bare",
        })
    }

    fn bracket(&mut self) -> Step {
        match self.bytes.get(self.at + 1) {
            // `[TOOL_CALLS]`
            Some(b) if b.is_ascii_alphabetic() => {
                if let Some((record, len)) = dialect::opener_at(self.text, self.at) {
                    self.record = Some(record);
                    return self.over(self.at + len, Glue::Tag);
                }
                if self.growing() {
                    return Step::Wait;
                }
            }
            Some(b'[') if self.glue.iter().filter(|g| **g == Glue::Bracket).count() == 2 => {
                return Step::Nothing;
            }
            Some(_) => {}
            None => return Step::Wait,
        }
        self.over(self.at + 1, Glue::Bracket)
    }

    /// `('f', {…})`
    fn tuple(&mut self) -> Step {
        let quote = self.skip_space(self.at + 1);
        match self.bytes.get(quote) {
            None => Step::Wait,
            Some(b'"' | b'\'') => {
                let name = self.name_end(quote + 1);
                match self.bytes.get(name) {
                    None => Step::Wait,
                    Some(b'"' | b'\'') if self.resolves(quote + 1, name) => {
                        self.over(self.at + 1, Glue::Paren)
                    }
                    Some(_) => Step::Nothing,
                }
            }
            Some(_) => Step::Nothing,
        }
    }

    fn ticks(&mut self) -> Step {
        let run = tick_run(self.bytes, self.at);
        let mut end = self.at + run;
        if run == MAX_TICKS {
            return Step::Nothing;
        }
        if end == self.bytes.len() && !self.place.end {
            return Step::Wait;
        }
        if run < 3 {
            return self.over(end, Glue::Ticks(run));
        }
        if self.place.in_fence && self.glue.is_empty() {
            return Step::Nothing;
        }
        let label = end;
        while self
            .bytes
            .get(end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
        {
            end += 1;
        }
        match self.bytes.get(end) {
            None => return Step::Wait,
            // ```` ```f(a=1)``` ```` has no label.
            Some(b'(' | b'.' | b'\\') => end = label,
            Some(_) => {}
        }
        if self.text.get(label..end) == Some("tool_code") {
            self.record = Some(dialect::named("tool_code"));
        } else if self.text.get(label..end) == Some("tool_output") {
            return Step::Nothing;
        }
        self.over(end, Glue::Fence(run))
    }

    fn tag(&mut self) -> Step {
        if let Some((record, len)) = dialect::opener_at(self.text, self.at) {
            self.record = Some(record);
            return match record.name_at {
                NameAt::Payload => self.over(self.at + len, Glue::Tag),
                NameAt::Opener | NameAt::Tag => self.named_tag(self.at + len),
            };
        }
        if self.growing() {
            return Step::Wait;
        }
        let inner = self.at + 1;
        match self.bytes.get(inner) {
            None => Step::Wait,
            // `<|im_start|>`, `<|assistant|>`: leaked special tokens say nothing.
            Some(b'|') => match self.bytes[inner + 1..].iter().take(40).position(|&b| b == b'>') {
                Some(n) => self.over(inner + 1 + n + 1, Glue::Tag),
                None if self.bytes.len() < inner + 41 => Step::Wait,
                None => Step::Nothing,
            },
            // `<?xml version="1.0"?>`
            Some(b'?') => match self.bytes[inner..].iter().take(80).position(|&b| b == b'>') {
                Some(n) => self.over(inner + n + 1, Glue::Tag),
                None if self.bytes.len() < inner + 80 => Step::Wait,
                None => Step::Nothing,
            },
            Some(&byte) if is_name_byte(byte) => {
                let end = self.name_end(inner);
                match self.bytes.get(end) {
                    None if end - inner <= MAX_NAME => Step::Wait,
                    Some(b'>') if self.resolves_tag(inner, end) => {
                        self.record = Some(dialect::named("toolname_tag"));
                        self.named_tag(inner)
                    }
                    _ => Step::Nothing,
                }
            }
            Some(_) => Step::Nothing,
        }
    }

    /// The value behind a tag that holds the name, which begins at `from`.
    fn named_tag(&mut self, from: usize) -> Step {
        let end = self.name_end(from);
        match self.bytes.get(end) {
            None if end - from <= MAX_NAME => return Step::Wait,
            Some(b'>') => {}
            _ => return Step::Nothing,
        }
        self.glue.push(Glue::Tag);
        let at = self.skip_space(end + 1);
        match self.bytes.get(at) {
            None => Step::Wait,
            Some(b'{') => Step::Item(Item::Named { name: Span::new(from, end), at }),
            Some(_) => Step::Nothing,
        }
    }

    fn quote(&mut self, mark: u8) -> Step {
        let from = self.at + 1;
        let end = self.name_end(from);
        match self.bytes.get(end) {
            None if end - from <= MAX_NAME => Step::Wait,
            // `'f(a=1)'`
            Some(b'(') if self.resolves(from, end) => self.over(from, Glue::Quote(mark)),
            Some(&b) if b == mark => self.quoted_name(from, end),
            _ => Step::Nothing,
        }
    }

    /// Behind a name in quotes: `'f'(a=1)`, `['f'](a=1)`, `["f", {…}]`, `['f', 'arguments': {…}]`.
    fn quoted_name(&mut self, from: usize, end: usize) -> Step {
        let name = Span::new(from, end);
        let is_key = self.text.get(from..end).is_some_and(|key| FIRST_KEYS.contains(&key));
        if self.distinct() && is_key {
            return Step::Item(Item::Value { at: self.at });
        }
        if !self.resolves(from, end) {
            return Step::Nothing;
        }
        match self.bytes.get(end + 1..end + 3) {
            Some([b'(', _]) => return Step::Item(Item::Call { name, at: end + 1 }),
            Some(b"](") if self.glue.last() == Some(&Glue::Bracket) => {
                self.glue.pop();
                return Step::Item(Item::Call { name, at: end + 2 });
            }
            Some(_) => {}
            None => return Step::Wait,
        }
        let comma = self.skip_space(end + 1);
        let mut at = self.skip_space(comma + 1);
        if let Some(b'"' | b'\'') = self.bytes.get(at) {
            let key = self.name_end(at + 1);
            let colon = self.skip_space(key + 1);
            match self.bytes.get(colon) {
                None => return Step::Wait,
                Some(b':') if self.text.get(at + 1..key).is_some_and(|key| FIRST_KEYS.contains(&key)) => {
                    at = self.skip_space(colon + 1);
                }
                Some(_) => return Step::Nothing,
            }
        }
        match (self.bytes.get(comma), self.bytes.get(at)) {
            (Some(b','), Some(b'{')) => Step::Item(Item::Named { name, at }),
            (Some(b',') | None, None) => Step::Wait,
            _ => Step::Nothing,
        }
    }

    /// `# the weather in Paris` above a call in a fence.
    fn comment(&mut self) -> Step {
        match self.bytes[self.at..].iter().take(MAX_LEAD).position(|&b| b == b'\n') {
            Some(n) => {
                self.at += n;
                Step::Over
            }
            None if self.bytes.len() < self.at + MAX_LEAD => Step::Wait,
            None => Step::Nothing,
        }
    }

    fn word(&mut self) -> Step {
        let (from, end) = (self.at, self.name_end(self.at));
        // A longer word is none, whether the rest of it is there already or not.
        if MAX_NAME < end - from {
            return Step::Nothing;
        }
        let Some(&next) = self.bytes.get(end) else { return Step::Wait };
        let word = self.text.get(from..end).unwrap_or("");
        match next {
            b'(' if self.resolves(from, end) => {
                if self.behind_definition() {
                    return Step::Nothing;
                }
                return Step::Item(Item::Call { name: Span::new(from, end), at: end });
            }
            b'(' if self.free() && matches!(word, "print" | "str" | "json.dumps") => {
                return self.over(end + 1, Glue::Paren);
            }
            b'[' if word.eq_ignore_ascii_case("functools") => {
                self.record = Some(dialect::named("phi4mini"));
                self.at = end;
                return Step::Over;
            }
            b' ' if self.free() && matches!(word, "return" | "await" | "let" | "const" | "var") => {
                self.at = end;
                return Step::Over;
            }
            _ => {}
        }
        let after = self.skip_space(end);
        match self.bytes.get(after) {
            None if after - end < 16 => Step::Wait,
            Some(b'=') if after - end < 16 && self.free() && is_variable(word) => {
                match self.bytes.get(after + 1) {
                    None => Step::Wait,
                    Some(b'=') => Step::Nothing,
                    Some(_) => {
                        self.at = after + 1;
                        Step::Over
                    }
                }
            }
            // `get_weather⏎{"city": "Paris"}`, also right behind a sentence: `the call.get_weather⏎{…}`
            Some(b'{') if after - end < 16 => {
                let on_next_line = self.bytes[end..after].contains(&b'\n');
                let glued =
                    word.rmatch_indices(['.', '?', '!']).map(|(dot, _)| from + dot + 1).find(|&from| {
                        on_next_line
                            && self
                                .text
                                .get(from..end)
                                .is_some_and(|n| self.place.names.tools().get(n).is_some())
                    });
                let from = if self.resolves(from, end) && (self.free() || on_next_line) {
                    Some(from)
                } else {
                    glued
                };
                match from {
                    Some(from) => Step::Item(Item::Named { name: Span::new(from, end), at: after }),
                    None => Step::Nothing,
                }
            }
            Some(b':') if self.free() && self.resolves(from, end) => {
                let value = self.skip_space(after + 1);
                match self.bytes.get(value) {
                    None => Step::Wait,
                    Some(b'{') => Step::Item(Item::Named { name: Span::new(from, end), at: value }),
                    Some(_) => Step::Nothing,
                }
            }
            _ => Step::Nothing,
        }
    }

    /// May a statement begin here: at the start of a line, or inside markup?
    fn free(&self) -> bool {
        self.place.line_start || self.from < self.at
    }

    /// `def f(`, `function f(`: code that defines, not calls.
    fn behind_definition(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let Some((b' ', before)) = before.split_last() else { return false };
        [&b"def"[..], b"function", b"class", b"fn", b"func"].iter().any(|word| before.ends_with(word))
    }

    fn resolves(&self, from: usize, end: usize) -> bool {
        self.text.get(from..end).is_some_and(|name| self.place.names.resolve(name, self.prefix()).is_some())
    }

    /// A tag is a name only as the whole name: `<search>` is no sign of `books.search`.
    fn resolves_tag(&self, from: usize, end: usize) -> bool {
        self.text.get(from..end).is_some_and(|name| {
            self.place.names.resolve(name, Prefix::Known).is_some_and(|tool| tool.name().len() == name.len())
        })
    }

    /// May what is there so far become a dialect's opener?
    fn growing(&self) -> bool {
        let openers = dialect::ALL.iter().flat_map(|record| record.open.iter().copied());
        !self.place.end && dialect::may_grow_into(self.text, self.at, openers)
    }

    fn skip_space(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or(&[]);
        from + rest.iter().take(64).take_while(|b| b.is_ascii_whitespace()).count()
    }

    fn name_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or(&[]);
        let mut end = from + rest.iter().take(MAX_NAME + 1).take_while(|&&b| is_name_byte(b)).count();
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        end
    }
}

/// How many backticks stand at `at`, up to [`MAX_TICKS`].
pub(crate) fn tick_run(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or(&[]).iter().take(MAX_TICKS).take_while(|&&b| b == b'`').count()
}

/// May this byte stand in a tool's name? Letters beyond ASCII may; a backslash is an escaped underscore's.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'\\') || !byte.is_ascii()
}

fn is_variable(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
