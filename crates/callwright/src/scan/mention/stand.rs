//! Decides about a run, by its beginning and by the text behind it.

use super::code::{Follows, follows};
use super::pairs::Pair;
use super::surroundings::{Behind, Enclosed, RUN};
use super::{Fence, Run, Stand, ticks};
use crate::scan::Scanner;
use crate::scan::opener::{Delimiter, Opener, Sort};
use crate::verdict::{ShownBy, Verdict};

/// Beginnings of marks that are tokens of a vocabulary.
const TOKENS: [&str; 4] = ["<|", "<｜", "]<]", "[TOOL_CALLS]"];

impl Scanner<'_> {
    /// Notes the text before the call of `opener`.
    pub(in crate::scan) fn look_around(&mut self, opener: &Opener) {
        let is_quoted = opener.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Quote(_)));
        let code = is_expression(opener).then_some(is_quoted);
        let mut before = self.standing.surroundings.before(&self.text, opener.start, code);
        // `assistant<|end_header_id|>⏎⏎[f(a=1)]`: a token that ends a line does not belong to the call.
        let marks = self.text.get(opener.start..item_start(opener)).unwrap_or("");
        if !opener.is_distinct() && opener.delimiters.first() == Some(&Delimiter::Tag) && marks.contains('\n')
        {
            (before.line.words, before.line.last) = (false, None);
        }
        self.standing.before = before;
    }

    /// Returns the run that the call of `opener` begins, by the text that [`look_around`](Scanner::look_around) noted.
    pub(in crate::scan) fn run(&self, opener: &Opener) -> Run {
        let before = self.standing.before;
        // A fence between marks is a part of them.
        let outside = opener.delimiters.iter().take_while(|delimiter| **delimiter != Delimiter::Tag);
        let fence = ticks(outside).map(|ticks| {
            let head = self.text.get(opener.start..item_start(opener)).unwrap_or("");
            // Under a label of its own, `# A` is a heading rather than a comment.
            let mut lines = head.lines().skip(1);
            let label = label(head);
            let is_of_calls = is_label_of_calls(label);
            let has_heading = !is_of_calls && lines.any(|line| line.trim_start().starts_with(['#', '/']));
            let shows = 3 < ticks || has_heading;
            Fence { shows, is_of_calls, is_run: label == RUN && !shows, is_open: false }
        });
        // The call may stand in the fence of the run before it.
        let waits = self.standing.surroundings.runs.last().and_then(|run| run.fence);
        let is_inside = before.gap.joins && waits.is_some_and(|fence| fence.is_open);
        let is_marked = opener.is_distinct() && fence.is_none() && !is_inside;
        let head = self.text.get(opener.start..).unwrap_or("");
        // Right behind a run of its form that went out, it shares that run's decision.
        let goes_on = before.gap.joins && !self.is_holding();
        let last = self.standing.told.last.filter(|last| goes_on && last.1 == is_marked);
        Run {
            at: opener.start..opener.start,
            verdicts: Vec::new(),
            before,
            behind: Behind::default(),
            is_marked,
            is_expression: is_expression(opener),
            is_of_tokens: TOKENS.iter().any(|token| head.starts_with(token)),
            is_labelled: opener.record.has_label(),
            is_asked: self.rules.asked.as_ref().is_some_and(|asked| asked.kin == opener.dialect.kin),
            fence,
            is_listed: false,
            own: match opener.delimiters.first() {
                Some(Delimiter::Quote(sign)) => Pair::of(char::from(*sign), 1),
                Some(Delimiter::Ticks(n)) => Pair::of('`', *n),
                Some(Delimiter::Bracket) if opener.delimiters.contains(&Delimiter::Tag) => {
                    Pair::of('[', 1).filter(|_| opener.is_distinct())
                }
                _ => None,
            },
            text: Vec::new(),
            told: last.map(|(stand, _)| stand).or(before.shows.filter(|_| !is_inside)),
        }
    }

    /// Decides about `run` by the first fact that is true; `None` if more text must decide.
    pub(super) fn stand(&self, run: &Run, end: bool) -> Option<Stand> {
        if run.told.is_some() {
            return run.told;
        }
        let Run { before, behind, .. } = run;
        let (words, on_line) = (behind.words(end), behind.words_on_line(end));
        // A tag that nothing closes is no more than words.
        let is_in_tag = before.line.opens_element && 0 < before.elements && behind.element == Enclosed::Open;
        let beside = when(before.words || is_in_tag, words);
        let is_native = self.rules.is_native;
        let is_doubted = is_native || self.rules.asked.is_some() && !run.is_asked;
        let is_in_sentence = before.line.is_sentence();
        // Between quotes that hold nothing else, the run's marks do not count.
        let is_plain =
            !run.is_marked || run.own.is_some() || matches!(behind.pair, Enclosed::Closed | Enclosed::Alone);
        let is_told = !is_plain || run.is_labelled;
        let shown = Stand::Shown;
        let is_run = run.fence.is_some_and(|fence| fence.is_run);
        let or_in_code = |why| if is_run { Stand::InCode } else { shown(why) };
        let rows = [
            (self.is_operand(run, end), or_in_code(ShownBy::Sentence)),
            (run.is_in_fence(words), or_in_code(ShownBy::Fence)),
            (run.is_in_pair(on_line, end), shown(ShownBy::Pair)),
            (run.is_in_element(end), shown(ShownBy::Element)),
            // Tokens stand in no sentence; letters may.
            (
                when(before.line.words && !(run.is_marked && run.is_of_tokens), on_line),
                if run.is_marked { Stand::Unsure } else { shown(ShownBy::Line) },
            ),
            (Some(is_plain && is_in_sentence), shown(ShownBy::Sentence)),
            (when(is_plain, self.goes_on_behind(run, end)), shown(ShownBy::Sentence)),
            // Marks make a call, also between words. There it is unsure if another form was asked for, or if a sentence
            // goes on behind it.
            (Some(is_told && is_doubted && is_in_sentence), Stand::Unsure),
            (when(is_told && is_doubted, beside), Stand::Unsure),
            (when(is_told && is_in_sentence && !run.is_asked, on_line), Stand::Unsure),
            (Some(is_told), Stand::Made),
            // If the model calls natively, words beside a run without marks leave it open.
            (when(is_native, beside), shown(ShownBy::Between)),
            (
                when(is_native, if before.words { Some(true) } else { words }),
                if is_native && run.is_right() { Stand::Unsure } else { shown(ShownBy::Between) },
            ),
            (when(run.is_asked, beside), Stand::Unsure),
            // The runs at the edge of the words decide.
            (beside.filter(|is_beside| end || !is_beside), Stand::Between),
            (Some(true), Stand::Made),
        ];
        let told = rows.into_iter().find(|(fact, _)| *fact != Some(false));
        told.and_then(|(fact, stand)| fact.map(|_| stand))
    }

    /// Returns whether the text behind the expression of `run` makes it a part of other code.
    fn is_operand(&self, run: &Run, end: bool) -> Option<bool> {
        if !run.is_expression {
            return Some(false);
        }
        // The run's markup may end its line. Code behind a list belongs to the list: `[f(a=1)][0]`.
        let text = self.text.get(..run.at.end).unwrap_or("");
        let is_over = run.behind.line_over || text.ends_with('\n');
        match follows(self.text.get(run.at.end..).unwrap_or("")) {
            Follows::Code => Some(!is_over && !text.trim_end().ends_with(']')),
            Follows::Question => Some(!is_over),
            Follows::Unknown if !is_over && !end => None,
            Follows::Unknown | Follows::Other => Some(false),
        }
    }

    /// Returns whether a word behind `run` on its line goes on with it. In a list, another element may follow, but no
    /// word without a comma: `[f(a=1) for a in b]`.
    fn goes_on_behind(&self, run: &Run, end: bool) -> Option<bool> {
        let Behind { goes_on, is_begun, joined, line_over, .. } = run.behind;
        if (goes_on || !is_begun) && !end && !line_over {
            return None;
        }
        let text = self.text.get(..run.at.end).unwrap_or("");
        let is_taken_in = || run.is_expression && !text.trim_end().ends_with(',');
        Some(goes_on && !joined && (!run.is_listed || is_taken_in()))
    }
}

