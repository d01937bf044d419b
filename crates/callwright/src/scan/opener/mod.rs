//! The markup in front of a payload: markers, fences, brackets, quotes, `print(`, `x =`.
//!
//! [`parse_opener`] takes a place in a text and says whether a call may begin there, and with which markup. It looks
//! ahead a bounded way, so that a stream can ask again once it has more text.

mod classify;
mod custom;
mod elements;
mod detokenized;
mod header;
mod labels;
mod punctuation;
mod tag;
mod words;

use std::sync::Arc;

use callwright_json::{Fuel, Span};

use self::tag::Header;
use crate::dialect::{Anchor, Dialects, Grammar, Record};
use crate::scan::judge::Judged;
use crate::syntax::{Incomplete, blanks};
use crate::tools::names::{MAX_NAME, Names, is_name_byte};

/// Most markup in front of one payload, in bytes.
pub(super) const MAX_OPENER: usize = 768;
/// Most markup in front of one payload, in pieces.
const MAX_PIECES: usize = 16;

/// Length from which on a run of backticks is not a fence.
pub(crate) const MAX_TICKS: usize = 16;

/// A call that may begin.
#[derive(Debug)]
pub(crate) struct Opener {
    /// The place where the markup begins.
    pub(crate) start: usize,
    /// The payload.
    pub(crate) item: Item,
    /// The server that the model named beside the tool.
    pub(crate) server: Option<Span>,
    /// The delimiters in front of the payload, outermost first.
    pub(crate) delimiters: Vec<Delimiter>,
    /// The dialect by which the payload is read.
    pub(crate) record: Arc<Record>,
    /// The dialect that reports name. A call without marks of its own, such as JSON in a list between marks, has the
    /// dialect of the marks around it.
    pub(crate) dialect: Arc<Record>,
    /// The marks in front of the payload, if they are broken.
    pub(crate) mended: Option<Mended>,
    /// The judgement of the text with its marks as written. It counts if repaired marks make no call of the text.
    pub(crate) instead: Option<Box<(Opener, Judged)>>,
}

/// Broken marks in front of a payload.
#[derive(Clone, Debug)]
pub(crate) struct Mended {
    /// The place of the marks.
    pub(crate) at: Span,
    /// The proper spelling of the marks.
    pub(crate) whole: String,
    /// The number of wrong letters.
    pub(crate) edits: usize,
    /// The name of the tool in the marks, if they name one.
    pub(crate) name: Option<String>,
}

impl Opener {
    /// Returns an opener of `item` whose marks, those of `record`, begin at `start` with nothing open before them.
    pub(super) fn bare(start: usize, item: Item, record: Arc<Record>) -> Opener {
        let dialect = Arc::clone(&record);
        Opener {
            start,
            item,
            server: None,
            delimiters: Vec::new(),
            record,
            dialect,
            mended: None,
            instead: None,
        }
    }

    /// Returns the tool's name as it is meant, if it stands outside the payload.
    pub(super) fn name<'o>(&'o self, text: &'o str) -> Option<&'o str> {
        let mended = self.mended.as_ref().and_then(|mended| mended.name.as_deref());
        mended.or_else(|| self.item.name.map(|name| name.of(text)))
    }

    /// Returns whether the marks of the call, or of the list around it, say that this is a call.
    pub(super) fn is_distinct(&self) -> bool {
        [&self.record, &self.dialect].iter().any(|record| record.anchor == Anchor::Distinct)
    }

    /// Returns the dialect in whose marks the arguments may stand.
    pub(super) fn formed(&self) -> Option<&Arc<Record>> {
        [&self.dialect, &self.record].into_iter().find(|record| record.form().is_some())
    }

    /// Returns whether the call begins with the marks of its first argument, since its own marks are missing.
    pub(super) fn is_headless(&self) -> bool {
        self.item.sort == Sort::Words && self.item.name.is_some_and(Span::is_empty)
    }

    /// Returns whether the call stands in a fence of its own.
    pub(super) fn is_fenced(&self) -> bool {
        self.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_)))
    }
}

/// The beginning of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) sort: Sort,
    /// The name as written, if it stands outside the payload.
    pub(crate) name: Option<Span>,
    /// The place where the payload begins: its first bracket, argument or word.
    pub(crate) at: usize,
}

