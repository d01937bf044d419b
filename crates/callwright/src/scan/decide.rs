//! The end of a payload, and what is decided there.

use super::body::{Body, End};
use super::extent::{Extent, Progress};
use super::judge::{Case, Judged, judge};
use super::lead::{Glue, Item, Lead};
use super::{Event, Flow, Mode, Scanner};
use crate::dialect::Anchor;
use crate::guard;

impl<'a> Scanner<'a> {
    /// Looks for the end of a payload, and decides there if it can.
    pub(super) fn payload(
        &mut self,
        lead: Lead,
        mut extent: Extent,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        match extent.advance(self.text.as_bytes(), end) {
            Progress::Open if end => self.decide_last(lead, None, out),
            Progress::Open => {
                self.mode = Mode::Payload(lead, extent);
                return Flow::Wait;
            }
            Progress::Ended(at) => {
                // Surplus closers belong to the payload: `{"a": 1}}}`.
                let behind = &self.text.as_bytes()[at..];
                let surplus = match lead.item {
                    Item::Value { .. } | Item::Named { .. } => {
                        behind.iter().take(64).take_while(|&&b| b == b'}').count()
                    }
                    Item::Call { .. }
                    | Item::Listed { .. }
                    | Item::Tagged { .. }
                    | Item::Relaxed { .. }
                    | Item::Plain { .. } => 0,
                };
                if surplus < 64 && surplus == behind.len() && !end {
                    self.mode = Mode::Payload(lead, extent);
                    return Flow::Wait;
                }
                let next = behind.iter().skip(surplus).take(64).find(|b| !b.is_ascii_whitespace()).copied();
                if next.is_none() && behind.len() < surplus + 64 && !end {
                    self.mode = Mode::Payload(lead, extent);
                    return Flow::Wait;
                }
                // `{"a": "say "}" now"}`: what stands behind the value is the string's that seemed to end in it.
                let blank = behind.iter().skip(surplus).take_while(|b| b.is_ascii_whitespace());
                let same_line = !blank.into_iter().any(|&b| b == b'\n');
                let goes_on = match next {
                    Some(b'"' | b'\'') => {
                        !lead.glue.iter().chain(&self.glue).any(|g| matches!(g, Glue::Quote(_)))
                    }
                    Some(b) => {
                        lead.record.anchor == Anchor::Distinct && same_line && b.is_ascii_alphanumeric()
                    }
                    None => false,
                };
                // An argument list that is balanced ends there, whatever is wrong inside.
                let last = matches!(lead.item, Item::Call { .. } | Item::Listed { .. });
                let goes_on = goes_on && !last;
                if goes_on {
                    self.mode = Mode::Held(lead, None);
                    return Flow::On;
                }
                match self.judge(&lead, at + surplus, Some(at + surplus), extent.has_nested_call(), last) {
                    Judged::Unclear if end => self.decide_last(lead, Some(at + surplus), out),
                    Judged::Unclear => {
                        self.mode = Mode::Held(lead, Some(at + surplus));
                        return Flow::Wait;
                    }
                    judged => self.settle(lead, judged, out),
                }
            }
        }
        Flow::On
    }

    /// Looks for the end of a body, and decides there.
    pub(super) fn body(&mut self, lead: Lead, mut body: Body, end: bool, out: &mut Vec<Event>) -> Flow {
        match body.advance(&self.text, &lead, &self.names, end) {
            Some(ended) => {
                let judged = self.judge_body(&lead, &body, ended);
                self.settle(lead, judged, out);
                Flow::On
            }
            None => {
                self.mode = Mode::Body(lead, body);
                Flow::Wait
            }
        }
    }

    pub(super) fn held(&mut self, lead: Lead, seen: Option<usize>, end: bool, out: &mut Vec<Event>) -> Flow {
        if !end {
            self.mode = Mode::Held(lead, seen);
            return Flow::Wait;
        }
        self.decide_last(lead, seen, out);
        Flow::On
    }

