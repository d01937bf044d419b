//! The markup in front of a payload: markers, fences, brackets, quotes, `print(`, `x =`.
//!
//! [`parse_opener`] takes a place in a text and says whether a call may begin there, and with which markup. It looks
//! ahead a bounded way, so that a stream can ask again once it has more text.

mod classify;
mod custom;
mod detokenized;
mod elements;
mod header;
mod labels;
mod punctuation;
mod tag;
mod words;

use std::sync::Arc;

use callwright_json::{Fuel, Span};

use crate::dialect::{self, Anchor, Dialects, Grammar, Record};
use crate::marks::Front;
use crate::syntax::marks::{fit, fit_any};
use crate::syntax::{Incomplete, Seen, Typing, beginning, blanks};
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
    pub(crate) mended: Option<Front>,
}

impl Opener {
    /// Returns an opener of `item` whose marks, those of `record`, begin at `start` with nothing open before them.
    pub(super) fn bare(start: usize, item: Item, record: Arc<Record>) -> Opener {
        let dialect = Arc::clone(&record);
        Opener { start, item, server: None, delimiters: Vec::new(), record, dialect, mended: None }
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

    /// Returns whether words between the marks are the only argument: `<tool: f>⏎Paris⏎</tool>`.
    pub(super) fn has_text(&self) -> bool {
        self.record.arguments == Grammar::Json && self.record.typing == Typing::Text
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
    Lead::new(text, from, place).look()
}

/// Returns the call that may begin behind `marks`, which are read as those of `record` and opened `delimiters`.
pub(crate) fn parse_mended<'a>(
    text: &'a str,
    marks: Span,
    record: &'a Arc<Record>,
    delimiters: Vec<Delimiter>,
    place: Place<'a, '_>,
) -> Result<Look, Incomplete> {
    let mut lead = Lead { delimiters, ..Lead::new(text, marks.start as usize, place) };
    lead.take(Step { end: marks.end as usize, ..lead.begin(record, true) });
    lead.look()
}

/// The lead of a call: a place in a text, and the markup in front of it. Openers only read it.
pub(super) struct Lead<'a, 't> {
    text: &'a str,
    bytes: &'a [u8],
    from: usize,
    at: usize,
    place: Place<'a, 't>,
    delimiters: Vec<Delimiter>,
    record: Option<&'a Arc<Record>>,
    header: Header,
    /// The end of the tag that named the call and closed itself, `<invoke name="f"/>`.
    over: Option<usize>,
    server: Option<Span>,
}

/// The state of a tool's name in the markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Header {
    /// No header has begun.
    No,
    /// A header has begun, so that a name may come.
    Begun,
    /// The name, and whether it is certain. A later word of the header does not replace a certain name.
    Named(Span, bool),
}

/// The finding of an opener: a piece of markup, or the item that begins.
#[derive(Clone, Copy, Default)]
struct Step<'a> {
    item: Option<Item>,
    /// The place behind the markup.
    end: usize,
    /// The delimiter that the markup opens.
    delimiter: Option<Delimiter>,
    /// The dialect that the markup tells.
    record: Option<&'a Arc<Record>>,
    header: Option<Header>,
    over: Option<usize>,
    server: Option<Span>,
}

impl<'a> Step<'a> {
    /// Returns the step over markup that ends at `end` and opens nothing.
    fn past(end: usize) -> Step<'a> {
        Step { end, ..Step::default() }
    }

    /// Returns the step over the `delimiter` that ends at `end`.
    fn over(end: usize, delimiter: Delimiter) -> Step<'a> {
        Step { delimiter: Some(delimiter), ..Step::past(end) }
    }

    /// Returns the step to an item.
    fn to(item: Item) -> Step<'a> {
        Step { item: Some(item), ..Step::default() }
    }

    /// Returns the step with the dialect that it tells.
    fn of(self, record: &'a Arc<Record>) -> Step<'a> {
        Step { record: Some(record), ..self }
    }

    /// Returns the step behind which the `name` is certain.
    fn named(self, name: Span) -> Step<'a> {
        Step { header: Some(Header::Named(name, true)), ..self }
    }
}

/// Finds markup, or an item, where the lead ends.
type Find<'a, 't> = fn(&Lead<'a, 't>) -> Seen<Step<'a>>;

