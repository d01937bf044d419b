//! A call that was begun. It is one state of the scanner; only a verdict leaves it, or text that holds no call.

use super::brackets::BracketMatcher;
use super::judge::Judged;
use super::judge::body::Body;
use super::opener::{Delimiter, Opener, Sort};
use super::payload_end::Open;
use super::{Event, Flow, Scanner, State, tail};
use crate::grammar::Form;
use crate::payload::tagged::{End, Ending};

/// A call from its opener on, up to its verdict.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) opener: Opener,
    pub(super) stage: Stage,
    /// The outcome without the repair of the marks in front of the payload. It stands if the repair gives no call.
    pub(super) instead: Option<(Opener, Judged)>,
}

/// The part of a call that is being read.
#[derive(Debug)]
pub(super) enum Stage {
    /// A payload in brackets, whose end is still to come.
    Brackets(BracketMatcher),
    /// A payload whose end only the text behind it tells.
    Open(Open),
    /// A payload without brackets.
    Body(Body),
    /// Marks that may be broken, and the body that the whole ones among them gave, with its end. The end of the text
    /// decides.
    Marks(Option<(Body, End)>),
}

/// The outcome of reading on in a call.
pub(super) enum Step {
    /// More text must tell.
    Wait,
    /// The same stage goes on.
    On,
    /// Another stage begins.
    To(Stage),
    Judged(Judged),
}

/// Most marks that wait for their closers.
const MAX_DELIMITERS: usize = 64;

impl Call {
    /// Returns the call of `opener` in `text`, at the beginning of its payload.
    pub(super) fn of(opener: Opener, text: &str) -> Call {
        let stage = match Body::of(&opener, text) {
            Some(body) => Stage::Body(body),
            None => Stage::Brackets(BracketMatcher::new(opener.item.at)),
        };
        Call { opener, stage, instead: None }
    }
}

impl Scanner<'_> {
    /// Reads on in a call.
    pub(super) fn call(&mut self, mut call: Box<Call>, end: bool, out: &mut Vec<Event>) -> Flow {
        let Call { opener, stage, .. } = &mut *call;
        let step = match stage {
            Stage::Brackets(brackets) => self.payload(opener, brackets, end),
            Stage::Open(open) => self.undecided(opener, open, end),
            Stage::Body(body) => self.body(opener, body, end),
            Stage::Marks(_) if !end => Step::Wait,
            Stage::Marks(_) => self.repair(&mut call),
        };
        match step {
            Step::Judged(judged) => return self.leave(*call, judged, out),
            Step::To(stage) => call.stage = stage,
            Step::On => {}
            Step::Wait => {
                self.state = State::Call(call);
                return Flow::Wait;
            }
        }
        self.state = State::Call(call);
        Flow::On
    }

    /// Searches for the end of a body, and decides there.
    fn body(&mut self, opener: &Opener, body: &mut Body, end: bool) -> Step {
        let reach = self.reached();
        let is_over = reach < self.text.len();
        let mut ended = body.advance(&self.text[..reach], opener, &self.names, end && !is_over).ok();
        if ended.is_none() && is_over {
            ended = match body.has_arguments() {
                // It is a call, so the search for its end has no limit.
                true => {
                    self.work.reach = usize::MAX;
                    body.advance(&self.text, opener, &self.names, end).ok()
                }
                false => body.advance(&self.text[..reach], opener, &self.names, true).ok(),
            };
        }
        // The whole text was read, though the body may have ended before that.
        if let (Body::Relaxed(_) | Body::Tags(_), Some(End { ending: Ending::Cut, .. })) = (&*body, ended) {
            self.work.bytes_skipped += reach - opener.item.at;
        }
        match ended {
            Some(ended) => self.judge_marks(opener, body, ended, end),
            None => Step::Wait,
        }
    }

    /// Leaves a call with its verdict. Marks that surely begin one are left as text only where nothing behind them is
    /// of a call.
    fn leave(&mut self, call: Call, mut judged: Judged, out: &mut Vec<Event>) -> Flow {
        if let Some(whole) = self.whole_front(&call, &judged) {
            let instead = Some((call.opener, judged));
            self.state = State::Call(Box::new(Call { instead, ..Call::of(whole, &self.text) }));
            return Flow::On;
        }
        let Call { mut opener, instead, .. } = call;
        if let Some(instead) = instead.filter(|_| !matches!(judged, Judged::Calls(..))) {
            (opener, judged) = instead;
        }
        match judged {
            Judged::Calls(verdicts, end) => {
                if self.standing.run.is_none() {
                    self.standing.run = Some(self.run(&opener));
                }
                // Behind tags for arguments, the rest of a broken call may still come.
                if opener.item.sort == Sort::Tagged
                    && opener.formed().and_then(|record| record.form()).is_some_and(Form::is_of_elements)
                {
                    tail::close_at(&self.text, end, &mut opener.delimiters);
                }
                self.markup.delimiters.append(&mut opener.delimiters);
                // Among marks that are never closed, the last ones count.
                self.markup.delimiters.drain(..self.markup.delimiters.len().saturating_sub(MAX_DELIMITERS));
                self.markup.inside = Some(opener.dialect);
                self.markup.pending.extend(verdicts);
                self.at = end;
                self.markup.last_call_end = end;
                self.state = State::After(end);
            }
            Judged::Text(end) if let Some(at) = self.unread_at(&opener, end) => {
                opener.item = Sort::Block.at(at);
                opener.delimiters.retain(|delimiter| *delimiter == Delimiter::Tag);
                let stage = Stage::Body(Body::Block(at));
                self.state = State::Call(Box::new(Call { opener, stage, instead: None }));
            }
            // `[{"type": "text", …}, {"type": "tool_use", …}]`: the first of a list is data, and another one may be a call.
            Judged::Text(_) if let Some(at) = self.list_around(&opener) => {
                opener.delimiters.pop();
                opener.item = Sort::Value.at(at);
                self.state = State::Call(Box::new(Call::of(opener, &self.text)));
            }
            judged => {
                self.markup.opened_in_text |= opener.is_distinct();
                self.markup.delimiters.retain(|g| matches!(g, Delimiter::Fence(_) | Delimiter::Tag));
                if opener.is_fenced() {
                    self.markup.in_fence = !self.markup.in_fence;
                }
                // The text ends behind its first character, which may be any in words.
                let next = || self.text.get(opener.item.at..).and_then(|rest| rest.chars().next());
                let end = if let Judged::Text(end) = judged { end } else { None };
                let end = end.unwrap_or_else(|| opener.item.at + next().map_or(0, char::len_utf8));
                let end = end.min(self.text.len());
                self.release(end, out);
                self.state = State::Prose;
            }
        }
        Flow::On
    }

    /// Returns the bracket right before the value of `opener`, whose list may hold other values. The list stands between
    /// marks, or begins the answer.
    fn list_around(&self, opener: &Opener) -> Option<usize> {
        let may_be = opener.item.sort == Sort::Value && opener.delimiters.last() == Some(&Delimiter::Bracket);
        let is_held = may_be && (opener.is_distinct() || self.is_first(opener.start));
        let before = self.text.get(..opener.item.at).filter(|_| is_held)?.trim_end();
        before.ends_with('[').then(|| before.len() - 1)
    }
}
