//! The surroundings of a place in an answer: fences, indents, elements, pairs of signs, and whether there are words.
//!
//! It passes over the text once, and knows signs of layout but no word of any language. It steps over calls, thoughts
//! and marks, which are not words.

use super::elements::{self, Element, Mark, Place};
use super::pairs::{self, Flank, Pair};
use super::{Run, Stand, code, prefix};
use crate::syntax::{Incomplete, Seen};
use crate::verdict::ShownBy;

/// Columns by which a line of code stands deeper than the text around it, as in Markdown.
const CODE_INDENT: usize = 4;
/// Signs of the shortest fence.
const FENCE: usize = 3;
/// The label of a fence whose code is to be run.
pub(super) const RUN: &str = "tool_code";
/// Most elements, or pairs, that are open at once; beyond them, the outermost are forgotten.
const MAX_OPEN: usize = 32;
/// Most signs that count as one row.
const MAX_RUN: usize = 256;

/// The surroundings of the place up to which an answer was read.
#[derive(Debug, Default)]
pub(in crate::scan) struct Surroundings {
    /// All text before this place was read, or stepped over.
    at: usize,
    /// Letters or digits stand before it.
    words: bool,
    fence: Option<Fence>,
    layout: Layout,
    line: Line,
    /// The open elements, outermost first.
    elements: Vec<Element>,
    /// The open pairs of this paragraph, outermost first.
    pub(super) pairs: Vec<Pair>,
    gap: Gap,
    /// The runs that wait for the text behind them.
    pub(super) runs: Vec<Run>,
}

/// The text before a call.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scan) struct Before {
    /// Words stand before the call, anywhere.
    pub(super) words: bool,
    /// The line of the call, up to the call.
    pub(in crate::scan) line: Line,
    pub(super) gap: Gap,
    /// The decision that the call is shown, whatever follows.
    pub(super) shows: Option<Stand>,
    /// Words stand before the element that is open around the call.
    pub(super) words_before_element: bool,
    /// The number of pairs that are open around the call.
    pub(super) pairs: usize,
    /// The quote around the call, if there is one, stands at the place of a string of data: `["a",⏎"`.
    pub(super) is_in_data: bool,
    /// The number of elements that are open around the call.
    pub(super) elements: usize,
}

/// The text behind a call, as far as it goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    /// Words stand behind the call, anywhere.
    pub(super) words: bool,
    /// Words stand behind the call on its line.
    pub(super) on_line: bool,
    /// A word is the next sign on the line of the call.
    pub(super) goes_on: bool,
    /// Another call stands behind the call on its line, and nothing behind that.
    pub(super) joined: bool,
    /// The line of the call is over.
    pub(super) line_over: bool,
    pub(super) pair: Enclosed,
    pub(super) element: Enclosed,
    /// Anything but blanks stands behind the call.
    pub(super) is_begun: bool,
}

/// The state of a pair, or an element, that is open before a call, in the text behind the call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Enclosed {
    /// Nothing has closed it yet.
    #[default]
    Open,
    /// It ended unclosed.
    Over,
    /// It is closed, and only signs follow so far.
    Closed,
    /// It is closed, and words follow; behind a pair, on the same line.
    ClosedBeforeWords,
    /// The pair is closed, and no words follow on its line.
    Alone,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    sign: char,
    len: usize,
    /// Its label says that its code is to be run.
    is_run: bool,
}

/// The columns of the lines so far.
#[derive(Debug, Default)]
struct Layout {
    shallowest: Option<usize>,
    /// The column in which the content of the open list item begins.
    item: usize,
    /// The column of the last line, if that line makes the deeper lines behind it a text.
    scalar: Option<usize>,
    /// The column of the last line; `None` at the beginning and behind an empty line.
    last: Option<usize>,
    is_code: bool,
    is_behind_empty: bool,
    has_words: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scan) struct Line {
    start: usize,
    pub(in crate::scan) words: bool,
    pub(super) has_call: bool,
    /// Anything but blanks stands on the line.
    is_begun: bool,
    /// The line opens an element, which is no more than words if nothing closes it: `<anna> f(a=1)`.
    pub(super) opens_element: bool,
    /// The sign of a fence that begins the line, and how often it stands there.
    fence: Option<(char, usize)>,
    /// The last sign that is not a blank.
    pub(super) last: Option<char>,
}