/// Returns the `fact`, if it matters.
fn when(matters: bool, fact: Option<bool>) -> Option<bool> {
    if matters { fact } else { Some(false) }
}

impl Behind {
    /// Returns whether words stand behind the call; `None` if they may yet come.
    fn words(&self, end: bool) -> Option<bool> {
        (self.words || end).then_some(self.words)
    }

    /// Returns whether words stand behind the call on its line; `None` if they may yet come.
    fn words_on_line(&self, end: bool) -> Option<bool> {
        (self.on_line || self.line_over || end).then_some(self.on_line)
    }
}

impl Run {
    /// Returns whether the fence around the run shows it, with `words` behind the run.
    fn is_in_fence(&self, words: Option<bool>) -> Option<bool> {
        match self.fence {
            Some(fence) if fence.shows => Some(true),
            Some(fence) => when(fence.is_open || !fence.is_of_calls, words),
            None => Some(false),
        }
    }

    /// Returns whether the pair around the run shows it: a string of data, or one with words outside, also `on_line`.
    fn is_in_pair(&self, on_line: Option<bool>, end: bool) -> Option<bool> {
        let Run { before, behind, .. } = self;
        let has_words = before.line.words;
        match behind.pair {
            _ if self.own.is_some() && !has_words && !before.is_in_data => on_line,
            _ if self.own.is_some() => Some(true),
            _ if before.pairs == 0 => Some(false),
            Enclosed::ClosedBeforeWords => Some(true),
            Enclosed::Closed if has_words || before.is_in_data => Some(true),
            // In a row of calls, the words stand between calls.
            Enclosed::Alone => Some(before.is_in_data || has_words && !before.line.has_call),
            Enclosed::Open | Enclosed::Closed if !end => None,
            Enclosed::Open | Enclosed::Closed | Enclosed::Over => Some(false),
        }
    }

