//! Finds the end of a payload, and decides about the payload there.

use std::ops::Range;

use callwright_json::{Span, is_arguments, strict_end};

use super::brackets::BracketMatcher;
use super::judge::body::Body;
use super::judge::{self, Case, Ends, Judged, judge};
use super::opener::{Delimiter, MAX_OPENER, Opener, Sort};
use super::tail;
use super::{Event, Flow, Mode, Scanner};
use crate::dialect::Anchor;
use crate::grammar::Form;
use crate::payload::is_json_up_to;
use crate::payload::tagged::{End, Ending};
use crate::syntax::{Incomplete, marks};

/// The outcome where the brackets of a payload are balanced.
enum Ended {
    Judged(Judged),
    /// Only the text behind it tells whether the payload ends there. It may end at this place, if no more of it fits.
    Open(Option<usize>),
}

/// A payload whose end only the text behind it tells.
#[derive(Debug)]
pub(super) struct Open {
    /// The payload may end at this place, if no more of the text fits.
    seen: Option<usize>,
    /// The text up to this place holds no closing mark of the call; `None` once the first one did not settle it.
    looked: Option<usize>,
}

/// Most marks that wait for their closers.
const MAX_DELIMITERS: usize = 64;

impl<'a> Scanner<'a> {
    /// Searches for the end of a payload, and decides there if it can.
    pub(super) fn payload(
        &mut self,
        opener: Opener,
        mut brackets: BracketMatcher,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        let reach = self.reached();
        let is_last = end || reach < self.text.len();
        let before = brackets.at();
        let progress = brackets.advance(&self.text.as_bytes()[..reach], end && reach == self.text.len());
        self.work.bytes_skipped += brackets.at() - before;
        match progress {
            Err(Incomplete)
                if reach < self.text.len() && is_json_up_to(&self.text[..reach], opener.item.at) =>
            {
                self.work.reach += reach - opener.item.at;
                self.mode = Mode::Payload(opener, brackets);
            }
            Err(Incomplete) if is_last => self.decide_last(opener, None, out),
            Err(Incomplete) => {
                self.mode = Mode::Payload(opener, brackets);
                return Flow::Wait;
            }
            Ok(at) => match self.judge_ended(&opener, at, end) {
                Err(Incomplete) => {
                    self.mode = Mode::Payload(opener, brackets);
                    return Flow::Wait;
                }
                Ok(Ended::Open(seen)) => {
                    let open = Open { seen, looked: Some(opener.item.at) };
                    self.mode = Mode::Undecided(opener, open);
                }
                Ok(Ended::Judged(judged)) => self.commit_payload(opener, judged, out),
            },
        }
        Flow::On
    }