/// The text behind the last call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    /// There was a call, and no word and no empty line stands behind it.
    pub(super) joins: bool,
    /// Words stand behind the call.
    pub(super) words: bool,
}

impl Surroundings {
    /// Returns the surroundings of a separate text that begins at `at`.
    pub(in crate::scan) fn from(at: usize) -> Surroundings {
        Surroundings { at, line: Line { start: at, ..Line::default() }, ..Surroundings::default() }
    }

    /// Returns the facts about the text before a call at `at`. A call expression is `code`, maybe in quotes.
    pub(super) fn before(&mut self, text: &str, at: usize, code: Option<bool>) -> Before {
        self.feed(text, at, true);
        let head = text.get(self.line.start..at).unwrap_or("");
        let is_in_data = text.get(..at).is_some_and(begins_string);
        let column = prefix::columns(head);
        // Code that stands deeper than the line before it is a part of that.
        let is_inner = code.is_some() && head.trim().is_empty() && self.layout.is_deeper(column);
        let shows = match self.fence {
            Some(Fence { is_run: true, .. }) => Some(Stand::InCode),
            Some(_) => Some(Stand::Shown(ShownBy::Fence)),
            None if self.line.has_call => None,
            None if is_inner || self.layout.is_code_at(column) => Some(Stand::Shown(ShownBy::Indent)),
            None if prefix::shows(head) => Some(Stand::Shown(ShownBy::Prefix)),
            None => code
                .filter(|is_quoted| code::is_operand(head, *is_quoted))
                .map(|_| Stand::Shown(ShownBy::Sentence)),
        };
        Before {
            words: self.words,
            line: self.line,
            gap: self.gap,
            shows,
            words_before_element: self.elements.last().is_some_and(|element| element.words_before),
            pairs: self.pairs.len(),
            is_in_data,
            elements: self.elements.len(),
        }
    }

    /// Steps over a call, up to `to`.
    pub(super) fn call(&mut self, to: usize) {
        self.each_behind(|behind| behind.joined |= behind.goes_on && !behind.line_over);
        self.at = self.at.max(to);
        self.line.has_call = true;
        self.line.is_begun = true;
        self.line.last = None;
        self.gap = Gap { joins: true, words: false };
    }

    /// Opens a fence of `len` ticks here, or closes the open one.
    pub(super) fn set_fence(&mut self, len: Option<usize>) {
        self.fence = len.map(|len| Fence { sign: '`', len, is_run: false });
    }

    /// Reads the text up to `from`, and steps over a thought or marks from there to `to`.
    pub(in crate::scan) fn step_over(&mut self, text: &str, from: usize, to: usize) {
        self.feed(text, from, true);
        self.at = self.at.max(to);
    }

    /// Steps over the head of a turn or a channel, which ends the paragraph before it.
    pub(in crate::scan) fn step_over_head(&mut self, text: &str, from: usize, to: usize) {
        self.feed(text, from, true);
        self.end_paragraph();
        self.end_line(text, to);
        self.at = self.at.max(to);
    }

    /// Reads the text up to `to`. Unless that is the `last` text, decisions at its end wait for more.
    pub(in crate::scan) fn feed(&mut self, text: &str, to: usize, last: bool) {
        // A mark may reach beyond `to`, but not beyond the last text.
        let limit = if last { to } else { text.len() };
        while self.at < to {
            match self.step(text, limit, last) {
                Ok(len) => self.at += len,
                Err(Incomplete) => break,
            }
        }
    }

    /// Returns whether an open element ends at `at`.
    pub(in crate::scan) fn ends_at(&self, text: &str, at: usize) -> bool {
        let rest = text.get(at..).unwrap_or("");
        self.elements.iter().any(|element| rest.starts_with(&element.close))
    }

