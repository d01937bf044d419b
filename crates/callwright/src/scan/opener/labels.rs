//! Openers that are words: `Action: f⏎Action Input: {…}`, `Tool: f⏎Arguments: {…}`, `to=f<|channel|>`,
//! `function call<|role_sep|>`.

use callwright_json::Span;

use super::tag::Header;
use super::{Delimiter, Item, OpenerParser, Step, tick_run};
use crate::dialect::Known;
use crate::scan::segment::skip::markup_len;
use crate::syntax::marks::{self, Fit};
use crate::syntax::tag::{Lexed, is_foreign, tag_at};
use crate::tools::names::is_name_byte;

/// What may stand in front of a name on a line of its own, and what in front of the arguments on the next.
///
/// The words are those of agents' prompts, and the flowers those of Qwen-Agent's.
const NAME_LABELS: &[&str] =
    &["action:", "tool:", "tool name:", "tool call:", "function:", "function name:", "✿function✿:"];
const ARGUMENT_LABELS: &[&str] = &[
    "action input:",
    "tool input:",
    "tool arguments:",
    "arguments:",
    "args:",
    "parameters:",
    "params:",
    "input:",
    "✿args✿:",
];
/// What models put around a name.
const WRAPS: &[&str] = &["**", "*", "`", "\"", "'"];
/// The labels under which a text may stand for the only argument.
const ACTION: (&str, &str) = ("action:", "action input:");

impl OpenerParser<'_, '_> {
    /// Openers that begin with a word: `Action: f⏎Action Input:`, `to=f<|channel|>`, `function call<|role_sep|>`.
    pub(super) fn worded(&mut self) -> Option<Step> {
        let is_fenced = !self.delimiters.is_empty()
            && self.delimiters.iter().all(|delimiter| matches!(delimiter, Delimiter::Fence(_)));
        if self.from < self.at && !is_fenced && !self.distinct() {
            return None;
        }
        let rest = self.bytes.get(self.at..)?;
        match rest.first()? {
            b't' if rest.starts_with(b"to=") => return self.recipient(),
            b't' if b"to=".starts_with(rest) => return Some(Step::Wait),
            b'A' | b'a' => {
                // Behind a sentence only both lines are a call: `I look. Action: f⏎Action Input: x`
                let is_set_off = self.place.line_start || is_fenced;
                return self.action(is_set_off);
            }
            // `Tool: f⏎Arguments: {…}`, `✿FUNCTION✿: f⏎✿ARGS✿: {…}`
            b'T' | b'F' | 0xE2 if self.place.line_start || is_fenced => {
                if let Some(step) = self.labelled() {
                    return Some(step);
                }
            }
            b'f' | b'F' => {}
            b'-' if self.place.line_start => {}
            _ => return None,
        }
        if let Some((record, len)) = self.place.dialects.opener_at(self.text, self.at) {
            self.record = Some(record);
            return Some(self.over(self.at + len, Delimiter::Tag));
        }
        self.growing().then_some(Step::Wait)
    }

    /// ` to=functions.f<|channel|>…<|message|>`
    fn recipient(&mut self) -> Option<Step> {
        let from = self.at + 3;
        let end = self.name_end(from);
        if !self.may_hold_name(from, end) {
            return None;
        }
        let at = self.skip_space(end);
        match self.bytes.get(at) {
            None => Some(Step::Wait),
            Some(b'<') => match tag_at(self.text, at) {
                Lexed::Grows if is_foreign(self.text, at) => None,
                Lexed::Grows => Some(Step::Wait),
                Lexed::Tag(tag) if self.is_header_token(&tag) => {
                    self.record = Some(self.known(Known::Harmony));
                    self.header = Header::Named(Span::new(from, end), true);
                    Some(self.over(at, Delimiter::Tag))
                }
                Lexed::Tag(_) | Lexed::No => None,
            },
            Some(_) => None,
        }
    }

    /// `**Action:** f⏎**Action Input:** {…}`
    pub(super) fn decorated(&mut self) -> Step {
        self.at = self.behind_markup(self.at);
        self.action(true).unwrap_or(Step::Nothing)
    }

    /// `Action: f⏎Action Input: {…}`, ``Action: ```json``
    fn action(&mut self, is_set_off: bool) -> Option<Step> {
        let behind = match self.label(self.at, ACTION.0) {
            Fit::Is(len) => self.skip_space(self.at + len),
            Fit::Grows => return Some(Step::Wait),
            Fit::No => return None,
        };
        match self.bytes.get(behind) {
            None => return Some(Step::Wait),
            Some(b'`' | b'[' | b'{') if is_set_off && !self.is_quoted_name(behind) => {
                self.record = Some(self.known(Known::CommandRPlus));
                self.at = behind;
                return Some(Step::Over);
            }
            Some(_) => {}
        }
        self.two_labels(behind)
    }

    /// `Tool: f⏎Arguments: {…}`
    fn labelled(&mut self) -> Option<Step> {
        match self.one_of(self.at, NAME_LABELS) {
            Fit::Is(len) => self.two_labels(self.skip_space(self.at + len)),
            Fit::Grows => Some(Step::Wait),
            Fit::No => None,
        }
    }