impl<'a, 't> Lead<'a, 't> {
    pub(super) fn new(text: &'a str, from: usize, place: Place<'a, 't>) -> Lead<'a, 't> {
        let (bytes, header) = (text.as_bytes(), Header::No);
        let (delimiters, record, over, server) = (Vec::new(), None, None, None);
        Lead { text, bytes, from, at: from, place, delimiters, record, header, over, server }
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
            let step = match self.step() {
                Err(Incomplete) if !self.place.end => return Err(Incomplete),
                Ok(Some(step)) => Some(step),
                step => self.without_arguments().or_else(|| match step {
                    Ok(_) => self.words(),
                    Err(Incomplete) => self.begun(),
                }),
            };
            let Some(step) = step else { return Ok(Look::Nothing) };
            self.take(step);
            if let Some(item) = step.item {
                return self.found(item);
            }
            if n < MAX_PIECES / 2 && self.at - from <= MAX_OPENER / 2 {
                half = Some(self.at);
            }
        }
        // A model may repeat markers without end. Each would be read once for each piece that may stand in front of a
        // call.
        let half = half.filter(|_| self.delimiters.iter().all(|delimiter| *delimiter == Delimiter::Tag));
        Ok(half.map_or(Look::Nothing, Look::TooMany))
    }

    /// Returns the finding of the first opener that has one. All openers stand here, in their order.
    fn step(&self) -> Seen<Step<'a>> {
        let byte = self.peek(self.at)?;
        if let Some(step) = self.first(&[Lead::declared, Lead::in_header])? {
            return Ok(Some(step));
        }
        let is_first = self.at == self.from;
        match byte {
            b'<' | b'[' | b'*' if is_first && let Some(step) = self.answer()? => Ok(Some(step)),
            b'{' => self.brace(),
            b'[' => self.bracket(),
            b'(' => self.tuple(),
            b'`' => self.ticks(),
            b'<' if self.is_begun() && self.bytes.get(self.at + 1) == Some(&b'!') => self.comment(),
            b'<' | b']' => self.tag(),
            b'"' | b'\'' => self.quote(byte),
            b'#' if self.in_own_fence() => self.comment(),
            b'*' | b'#' if is_first && self.place.line_start => self.labelled(),
            b'/' if self.is_begun() => self.comment(),
            // `; {…}; {…}`: a separator in front of the first call, too.
            b';' if is_first && self.place.line_start => {
                Ok(fit(self.rest(self.at), "; {")?.map(|_| Step::past(self.at + 1)))
            }
            b'>' if is_first || self.in_own_fence() => self.arrows(),
            _ if is_name_byte(byte) => {
                self.first(&[Lead::labelled, Lead::recipient, Lead::worded, Lead::stripped, Lead::word])
            }
            _ => Ok(None),
        }
    }

    /// Steps over a mark around the whole answer.
    fn answer(&self) -> Seen<Step<'a>> {
        let len = fit_any(self.rest(self.at), dialect::ANSWERS.iter().copied())?;
        Ok(len.map(|len| Step::over(self.at + len, Delimiter::Tag)))
    }

    /// Returns the finding of the first of these openers that has one.
    fn first(&self, openers: &[Find<'a, 't>]) -> Seen<Step<'a>> {
        for find in openers {
            if let Some(step) = find(self)? {
                return Ok(Some(step));
            }
        }
        Ok(None)
    }

    /// Goes over what an opener found.
    fn take(&mut self, step: Step<'a>) {
        self.at = step.end;
        self.delimiters.extend(step.delimiter);
        self.record = step.record.or(self.record);
        self.server = step.server.or(self.server);
        if let Some(header) = step.header {
            (self.header, self.over) = (header, step.over);
        }
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
    fn without_arguments(&self) -> Option<Step<'a>> {
        let (at, name) = (self.over?, self.name()?);
        self.resolves(name).then(|| Step::to(Sort::Over.of(name, at)))
    }

    /// Returns the words behind a marker: a declared name, and then text that no reader takes.
    fn words(&self) -> Option<Step<'a>> {
        if !self.distinct() || self.delimiters.first() != Some(&Delimiter::Tag) || !self.stands_alone() {
            return None;
        }
        let name = self.name().unwrap_or_else(|| self.name_at(self.at));
        self.resolves(name).then(|| Step::to(Sort::Words.of(name, self.at)))
    }

    /// Returns the call in which the text ends before any argument, `<tool_call>⏎<function=f>`, or before its name is
    /// whole: `<tool_call>⏎<function=`, `<|tool_call_start|>[get_wea`, `<function=get_wea`, `<functio`.
    fn begun(&self) -> Option<Step<'a>> {
        const LEAST: usize = 5;
        let at = self.text.len();
        if let Some(Step { item: Some(Item { name: Some(name), .. }), .. }) = self.words() {
            return Some(Step::to(Sort::Tagged.of(name, at)));
        }
        // The text ends in a call's own marks, or in so much of the first one that it can be no other.
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let is_mark = self.from == self.at && LEAST <= rest.len();
        let opener = || self.opener().ok().flatten().map(|(record, _)| record);
        let record = if is_mark { self.place.dialects.begun(rest).or_else(opener) } else { self.record };
        let is_tag = || 1 < rest.len() && rest.starts_with('<');
        let around = [record, self.place.inside.filter(|_| is_tag())];
        let is_call = around.iter().flatten().any(|record| record.anchor == Anchor::Distinct);
        let step = Step { record, ..Step::to(Sort::Tagged.of(Span::at(at), at)) };
        (is_call && self.stands_alone()).then_some(step)
    }

    /// Returns the byte at `at`.
    fn peek(&self, at: usize) -> Result<u8, Incomplete> {
        self.bytes.get(at).copied().ok_or(Incomplete)
    }

    /// Returns the text from `at` on, in bytes.
    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or(&[])
    }

    /// Returns the tool's name, if the markup holds it.
    fn name(&self) -> Option<Span> {
        match self.header {
            Header::Named(name, _) => Some(name),
            Header::No | Header::Begun => None,
        }
    }

    fn distinct(&self) -> bool {
        self.record.is_some_and(|record| record.anchor == Anchor::Distinct)
    }

    /// Returns whether a call in marks may stand here that no reader takes.
    fn stands_alone(&self) -> bool {
        self.place.line_start && !self.place.in_fence
    }

    fn in_own_fence(&self) -> bool {
        self.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_)))
    }

    /// Returns whether a statement may begin here: at the start of a line, or inside markup.
    fn free(&self) -> bool {
        self.place.line_start || self.from < self.at
    }

    fn resolves(&self, name: Span) -> bool {
        self.place.names.resolve(name.of(self.text)).is_some()
    }

    /// Returns whether the tool of this name declares `key`.
    fn declares(&self, name: Span, key: &str) -> bool {
        self.place.names.resolve(name.of(self.text)).is_some_and(|tool| tool.declares(key))
    }

    /// Returns whether the word so far holds a name, or may grow into one that does.
    fn may_hold_name(&self, word: Span) -> bool {
        let word = word.of(self.text);
        match self.distinct() {
            true => word.len() <= MAX_NAME,
            false => self.place.names.may_hold(word),
        }
    }

    /// Returns the byte behind a word that may be a name. The text may end in such a word, or in another one, behind
    /// which nothing counts.
    fn behind(&self, word: Span) -> Seen<u8> {
        match self.peek(word.end as usize) {
            Err(Incomplete) if !self.may_hold_name(word) => Ok(None),
            byte => byte.map(Some),
        }
    }

    /// Returns whether a marker stands before this place. Markup behind it may be a call's, up to the longest opener.
    pub(super) fn is_begun(&self) -> bool {
        let is_marker = |delimiter: &Delimiter| matches!(delimiter, Delimiter::Fence(_) | Delimiter::Tag);
        self.record.is_some() || self.header != Header::No || self.delimiters.iter().any(is_marker)
    }

    /// Returns the built-in dialect whose opener stands here, and the place behind the opener.
    fn opener(&self) -> Seen<(&'a Arc<Record>, usize)> {
        let dialects = self.place.dialects;
        match dialects.opener_at(self.text, self.at) {
            Some((record, len)) => Ok(Some((record, self.at + len))),
            None if !self.place.end && dialects.may_grow_into_opener(self.text, self.at) => Err(Incomplete),
            None => Ok(None),
        }
    }

    fn skip_space(&self, from: usize) -> usize {
        from + blanks(self.text, from, 64)
    }

    /// Returns the name at `from`. Behind other markup, it may have several words.
    fn name_at(&self, from: usize) -> Span {
        let end = self.word_at(from).end as usize;
        let is_behind = self.from < from;
        let joined = is_behind.then(|| self.place.names.joined_end(self.text, from, end, self.place.end));
        Span::new(from, joined.unwrap_or(end))
    }

    /// Returns the word at `from`.
    fn word_at(&self, from: usize) -> Span {
        let len = self.rest(from).iter().take(MAX_NAME + 1).take_while(|byte| is_name_byte(**byte)).count();
        let word = beginning(self.text.get(from..).unwrap_or(""), len);
        Span::new(from, from + word.find(char::is_whitespace).unwrap_or(word.len()))
    }
}

/// Returns the number of backticks at `at`, up to [`MAX_TICKS`].
pub(crate) fn tick_run(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or(&[]).iter().take(MAX_TICKS).take_while(|&&b| b == b'`').count()
}