    /// Judges a payload whose brackets are balanced at `at`. Returns `None` where only the text behind it tells whether
    /// it ends there: `{"a": "say "}" now"}`.
    fn judge_ended(&mut self, opener: &Opener, at: usize, end: bool) -> Result<Ended, Incomplete> {
        const MAX_SURPLUS: usize = 64;
        const MAX_BLANK: usize = 64;
        let is_list = opener.item.sort == Sort::Call;
        let behind = &self.text.as_bytes()[at..];
        // Surplus closers belong to the payload: `{"a": 1}}}`.
        let most = if is_list { 0 } else { MAX_SURPLUS };
        let surplus = behind.iter().take(most).take_while(|&&b| b == b'}').count();
        let blank = behind[surplus..].iter().take(MAX_BLANK).take_while(|b| b.is_ascii_whitespace()).count();
        if surplus + blank == behind.len() && blank < MAX_BLANK && !end {
            return Err(Incomplete);
        }
        let limit = at + surplus;
        let is_right = match is_list {
            true => is_arguments(&self.text, opener.item.at),
            false => strict_end(&self.text, opener.item.at) == Ok(at),
        };
        let next = behind.get(surplus + blank).filter(|_| blank < MAX_BLANK).copied();
        let may_go_on = match is_right {
            true => next.is_some_and(|next| self.is_glued(opener, next, limit..limit + blank)),
            false => self.case(opener, limit).may_be_call(Span::new(opener.item.at, limit)),
        };
        // Words may stand behind a right payload, or a quote that JSON does not have: `[ARGS]{"a": 1} is a call.`
        let is_end = !is_right || next.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'\'');
        let may_be_sibling = self.is_told_by_siblings(opener);
        if may_go_on && !may_be_sibling {
            return Ok(Ended::Open(is_end.then_some(limit)));
        }
        let mut judged = self.judge(opener, limit, Ends::at(limit), is_list);
        if may_be_sibling
            && matches!(judged, Judged::Text(_))
            && !self.is_before_words(limit)
            && self.sibling(opener, limit, end)?
        {
            judged = judge(&Case { ends: Ends::at(limit), has_sibling: true, ..self.case(opener, limit) });
        }
        Ok(match judged {
            Judged::Unclear => Ended::Open(Some(limit)),
            judged => Ended::Judged(judged),
        })
    }

    /// Returns whether the byte `next`, the first one behind the right payload and the `blank`, may belong to a string
    /// that seemed to end in the payload.
    fn is_glued(&self, opener: &Opener, next: u8, blank: Range<usize>) -> bool {
        let is_own_line = self.text[blank].contains('\n');
        match next {
            b'"' | b'\'' => {
                let mut delimiters = opener.delimiters.iter().chain(&self.markup.delimiters);
                !delimiters.any(|delimiter| matches!(delimiter, Delimiter::Quote(_)))
            }
            _ if opener.record.anchor != Anchor::Distinct || is_own_line => false,
            // Behind arguments that stand alone, the mark follows that ends the call.
            b'{' | b'(' | b',' | b':' | b';' | b'/' | b'#' | b'*' | b'-' | b'+' => {
                opener.item.sort == Sort::Named && opener.closers().next().is_some()
            }
            byte => byte.is_ascii_alphanumeric() && opener.item.sort != Sort::Call,
        }
    }

    /// Returns whether `opener` may begin a call of an undeclared tool, which only the calls beside it make one.
    fn is_told_by_siblings(&self, opener: &Opener) -> bool {
        !opener.is_distinct()
            && match opener.item.sort {
                Sort::Call => opener.name(&self.text).is_some_and(|name| self.names.resolve(name).is_none()),
                Sort::Value => opener.delimiters.last() == Some(&Delimiter::Bracket),
                _ => false,
            }
    }

    /// Searches for the end of a body, and decides there.
    pub(super) fn body(&mut self, opener: Opener, mut body: Body, end: bool, out: &mut Vec<Event>) -> Flow {
        let reach = self.reached();
        let is_over = reach < self.text.len();
        let mut ended = body.advance(&self.text[..reach], &opener, &self.names, end && !is_over).ok();
        if ended.is_none() && is_over {
            ended = match body.has_arguments() {
                // It is a call, so the search for its end has no limit.
                true => {
                    self.work.reach = usize::MAX;
                    body.advance(&self.text, &opener, &self.names, end).ok()
                }
                false => body.advance(&self.text[..reach], &opener, &self.names, true).ok(),
            };
        }
        // The whole text was read, though the body may have ended before that.
        if let (Body::Relaxed(_) | Body::Tags(_), Some(End { ending: Ending::Cut, .. })) = (&body, ended) {
            self.work.bytes_skipped += reach - opener.item.at;
        }
        match ended {
            Some(ended) => self.judge_marks(opener, body, ended, end, out),
            None => {
                self.mode = Mode::Body(opener, body);
                Flow::Wait
            }
        }
    }

    /// Decides about a payload at the closing mark of its call, or at the end of the text.
    pub(super) fn undecided(
        &mut self,
        opener: Opener,
        mut open: Open,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        if end || self.reached() < self.text.len() {
            self.decide_last(opener, open.seen, out);
            return Flow::On;
        }
        let close = open.looked.as_mut().and_then(|looked| opener.find_closer(&self.text, looked));
        if let Some(close) = close {
            open.looked = None;
            let judged = self.judge(&opener, close, Ends::open(&opener, open.seen, Some(close)), false);
            if !matches!(judged, Judged::Unclear) {
                self.commit_payload(opener, judged, out);
                return Flow::On;
            }
        }
        self.mode = Mode::Undecided(opener, open);
        Flow::Wait
    }

    /// Decides about a payload once all of its text is there: up to the dialect's closing mark, else up to the end.
    pub(super) fn decide_last(&mut self, opener: Opener, seen: Option<usize>, out: &mut Vec<Event>) {
        let from = opener.item.at;
        let reach = self.reached();
        let close = marks::find(&self.text[from..reach], opener.closers()).map(|n| from + n);
        self.work.bytes_skipped += close.unwrap_or(reach) - from;
        let is_far = close.is_none() || !self.has_read_much(from);
        // The text that was cut is not the payload's if its brackets were closed before.
        let far = seen.filter(|_| self.rules.stop.is_cut()).unwrap_or(reach);
        let limits = close.into_iter().chain(is_far.then_some(far));
        let ends = Ends::open(&opener, seen, close);
        let judged = limits.map(|limit| self.judge(&opener, limit, ends, false));
        let judged = judged.into_iter().find(|judged| !matches!(judged, Judged::Unclear));
        let judged = judged.unwrap_or_else(|| {
            // The next element of a list stands in front of the closing mark.
            let limit = match self.is_listed(&opener) || opener.item.sort == Sort::Call {
                true => [seen, close].into_iter().flatten().min(),
                false => close.or(seen),
            };
            let limit = limit.unwrap_or(reach);
            self.judge(&opener, limit, Ends::at(limit), true)
        });
        self.commit_payload(opener, judged, out);
    }

    /// Returns whether a list is open around the payload of `opener`.
    fn is_listed(&self, opener: &Opener) -> bool {
        opener
            .delimiters
            .iter()
            .chain(&self.markup.delimiters)
            .any(|delimiter| *delimiter == Delimiter::Bracket)
    }

    /// Returns the place up to which the search for the end of a payload reads the text.
    pub(super) fn reached(&self) -> usize {
        let mut reach = self.work.reach.min(self.text.len());
        while !self.text.is_char_boundary(reach) {
            reach -= 1;
        }
        reach
    }

    pub(super) fn judge(&mut self, opener: &Opener, limit: usize, ends: Ends, last: bool) -> Judged {
        let limit = limit.min(self.text.len());
        self.work.refuel(limit);
        self.work.bytes_read += limit.saturating_sub(opener.item.at);
        let case = Case { ends, last, ..self.case(opener, limit) };
        judge(&case)
    }

    pub(super) fn judge_body(&mut self, opener: &Opener, body: &Body, end: End) -> Judged {
        self.work.refuel(end.at);
        self.case(opener, self.text.len()).body(body, end)
    }

    pub(super) fn case<'c>(&'c self, opener: &'c Opener, limit: usize) -> Case<'c, 'a> {
        let is_at_end = limit == self.text.len();
        let open = opener.delimiters.iter().chain(&self.markup.delimiters);
        let alone = self.outcome.text.is_empty() && !self.has_calls();
        let begins_line = self.begins_line(opener.start);
        let around = open.filter(|own| matches!(own, Delimiter::Bracket | Delimiter::Paren)).count();
        Case {
            names: &self.names,
            dialects: &self.rules.dialects,
            opener,
            text: &self.text[..limit],
            ends: Ends::default(),
            around,
            cut: self.rules.stop.is_cut() && is_at_end,
            stop: self.rules.stop_of_payload(),
            at_end: is_at_end,
            is_listed: self.is_listed(opener),
            last: false,
            set_off: begins_line || !opener.delimiters.is_empty() || self.has_calls(),
            own_line: begins_line
                || opener.delimiters.iter().any(|g| matches!(g, Delimiter::Fence(_) | Delimiter::Tag)),
            alone,
            is_constrained: self.rules.is_constrained && alone,
            has_sibling: opener.is_distinct() || self.goes_on(opener) && !self.is_before_words(limit),
            admission: self.rules.admission,
            is_native: self.rules.is_native,
            choice: &self.rules.choice,
            fuel: &self.work.fuel,
        }
    }

    pub(super) fn commit(&mut self, mut opener: Opener, mut judged: Judged, out: &mut Vec<Event>) {
        if let Some(instead) = opener.instead.take()
            && !matches!(judged, Judged::Calls(..))
        {
            (opener, judged) = *instead;
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
                self.mode = Mode::Tail(end);
            }
            Judged::Text(end) if let Some(at) = self.unread_at(&opener, end) => {
                opener.item = Sort::Block.at(at);
                opener.delimiters.retain(|delimiter| *delimiter == Delimiter::Tag);
                self.mode = Mode::Body(opener, Body::Block(at));
            }
            Judged::Text(end) => {
                self.markup.opened_in_text |= opener.is_distinct();
                self.markup.delimiters.retain(|g| matches!(g, Delimiter::Fence(_) | Delimiter::Tag));
                if opener.is_fenced() {
                    self.markup.in_fence = !self.markup.in_fence;
                }
                // The text ends behind its first character, which may be any in words.
                let next = || self.text.get(opener.item.at..).and_then(|rest| rest.chars().next());
                let end = end.unwrap_or_else(|| opener.item.at + next().map_or(0, char::len_utf8));
                let end = end.min(self.text.len());
                self.release(end, out);
                self.mode = Mode::Prose;
            }
            Judged::Unclear => {
                self.release(opener.item.at + 1, out);
                self.mode = Mode::Prose;
            }
        }
    }

    /// Returns the place of a tool's name right behind the marks of `opener`, which gave no reading up to `end`. Such
    /// marks hold a refused call rather than text.
    fn unread_at(&self, opener: &Opener, end: Option<usize>) -> Option<usize> {
        let at = opener.item.name.map_or(opener.item.at, |name| name.start as usize);
        let may_be_words = match opener.item.sort {
            Sort::Block => true,
            // Beside text or calls, the words explain the form of a call.
            Sort::Words => !self.outcome.text.is_empty() || self.has_calls(),
            _ => false,
        };
        // Only so much text is there for sure, however it arrives.
        let end = end.unwrap_or(match opener.item.sort {
            Sort::Tagged => opener.item.at + 1,
            _ => at + MAX_OPENER,
        });
        let to = (at..=end.min(self.text.len())).rfind(|to| self.text.is_char_boundary(*to)).unwrap_or(at);
        let is_unread = !may_be_words
            && opener.start < at
            && opener.is_distinct()
            && !self.standing.before.line.words
            && !self.markup.in_fence
            && self.thought.is_none()
            && judge::leading_tool(&self.text[at..to], &self.names).is_some();
        is_unread.then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Scanner;
    use crate::context::Context;
    use crate::tools::ToolSet;

    const TOOLS: &str = r#"[{"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}]"#;

    /// Payloads that nothing closes are open up to the end of the text, but the search for their ends does not go that
    /// far each time.
    #[test]
    fn what_is_read_again_grows_with_the_text_alone() {
        const LEN: usize = 1 << 18;
        const MOST_PER_BYTE: usize = 96;
        let tools = ToolSet::from_json(TOOLS).unwrap();
        for unit in [
            "<|channel|>commentary to=functions.f<|message|>{\n",
            "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x\"}</tool_call>\n",
            "<tool_call>{\"name\": \"f\", \"arguments\": {\"a\": \"x}}</tool_call>\n",
            "```tool_code\nf(a=\"x\"\n```\n",
            ">>>f\n{\"a\": \"x\"\n",
            "<tool_call>f<arg_key>a</arg_key><arg_value>x",
            "<tool_call><function=f><parameter=a>x</function>",
            "<function=g>\n<parameter=a>1</pa and so on ",
            "<|tool_call>call:f{a:<|\"|>x}<tool_call|>",
            "<|tool_call>call:f{a:<|\"|>x",
        ] {
            let text = unit.repeat(LEN / unit.len());
            let mut scanner = Scanner::new(&tools, &Context::default());
            scanner.text = text.as_str().into();
            scanner.advance(true, &mut Vec::new());
            let read = scanner.work.bytes_skipped + scanner.work.bytes_read;
            assert!(read <= MOST_PER_BYTE * text.len(), "{read} of {unit:?}");
        }
    }
}
