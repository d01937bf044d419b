//! Behind a payload: its markup is closed, and its verdict goes out.

use std::borrow::Cow;

use callwright_json::Span;

use super::repeat::Spot;
use super::tail::{Tail, tail};
use super::{Event, Flow, Mode, Scanner};
use crate::verdict::Verdict;

impl Scanner<'_> {
    pub(super) fn tail(&mut self, end: bool, out: &mut Vec<Event>) -> Flow {
        let mut glue = std::mem::take(&mut self.glue);
        let found = tail(&self.text, self.at, &mut glue, self.place(false, end));
        self.glue = glue;
        match found {
            Tail::Wait(at) => {
                self.at = at;
                self.mode = Mode::Tail;
                Flow::Wait
            }
            Tail::Ended(at) => {
                self.at = at;
                if let Some((_, from)) = &mut self.inside {
                    *from = at;
                }
                self.flush_calls(out);
                self.mode = Mode::Prose;
                Flow::On
            }
        }
    }

    fn flush_calls(&mut self, out: &mut Vec<Event>) {
        let end = Span::at(self.at).end;
        for mut verdict in std::mem::take(&mut self.pending) {
            match &mut verdict {
                Verdict::Accepted(call) => call.span.end = end,
                Verdict::Refused(refusal) => {
                    refusal.span.end = end;
                    refusal.number = self.outcome.verdicts.len() + 1;
                }
            }
            if self.is_repeat(&verdict) {
                continue;
            }
            self.remember(&verdict);
            self.judged(verdict, out);
        }
        self.group += usize::from(self.glue.is_empty());
    }

    pub(super) fn judged(&mut self, verdict: Verdict, out: &mut Vec<Event>) {
        if !self.is_quiet {
            out.push(Event::Call(verdict.clone()));
        }
        self.outcome.verdicts.push(verdict);
    }

    /// The same call in another dialect, or again behind prose, is an explanation of it. A list may hold a
    /// call twice, also one whose elements have less markup than its beginning.
    pub(super) fn is_repeat(&mut self, verdict: &Verdict) -> bool {
        let Verdict::Accepted(call) = verdict else { return false };
        let spot = self.spot(call.dialect.clone());
        self.made.has(call, &spot, &self.outcome.verdicts)
    }

    /// Where a call would stand now.
    pub(super) fn spot(&self, dialect: Cow<'static, str>) -> Spot {
        Spot { dialect, block: self.block + usize::from(self.apart), group: self.group }
    }

    fn remember(&mut self, verdict: &Verdict) {
        if std::mem::take(&mut self.apart) {
            self.block += 1;
        }
        if let Verdict::Accepted(call) = verdict {
            let spot = Spot { dialect: call.dialect.clone(), block: self.block, group: self.group };
            self.made.add(call, spot, self.outcome.verdicts.len());
        }
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.outcome.verdicts.is_empty()
    }
}