    /// All the text is there: reads up to the dialect's closing mark, else up to the end.
    pub(super) fn decide_last(&mut self, lead: Lead, seen: Option<usize>, out: &mut Vec<Event>) {
        let from = lead.item.at();
        let fence = lead.glue.iter().any(|g| matches!(g, Glue::Fence(_)));
        let marks = lead.record.close.iter().copied().chain(fence.then_some("\n```"));
        let rest = &self.text[from..];
        let close = marks.filter_map(|mark| rest.find(mark)).min().map(|n| from + n);
        for limit in close.into_iter().chain([self.text.len()]) {
            match self.judge(&lead, limit, None, false, false) {
                Judged::Unclear => {}
                judged => return self.settle(lead, judged, out),
            }
        }
        let limit = close.or(seen).unwrap_or(self.text.len());
        let judged = self.judge(&lead, limit, Some(limit), false, true);
        self.settle(lead, judged, out);
    }

    pub(super) fn judge(
        &mut self,
        lead: &Lead,
        limit: usize,
        end: Option<usize>,
        nested_call: bool,
        last: bool,
    ) -> Judged {
        let limit = limit.min(self.text.len());
        self.spent += limit.saturating_sub(lead.item.at());
        let case = Case { end, nested_call, last, ..self.case(lead, limit) };
        let judged = judge(&case);
        self.unless_shown(lead, judged)
    }

    pub(super) fn judge_body(&mut self, lead: &Lead, body: &Body, end: End) -> Judged {
        let judged = self.case(lead, self.text.len()).body(body, end);
        self.unless_shown(lead, judged)
    }

    pub(super) fn case<'c>(&'c self, lead: &'c Lead, limit: usize) -> Case<'c, 'a> {
        Case {
            names: &self.names,
            lead,
            text: &self.text[..limit],
            end: None,
            cut: self.cut && limit == self.text.len(),
            at_end: limit == self.text.len(),
            last: false,
            set_off: self.is_line_start(lead.start) || !lead.glue.is_empty() || self.has_calls(),
            alone: self.outcome.text.is_empty() && !self.has_calls(),
            nested_call: false,
            admission: self.admission,
        }
    }

    /// A call that is only shown as an example is text.
    pub(super) fn unless_shown(&self, lead: &Lead, judged: Judged) -> Judged {
        let before = &self.text[..lead.start];
        match judged {
            Judged::Calls(verdicts, end) => {
                let shown = lead.record.anchor == Anchor::Weak && guard::is_example(before);
                if shown { Judged::Text(Some(end)) } else { Judged::Calls(verdicts, end) }
            }
            judged => judged,
        }
    }

    pub(super) fn settle(&mut self, mut lead: Lead, judged: Judged, out: &mut Vec<Event>) {
        match judged {
            // An explanation that says the calls again stays text.
            Judged::Calls(verdicts, end)
                if lead.record.anchor == Anchor::Weak && verdicts.iter().all(|v| self.is_repeat(v)) =>
            {
                self.settle(lead, Judged::Text(Some(end)), out);
            }
            Judged::Calls(verdicts, end) => {
                self.remove(out);
                self.glue.append(&mut lead.glue);
                self.pending.extend(verdicts);
                self.at = end;
                self.mode = Mode::Tail;
            }
            Judged::Text(end) => {
                self.glue.retain(|g| matches!(g, Glue::Fence(_) | Glue::Tag));
                if lead.glue.iter().any(|g| matches!(g, Glue::Fence(_))) {
                    self.in_fence = !self.in_fence;
                }
                let end = end.unwrap_or(lead.item.at() + 1).min(self.text.len());
                self.release(end, out);
                self.mode = Mode::Prose;
            }
            Judged::Unclear => {
                self.release(lead.item.at() + 1, out);
                self.mode = Mode::Prose;
            }
        }
    }
}
