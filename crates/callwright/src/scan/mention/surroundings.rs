//! What stands around a place in an answer: fences, indents, elements, pairs of signs, and whether there are words.
//!
//! It goes over what is said once, and knows signs of layout but no word of any language. Calls, thoughts and marks are
//! stepped over: they say nothing.

use super::elements::{self, Element, Mark};
use super::pairs::{self, Flank, Pair};
use super::prefix;
use crate::syntax::{Incomplete, Seen};

/// How much deeper than the text around it a line of code stands, in columns, as Markdown has it.
const CODE_INDENT: usize = 4;
/// A tab goes on to the next of these columns.
const TAB: usize = 4;
/// The shortest fence.
const FENCE: usize = 3;
/// The label of a fence of code that is there to be run.
const RUN: &str = "tool_code";
/// The most elements, or pairs, that are open at once: of more, the outermost are forgotten.
const MAX_OPEN: usize = 32;
/// The most signs that are taken for one run.
const MAX_RUN: usize = 256;

/// What was seen of an answer so far.
#[derive(Debug, Default)]
pub(in crate::scan) struct Surroundings {
    /// All before this place was looked at, or stepped over.
    at: usize,
    /// There are letters or digits before it.
    words: bool,
    fence: Option<Fence>,
    layout: Layout,
    line: Line,
    /// What was opened by a name and is not closed yet, outermost first.
    elements: Vec<Element>,
    /// The pairs that are open in this paragraph, outermost first.
    pairs: Vec<Pair>,
    /// What stands between the last call and this place.
    gap: Gap,
    /// What stands behind each of the calls that wait for it.
    behind: Vec<Behind>,
}

/// How a call begins.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scan) struct Before {
    /// Words stand before it, anywhere.
    pub(in crate::scan) words: bool,
    /// Words stand before it on its line.
    pub(in crate::scan) on_line: bool,
    /// It stands where a word of a sentence does: a letter, a digit or a comma right before it on its line.
    pub(in crate::scan) in_sentence: bool,
    /// What shows it, whatever comes behind.
    pub(super) shows: Option<Shows>,
    /// Words stand before the element that is open around it.
    pub(super) words_before_element: bool,
    /// An element is opened before it on its line, which is no more than words where nothing closes it: `<anna> f(a=1)`.
    pub(super) behind_tag: bool,
    /// Since the last call no word was said, and no line was left empty.
    pub(super) joins: bool,
    /// Since the last call words were said.
    pub(super) set_off: bool,
    /// Another call stands before it on its line.
    pub(super) behind_call: bool,
    pairs: usize,
    elements: usize,
}

/// What shows what it holds, whatever follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// A fence with more in it than calls.
    Fence,
    /// Code by its indent.
    Indent,
    /// A line of a quotation, a table, a patch, a log.
    Prefix,
    /// A fence of code that a model wants run.
    Code,
}

/// What stands behind a call, as far as the text goes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    /// Words, anywhere.
    pub(super) words: bool,
    /// Words on its line.
    pub(super) on_line: bool,
    /// A word is the next sign on its line.
    pub(super) goes_on: bool,
    /// Another call stands behind it on its line, and nothing behind that.
    pub(super) joined: bool,
    /// Its line is over.
    pub(super) line_over: bool,
    pub(super) pair: Enclosed,
    pub(super) element: Enclosed,
    pairs: usize,
    elements: usize,
    /// Anything but blanks stands behind it.
    pub(super) is_begun: bool,
}

/// Does something that is open before a call enclose it?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Enclosed {
    /// Nothing is open, or what was open ended unclosed.
    #[default]
    No,
    /// What follows tells.
    Open,
    /// It is closed, and only signs follow so far.
    Closed,
    /// It is closed, and words follow; behind a pair, on the same line.
    ClosedBeforeWords,
    /// It is closed, and no words follow on its line.
    Alone,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    sign: char,
    len: usize,
    /// Its label says that the code in it is to be run.
    is_run: bool,
}

/// The columns of the lines so far.
#[derive(Debug, Default)]
struct Layout {
    shallowest: Option<usize>,
    /// Where the content begins of the list item that is open.
    item: usize,
    /// The last line begins in this column and says that what is deeper is its text.
    scalar: Option<usize>,
    is_code: bool,
    is_behind_empty: bool,
    has_words: bool,
}