    /// Reads the next sign or mark, and returns its length.
    fn step(&mut self, text: &str, limit: usize, last: bool) -> Result<usize, Incomplete> {
        let rest = text.get(self.at..limit).ok_or(Incomplete)?;
        let sign = rest.chars().next().ok_or(Incomplete)?;
        if sign == '\n' {
            self.end_line(text, self.at + 1);
            return Ok(1);
        }
        if sign.is_whitespace() {
            return Ok(sign.len_utf8());
        }
        let begins = !self.line.is_begun;
        let len = if begins
            && self.fence.is_none()
            && let Some(len) = prefix::item_mark(rest)
        {
            // The number of a list item is not a word.
            if len == rest.len() && !last {
                return Err(Incomplete);
            }
            len
        } else if sign.is_alphanumeric() {
            self.word(sign);
            sign.len_utf8()
        } else {
            self.line.last = Some(sign);
            let before = text.get(self.line.start..self.at).and_then(|line| line.chars().next_back());
            self.mark(Place { text, at: self.at, rest, last, before }, sign)?
        };
        self.line.is_begun = true;
        Ok(len)
    }

    /// Applies `change` to the text behind each waiting run.
    fn each_behind(&mut self, change: impl FnMut(&mut Behind)) {
        self.runs.iter_mut().map(|run| &mut run.behind).for_each(change);
    }

    fn word(&mut self, letter: char) {
        self.line.last = Some(letter);
        if self.line.fence.is_some() {
            return;
        }
        self.words = true;
        self.line.words = true;
        self.gap = Gap { joins: false, words: true };
        for Run { behind, .. } in &mut self.runs {
            behind.words = true;
            behind.joined &= behind.line_over;
            behind.goes_on |= !behind.is_begun && !behind.line_over;
            behind.on_line |= !behind.line_over;
            behind.is_begun = true;
            behind.pair.turn(Enclosed::Closed, Enclosed::ClosedBeforeWords);
            behind.element.turn(Enclosed::Closed, Enclosed::ClosedBeforeWords);
        }
    }

    /// Reads `sign` at `place`, which is not a letter, digit or blank, and returns the length of its mark.
    fn mark(&mut self, place: Place<'_>, sign: char) -> Result<usize, Incomplete> {
        let Place { rest, last, .. } = place;
        let run = if pairs::is_run(sign) {
            rest.chars().take(MAX_RUN).take_while(|c| *c == sign).count()
        } else {
            1
        };
        let len = run * sign.len_utf8();
        let is_sign = pairs::is_sign(sign);
        // The effect of a sign depends on the text behind it.
        if is_sign && len == rest.len() && !last {
            return Err(Incomplete);
        }
        if !self.line.is_begun && matches!(sign, '`' | '~') && FENCE <= run {
            self.line.fence = Some((sign, run));
            return Ok(run);
        }
        // "```f(a=1)``` is it" is not a fence.
        self.line.fence.take_if(|_| sign == '`');
        if self.fence.is_some() || self.line.fence.is_some() {
            return Ok(len);
        }
        let is_in_code = self.pairs.last().is_some_and(|pair| pair.is_code());
        if !is_in_code && let Some(len) = self.element(place)? {
            return Ok(len);
        }
        self.each_behind(|behind| behind.is_begun = true);
        if is_sign {
            let next = place.text.get(place.at + len..).and_then(|next| next.chars().next());
            let closed = self.pairs.iter().rposition(|pair| pair.is_closed_by(sign, run));
            let open = closed.filter(|at| !is_in_code || at + 1 == self.pairs.len());
            match (pairs::flank(sign, run, place.before, next, open.is_some()), open) {
                (Flank::Closes, Some(at)) => self.close_pair(at),
                (Flank::Opens(pair), _) if !is_in_code => push(&mut self.pairs, pair),
                _ => {}
            }
        }
        Ok(len)
    }

    /// Closes the `at`th pair, and all in it.
    fn close_pair(&mut self, at: usize) {
        self.pairs.truncate(at);
        for run in self.runs.iter_mut().filter(|run| at < run.before.pairs) {
            run.behind.pair.turn(Enclosed::Open, Enclosed::Closed);
        }
    }

    /// Reads a mark at `place` that opens or closes an element, or changes nothing, and returns its length.
    fn element(&mut self, place: Place<'_>) -> Seen<usize> {
        let Some((mark, len)) = elements::mark_at(place, &self.elements)? else { return Ok(None) };
        match mark {
            Mark::Opens(close) => {
                push(&mut self.elements, Element { close, words_before: self.words });
                self.line.opens_element = true;
            }
            Mark::Closes(at) => {
                // All elements in it are closed, too.
                self.elements.truncate(at);
                for run in self.runs.iter_mut().filter(|run| at < run.before.elements) {
                    run.behind.element.turn(Enclosed::Open, Enclosed::Closed);
                }
            }
            Mark::Blank => {}
        }
        Ok(Some(len))
    }

