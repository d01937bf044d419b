//! Runs of calls that wait until it is told whether they are made or shown, and what is said behind them.

use std::ops::Range;

use super::surroundings::Before;
use super::{Form, Stand, own_pairs};
use crate::scan::beside::OnLine;
use crate::scan::opener::{Delimiter, Opener};
use crate::scan::repeat::Spot;
use crate::scan::{Event, Scanner};
use crate::verdict::{Acceptance, Reason, ShapeError, ShownBy, ShownCall, Verdict};

/// The most runs that wait, and the most text that is held for them, in bytes. What is not told by then counts as beside
/// words on both sides.
const MAX_RUNS: usize = 16;
const MAX_HELD: usize = 1 << 16;

/// What is held until the runs in it are told.
#[derive(Debug, Default)]
pub(in crate::scan) struct Held {
    pieces: Vec<Piece>,
    /// What became of the last run that went out, and whether it had marks.
    last: Option<Stand>,
    is_last_marked: bool,
    /// A marked call went out.
    has_marked: bool,
    /// An unmarked one did.
    has_unmarked: bool,
    /// One was told to be unsure.
    has_unsure: bool,
}

/// Calls without words between them.
#[derive(Debug)]
pub(super) struct Run {
    /// Where it stands, its marks included.
    at: Range<usize>,
    verdicts: Vec<(Verdict, Spot)>,
    before: Before,
    form: Form,
    /// What it is whatever follows: a part of it went out before its verdict, or it goes on where one ended that is told.
    told: Option<Stand>,
}

/// A run whose calls are being read.
#[derive(Debug)]
pub(in crate::scan) struct Begun {
    from: usize,
    form: Form,
    before: Before,
    own: Vec<(char, usize)>,
    is_sent: bool,
}

#[derive(Debug)]
enum Piece {
    Prose(Range<usize>),
    /// Marks that end what was opened before them.
    Marks(Range<usize>),
    Run(Box<Run>),
}

impl Held {
    pub(in crate::scan) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Is nothing of what went out unsure?
    pub(super) fn is_sure(&self) -> bool {
        !self.has_unsure
    }

    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Run(run) => Some(&**run),
            Piece::Prose(_) | Piece::Marks(_) => None,
        })
    }

    pub(in crate::scan) fn has_run(&self) -> bool {
        self.runs().any(|run| !run.verdicts.is_empty())
    }

    /// The last run, with what stands behind it taken into it: marks and blanks.
    fn last_run(&mut self) -> Option<&mut Run> {
        let last = self.pieces.iter().rposition(|piece| matches!(piece, Piece::Run(_)))?;
        self.pieces.truncate(last + 1);
        match self.pieces.last_mut() {
            Some(Piece::Run(run)) => Some(run),
            _ => None,
        }
    }

    /// The fence of the last run is closed.
    fn close_fence(&mut self) {
        let last = self.pieces.iter_mut().rev().find_map(|piece| match piece {
            Piece::Run(run) => run.form.fence.as_mut(),
            Piece::Prose(_) | Piece::Marks(_) => None,
        });
        if let Some(fence) = last {
            fence.is_open = false;
        }
    }

    fn len(&self, text: &str) -> usize {
        let from = self.runs().next().map_or(text.len(), |run| run.at.start);
        text.len() - from
    }
}