    /// From behind the first label.
    fn two_labels(&mut self, behind: usize) -> Option<Step> {
        let Some((name, rest)) = self.wrapped_name(behind) else { return Some(Step::Wait) };
        if !self.resolves(name.start as usize, name.end as usize) {
            return None;
        }
        // `**Action: f**⏎**Action Input:**`
        let label = self.behind_markup(self.skip_space(self.behind_markup(rest)));
        let value = match self.one_of(label, ARGUMENT_LABELS) {
            Fit::Is(len) => self.skip_space(label + len),
            Fit::Grows => return Some(Step::Wait),
            Fit::No => return None,
        };
        let is = |at: usize, known: &str| matches!(self.label(at, known), Fit::Is(_));
        let is_action = is(self.at, ACTION.0) && is(label, ACTION.1);
        let step = match self.bytes.get(value) {
            None => return Some(Step::Wait),
            Some(b'{') => Step::Item(Item::Named { name, at: value }),
            Some(b'`') => match self.holds_object(value) {
                None if !self.place.end => return Some(Step::Wait),
                None | Some(false) if is_action => Step::Item(Item::Plain { name, at: value }),
                None | Some(_) => {
                    self.at = value;
                    self.header = Header::Named(name, true);
                    Step::Over
                }
            },
            Some(_) if is_action => Step::Item(Item::Plain { name, at: value }),
            Some(_) => return None,
        };
        self.record = Some(self.known(Known::React));
        Some(step)
    }

    /// The name at `at`, and where it ends with what stands around it: `**f**`, `f()`, whose arguments stand on the next line.
    /// `None` where more text must tell.
    fn wrapped_name(&self, at: usize) -> Option<(Span, usize)> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let wrap = WRAPS.iter().find(|wrap| rest.starts_with(wrap.as_bytes())).map_or("", |wrap| wrap);
        let from = at + wrap.len();
        let end = self.name_end(from);
        let behind = |at: usize, close: &str| {
            let is_there = self.bytes.get(at..).is_some_and(|rest| rest.starts_with(close.as_bytes()));
            at + if is_there { close.len() } else { 0 }
        };
        let whole = behind(behind(behind(end, wrap), "()"), wrap);
        // Half of what closes it may be there.
        let is_torn = self.bytes.len() < whole + wrap.len().max("()".len()) && !self.place.end;
        let waits = (is_torn || self.bytes.len() <= whole) && self.may_hold_name(from, end);
        (!waits).then(|| (Span::new(from, end), whole))
    }

    /// The place behind the Markdown at `at`: `**`, `### `.
    fn behind_markup(&self, at: usize) -> usize {
        at + markup_len(self.bytes.get(at..).unwrap_or(&[]))
    }

    /// Is it an object that stands between the backticks at `at`? `None` where more text must tell.
    fn holds_object(&self, at: usize) -> Option<bool> {
        let label = at + tick_run(self.bytes, at);
        let inside = self.skip_space(self.name_end(label));
        let first = *self.bytes.get(inside)?;
        Some(first == b'{' || first == b'#')
    }

    /// `` `f` ``
    fn is_quoted_name(&self, at: usize) -> bool {
        self.bytes.get(at) == Some(&b'`') && self.bytes.get(at + 1).is_some_and(|b| is_name_byte(*b))
    }

    /// The first of `labels` that stands at `at`.
    fn one_of(&self, at: usize, labels: &[&str]) -> Fit {
        let mut grows = false;
        for label in labels {
            match self.label(at, label) {
                Fit::Is(len) => return Fit::Is(len),
                Fit::Grows => grows = true,
                Fit::No => {}
            }
        }
        if grows { Fit::Grows } else { Fit::No }
    }

    /// Does `label` stand at `at`? Words with a colon may have a number and markup around it: `Action 1:`, `Action:**`.
    pub(super) fn label(&self, at: usize, label: &str) -> Fit {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        let Some(words) = label.strip_suffix(':') else { return marks::fit(rest, label) };
        let Fit::Is(words) = marks::fit(rest, words) else { return marks::fit(rest, words) };
        let is_mark = |byte: &u8| matches!(byte, b'*' | b'_');
        let run = |from: usize, most: usize, is: &dyn Fn(&u8) -> bool| {
            from + rest.get(from..).unwrap_or(&[]).iter().take(most).take_while(|byte| is(byte)).count()
        };
        let number = match rest.get(words..) {
            Some([b' ', digit, ..]) if digit.is_ascii_digit() => {
                run(words + 1, 3, &|byte| byte.is_ascii_digit())
            }
            Some([b' ']) => return Fit::Grows,
            _ => words,
        };
        let colon = run(number, 3, &is_mark);
        match rest.get(colon) {
            None => Fit::Grows,
            Some(b':') => Fit::Is(run(colon + 1, 3, &is_mark)),
            Some(_) => Fit::No,
        }
    }
}
