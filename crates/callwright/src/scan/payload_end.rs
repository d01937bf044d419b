//! Finds the end of a payload, and decides about the payload there.

use callwright_json::strict_end;

use super::brackets::BracketMatcher;
use super::judge::body::Body;
use super::judge::expression;
use super::judge::{self, Case, Judged, judge};
use super::opener::{Delimiter, MAX_OPENER, Opener, Sort};
use super::tail;
use super::{Event, Flow, Mode, Scanner};
use crate::dialect::Anchor;
use crate::grammar::Form;
use crate::payload::is_json_up_to;
use crate::payload::tagged::{End, Ending};
use crate::syntax::{Incomplete, Seen, marks};

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
                Ok(None) => self.mode = Mode::Undecided(opener, None),
                Ok(Some((Judged::Unclear, limit))) => self.mode = Mode::Undecided(opener, Some(limit)),
                Ok(Some((judged, _))) => self.commit_payload(opener, judged, out),
            },
        }
        Flow::On
    }

    /// Judges a payload whose brackets are balanced at `at`, up to the place behind its surplus closers. Returns `None`
    /// if a string goes on that seemed to end: `{"a": "say "}" now"}`.
    fn judge_ended(&mut self, opener: &Opener, at: usize, end: bool) -> Seen<(Judged, usize)> {
        const MAX_SURPLUS: usize = 64;
        const MAX_BLANK: usize = 64;
        let behind = &self.text.as_bytes()[at..];
        // Surplus closers belong to the payload: `{"a": 1}}}`.
        let may_be_surplus = matches!(opener.item.sort, Sort::Value | Sort::Named);
        let most = if may_be_surplus { MAX_SURPLUS } else { 0 };
        let surplus = behind.iter().take(most).take_while(|&&b| b == b'}').count();
        let blank = behind[surplus..].iter().take(MAX_BLANK).take_while(|b| b.is_ascii_whitespace()).count();
        let next = behind.get(surplus + blank).filter(|_| blank < MAX_BLANK).copied();
        if surplus + blank == behind.len() && blank < MAX_BLANK && !end {
            return Err(Incomplete);
        }
        // The text behind the value may belong to a string that seemed to end in it.
        let same_line =
            !behind[surplus..].iter().take_while(|b| b.is_ascii_whitespace()).any(|&b| b == b'\n');
        let goes_on = match next {
            Some(b'"' | b'\'') => {
                let mut delimiters = opener.delimiters.iter().chain(&self.markup.delimiters);
                !delimiters.any(|g| matches!(g, Delimiter::Quote(_)))
            }
            Some(b) if opener.record.anchor == Anchor::Distinct && same_line => {
                // Behind arguments that stand alone, the mark follows that ends the call.
                let is_alone = opener.item.sort == Sort::Named && opener.closers().next().is_some();
                b.is_ascii_alphanumeric() || is_alone && b"{(,:;/#*-+".contains(&b)
            }
            _ => false,
        };
        // A balanced argument list ends there, whatever is wrong inside. Only before a quote does a string go on that
        // seemed to end: `f(a="g("x")")`.
        let last = opener.item.sort == Sort::Call;
        let is_listed = last && opener.delimiters.contains(&Delimiter::Bracket);
        let rest = self.text.get(at..).unwrap_or("");
        let brackets = if is_listed { expression::own_brackets(rest) } else { 0 };
        if last && matches!(&rest[brackets..], "" | ".") && !end {
            return Err(Incomplete);
        }
        let name = opener.item.name;
        let is_in_string = name.is_some_and(|name| expression::goes_on(&self.text, name, at, is_listed));
        let goes_on = if last { is_in_string } else { goes_on };
        let limit = at + surplus;
        let may_be_sibling = self.is_told_by_siblings(opener);
        // Words behind it would make it a part of a sentence.
        if may_be_sibling && last && self.goes_on(opener) && rest.trim_start_matches(' ').is_empty() && !end {
            return Err(Incomplete);
        }
        if goes_on && !(last && may_be_sibling) {
            // Words may stand behind a right payload, or a quote that JSON does not have: `[ARGS]{"a": 1} is a call.`
            let is_right = next.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'\'')
                && strict_end(&self.text, opener.item.at) == Ok(at);
            return Ok(is_right.then_some((Judged::Unclear, limit)));
        }
        let mut judged = self.judge(opener, limit, Some(limit), last);
        if may_be_sibling
            && matches!(judged, Judged::Text(_))
            && !self.is_before_words(limit)
            && self.sibling(opener, limit, end)?
        {
            judged = judge(&Case { end: Some(limit), has_sibling: true, ..self.case(opener, limit) });
        }
        Ok(Some((judged, limit)))
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

    pub(super) fn undecided(
        &mut self,
        opener: Opener,
        seen: Option<usize>,
        end: bool,
        out: &mut Vec<Event>,
    ) -> Flow {
        if !end {
            self.mode = Mode::Undecided(opener, seen);
            return Flow::Wait;
        }
        self.decide_last(opener, seen, out);
        Flow::On
    }

    /// Decides about a payload once all of its text is there: up to the dialect's closing mark, else up to the end.
    pub(super) fn decide_last(&mut self, opener: Opener, seen: Option<usize>, out: &mut Vec<Event>) {
        let from = opener.item.at;
        let reach = self.reached();
        let close = marks::find(&self.text[from..reach], opener.closers()).map(|n| from + n);
        self.work.bytes_skipped += close.unwrap_or(reach) - from;
        let is_far = close.is_none() || !self.has_read_much(from);
        let limits = close.into_iter().chain(is_far.then_some(reach));
        // `[{"a": "x}]`: with the bracket of the list in it, the payload would not show the end of the string.
        let is_listed = opener
            .delimiters
            .iter()
            .chain(&self.markup.delimiters)
            .any(|delimiter| *delimiter == Delimiter::Bracket);
        let inside = |limit: usize| {
            let text = self.text.get(from..limit)?.trim_end().strip_suffix(']')?;
            is_listed.then_some(from + text.len())
        };
        let limits: Vec<usize> = limits.flat_map(|limit| [Some(limit), inside(limit)]).flatten().collect();
        for limit in limits {
            // If the answer ends with the bracket of the list, it ends before that bracket as well: `[f(to=['a']`.
            let behind = self.text.get(limit..).unwrap_or("").trim_end();
            self.markup.ends_in_list = behind == "]" && reach == self.text.len();
            let judged = self.judge(&opener, limit, None, false);
            self.markup.ends_in_list = false;
            match judged {
                Judged::Unclear => {}
                Judged::Calls(_, end) if close.is_some_and(|close| self.is_left(&opener, end, close)) => {}
                judged => return self.commit_payload(opener, judged, out),
            }
        }
        let limit = close.or(seen).unwrap_or(reach);
        let judged = self.judge(&opener, limit, Some(limit), true);
        self.commit_payload(opener, judged, out);
    }

    /// Returns whether more text of the call stands behind its arguments, between `end` and its closing mark at
    /// `close`.
    fn is_left(&self, opener: &Opener, end: usize, close: usize) -> bool {
        let rest = self.text.get(end..close).unwrap_or("");
        // On the next line, only the rest of an object counts: `}⏎], "b": 2}`.
        let next = rest.trim_start();
        if rest[..rest.len() - next.len()].contains('\n') && !next.starts_with([',', ':', ']', '}']) {
            return false;
        }
        let rest = next.trim_end();
        // `{"a": 1}{"a": 1}`: the same text once more adds nothing.
        let is_again = self.text.get(opener.item.at..end) == Some(rest);
        opener.item.sort == Sort::Named && !is_again && rest.contains(char::is_alphanumeric)
    }

    /// Returns the place up to which the search for the end of a payload reads the text.
    pub(super) fn reached(&self) -> usize {
        let mut reach = self.work.reach.min(self.text.len());
        while !self.text.is_char_boundary(reach) {
            reach -= 1;
        }
        reach
    }

    pub(super) fn judge(&mut self, opener: &Opener, limit: usize, end: Option<usize>, last: bool) -> Judged {
        let limit = limit.min(self.text.len());
        self.work.refuel(limit);
        self.work.bytes_read += limit.saturating_sub(opener.item.at);
        let case = Case { end, last, ..self.case(opener, limit) };
        judge(&case)
    }

    pub(super) fn judge_body(&mut self, opener: &Opener, body: &Body, end: End) -> Judged {
        self.work.refuel(end.at);
        self.case(opener, self.text.len()).body(body, end)
    }

    pub(super) fn case<'c>(&'c self, opener: &'c Opener, limit: usize) -> Case<'c, 'a> {
        let is_at_end = limit == self.text.len() || self.markup.ends_in_list;
        let open = opener.delimiters.iter().chain(&self.markup.delimiters);
        let alone = self.outcome.text.is_empty() && !self.has_calls();
        let begins_line = self.begins_line(opener.start);
        let around = open.filter(|own| matches!(own, Delimiter::Bracket | Delimiter::Paren)).count();
        Case {
            names: &self.names,
            dialects: &self.rules.dialects,
            opener,
            text: &self.text[..limit],
            end: None,
            around: around.saturating_sub(usize::from(self.markup.ends_in_list)),
            cut: self.rules.stop.is_cut() && is_at_end,
            stop: self.rules.stop_of_payload(),
            at_end: is_at_end,
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
