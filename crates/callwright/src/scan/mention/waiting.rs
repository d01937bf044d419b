//! Holds runs of calls, with the text behind them, until a decision: they are made, or shown.

use super::surroundings::begins_string;
use super::{Piece, Run, Stand, ticks};
use crate::scan::opener::Delimiter;
use crate::scan::repeat::Spot;
use crate::scan::{Event, Scanner};
use crate::verdict::{Acceptance, BesideProse, Reason, ShapeError, ShownBy, ShownCall, Verdict};

/// Most runs that wait, and most bytes of text that are held for them. Beyond that, an undecided run counts as one
/// between words.
const MAX_RUNS: usize = 16;
const MAX_HELD: usize = 1 << 16;

impl Scanner<'_> {
    /// Ends the current run, with these verdicts, behind its closing marks.
    pub(in crate::scan) fn end_run(&mut self, verdicts: Vec<(Verdict, Spot)>, out: &mut Vec<Event>) {
        let to = self.at;
        let Some(mut run) = self.standing.run.take() else { return self.take_marks(to, out) };
        let delimiters = &self.markup.delimiters;
        let is_listed = delimiters.contains(&Delimiter::Bracket);
        let is_open =
            |open: &Delimiter| matches!(open, Delimiter::Quote(_) | Delimiter::Ticks(_) | Delimiter::Bracket);
        let is_open = delimiters.iter().any(is_open);
        let fence = ticks(delimiters.iter());
        let surroundings = &mut self.standing.surroundings;
        let is_joined = run.before.gap.joins
            && surroundings.runs.last().is_some_and(|last| last.is_marked == run.is_marked);
        // `["<|python_tag|>f.call(a=\"x\")"]`: escaped quotes stand in a string of data.
        if run.is_marked && run.told.is_none() && is_in_string(&self.text, run.at.start, to) {
            run.told = Some(Stand::Shown(ShownBy::Pair));
        }
        let own_fence = run.fence;
        if !is_joined {
            if is_open && let Some(own) = run.own.take() {
                run.before.pairs += 1;
                surroundings.pairs.push(own);
            }
            surroundings.runs.push(run);
        }
        surroundings.call(to);
        if let Some(run) = surroundings.runs.last_mut() {
            // The marks and blanks between two joined runs become a part of them.
            run.text.clear();
            run.at.end = to;
            run.verdicts.extend(verdicts);
            run.is_listed = is_listed;
            run.fence = run.fence.or(own_fence);
            if let Some(own) = &mut run.fence {
                own.is_open = fence.is_some();
                surroundings.set_fence(fence);
            }
        }
        self.tell(false, out);
    }

    /// Takes the marks up to `to`, which close those of earlier calls.
    fn take_marks(&mut self, to: usize, out: &mut Vec<Event>) {
        let from = std::mem::replace(&mut self.markup.marks_from, to).min(to);
        let is_fenced = ticks(self.markup.delimiters.iter()).is_some();
        let surroundings = &mut self.standing.surroundings;
        surroundings.step_over(&self.text, from, to);
        if !is_fenced {
            surroundings.set_fence(None);
            if let Some(fence) = surroundings.runs.iter_mut().rev().find_map(|run| run.fence.as_mut()) {
                fence.is_open = false;
            }
        }
        match surroundings.runs.last_mut() {
            None => self.remove(),
            Some(run) => run.text.push(Piece { at: from..to, is_marks: true }),
        }
        self.tell(false, out);
    }

    /// Holds the prose up to `to`, which decides about a waiting run.
    pub(in crate::scan) fn hold(&mut self, to: usize, out: &mut Vec<Event>) {
        let at = self.at..to;
        if let Some(run) = self.standing.surroundings.runs.last_mut() {
            match run.text.last_mut() {
                Some(Piece { at: last, is_marks: false }) => last.end = to,
                _ => run.text.push(Piece { at, is_marks: false }),
            }
        }
        self.at = to;
        self.standing.surroundings.feed(&self.text, to, false);
        self.tell(false, out);
    }

    /// Lets the held text out once all of its runs are decided, at the latest at the `end`.
    pub(in crate::scan) fn tell(&mut self, end: bool, out: &mut Vec<Event>) {
        let surroundings = &mut self.standing.surroundings;
        let Some(first) = surroundings.runs.first() else { return };
        let is_full = MAX_RUNS < surroundings.runs.len() || MAX_HELD < self.text.len() - first.at.start;
        if end {
            surroundings.feed(&self.text, self.at, true);
        } else if is_full {
            for Run { behind, .. } in &mut surroundings.runs {
                (behind.words, behind.line_over) = (true, true);
            }
        }
        let runs = self.standing.surroundings.runs.iter();
        let stands = runs.map(|run| {
            let stand = self.stand(run, end || is_full);
            // `city="your_city"`
            let is_doubtful =
                |(verdict, _): &(Verdict, Spot)| matches!(verdict, Verdict::Accepted(call) if call.unsure);
            let is_made = stand == Some(Stand::Made);
            if is_made && run.verdicts.iter().any(is_doubtful) { Some(Stand::Unsure) } else { stand }
        });
        let Some(mut stands) = stands.collect::<Option<Vec<Stand>>>() else { return };
        let runs = std::mem::take(&mut self.standing.surroundings.runs);
        self.agree(&runs, &mut stands);
        let text = std::mem::take(&mut self.text);
        for (mut run, stand) in runs.into_iter().zip(stands) {
            let behind = std::mem::take(&mut run.text);
            self.let_run_out(run, stand, &text, out);
            for Piece { at, is_marks } in behind {
                match is_marks && !self.standing.told.is_last_shown() {
                    true => self.remove(),
                    false => self.release_piece(text.get(at).unwrap_or(""), out),
                }
            }
        }
        self.text = text;
        if self.standing.told.is_last_shown() {
            // The call stays in the text, so its unclosed fences stay open too.
            self.markup.in_fence |= ticks(self.markup.delimiters.iter()).is_some();
            self.markup.delimiters.clear();
        }
    }

    fn let_run_out(&mut self, run: Run, stand: Stand, text: &str, out: &mut Vec<Event>) {
        let beside = match run.before.line {
            line if line.is_sentence() => BesideProse::Sentence,
            line if line.is_taken() => BesideProse::Line,
            _ => BesideProse::Above,
        };
        // An explanation that repeats the calls stays text; marks of two dialects around one call do not.
        let is_again = !run.verdicts.is_empty()
            && run
                .verdicts
                .iter()
                .all(|(verdict, spot)| self.made.has(verdict, spot, &self.outcome.verdicts));
        let told = &mut self.standing.told;
        // [`Scanner::agree`] judges the other runs by these, whether they come before this one goes out or after.
        told.doubts.add(&run, stand == Stand::Unsure);
        told.calls.add(&run, stand.is_call());
        let stand = match stand {
            Stand::Unsure if self.rules.unsure_is_text => Stand::Shown(ShownBy::Unsure),
            Stand::Made | Stand::Unsure if is_again && !run.before.gap.joins => Stand::Shown(ShownBy::Repeat),
            stand => stand,
        };
        told.last = Some((stand, run.is_marked));
        if let Stand::Shown(by) = stand {
            self.outcome.shown.extend(run.verdicts.iter().map(|(verdict, _)| ShownCall::of(verdict, by)));
            return self.release_piece(text.get(run.at).unwrap_or(""), out);
        }
        self.remove();
        let is_behind = run.before.words || beside != BesideProse::Above;
        for (verdict, spot) in run.verdicts {
            if self.made.has(&verdict, &spot, &self.outcome.verdicts) {
                continue;
            }
            let number = self.outcome.verdicts.len();
            let verdict = match verdict {
                Verdict::Accepted(call) if stand == Stand::InCode => {
                    // Nobody runs the code.
                    let span = call.span;
                    Verdict::Refused(call.refused(span, text, Reason::Shape(ShapeError::InCode)))
                }
                Verdict::Accepted(call) => {
                    self.made.add(spot, number);
                    Verdict::Accepted(Acceptance { unsure: stand == Stand::Unsure, ..call })
                }
                refused @ Verdict::Refused(_) => refused,
            };
            self.standing.beside.note(number, self.outcome.text.len(), is_behind.then_some(beside));
            self.judged(verdict, out);
        }
    }

    /// Hands out a verdict, with its number.
    pub(in crate::scan) fn judged(&mut self, mut verdict: Verdict, out: &mut Vec<Event>) {
        if let Verdict::Refused(refusal) = &mut verdict {
            refusal.number = self.outcome.verdicts.len() + 1;
        }
        if !self.rules.is_quiet {
            out.push(Event::Call(verdict.clone()));
        }
        self.outcome.verdicts.push(verdict);
    }

    /// Returns whether a run waits, and text with it.
    pub(in crate::scan) fn is_holding(&self) -> bool {
        !self.standing.surroundings.runs.is_empty()
    }

    /// Returns the last verdict, whether it waits or went out.
    pub(in crate::scan) fn last_verdict(&self) -> Option<&Verdict> {
        let waiting = self.standing.surroundings.runs.iter().rev().find_map(|run| run.verdicts.last());
        waiting.map(|(verdict, _)| verdict).or_else(|| self.outcome.verdicts.last())
    }

    /// Decides about the `runs` of one answer together. Runs at the edge decide about those between words, and marked
    /// runs about unmarked ones; an unsure run makes others unsure.
    fn agree(&self, runs: &[Run], stands: &mut [Stand]) {
        let told = &self.standing.told;
        let mut last = told.last.map(|(stand, _)| stand);
        for (run, stand) in runs.iter().zip(stands.iter_mut()) {
            // A word joins the run to the one before it on its line, whose decision it shares.
            let line = &run.before.line;
            let follows = line.has_call && line.is_sentence() && run.told.is_none();
            if follows && *stand == Stand::Shown(ShownBy::Sentence) {
                *stand = last.unwrap_or(*stand);
            }
            last = Some(*stand);
        }
        let (mut calls, mut doubts) = (told.calls, told.doubts);
        for (run, stand) in runs.iter().zip(&*stands) {
            doubts.add(run, *stand == Stand::Unsure);
            calls.add(run, stand.is_call());
        }
        for (run, stand) in runs.iter().zip(stands) {
            if *stand == Stand::Between {
                *stand = if calls.unmarked { Stand::Made } else { Stand::Shown(ShownBy::Between) };
            }
            let is_set_off = run.before.gap.words || run.fence.is_some();
            // A run without marks casts no doubt on marks.
            let is_doubted = doubts.marked || doubts.unmarked && !run.is_marked;
            if calls.marked && !run.is_marked && is_set_off && stand.is_call() {
                *stand = Stand::Shown(ShownBy::OtherForm);
            } else if is_doubted && *stand == Stand::Made && run.told.is_none() {
                *stand = Stand::Unsure;
            }
        }
    }
}

/// Returns whether the run from `from` to `to` of `text` stands in a string of data: a quote stands before its first
/// mark, and escaped ones in it.
fn is_in_string(text: &str, from: usize, to: usize) -> bool {
    let run = text.get(from..to).unwrap_or("");
    let marks = run.len() - run.trim_start_matches(['[', ' ', '\n']).len();
    let quote = if run[marks..].starts_with(['"', '\'']) { from + marks + 1 } else { from };
    let before = text.get(..quote).unwrap_or("");
    before.ends_with(['"', '\'']) && begins_string(before) && run.contains("\\\"")
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
        assert_eq!(scanner.finish().1.calls().count(), 0);
    }
}