/// The sorts of payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// `{…}` that may hold a name and arguments. It begins at its brace, or at its first key if the brace is missing.
    Value,
    /// `f(…)`, or a call whose bracket stands in front of the name: `['f', a=1]`, `tools.call(f, a=1)`.
    Call,
    /// The arguments of a call whose name stood in the markup: `<f>{…}`, `f⏎{…}`.
    Named,
    /// Arguments in tags: `<invoke name="f"><parameter name="a">…`
    Tagged,
    /// A call without arguments: `<invoke name="f"/>`, `<function=f></function>`. It ends here, or its closing mark
    /// begins here.
    Over,
    /// Arguments with bare keys, and marks of their own around strings: `call:f{a:<|"|>x<|"|>}`.
    Relaxed,
    /// One text as the only argument: `Action: f⏎Action Input: Paris`.
    Plain,
    /// A declared name behind a marker, and words that are not arguments: `<tool_call>f: Paris</tool_call>`.
    Words,
    /// A block that may hold a call, and does not begin like one: `<tool_call>Result: {…}</tool_call>`.
    Block,
}

impl Sort {
    /// Returns a payload of this sort at `at`, for the call of `name`.
    pub(crate) fn of(self, name: Span, at: usize) -> Item {
        Item { sort: self, name: Some(name), at }
    }

    /// Returns a payload of this sort at `at`, without a name outside it.
    pub(crate) fn at(self, at: usize) -> Item {
        Item { sort: self, name: None, at }
    }
}

/// A delimiter that opens in front of a payload and closes behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// `[`
    Bracket,
    /// `print(`
    Paren,
    /// `"` or `'`
    Quote(u8),
    /// One or two backticks.
    Ticks(usize),
    /// Three or more backticks and a label.
    Fence(usize),
    /// A tag or special token.
    Tag,
}

/// The finding of [`parse_opener`] at a place.
#[derive(Debug)]
pub(crate) enum Look {
    /// A payload that may be a call's.
    Found(Opener),
    /// No call begins here.
    Nothing,
    /// Too many marks for a call. Those up to this place are text.
    TooMany(usize),
}

/// The facts about a place in a text.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a, 't> {
    /// The tools.
    pub(crate) names: &'a Names<'t>,
    /// The dialects.
    pub(crate) dialects: &'a Dialects,
    /// The dialect of the calls before the place, if their markup is still open.
    pub(crate) inside: Option<&'a Arc<Record>>,
    /// The place follows a call in a list, or on the line before it.
    pub(crate) follows_call: bool,
    /// Only whitespace stands before the place on its line.
    pub(crate) line_start: bool,
    /// The place is inside a fence that stayed in the text, so that a fence mark closes it.
    pub(crate) in_fence: bool,
    /// The mark that closes the reasoning around the place.
    pub(crate) thought: Option<&'a str>,
    /// No more text will come.
    pub(crate) end: bool,
    /// The fuel for reading broken marks.
    pub(crate) fuel: &'a Fuel,
}

/// Returns the call that may begin at `from`.
pub(crate) fn parse_opener(text: &str, from: usize, place: Place<'_, '_>) -> Result<Look, Incomplete> {
    OpenerParser::new(text, from, place).look()
}

/// Returns the call that may begin behind `marks`, which are read as those of `record` and opened `delimiters`.
pub(crate) fn parse_mended<'a>(
    text: &'a str,
    marks: Span,
    record: &'a Arc<Record>,
    delimiters: Vec<Delimiter>,
    place: Place<'a, '_>,
) -> Result<Look, Incomplete> {
    let mut parser = OpenerParser::new(text, marks.start as usize, place);
    (parser.at, parser.delimiters) = (marks.end as usize, delimiters);
    parser.begin(record, true);
    parser.look()
}

pub(super) struct OpenerParser<'a, 't> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    from: usize,
    place: Place<'a, 't>,
    delimiters: Vec<Delimiter>,
    record: Option<&'a Arc<Record>>,
    header: Header,
    /// The end of the tag that named the call and closed itself, `<invoke name="f"/>`.
    over: Option<usize>,
    server: Option<Span>,
}

enum Step {
    /// The parser stepped over a piece of markup.
    Over,
    Item(Item),
    Nothing,
}

