//! Openers that are words: `Action: f⏎Action Input: {…}`, `Tool: f⏎Arguments: {…}`, `to=f<|channel|>`,
//! `function call<|role_sep|>`.

use callwright_json::Span;

use super::tag::Header;
use super::{Delimiter, OpenerParser, Sort, Step, tick_run};
use crate::dialect::Sign;
use crate::scan::segment::skip::markup_len;
use crate::syntax::marks::first_of;
use crate::syntax::marks::fit;
use crate::syntax::tag::{is_foreign, tag_at};
use crate::syntax::{Incomplete, Seen};
use crate::tools::names::is_name_byte;

/// Labels in front of a name on a line of its own; `ARGUMENT_LABELS` stand in front of the arguments on the next line.
///
/// The words come from agents' prompts, and the flowers from Qwen-Agent's.
#[rustfmt::skip]
const NAME_LABELS: &[&str] = &[
    "action:", "tool:", "tool name:", "tool call:", "function:", "function name:", "✿function✿:",
];
#[rustfmt::skip]
const ARGUMENT_LABELS: &[&str] = &[
    "action input:", "tool input:", "tool arguments:", "arguments:", "args:", "parameters:", "params:",
    "input:", "✿args✿:",
];
/// Signs that models put around a name.
const WRAPS: &[&str] = &["**", "*", "`", "\"", "'"];
/// Labels of a call whose only argument may be a plain text.
const ACTION: (&str, &str) = ("action:", "action input:");

impl OpenerParser<'_, '_> {
    /// Steps over an opener that begins with a word: `Action: f⏎Action Input:`, `to=f<|channel|>`,
    /// `function call<|role_sep|>`.
    pub(super) fn worded(&mut self) -> Seen<Step> {
        let is_fenced = !self.delimiters.is_empty()
            && self.delimiters.iter().all(|delimiter| matches!(delimiter, Delimiter::Fence(_)));
        if self.from < self.at && !is_fenced && !self.distinct() {
            return Ok(None);
        }
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        match rest.first() {
            Some(b't') if rest.starts_with(b"to=") => return self.recipient(),
            Some(b't') if b"to=".starts_with(rest) => return Err(Incomplete),
            Some(b'A' | b'a') => {
                // Behind a sentence, only both lines together make a call: `I look. Action: f⏎Action Input: x`
                let is_set_off = self.place.line_start || is_fenced;
                return self.action(is_set_off);
            }
            // `Tool: f⏎Arguments: {…}`, `✿FUNCTION✿: f⏎✿ARGS✿: {…}`
            Some(b'T' | b'F' | 0xE2) if self.place.line_start || is_fenced => {
                if let Some(step) = self.labelled()? {
                    return Ok(Some(step));
                }
            }
            Some(b'f' | b'F') => {}
            Some(b'-') if self.place.line_start => {}
            _ => return Ok(None),
        }
        if let Some((record, len)) = self.place.dialects.opener_at(self.text, self.at) {
            self.record = Some(record);
            return Ok(Some(self.over(self.at + len, Delimiter::Tag)));
        }
        if self.growing() { Err(Incomplete) } else { Ok(None) }
    }

    /// Steps over a recipient: ` to=functions.f<|channel|>…<|message|>`.
    fn recipient(&mut self) -> Seen<Step> {
        let from = self.at + 3;
        let end = self.name_end(from);
        if !self.may_hold_name(from, end) {
            return Ok(None);
        }
        let at = self.skip_space(end);
        if self.peek(at)? != b'<' {
            return Ok(None);
        }
        let token = match tag_at(self.text, at) {
            Err(Incomplete) if is_foreign(self.text, at) => None,
            token => token?.filter(|tag| self.is_header_token(tag)),
        };
        Ok(token.map(|_| {
            self.record = Some(self.of_sign(Sign::Recipient));
            self.header = Header::Named(Span::new(from, end), true);
            self.over(at, Delimiter::Tag)
        }))
    }

    /// Steps over labels with Markdown around them: `**Action:** f⏎**Action Input:** {…}`.
    pub(super) fn decorated(&mut self) -> Result<Step, Incomplete> {
        self.at = self.behind_markup(self.at);
        Ok(self.action(true)?.unwrap_or(Step::Nothing))
    }

    /// Steps over the labels of an action: `Action: f⏎Action Input: {…}`, ``Action: ```json``.
    fn action(&mut self, is_set_off: bool) -> Seen<Step> {
        let Some(len) = self.label(self.at, ACTION.0)? else { return Ok(None) };
        let behind = self.skip_space(self.at + len);
        match self.peek(behind)? {
            b'`' | b'[' | b'{' if is_set_off && !self.is_quoted_name(behind) => {
                self.record = Some(self.of_sign(Sign::ListLabel));
                Ok(Some(self.past(behind)))
            }
            _ => self.two_labels(behind),
        }
    }