#[derive(Debug, Default)]
struct Line {
    start: usize,
    words: bool,
    has_call: bool,
    /// Anything but blanks.
    is_begun: bool,
    opens_element: bool,
    /// It opens or closes a fence.
    is_fence: bool,
    /// The last sign that is no blank.
    last: Option<char>,
}

#[derive(Debug, Default)]
struct Gap {
    is_behind_call: bool,
    words: bool,
    empty_line: bool,
}

impl Surroundings {
    /// Those of a text of its own, from `at` on.
    pub(in crate::scan) fn from(at: usize) -> Surroundings {
        Surroundings { at, line: Line { start: at, ..Line::default() }, ..Surroundings::default() }
    }

    /// How a call begins at `at`, behind the `opened` signs of its own that are pairs elsewhere.
    pub(in crate::scan) fn before(
        &mut self,
        text: &str,
        at: usize,
        opened: impl Iterator<Item = (char, usize)>,
    ) -> Before {
        self.feed(text, at, true);
        let own = opened.filter_map(|(sign, len)| Pair::of(sign, len)).count();
        let head = text.get(self.line.start..at).unwrap_or("");
        let shows = if let Some(fence) = self.fence {
            Some(if fence.is_run { Shows::Code } else { Shows::Fence })
        } else if self.layout.is_code_at(columns(head)) && !self.line.has_call {
            Some(Shows::Indent)
        } else if !self.line.has_call && prefix::shows(head) {
            Some(Shows::Prefix)
        } else {
            None
        };
        Before {
            words: self.words,
            on_line: self.line.words,
            in_sentence: self.line.last.is_some_and(|c| c.is_alphanumeric() || pairs::is_comma(c)),
            shows,
            behind_tag: self.line.opens_element,
            words_before_element: self.elements.last().is_some_and(|element| element.words_before),
            joins: self.gap.is_behind_call && !self.gap.words && !self.gap.empty_line,
            set_off: self.gap.words,
            behind_call: self.line.has_call,
            pairs: self.pairs.len() + own,
            elements: self.elements.len(),
        }
    }

    /// Steps over a call, up to `to`. If it `waits`, what stands behind it is noted; `is_paired` says whether the pair in its
    /// own marks is closed in them.
    pub(super) fn call(&mut self, to: usize, before: &Before, is_paired: Option<bool>, waits: bool) {
        if waits {
            let begun = Behind::of(before);
            let pair = if is_paired == Some(true) { Enclosed::Closed } else { begun.pair };
            self.behind.push(Behind { pair, ..begun });
        }
        for behind in &mut self.behind {
            behind.joined |= behind.goes_on && !behind.line_over;
        }
        self.at = self.at.max(to);
        self.line.has_call = true;
        self.line.is_begun = true;
        self.line.last = None;
        self.gap = Gap { is_behind_call: true, ..Gap::default() };
    }

    /// Opens pairs that stand in a call's own marks and are not closed in them.
    pub(super) fn open(&mut self, opened: impl Iterator<Item = (char, usize)>) {
        self.pairs.extend(opened.filter_map(|(sign, len)| Pair::of(sign, len)));
    }

    /// A fence is open from here on, or none is.
    pub(super) fn set_fence(&mut self, len: Option<usize>) {
        self.fence = len.map(|len| Fence { sign: '`', len, is_run: false });
    }

    /// Goes over the text up to `from` and steps over what stands from there to `to`: a thought, or marks.
    pub(in crate::scan) fn step_over(&mut self, text: &str, from: usize, to: usize) {
        self.feed(text, from, true);
        self.at = self.at.max(to);
    }

    /// Steps over the head of a turn or a channel: what was open in the paragraph before it is over.
    pub(in crate::scan) fn step_over_head(&mut self, text: &str, from: usize, to: usize) {
        self.step_over(text, from, to);
        self.end_paragraph();
        self.end_line(text, to);
    }

    /// Goes over the text up to `to`. If it is not the `last`, what its end decides waits for more.
    pub(in crate::scan) fn feed(&mut self, text: &str, to: usize, last: bool) {
        // What begins before `to` and is not over there is no mark, or is looked at as a whole.
        let limit = if last { to } else { text.len() };
        while self.at < to {
            match self.step(text, limit, last) {
                Ok(len) => self.at += len,
                Err(Incomplete) => break,
            }
        }
    }

    /// Is what begins at `at` the end of something that is open?
    pub(in crate::scan) fn ends_at(&self, text: &str, at: usize) -> bool {
        self.elements.iter().any(|element| element.end.is_mark_at(text, at))
    }