    /// Ends the line; the next one begins at `next`.
    fn end_line(&mut self, text: &str, next: usize) {
        let line = text.get(self.line.start..self.at).unwrap_or("");
        if let Some((sign, len)) = self.line.fence {
            let label = line.trim().trim_start_matches(sign);
            if self.fence.is_some() {
                self.fence.take_if(|open| open.sign == sign && open.len <= len && label.is_empty());
            } else {
                self.fence = Some(Fence { sign, len, is_run: label.trim() == RUN });
                self.end_paragraph();
            }
        } else if self.fence.is_none() {
            match self.line.is_begun {
                true => {
                    self.layout.line(line, self.line.words);
                    // Two equal lines of one sign around a paragraph are a pair: `----`.
                    if let Some(rule) = pairs::rule(line.trim()) {
                        match self.pairs.iter().rposition(|pair| *pair == rule) {
                            Some(at) => self.close_pair(at),
                            None => push(&mut self.pairs, rule),
                        }
                    }
                }
                false => {
                    self.layout.is_behind_empty = true;
                    self.layout.last = None;
                    self.end_paragraph();
                }
            }
        }
        self.gap.joins &= self.line.is_begun;
        self.each_behind(|behind| {
            behind.line_over = true;
            behind.pair.turn(Enclosed::Closed, Enclosed::Alone);
        });
        self.line = Line { start: next, ..Line::default() };
    }

    /// Ends the paragraph, and its open pairs.
    fn end_paragraph(&mut self) {
        self.pairs.clear();
        self.each_behind(|behind| behind.pair.turn(Enclosed::Open, Enclosed::Over));
    }
}

impl Line {
    /// Returns whether anything but calls stands on the line: words, or a sign such as the dash of a list.
    pub(super) fn is_taken(&self) -> bool {
        self.words || self.is_begun && !self.has_call
    }

    /// Returns whether the line ends like a sentence that goes on: in a letter, a digit or a comma.
    pub(super) fn is_sentence(&self) -> bool {
        self.last.is_some_and(|c| c.is_alphanumeric() || pairs::is_comma(c))
    }
}

impl Enclosed {
    /// Changes the state to `to`, if it is `from`.
    fn turn(&mut self, from: Enclosed, to: Enclosed) {
        if *self == from {
            *self = to;
        }
    }
}

impl Layout {
    /// Returns whether a line that begins in column `indent` is code.
    fn is_code_at(&self, indent: usize) -> bool {
        let around = self.shallowest.unwrap_or(0).max(self.item);
        let is_in_scalar = self.scalar.is_some_and(|column| column < indent);
        is_in_scalar
            || self.has_words && (self.is_behind_empty || self.is_code) && around + CODE_INDENT <= indent
    }

    /// Returns whether a line that begins in column `indent` stands deeper than the line before it and than the content
    /// of its list item.
    fn is_deeper(&self, indent: usize) -> bool {
        self.last.is_some_and(|last| last.max(self.item) < indent)
    }

    /// Notes a line that is not empty.
    fn line(&mut self, line: &str, has_words: bool) {
        let indent = prefix::columns(line);
        self.last = Some(indent);
        self.is_code = self.is_code_at(indent);
        if !self.is_code {
            self.scalar = prefix::heads_scalar(line).then_some(indent);
            self.shallowest = Some(self.shallowest.map_or(indent, |least| least.min(indent)));
            let outer = if indent < self.item { 0 } else { self.item };
            self.item = prefix::item_content(line).unwrap_or(outer);
        }
        self.has_words |= has_words;
        self.is_behind_empty = false;
    }
}

/// Returns whether a string in data begins behind `text`, or behind its last quote.
pub(super) fn begins_string(text: &str) -> bool {
    let before = text.trim_end_matches(['"', '\'']);
    let sign = before.trim_end();
    let is_on_line = !before[sign.len()..].contains('\n');
    sign.ends_with(['[', ',', '{']) || is_on_line && sign.ends_with(':')
}

fn push<T>(open: &mut Vec<T>, new: T) {
    if MAX_OPEN <= open.len() {
        open.remove(0);
    }
    open.push(new);
}