    /// Steps over other labels: `Tool: f⏎Arguments: {…}`.
    fn labelled(&mut self) -> Seen<Step> {
        match self.one_of(self.at, NAME_LABELS)? {
            Some(len) => self.two_labels(self.skip_space(self.at + len)),
            None => Ok(None),
        }
    }

    /// Reads the name at `behind`, the place behind its label, and the label of the arguments.
    fn two_labels(&mut self, behind: usize) -> Seen<Step> {
        let (name, rest) = self.wrapped_name(behind)?;
        let is_declared = self.resolves(name.start as usize, name.end as usize);
        // `**Action: f**⏎**Action Input:**`
        let label = self.behind_markup(self.skip_space(self.behind_markup(rest)));
        let Some(len) = self.one_of(label, ARGUMENT_LABELS)? else { return Ok(None) };
        let value = self.skip_space(label + len);
        let is = |at: usize, known: &str| matches!(self.label(at, known), Ok(Some(_)));
        let is_action = is(self.at, ACTION.0) && is(label, ACTION.1);
        let step = match self.peek(value)? {
            // The arguments tell whether an undeclared name is meant as a tool's.
            next if next != b'{' && !is_declared => return Ok(None),
            b'{' => Step::Item(Sort::Named.of(name, value)),
            b'`' => match self.holds_object(value) {
                Err(Incomplete) if !self.place.end => return Err(Incomplete),
                Err(Incomplete) | Ok(false) if is_action => Step::Item(Sort::Plain.of(name, value)),
                _ => {
                    self.header = Header::Named(name, true);
                    self.past(value)
                }
            },
            _ if is_action => Step::Item(Sort::Plain.of(name, value)),
            _ => return Ok(None),
        };
        self.record = Some(self.of_sign(Sign::Labels));
        Ok(Some(step))
    }

    /// Returns the name at `at`, and the place behind it and the signs around it: `**f**`, or `f()` with its arguments
    /// on the next line.
    fn wrapped_name(&self, at: usize) -> Result<(Span, usize), Incomplete> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let wrap = WRAPS.iter().find(|wrap| rest.starts_with(wrap.as_bytes())).map_or("", |wrap| wrap);
        let from = at + wrap.len();
        let end = self.name_end(from);
        let behind = |at: usize, close: &str| {
            let is_there = self.bytes.get(at..).is_some_and(|rest| rest.starts_with(close.as_bytes()));
            at + if is_there { close.len() } else { 0 }
        };
        let whole = behind(behind(behind(end, wrap), "()"), wrap);
        // The signs that close it may be there in part.
        let is_torn = self.bytes.len() < whole + wrap.len().max("()".len()) && !self.place.end;
        match (is_torn || self.bytes.len() <= whole) && self.may_hold_name(from, end) {
            true => Err(Incomplete),
            false => Ok((Span::new(from, end), whole)),
        }
    }

    /// Returns the place behind the Markdown at `at`: `**`, `### `.
    fn behind_markup(&self, at: usize) -> usize {
        at + markup_len(self.bytes.get(at..).unwrap_or(&[]))
    }

    /// Returns whether an object stands between the backticks at `at`.
    fn holds_object(&self, at: usize) -> Result<bool, Incomplete> {
        let label = at + tick_run(self.bytes, at);
        let inside = self.skip_space(self.name_end(label));
        Ok(matches!(self.peek(inside)?, b'{' | b'#'))
    }

    /// Returns whether a name in backticks begins at `at`: `` `f` ``.
    fn is_quoted_name(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&b'`') && self.bytes.get(at + 1).is_some_and(|b| is_name_byte(*b))
    }

    /// Returns the length of the first of `labels` that stands at `at`.
    fn one_of(&self, at: usize, labels: &[&str]) -> Seen<usize> {
        first_of(labels.iter().map(|label| self.label(at, label)))
    }

    /// Returns the length of `label` at `at`. Words with a colon may have a number, and markup around the colon:
    /// `Action 1:`, `Action:**`.
    pub(super) fn label(&self, at: usize, label: &str) -> Seen<usize> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let Some(words) = label.strip_suffix(':') else { return fit(rest, label) };
        let Some(words) = fit(rest, words)? else { return Ok(None) };
        let is_mark = |byte: &u8| matches!(byte, b'*' | b'_');
        let run = |from: usize, most: usize, is: &dyn Fn(&u8) -> bool| {
            from + rest.get(from..).unwrap_or(&[]).iter().take(most).take_while(|byte| is(byte)).count()
        };
        let number = match rest.get(words..) {
            Some([b' ', digit, ..]) if digit.is_ascii_digit() => {
                run(words + 1, 3, &|byte| byte.is_ascii_digit())
            }
            Some([b' ']) => return Err(Incomplete),
            _ => words,
        };
        let colon = run(number, 3, &is_mark);
        let is_colon = *rest.get(colon).ok_or(Incomplete)? == b':';
        Ok(is_colon.then(|| run(colon + 1, 3, &is_mark)))
    }
}
