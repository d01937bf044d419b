//! Finds the end of a payload, and decides about the payload there.

use std::ops::Range;

use callwright_json::{Span, is_arguments};

use super::Scanner;
use super::brackets::BracketMatcher;
use super::call::{Stage, Step};
use super::judge::body::Body;
use super::judge::{Attempt, Case, Ends, Judged, judge};
use super::opener::{Delimiter, Opener, Sort};
use crate::dialect::Anchor;
use crate::payload::is_json_up_to;
use crate::payload::tagged::End;
use crate::syntax::{Incomplete, beginning, marks};

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

impl<'a> Scanner<'a> {
    /// Searches for the end of a payload in brackets, and decides there if it can.
    pub(super) fn payload(&mut self, opener: &Opener, brackets: &mut BracketMatcher, end: bool) -> Step {
        let reach = self.reached();
        let is_last = end || reach < self.text.len();
        let before = brackets.at();
        let progress = brackets.advance(&self.text.as_bytes()[..reach], end && reach == self.text.len());
        self.work.bytes_skipped += brackets.at() - before;
        let at = match progress {
            Ok(at) => at,
            Err(Incomplete)
                if reach < self.text.len() && is_json_up_to(&self.text[..reach], opener.item.at) =>
            {
                self.work.reach += reach - opener.item.at;
                return Step::On;
            }
            Err(Incomplete) if is_last => return Step::Judged(self.decide_last(opener, None)),
            Err(Incomplete) => return Step::Wait,
        };
        match self.judge_ended(opener, at, end) {
            Err(Incomplete) => Step::Wait,
            Ok(Ended::Open(seen)) => Step::To(Stage::Open(Open { seen, looked: Some(opener.item.at) })),
            Ok(Ended::Judged(judged)) => Step::Judged(judged),
        }
    }

    /// Judges a payload whose brackets are balanced at `at`, or leaves it open: in `{"a": "say "}" now"}`, only the text
    /// behind the bracket tells whether the payload ends there.
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
        let next = behind.get(surplus + blank).filter(|_| blank < MAX_BLANK).copied();
        let limit = at + surplus;
        let (from, ends) = (opener.item.at, Ends::at(limit));
        let may_be_sibling = self.is_told_by_siblings(opener);
        let mut judged = match is_list && (may_be_sibling || is_arguments(&self.text, from)) {
            true => self.judge(opener, limit, ends, Attempt::Last),
            false if is_list => Judged::Unclear,
            false => self.judge(opener, limit, ends, Attempt::Right),
        };
        let is_right = !matches!(judged, Judged::Unclear);
        if !is_right && !may_be_sibling && self.case(opener, limit).may_be_call(Span::new(from, limit)) {
            return Ok(Ended::Open(Some(limit)));
        }
        if is_right
            && !may_be_sibling
            && let Some(next) = next.filter(|next| self.is_glued(opener, *next, limit..limit + blank))
        {
            // Words may stand behind it, or a quote that JSON does not have: `[ARGS]{"a": 1} is a call.`
            let is_end = next.is_ascii_alphanumeric() || next == b'\'';
            return Ok(Ended::Open(is_end.then_some(limit)));
        }
        if !is_right {
            judged = self.judge(opener, limit, ends, if is_list { Attempt::Last } else { Attempt::Open });
        }
        if may_be_sibling
            && matches!(judged, Judged::Text(_))
            && !self.is_before_words(limit)
            && self.sibling(opener, limit, end)?
        {
            judged = judge(&Case { ends, has_sibling: true, ..self.case(opener, limit) });
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
                !self.open_around(opener).any(|delimiter| matches!(delimiter, Delimiter::Quote(_)))
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

    /// Decides about a payload at the closing mark of its call, or at the end of the text.
    pub(super) fn undecided(&mut self, opener: &Opener, open: &mut Open, end: bool) -> Step {
        if end || self.reached() < self.text.len() {
            return Step::Judged(self.decide_last(opener, open.seen));
        }
        let close = open.looked.as_mut().and_then(|looked| opener.find_closer(&self.text, looked));
        let Some(close) = close else { return Step::Wait };
        open.looked = None;
        match self.judge(opener, close, Ends::open(opener, open.seen, Some(close)), Attempt::Open) {
            Judged::Unclear => Step::Wait,
            judged => Step::Judged(judged),
        }
    }

    /// Decides about a payload once all of its text is there: up to the dialect's closing mark, else up to the end.
    fn decide_last(&mut self, opener: &Opener, seen: Option<usize>) -> Judged {
        let from = opener.item.at;
        let reach = self.reached();
        let close = marks::find(&self.text[from..reach], opener.closers()).map(|n| from + n);
        self.work.bytes_skipped += close.unwrap_or(reach) - from;
        let is_far = close.is_none() || !self.has_read_much(from);
        // The text that was cut is not the payload's if its brackets were closed before.
        let far = seen.filter(|_| self.rules.stop.is_cut()).unwrap_or(reach);
        let limits = close.into_iter().chain(is_far.then_some(far));
        let ends = Ends::open(opener, seen, close);
        let mut judged = limits.map(|limit| self.judge(opener, limit, ends, Attempt::Open));
        let judged = judged.find(|judged| !matches!(judged, Judged::Unclear));
        judged.unwrap_or_else(|| {
            // The next element of a list stands in front of the closing mark.
            let limit = match self.is_listed(opener) || opener.item.sort == Sort::Call {
                true => [seen, close].into_iter().flatten().min(),
                false => close.or(seen),
            };
            let limit = limit.unwrap_or(reach);
            self.judge(opener, limit, Ends::at(limit), Attempt::Last)
        })
    }

    /// Returns all delimiters that are open around the payload of `opener`: its own, and those of earlier markup.
    fn open_around<'d>(&'d self, opener: &'d Opener) -> impl Iterator<Item = &'d Delimiter> {
        opener.delimiters.iter().chain(&self.markup.delimiters)
    }

    /// Returns whether a list is open around the payload of `opener`.
    fn is_listed(&self, opener: &Opener) -> bool {
        self.open_around(opener).any(|delimiter| *delimiter == Delimiter::Bracket)
    }

    /// Returns the place up to which the search for the end of a payload reads the text.
    pub(super) fn reached(&self) -> usize {
        beginning(&self.text, self.work.reach).len()
    }

    pub(super) fn judge(&mut self, opener: &Opener, limit: usize, ends: Ends, attempt: Attempt) -> Judged {
        let limit = limit.min(self.text.len());
        self.work.refuel(limit);
        self.work.bytes_read += limit.saturating_sub(opener.item.at);
        let case = Case { ends, attempt, ..self.case(opener, limit) };
        judge(&case)
    }

    pub(super) fn judge_body(&mut self, opener: &Opener, body: &Body, end: End) -> Judged {
        self.work.refuel(end.at);
        self.case(opener, self.text.len()).body(body, end)
    }

    pub(super) fn case<'c>(&'c self, opener: &'c Opener, limit: usize) -> Case<'c, 'a> {
        let is_at_end = limit == self.text.len();
        let alone = self.outcome.text.is_empty() && !self.has_calls();
        let begins_line = self.begins_line(opener.start);
        let around = self
            .open_around(opener)
            .filter(|own| matches!(own, Delimiter::Bracket | Delimiter::Paren))
            .count();
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
            attempt: Attempt::Open,
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