    /// Returns whether the element around the run shows it: one with words outside.
    fn is_in_element(&self, end: bool) -> Option<bool> {
        match self.behind.element {
            _ if self.before.elements == 0 => Some(false),
            Enclosed::ClosedBeforeWords => Some(true),
            Enclosed::Closed if self.before.words_before_element => Some(true),
            Enclosed::Open | Enclosed::Closed if !end => None,
            Enclosed::Open | Enclosed::Closed | Enclosed::Alone | Enclosed::Over => Some(false),
        }
    }

    /// Returns whether all calls of the run were accepted.
    fn is_right(&self) -> bool {
        self.verdicts.iter().all(|(verdict, _)| matches!(verdict, Verdict::Accepted(_)))
    }
}

/// Returns whether `opener` begins a call expression without marks, `f(a=1)`.
fn is_expression(opener: &Opener) -> bool {
    opener.item.sort == Sort::Call && !opener.is_distinct()
}

/// Returns the place behind the marks of `opener`, at which the name or the value begins.
fn item_start(opener: &Opener) -> usize {
    opener.item.name.map_or(opener.item.at, |name| opener.item.at.min(name.start as usize))
}

/// Returns the label of the fence in `head`.
fn label(head: &str) -> &str {
    let behind = head.find("```").and_then(|fence| head.get(fence..)).unwrap_or("").trim_start_matches('`');
    let behind = behind.trim_start_matches(' ');
    behind.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '+')).next().unwrap_or("")
}

/// Returns whether the label of a fence names calls, or a format in which calls are written. Any other label shows the
/// text in the fence.
fn is_label_of_calls(label: &str) -> bool {
    const FORMATS: [&str; 9] = ["", "json", "json5", "jsonc", "xml", "python", "py", "yaml", "yml"];
    let label = label.to_ascii_lowercase();
    FORMATS.contains(&&*label) || ["tool", "function", "call"].iter().any(|word| label.contains(word))
}