impl<'a, 't> OpenerParser<'a, 't> {
    pub(super) fn new(text: &'a str, from: usize, place: Place<'a, 't>) -> OpenerParser<'a, 't> {
        let (bytes, delimiters) = (text.as_bytes(), Vec::new());
        let header = Header::No;
        OpenerParser {
            text,
            bytes,
            at: from,
            from,
            place,
            delimiters,
            record: None,
            header,
            over: None,
            server: None,
        }
    }

    pub(super) fn look(&mut self) -> Result<Look, Incomplete> {
        let (text, from) = (self.text, self.from);
        // The end of the markup within half the limits.
        let mut half = None;
        for n in 0..MAX_PIECES {
            if self.at > from {
                self.at += blanks(text, self.at, MAX_OPENER);
            }
            if MAX_OPENER < self.at - from {
                break;
            }
            match self.step() {
                Ok(Step::Over) => {
                    if n < MAX_PIECES / 2 && self.at - from <= MAX_OPENER / 2 {
                        half = Some(self.at);
                    }
                }
                Ok(Step::Item(item)) => return self.found(item),
                Err(Incomplete) if !self.place.end => return Err(Incomplete),
                step => {
                    let item = match (self.without_arguments(), step) {
                        (None, Ok(_)) => self.words(),
                        (None, Err(Incomplete)) => self.begun(),
                        (item, _) => item,
                    };
                    return item.map_or(Ok(Look::Nothing), |item| self.found(item));
                }
            }
        }
        // A model may repeat markers without end. Each would be read once for each piece that may stand in front of a
        // call.
        let half = half.filter(|_| self.delimiters.iter().all(|delimiter| *delimiter == Delimiter::Tag));
        Ok(half.map_or(Look::Nothing, Look::TooMany))
    }

    fn found(&mut self, item: Item) -> Result<Look, Incomplete> {
        let record = self.told(item)?;
        // `main() starts it.` behind a call in JSON is not of that call's dialect.
        let is_expression = item.sort == Sort::Call;
        let may_be_its = |inside: &&Arc<Record>| !is_expression || inside.arguments == Grammar::Calls;
        let inside = self.place.inside.filter(|_| self.record.is_none()).filter(may_be_its);
        let dialect = inside.unwrap_or(record);
        Ok(Look::Found(Opener {
            server: self.server,
            delimiters: std::mem::take(&mut self.delimiters),
            dialect: Arc::clone(dialect),
            ..Opener::bare(self.from, item, Arc::clone(record))
        }))
    }

    /// Returns the call whose tag closed itself, if nothing of the call follows.
    fn without_arguments(&self) -> Option<Item> {
        let (at, name) = (self.over?, self.name()?);
        let is_declared = self.resolves(name.start as usize, name.end as usize);
        is_declared.then_some(Sort::Over.of(name, at))
    }

    /// Returns the words behind a marker: a declared name, and then text that no reader takes.
    fn words(&self) -> Option<Item> {
        let is_marked = self.distinct() && self.delimiters.first() == Some(&Delimiter::Tag);
        if !is_marked || !self.place.line_start || self.place.in_fence {
            return None;
        }
        let name = self.name().unwrap_or_else(|| Span::new(self.at, self.name_end(self.at)));
        let is_declared = self.resolves(name.start as usize, name.end as usize);
        is_declared.then_some(Sort::Words.of(name, self.at))
    }

    /// Returns the call in which the text ends before any argument, `<tool_call>⏎<function=f>`, or before its name is
    /// whole: `<tool_call>⏎<function=`, `<|tool_call_start|>[get_wea`, `<functio`.
    fn begun(&mut self) -> Option<Item> {
        let at = self.text.len();
        let name = match self.words() {
            Some(item) => item.name?,
            None => Span::at(Some(at).filter(|_| self.ends_before_name())?),
        };
        Some(Sort::Tagged.of(name, at))
    }

    /// Returns whether the text ends in a call's own marks, or in so much of the first one that it can be no other.
    fn ends_before_name(&mut self) -> bool {
        const LEAST: usize = 5;
        let rest = self.text.get(self.at..).unwrap_or("");
        if self.from == self.at && LEAST <= rest.len() {
            self.record = self.place.dialects.begun(rest);
        }
        let is_in_section = self.place.inside.is_some_and(|record| record.anchor == Anchor::Distinct);
        (self.distinct() || is_in_section && 1 < rest.len() && rest.starts_with('<'))
            && self.place.line_start
            && !self.place.in_fence
            && !rest.is_empty()
    }