    /// What stands behind the calls that wait, in their order.
    pub(super) fn behind(&self) -> &[Behind] {
        &self.behind
    }

    /// None of them waits any more.
    pub(super) fn settled(&mut self) {
        self.behind.clear();
    }

    /// Takes the next sign or mark and gives its length.
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
        let begins = !std::mem::replace(&mut self.line.is_begun, true);
        // The number of a list item says nothing.
        if begins && self.fence.is_none() {
            match prefix::item_mark(rest) {
                Some(len) if len < rest.len() || last => return Ok(len),
                Some(_) => {
                    self.line.is_begun = false;
                    return Err(Incomplete);
                }
                None => {}
            }
        }
        if sign.is_alphanumeric() {
            self.word(sign);
            return Ok(sign.len_utf8());
        }
        self.line.last = Some(sign);
        let len = self.mark(text, limit, last, begins);
        if len.is_err() {
            self.line.is_begun = !begins;
        }
        len
    }

    fn word(&mut self, letter: char) {
        self.line.last = Some(letter);
        if self.line.is_fence {
            return;
        }
        self.words = true;
        self.line.words = true;
        self.gap.words = true;
        for behind in &mut self.behind {
            behind.words = true;
            behind.joined &= behind.line_over;
            behind.goes_on |= !behind.is_begun && !behind.line_over;
            behind.on_line |= !behind.line_over;
            behind.is_begun = true;
            for enclosed in [&mut behind.pair, &mut behind.element] {
                if *enclosed == Enclosed::Closed {
                    *enclosed = Enclosed::ClosedBeforeWords;
                }
            }
        }
    }

    /// What is no letter, digit or blank.
    fn mark(&mut self, text: &str, limit: usize, last: bool, begins: bool) -> Result<usize, Incomplete> {
        let rest = text.get(self.at..limit).ok_or(Incomplete)?;
        let sign = rest.chars().next().ok_or(Incomplete)?;
        let run = if pairs::is_run(sign) {
            rest.chars().take(MAX_RUN).take_while(|c| *c == sign).count()
        } else {
            1
        };
        let is_whole = last || run == MAX_RUN || run * sign.len_utf8() < rest.len();
        let is_fence_sign = matches!(sign, '`' | '~');
        if !is_whole && (pairs::is_sign(sign) || is_fence_sign) {
            return Err(Incomplete);
        }
        if begins && is_fence_sign && FENCE <= run {
            self.line.is_fence = true;
            return Ok(run);
        }
        // "```f(a=1)``` is it": no fence.
        self.line.is_fence &= sign != '`';
        if self.fence.is_some() || self.line.is_fence {
            return Ok(run * sign.len_utf8());
        }
        if !self.pairs.last().is_some_and(|pair| pair.is_code())
            && let Some(len) = self.element(text, limit, last)?
        {
            return Ok(len);
        }
        for behind in &mut self.behind {
            behind.is_begun = true;
        }
        if pairs::is_sign(sign) {
            let before = self.sign_before(text);
            let next = text.get(self.at + run * sign.len_utf8()..).and_then(|next| next.chars().next());
            if next.is_none() && !last {
                return Err(Incomplete);
            }
            self.pair(sign, run, before, next);
        }
        Ok(run * sign.len_utf8())
    }

    /// The sign before this place on its line.
    fn sign_before(&self, text: &str) -> Option<char> {
        text.get(self.line.start..self.at)?.chars().next_back()
    }

    fn pair(&mut self, sign: char, len: usize, before: Option<char>, next: Option<char>) {
        let is_in_code = self.pairs.last().is_some_and(|pair| pair.is_code());
        let closed = self.pairs.iter().rposition(|pair| pair.is_closed_by(sign, len));
        let open = closed.filter(|at| !is_in_code || at + 1 == self.pairs.len());
        match (pairs::flank(sign, len, before, next, open.is_some()), open) {
            (Flank::Closes, Some(at)) => self.close_pair(at),
            (Flank::Opens(pair), _) if !is_in_code => push(&mut self.pairs, pair),
            _ => {}
        }
    }

    /// Closes the pair that is the `at`th, and all in it.
    fn close_pair(&mut self, at: usize) {
        self.pairs.truncate(at);
        for behind in &mut self.behind {
            if at < behind.pairs && behind.pair == Enclosed::Open {
                behind.pair = Enclosed::Closed;
            }
        }
    }

    /// Two equal lines of one sign around a paragraph are a pair: `----`.
    fn rule(&mut self, rule: Pair) {
        match self.pairs.iter().rposition(|pair| *pair == rule) {
            Some(at) => self.close_pair(at),
            None => push(&mut self.pairs, rule),
        }
    }

    /// The length of a mark that opens or closes an element here, or says nothing.
    fn element(&mut self, text: &str, limit: usize, last: bool) -> Seen<usize> {
        let before = self.sign_before(text);
        let place = elements::Place { text, at: self.at, limit, last, before };
        Ok(elements::mark_at(place, &self.elements)?.map(|mark| match mark {
            Mark::Opens(end, len) => {
                push(&mut self.elements, Element { end, words_before: self.words });
                self.line.opens_element = true;
                len
            }
            Mark::Closes(at, len) => {
                self.close(at);
                len
            }
            Mark::Blank(len) => len,
        }))
    }

    /// Closes the element that is the `at`th, and all in it.
    fn close(&mut self, at: usize) {
        self.elements.truncate(at);
        for behind in &mut self.behind {
            if at < behind.elements && behind.element == Enclosed::Open {
                behind.element = Enclosed::Closed;
            }
        }
    }

    /// Ends the line; the next one begins at `next`.
    fn end_line(&mut self, text: &str, next: usize) {
        let line = text.get(self.line.start..self.at).unwrap_or("");
        if self.line.is_fence {
            let mark = line.trim();
            let sign = mark.chars().next().unwrap_or('`');
            let len = mark.chars().take_while(|c| *c == sign).count();
            match self.fence {
                Some(fence) => {
                    let is_end = fence.sign == sign && fence.len <= len && len == mark.len();
                    self.fence = self.fence.filter(|_| !is_end);
                }
                None => {
                    let is_run = mark.get(len..).is_some_and(|label| label.trim() == RUN);
                    self.fence = Some(Fence { sign, len, is_run });
                    self.end_paragraph();
                }
            }
        } else if self.fence.is_none() {
            match self.line.is_begun {
                true => {
                    self.layout.line(line, self.line.words);
                    if let Some(rule) = pairs::rule(line.trim()) {
                        self.rule(rule);
                    }
                }
                false => {
                    self.layout.is_behind_empty = true;
                    self.end_paragraph();
                }
            }
        }
        self.gap.empty_line |= !self.line.is_begun;
        for behind in &mut self.behind {
            behind.line_over = true;
            if behind.pair == Enclosed::Closed {
                behind.pair = Enclosed::Alone;
            }
        }
        self.line = Line { start: next, ..Line::default() };
    }

    /// What is open in a paragraph ends with it.
    fn end_paragraph(&mut self) {
        self.pairs.clear();
        for behind in &mut self.behind {
            if behind.pair == Enclosed::Open {
                behind.pair = Enclosed::No;
            }
        }
    }
}

