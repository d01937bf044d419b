//! Blocks that are no calls: reasoning, speech in channels, results that the model quotes.

use super::lead::{MAX_TICKS, tick_run};
use super::{Event, Flow, Found, Mode, Scanner, Thinking};
use crate::dialect::marks::{self, Block, Fit, fit};
use crate::dialect::{self, Anchor, RESULT_LABEL, RESULTS};
use crate::payload::tag::{Lexed, Role, tag_at};

impl Scanner<'_> {
    /// Does a block of reasoning or of speech begin with `rest`, or such a block of speech end?
    pub(super) fn block_begins(&self, rest: &[u8], end: bool) -> Option<Found> {
        let mut grows = marks::may_grow_into_block(rest);
        let mut found = marks::block(rest).map(|(len, block, close)| match block {
            Block::Thought => Found::Think(len, close),
            Block::Speech => Found::Speech(len, Some(close)),
        });
        if let Some(close) = self.speech {
            for close in [close, "<|end|>"] {
                match fit(rest, close) {
                    Fit::Is(len) => found = Some(Found::Speech(len, None)),
                    Fit::Grows => grows = true,
                    Fit::No => {}
                }
            }
        }
        found.or((grows && !end).then_some(Found::Wait))
    }

    /// Does a tool's result begin at `at`, which the model quotes?
    pub(super) fn quote_begins(&self, at: usize, end: bool) -> Option<Found> {
        let rest = self.text.as_bytes().get(at..)?;
        match rest.first()? {
            b'<' => {
                let opens = |open: &str| dialect::starts_with_any_case(rest, open);
                if let Some((open, close)) = RESULTS.iter().find(|(open, _)| opens(open)) {
                    return Some(Found::Quote(open.len(), (*close).to_owned()));
                }
                let openers = RESULTS.iter().map(|(open, _)| *open);
                (!end && dialect::may_grow_into(&self.text, at, openers)).then_some(Found::Wait)
            }
            b'`' if !self.in_fence => {
                let run = tick_run(rest, 0);
                let label = rest.get(run..)?;
                let is_cut = !end && label.len() < RESULT_LABEL.len();
                if run < 3 || run == MAX_TICKS {
                    None
                } else if label.starts_with(RESULT_LABEL.as_bytes()) {
                    Some(Found::Quote(run + RESULT_LABEL.len(), format!("\n{}", "`".repeat(run))))
                } else {
                    (is_cut && RESULT_LABEL.as_bytes().starts_with(label)).then_some(Found::Wait)
                }
            }
            _ => None,
        }
    }

    /// Lets reasoning through up to its closer.
    pub(super) fn reasoning(&mut self, mut thinking: Thinking, end: bool, out: &mut Vec<Event>) -> Flow {
        while let Some(found) =
            self.text.as_bytes()[thinking.searched..].iter().position(|b| matches!(b, b'<' | b'['))
        {
            let at = thinking.searched + found;
            let rest = &self.text.as_bytes()[at..];
            if let Fit::Is(len) = fit(rest, thinking.close) {
                self.think_up_to(at, out);
                self.at = at + len;
                self.mode = Mode::Prose;
                return Flow::On;
            }
            let grows = || {
                let close = fit(rest, thinking.close) == Fit::Grows;
                close
                    || dialect::may_grow_into_opener(&self.text, at)
                    || tag_at(&self.text, at) == Lexed::Grows
            };
            if !end && grows() {
                thinking.searched = at;
                break;
            }
            let is_call = matches!(tag_at(&self.text, at), Lexed::Tag(tag) if tag.role == Role::Call && tag.key.is_some());
            let marked = is_call
                || dialect::opener_at(&self.text, at).is_some_and(|(r, _)| r.anchor == Anchor::Distinct);
            if marked && thinking.marked.is_none() {
                self.think_up_to(at, out);
                thinking.marked = Some(at);
            }
            thinking.searched = at + 1;
        }
        let held = thinking.searched;
        let waits = held < self.text.len() && matches!(self.text.as_bytes()[held], b'<' | b'[') && !end;
        if thinking.marked.is_none() {
            self.think_up_to(if waits { held } else { self.text.len() }, out);
        }
        if !end {
            if !waits {
                thinking.searched = self.text.len();
            }
            self.mode = Mode::Reasoning(thinking);
            return Flow::Wait;
        }
        // Never closed: a marked call in it was meant.
        self.mode = Mode::Prose;
        Flow::On
    }

    /// Lets a quoted result through up to its closer.
    pub(super) fn quoted(&mut self, close: String, end: bool, out: &mut Vec<Event>) -> Flow {
        let rest = &self.text[self.at..];
        let found = rest.match_indices(&close[..1]).map(|(at, _)| self.at + at).find(|&at| {
            let behind = &self.text.as_bytes()[at..];
            dialect::starts_with_any_case(behind, &close)
                || !end && dialect::may_grow_into(&self.text, at, [close.as_str()].into_iter())
        });
        match found {
            Some(at) if self.text.len() - at < close.len() => {
                self.release(at, out);
                self.mode = Mode::Quoted(close);
                Flow::Wait
            }
            Some(at) => {
                self.release(at + close.len(), out);
                self.mode = Mode::Prose;
                Flow::On
            }
            None => {
                self.release(self.text.len(), out);
                self.mode = Mode::Quoted(close);
                Flow::Wait
            }
        }
    }

    pub(super) fn think_up_to(&mut self, end: usize, out: &mut Vec<Event>) {
        if self.at < end {
            let thought = self.text[self.at..end].to_owned();
            self.reason(&thought, out);
            self.at = end;
        }
    }

    pub(super) fn reason(&mut self, thought: &str, out: &mut Vec<Event>) {
        if !thought.is_empty() {
            self.outcome.reasoning.push_str(thought);
            out.push(Event::Reasoning(thought.to_owned()));
        }
    }
}
