//! Reasoning that the upstream keeps apart from the text: a block of its own.
//!
//! A scanner of its own reads it like a block of reasoning in the text. Text or a native call behind it closes the
//! block; where nothing follows, the block was never closed. The reasoning goes out as it comes, up to the first mark
//! of a call.

use super::drafts::Drafts;
use super::{Delta, Event, Scanner};
use crate::dialect::{Anchor, FIELD};
use crate::policy::CallsInReasoning;
use crate::verdict::{Acceptance, Verdict};

impl Scanner<'_> {
    /// Takes the next piece of reasoning that the upstream keeps apart.
    pub(super) fn think_apart(&mut self, thought: &str, out: &mut Vec<Event>) {
        let is_read = self.rules.calls_in_reasoning != CallsInReasoning::Ignore
            && self.native.is_empty()
            && !self.names.tools().is_empty();
        if !is_read {
            return self.reason(thought, out);
        }
        let mut apart = self.apart.take().unwrap_or_else(|| {
            let mut rules = self.rules.clone();
            rules.is_quiet = false;
            let mut apart = Scanner::of(self.names.clone(), rules, Drafts::default());
            apart.think(0, FIELD.into(), &mut Vec::new());
            Box::new(apart)
        });
        let mut events = Vec::new();
        apart.feed(Delta::Text(thought), &mut events);
        self.apart = Some(apart);
        self.take_apart(events, out);
    }

    /// Closes the reasoning that the upstream keeps apart, as something follows it.
    pub(super) fn close_apart(&mut self, out: &mut Vec<Event>) {
        if let Some(apart) = &mut self.apart
            && apart.rules.calls_in_reasoning == CallsInReasoning::Unclosed
        {
            apart.rules.calls_in_reasoning = CallsInReasoning::Ignore;
        }
        self.end_apart(out);
    }

    /// Ends that reasoning: no more of it will come.
    pub(super) fn end_apart(&mut self, out: &mut Vec<Event>) {
        let Some(mut apart) = self.apart.take() else { return };
        apart.rules.stop = self.rules.stop;
        apart.rules.admission = self.rules.admission;
        apart.rules.is_below_limit = self.rules.is_below_limit;
        self.take_apart(apart.finish().0, out);
    }

    /// Takes over the events of that reasoning.
    fn take_apart(&mut self, events: Vec<Event>, out: &mut Vec<Event>) {
        for event in events {
            match event {
                Event::Text(thought) | Event::Reasoning(thought) => self.reason(&thought, out),
                Event::Call(Verdict::Accepted(call)) => {
                    self.remove();
                    let call = Acceptance { is_apart: true, ..call };
                    let record = self.rules.dialects.record_of(&call.dialect);
                    let is_marked = record.is_some_and(|record| record.anchor == Anchor::Distinct);
                    let mut spot = self.last_spot(call.dialect.clone(), is_marked);
                    spot.block += usize::from(self.standing.prose_since_call);
                    self.made.add(spot, self.outcome.verdicts.len());
                    self.judged(Verdict::Accepted(call), out);
                }
                Event::Call(refused @ Verdict::Refused(_)) => self.judged(refused, out),
                Event::CallStarted { .. } | Event::CallArguments { .. } => {}
            }
        }
    }
}