impl Behind {
    /// What is known of it where nothing that follows is: what is open around a call that begins so.
    pub(super) fn of(before: &Before) -> Behind {
        let is_open = |n: usize| if n == 0 { Enclosed::No } else { Enclosed::Open };
        let (pairs, elements) = (before.pairs, before.elements);
        Behind { pair: is_open(pairs), element: is_open(elements), pairs, elements, ..Behind::default() }
    }

    /// What is known of it if words follow on its line.
    pub(super) fn before_words(self) -> Behind {
        Behind { words: true, line_over: true, ..self }
    }
}

impl Layout {
    /// Is a line that begins in column `indent` one of code?
    fn is_code_at(&self, indent: usize) -> bool {
        let around = self.shallowest.unwrap_or(0).max(self.item);
        let is_in_scalar = self.scalar.is_some_and(|column| column < indent);
        is_in_scalar
            || self.has_words && (self.is_behind_empty || self.is_code) && around + CODE_INDENT <= indent
    }

    /// Notes a line that is not empty.
    fn line(&mut self, line: &str, has_words: bool) {
        let indent = columns(line);
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

fn push<T>(open: &mut Vec<T>, new: T) {
    if MAX_OPEN <= open.len() {
        open.remove(0);
    }
    open.push(new);
}

/// The column in which the first sign of `line` stands.
pub(super) fn columns(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| c.is_whitespace());
    blanks.fold(0, |column, blank| if blank == '\t' { (column / TAB + 1) * TAB } else { column + 1 })
}
