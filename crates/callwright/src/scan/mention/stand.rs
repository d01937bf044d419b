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

/// Returns the signs among `opener`'s own marks that are a pair elsewhere: quotes and ticks, and the bracket around
/// marks.
fn own_pairs(opener: &Opener) -> impl Iterator<Item = Pair> {
    let is_around_marks = opener.is_distinct() && opener.delimiters.contains(&Delimiter::Tag);
    opener.delimiters.iter().map_while(move |delimiter| match delimiter {
        Delimiter::Quote(sign) => Pair::of(char::from(*sign), 1),
        Delimiter::Ticks(n) => Pair::of('`', *n),
        Delimiter::Bracket if is_around_marks => Pair::of('[', 1),
        Delimiter::Paren | Delimiter::Bracket | Delimiter::Fence(_) | Delimiter::Tag => None,
    })
}

impl Scanner<'_> {
    /// Notes the text before the call of `opener`.
    pub(in crate::scan) fn look_around(&mut self, opener: &Opener) {
        let own = own_pairs(opener).count();
        let mut before = self.standing.surroundings.before(&self.text, opener.start, own);
        if is_expression(opener) && before.shows.is_none() && !before.line.has_call {
            let is_quoted =
                opener.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Quote(_)));
            before.shows = self.standing.surroundings.in_code(&self.text, opener.start, is_quoted);
        }
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
        let goes_on = before.gap.joins && !self.has_waiting_call();
        let last = self.standing.held.last.filter(|last| goes_on && last.1 == is_marked);
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
            own: own_pairs(opener).collect(),
            told: last.map(|(stand, _)| stand).or(before.shows.filter(|_| !is_inside)),
        }
    }

    /// Returns whether the text behind the expression of `run` in its list belongs to it, without a comma:
    /// `[f(a=1) for a in b]`.
    fn is_taken_in(&self, run: &Run) -> bool {
        let text = self.text.get(..run.at.end).unwrap_or("");
        run.is_expression && !text.trim_end().ends_with(',')
    }

    /// Decides about `run`; `None` if more text must decide.
    pub(super) fn stand(&self, run: &Run, end: bool) -> Option<Stand> {
        let Run { before, behind, .. } = run;
        if run.told.is_some() {
            return run.told;
        }
        let shown = |why| Some(Stand::Shown(why));
        if run.is_expression {
            // The run's markup may end its line. Code behind a list belongs to the list: `[f(a=1)][0]`.
            let text = self.text.get(..run.at.end).unwrap_or("");
            let is_over = behind.line_over || text.ends_with('\n');
            let is_list = text.trim_end().ends_with(']');
            match follows(self.text.get(run.at.end..).unwrap_or("")) {
                told @ (Follows::Code | Follows::Question)
                    if !(is_over || is_list && told == Follows::Code) =>
                {
                    let is_run = run.fence.is_some_and(|fence| fence.is_run);
                    return if is_run { Some(Stand::InCode) } else { shown(ShownBy::Sentence) };
                }
                Follows::Unknown if !is_over && !end => return None,
                Follows::Code | Follows::Question | Follows::Unknown | Follows::Other => {}
            }
        }
        if let Some(fence) = run.fence {
            let holds_more = fence.is_open || !fence.is_of_calls;
            if fence.shows || holds_more && behind.words {
                return if fence.is_run { Some(Stand::InCode) } else { shown(ShownBy::Fence) };
            }
            if holds_more && !end {
                return None;
            }
        }
        let around = [
            (before.pairs, behind.pair, before.line.words, ShownBy::Pair),
            (before.elements, behind.element, before.words_before_element, ShownBy::Element),
        ];
        for (_, enclosed, has_words_before, why) in around.into_iter().filter(|(open, ..)| 0 < *open) {
            match enclosed {
                Enclosed::Closed | Enclosed::Alone if before.is_in_data && why == ShownBy::Pair => {
                    return shown(why);
                }
                Enclosed::Closed if has_words_before => return shown(why),
                // In a row of calls, the words stand between calls.
                Enclosed::Alone if has_words_before && !before.line.has_call => return shown(why),
                Enclosed::ClosedBeforeWords => return shown(why),
                Enclosed::Open | Enclosed::Closed if !end => return None,
                Enclosed::Open | Enclosed::Closed | Enclosed::Alone | Enclosed::Over => {}
            }
        }
        // Tokens stand in no sentence; letters may.
        if before.line.words && !(run.is_marked && run.is_of_tokens) {
            match () {
                () if behind.on_line && run.is_marked => return Some(Stand::Unsure),
                () if behind.on_line => return shown(ShownBy::Line),
                () if !behind.line_over && !end => return None,
                () => {}
            }
        }
        // Between quotes that hold nothing else, the run's marks do not count.
        match run.is_marked && !matches!(behind.pair, Enclosed::Closed | Enclosed::Alone) {
            true => self.stand_by_marks(run, end),
            false => self.stand_without_marks(run, end),
        }
    }

    /// Decides about a run by its marks: it is made, also between words. There, it is unsure if another form was asked
    /// for, or if a sentence goes on behind it.
    fn stand_by_marks(&self, run: &Run, end: bool) -> Option<Stand> {
        let Run { before, behind, .. } = run;
        let is_doubted = self.rules.is_native || self.rules.asked.is_some() && !run.is_asked;
        let is_in_sentence = before.line.is_sentence();
        let may_go_on = is_in_sentence && !run.is_asked;
        match run.is_beside() || is_in_sentence {
            true if is_doubted || may_go_on && behind.on_line => Some(Stand::Unsure),
            true if may_go_on && !behind.line_over && !end => None,
            false if is_doubted && run.may_be_beside(end) => None,
            _ => Some(Stand::Made),
        }
    }

    /// Decides about a run without marks: it is made as the whole answer, behind words or before them; between words,
    /// the runs at the edge decide. If the model calls natively, words beside the run leave it open.
    fn stand_without_marks(&self, run: &Run, end: bool) -> Option<Stand> {
        let Run { before, behind, .. } = run;
        let is_native = self.rules.is_native;
        let shown = |why| Some(Stand::Shown(why));
        match () {
            () if before.line.is_sentence() => shown(ShownBy::Sentence),
            () if (behind.goes_on || !behind.is_begun) && !end && !behind.line_over => None,
            () if behind.goes_on && !behind.joined && (!run.is_listed || self.is_taken_in(run)) => {
                shown(ShownBy::Sentence)
            }
            () if run.is_labelled => self.stand_by_marks(run, end),
            () if is_native && run.is_beside() => shown(ShownBy::Between),
            () if is_native && !behind.words && !end => None,
            () if is_native && (before.words || behind.words) => match run.is_right() {
                true => Some(Stand::Unsure),
                false => shown(ShownBy::Between),
            },
            () if run.is_beside() && run.is_asked => Some(Stand::Unsure),
            // The runs at the edge of the words may yet come.
            () if run.is_beside() && !end || run.may_be_beside(end) => None,
            () if run.is_beside() => Some(Stand::Between),
            () => Some(Stand::Made),
        }
    }
}

impl Run {
    /// Returns whether words stand behind the run, and words or a tag that nothing closes before it.
    fn is_beside(&self) -> bool {
        let Run { before, behind, .. } = self;
        let is_open = 0 < before.elements && behind.element == Enclosed::Open;
        (before.words || before.line.opens_element && is_open) && behind.words
    }

    /// Returns whether words stand before the run, and some may come behind it.
    fn may_be_beside(&self, end: bool) -> bool {
        self.before.words && !self.behind.words && !end
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