    fn step(&mut self) -> Result<Step, Incomplete> {
        let byte = self.peek(self.at)?;
        if let Some(step) = self.declared(byte)? {
            return Ok(step);
        }
        if let Some(step) = self.in_header(byte)? {
            return Ok(step);
        }
        match byte {
            b'{' => self.brace(),
            b'[' => self.bracket(),
            b'(' => self.tuple(),
            b'`' => self.ticks(),
            b'<' if self.is_begun() && self.bytes.get(self.at + 1) == Some(&b'!') => self.comment(),
            b'<' => self.tag(),
            b'"' | b'\'' => self.quote(byte),
            b'#' if self.in_own_fence() => self.comment(),
            b'*' | b'#' if self.at == self.from && self.place.line_start => self.decorated(),
            b'/' if self.is_begun() => self.comment(),
            b']' => self.tag(),
            b'>' if self.at == self.from || self.in_own_fence() => self.arrows(),
            _ if is_name_byte(byte) => self.word(),
            _ => Ok(Step::Nothing),
        }
    }

    /// Returns the byte at `at`.
    fn peek(&self, at: usize) -> Result<u8, Incomplete> {
        self.bytes.get(at).copied().ok_or(Incomplete)
    }

    fn distinct(&self) -> bool {
        self.record.is_some_and(|record| record.anchor == Anchor::Distinct)
    }

    fn in_own_fence(&self) -> bool {
        self.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_)))
    }

    fn over(&mut self, end: usize, delimiter: Delimiter) -> Step {
        self.at = end;
        self.delimiters.push(delimiter);
        Step::Over
    }

    /// Steps over markup that ends at `end` and opens nothing.
    fn past(&mut self, end: usize) -> Step {
        self.at = end;
        Step::Over
    }

    /// Returns whether a statement may begin here: at the start of a line, or inside markup.
    fn free(&self) -> bool {
        self.place.line_start || self.from < self.at
    }

    fn resolves(&self, from: usize, end: usize) -> bool {
        self.text.get(from..end).is_some_and(|name| self.place.names.resolve(name).is_some())
    }

    /// Returns whether the word so far holds a name, or may grow into one that does.
    fn may_hold_name(&self, from: usize, end: usize) -> bool {
        let word = self.text.get(from..end).unwrap_or("");
        match self.distinct() {
            true => word.len() <= MAX_NAME,
            false => self.place.names.may_hold(word),
        }
    }

    /// Returns whether the parser stepped over a marker. Markup behind it may be a call's, up to the longest opener.
    pub(super) fn is_begun(&self) -> bool {
        self.record.is_some()
            || self.header != Header::No
            || self
                .delimiters
                .iter()
                .any(|delimiter| matches!(delimiter, Delimiter::Fence(_) | Delimiter::Tag))
    }

    /// Returns whether a tag is a tool's whole name: `<f>` or `<functions.f>`, but not `<search>` for `books.search`.
    fn resolves_tag(&self, from: usize, end: usize) -> bool {
        self.text
            .get(from..end)
            .is_some_and(|name| self.place.names.resolve(name).is_some_and(|tool| tool.is_named_by_tag(name)))
    }

    /// Returns whether the text so far may grow into a dialect's opener.
    fn growing(&self) -> bool {
        !self.place.end && self.place.dialects.may_grow_into_opener(self.text, self.at)
    }

    fn skip_space(&self, from: usize) -> usize {
        from + blanks(self.text, from, 64)
    }

    /// Returns the place behind the name at `from`. Behind other markup, the name may have several words.
    fn name_end(&self, from: usize) -> usize {
        let end = self.word_end(from);
        match self.from < from {
            true => self.place.names.joined_end(self.text, from, end, self.place.end),
            false => end,
        }
    }

    /// Returns the place behind the word at `from`.
    fn word_end(&self, from: usize) -> usize {
        let rest = self.bytes.get(from..).unwrap_or(&[]);
        let mut end = from + rest.iter().take(MAX_NAME + 1).take_while(|&&b| is_name_byte(b)).count();
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let word = self.text.get(from..end).unwrap_or("");
        word.find(char::is_whitespace).map_or(end, |blank| from + blank)
    }
}

/// Returns the number of backticks at `at`, up to [`MAX_TICKS`].
pub(crate) fn tick_run(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or(&[]).iter().take(MAX_TICKS).take_while(|&&b| b == b'`').count()
}