impl Scanner<'_> {
    /// Begins a run, with the call that `opener` begins.
    pub(in crate::scan) fn begin_run(&mut self, opener: &Opener, is_sent: bool) {
        let form = self.form(opener);
        let before = self.standing.before;
        let own = own_pairs(opener).collect();
        self.standing.run = Some(Begun { from: opener.start, form, before, own, is_sent });
    }

    /// Ends the run that was begun, with these verdicts, where the marks behind it end.
    pub(in crate::scan) fn end_run(&mut self, verdicts: Vec<(Verdict, Spot)>, out: &mut Vec<Event>) {
        let to = self.at;
        let Some(Begun { from, mut form, before, own, is_sent }) = self.standing.run.take() else {
            return self.take_marks(to, out);
        };
        let is_fenced = self.is_in_own_fence();
        if let Some(fence) = &mut form.fence {
            fence.is_open = is_fenced;
        }
        form.is_listed = self.markup.delimiters.contains(&Delimiter::Bracket);
        let is_paired = match own.is_empty() {
            true => None,
            false => Some(
                !self
                    .markup
                    .delimiters
                    .iter()
                    .any(|delimiter| matches!(delimiter, Delimiter::Quote(_) | Delimiter::Ticks(_))),
            ),
        };
        let told = if is_sent { Some(Stand::Made) } else { self.inherited(&form, &before) };
        let run = Run { at: from..to, verdicts, before, form, told };
        let is_joined = before.joins
            && self.standing.held.runs().last().is_some_and(|last| last.form.is_marked == form.is_marked);
        let joined = if is_joined { self.standing.held.last_run() } else { None };
        match joined {
            Some(last) => {
                last.at.end = to;
                last.verdicts.extend(run.verdicts);
                last.form.fence = last.form.fence.or(run.form.fence);
                last.form.is_listed = run.form.is_listed;
                last.form.fence.iter_mut().for_each(|fence| fence.is_open = is_fenced);
                self.standing.surroundings.call(to, &before, is_paired, false);
            }
            None => {
                self.standing.surroundings.call(to, &before, is_paired, true);
                if is_paired == Some(false) {
                    self.standing.surroundings.open(own.into_iter());
                }
                self.standing.held.pieces.push(Piece::Run(Box::new(run)));
            }
        }
        if let Some(fence) = self.standing.held.runs().last().and_then(|run| run.form.fence) {
            self.standing.surroundings.set_fence(is_fenced.then_some(fence.len));
        }
        self.tell(false, out);
    }

    /// Marks up to `to` that close what calls before them opened.
    fn take_marks(&mut self, to: usize, out: &mut Vec<Event>) {
        let from = std::mem::replace(&mut self.markup.marks_from, to).min(to);
        self.standing.surroundings.step_over(&self.text, from, to);
        if !self.is_in_own_fence() {
            self.standing.surroundings.set_fence(None);
            self.standing.held.close_fence();
        }
        match self.standing.held.is_empty() {
            true => self.remove(),
            false => self.standing.held.pieces.push(Piece::Marks(from..to)),
        }
        self.tell(false, out);
    }

    /// Holds prose up to `to`: a run waits for what it says.
    pub(in crate::scan) fn hold(&mut self, to: usize, out: &mut Vec<Event>) {
        match self.standing.held.pieces.last_mut() {
            Some(Piece::Prose(at)) => at.end = to,
            _ => self.standing.held.pieces.push(Piece::Prose(self.at..to)),
        }
        self.at = to;
        self.standing.surroundings.feed(&self.text, to, false);
        self.tell(false, out);
    }

    /// Is a fence open that stands around calls?
    fn is_in_own_fence(&self) -> bool {
        self.markup.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_)))
    }

    /// Lets out what is held, if all of it is told by now; at the `end`, it is.
    pub(in crate::scan) fn tell(&mut self, end: bool, out: &mut Vec<Event>) {
        if self.standing.held.is_empty() {
            return;
        }
        if end {
            self.standing.surroundings.feed(&self.text, self.at, true);
        }
        let is_full =
            MAX_RUNS < self.standing.held.runs().count() || MAX_HELD < self.standing.held.len(&self.text);
        let stands =
            self.standing.held.runs().zip(self.standing.surroundings.behind()).map(|(run, behind)| {
                let behind = if is_full && !end { behind.before_words() } else { *behind };
                let told = || self.stand(&run.form, &run.before, Some(&behind), end || is_full);
                run.told.or_else(told)
            });
        let Some(mut stands) = stands.collect::<Option<Vec<Stand>>>() else { return };
        if !end && !is_full && stands.contains(&Stand::Between) {
            return;
        }
        self.agree(&mut stands);
        self.standing.surroundings.settled();
        let (pieces, text) = (std::mem::take(&mut self.standing.held.pieces), std::mem::take(&mut self.text));
        let mut stands = stands.into_iter();
        for piece in pieces {
            match piece {
                Piece::Prose(at) => self.release_piece(text.get(at).unwrap_or(""), out),
                Piece::Marks(at) => match self.standing.held.last {
                    Some(Stand::Shown(_)) => self.release_piece(text.get(at).unwrap_or(""), out),
                    _ => self.remove(),
                },
                Piece::Run(run) => {
                    let stand = stands.next().unwrap_or(Stand::Made);
                    self.let_run_out(*run, stand, &text, out);
                }
            }
        }
        self.text = text;
        if let Some(Stand::Shown(_)) = self.standing.held.last {
            // What it opened and did not close is open in the text.
            self.markup.in_fence |= self.is_in_own_fence();
            self.markup.delimiters.clear();
        }
    }

    fn let_run_out(&mut self, run: Run, stand: Stand, text: &str, out: &mut Vec<Event>) {
        // An explanation that says the calls again stays text; marks of two dialects around one call do not.
        let is_again = !run.verdicts.is_empty()
            && run.verdicts.iter().all(|(verdict, spot)| self.is_repeat(verdict, spot));
        self.standing.held.has_unsure |= stand == Stand::Unsure;
        let stand = match stand {
            Stand::Unsure if self.rules.unsure_is_text => Stand::Shown(ShownBy::Unsure),
            Stand::Made | Stand::Unsure if is_again && !run.before.joins => Stand::Shown(ShownBy::Repeat),
            stand => stand,
        };
        self.standing.held.last = Some(stand);
        self.standing.held.is_last_marked = run.form.is_marked;
        if let Stand::Shown(by) = stand {
            self.outcome.shown.extend(run.verdicts.iter().map(|(verdict, _)| ShownCall::of(verdict, by)));
            return self.release_piece(text.get(run.at).unwrap_or(""), out);
        }
        match run.form.is_marked {
            true => self.standing.held.has_marked = true,
            false => self.standing.held.has_unmarked = true,
        }
        self.remove();
        let on_line = match run.before {
            Before { in_sentence: true, .. } => OnLine::Sentence,
            Before { on_line: true, .. } => OnLine::Words,
            Before { .. } => OnLine::Nothing,
        };
        for (verdict, spot) in run.verdicts {
            if self.is_repeat(&verdict, &spot) {
                continue;
            }
            let verdict = match (verdict, stand) {
                (Verdict::Accepted(call), Stand::InCode) => {
                    // Nobody runs code here.
                    let (span, reason) = (call.span, Reason::Shape(ShapeError::InCode));
                    Verdict::Refused(call.refused(span, text, reason))
                }
                (Verdict::Accepted(call), stand) => {
                    Verdict::Accepted(Acceptance { unsure: stand == Stand::Unsure, ..call })
                }
                (refused, _) => refused,
            };
            self.give(verdict, spot, on_line, out);
        }
    }

    /// What a run of this form is that goes on where another one ended, which is told.
    pub(super) fn inherited(&self, form: &Form, before: &Before) -> Option<Stand> {
        let goes_on = before.joins
            && !self.standing.held.has_run()
            && self.standing.held.is_last_marked == form.is_marked;
        self.standing.held.last.filter(|_| goes_on)
    }

    /// Runs of one answer are told together: those between words by those at the edge, those without marks by those with
    /// marks, and never a part of several that are unsure.
    fn agree(&self, stands: &mut [Stand]) {
        let runs = || self.standing.held.runs();
        let is_call = |stand: &Stand| matches!(stand, Stand::Made | Stand::Unsure);
        let of = |stands: &[Stand], is_marked: bool| {
            runs().zip(stands).any(|(run, stand)| run.form.is_marked == is_marked && is_call(stand))
        };
        let mut last = self.standing.held.last;
        for stand in stands.iter_mut() {
            if *stand == Stand::AsBefore {
                *stand = last.unwrap_or(Stand::Shown(ShownBy::Sentence));
            }
            last = Some(*stand);
        }
        let has_edge = self.standing.held.has_unmarked || of(stands, false);
        for stand in stands.iter_mut().filter(|stand| **stand == Stand::Between) {
            *stand = if has_edge { Stand::Made } else { Stand::Shown(ShownBy::Between) };
        }
        let has_marked = self.standing.held.has_marked || of(stands, true);
        let has_unsure = self.standing.held.has_unsure || stands.contains(&Stand::Unsure);
        for (run, stand) in runs().zip(stands.iter_mut()) {
            let is_set_off = run.before.set_off || run.form.fence.is_some();
            if has_marked && !run.form.is_marked && is_set_off && is_call(stand) {
                *stand = Stand::Shown(ShownBy::OtherForm);
            } else if has_unsure && *stand == Stand::Made && run.told.is_none() {
                *stand = Stand::Unsure;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MAX_HELD;
    use crate::{Context, Delta, Event, Scanner, ToolSet};

    #[test]
    fn so_much_is_held_and_no_more() {
        let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#).unwrap();
        let mut scanner = Scanner::new(&tools, &Context::default());
        let mut events = Vec::new();
        scanner.feed(Delta::Text("So:\n\n{\"name\": \"f\", \"arguments\": {}}\n\n"), &mut events);
        let line = "Words and words. ";
        let held = events.len();
        for _ in 0..MAX_HELD / line.len() - 16 {
            scanner.feed(Delta::Text(line), &mut events);
        }
        assert_eq!(events.len(), held, "it waits for the end");
        for _ in 0..32 {
            scanner.feed(Delta::Text(line), &mut events);
        }
        assert!(
            matches!(&events[held], Event::Text(text) if text.contains("{\"name\"")),
            "{:?}",
            events[held]
        );
        assert_eq!(scanner.finish(&mut events).calls().count(), 0);
    }
}
