//! Openers that are words: `Action: f⏎Action Input: {…}`, `Tool: f⏎Arguments: {…}`, `to=f<|channel|>`,
//! `function call<|role_sep|>`.

use callwright_json::Span;

use super::{Delimiter, Lead, Sort, Step, tick_run};
use crate::dialect::Sign;
use crate::scan::segment::skip::markup_len;
use crate::syntax::marks::{first_of, fit};
use crate::syntax::tag::tag_at;
use crate::syntax::{Incomplete, Seen, Text};
use crate::tools::names::is_name_byte;

/// Most signs on one side of a label or a name.
const MAX_WRAP: usize = 4;

impl<'a> Lead<'a, '_> {
    /// Returns whether words may open a call here: in front of all other markup, in a fence alone, between marks.
    fn may_be_worded(&self) -> bool {
        self.from == self.at || self.is_fenced() || self.distinct()
    }

    /// Returns whether fences, and no other markup, are open.
    fn is_fenced(&self) -> bool {
        let mut delimiters = self.delimiters.iter();
        self.in_own_fence() && delimiters.all(|delimiter| matches!(delimiter, Delimiter::Fence(_)))
    }

    /// Steps over an opener of words: `function call<|role_sep|>`, `-> tool/function_call`.
    pub(super) fn worded(&self) -> Seen<Step<'a>> {
        let is_arrow = self.rest(self.at).starts_with(b"-");
        if !self.may_be_worded() || is_arrow && !self.place.line_start {
            return Ok(None);
        }
        Ok(self.opener()?.map(|(record, end)| Step::over(end, Delimiter::Tag).of(record)))
    }

    /// Steps over a recipient: ` to=functions.f<|channel|>…<|message|>`.
    pub(super) fn recipient(&self) -> Seen<Step<'a>> {
        if !self.may_be_worded() || fit(self.rest(self.at), "to=")?.is_none() {
            return Ok(None);
        }
        let name = self.name_at(self.at + "to=".len());
        if self.behind(name)?.is_none() {
            return Ok(None);
        }
        let at = self.skip_space(name.end as usize);
        if self.peek(at)? != b'<' {
            return Ok(None);
        }
        let is_token = |word: &str| self.place.dialects.is_header_token(word);
        let token = tag_at(self.text, at)?.filter(|tag| is_token(tag.word.of(self.text)));
        let step = || Step::over(at, Delimiter::Tag).of(self.of_sign(Sign::Recipient)).named(name);
        Ok(token.map(|_| step()))
    }

    /// Steps over labels: `Action: f⏎Action Input: {…}`, ``Action: ```json``, `**Tool:** f⏎**Arguments:** {…}`. Behind a
    /// sentence, only those of the dialect's template make a call: `I look. Action: f⏎Action Input: x`
    pub(super) fn labelled(&self) -> Seen<Step<'a>> {
        let rest = self.rest(self.at);
        let word = rest.get(markup_len(rest)..).unwrap_or(&[]);
        if !self.may_be_worded() || !self.place.dialects.first().may_be_label(word) {
            return Ok(None);
        }
        let labels = &self.of_sign(Sign::Labels).labels;
        let is_set_off = self.place.line_start || self.is_fenced();
        let taught = if is_set_off { labels.len() } else { 1 };
        let labels = labels.iter().take(taught).enumerate();
        first_of(labels.map(|(n, labels)| self.two_labels(labels, n == 0, is_set_off)))
    }

    /// Returns the name behind its label, and the arguments behind theirs. Behind the labels of the dialect's template, a
    /// plain text may be the only argument, or the first label is in front of whole calls.
    fn two_labels(&self, labels: &[Text; 2], is_template: bool, is_set_off: bool) -> Seen<Step<'a>> {
        let [label, arguments] = labels;
        let Some(behind) = self.label(self.at, label)? else { return Ok(None) };
        let is_quoted_name = || self.bytes.get(behind + 1).is_some_and(|byte| is_name_byte(*byte));
        match self.peek(behind)? {
            b'`' if is_quoted_name() => {}
            b'`' | b'[' | b'{' if is_template && is_set_off => {
                return Ok(Some(Step::past(behind).of(self.of_sign(Sign::ListLabel))));
            }
            _ => {}
        }
        let Some((name, rest)) = self.wrapped_name(behind)? else { return Ok(None) };
        let value = self.label(self.skip_space(rest), arguments);
        let is_cut = value == Err(Incomplete) && self.place.end && self.stands_alone();
        // `Action: f⏎Action In`
        if is_cut && is_template && self.resolves(name) {
            let cut = Step::to(Sort::Tagged.of(name, self.text.len()));
            return Ok(Some(cut.of(self.of_sign(Sign::Labels))));
        }
        let Some(value) = value? else { return Ok(None) };
        let step = match self.peek(value)? {
            b'{' => Step::to(Sort::Named.of(name, value)),
            // The arguments tell whether an undeclared name is meant as a tool's.
            _ if !self.resolves(name) => return Ok(None),
            b'`' if self.holds_object(value)? => Step::past(value).named(name),
            _ if is_template => Step::to(Sort::Plain.of(name, value)),
            _ => return Ok(None),
        };
        Ok(Some(step.of(self.of_sign(Sign::Labels))))
    }

    /// Returns the name at `at`, and the place behind it and the signs around it: `**f**`, `f()`.
    fn wrapped_name(&self, at: usize) -> Seen<(Span, usize)> {
        let signs = |at: usize, signs: &[u8]| {
            self.rest(at).iter().take(MAX_WRAP).take_while(|byte| signs.contains(byte)).count()
        };
        let name = self.name_at(at + signs(at, b"*`\"'"));
        let end = name.end as usize;
        let whole = Span::new(name.start as usize, end + signs(end, b"*`\"'()"));
        Ok(self.behind(whole)?.map(|_| (name, whole.end as usize)))
    }

    /// Returns whether an object stands between the backticks at `at`.
    pub(super) fn holds_object(&self, at: usize) -> Result<bool, Incomplete> {
        let label = at + tick_run(self.bytes, at);
        match self.peek(self.skip_space(self.name_at(label).end as usize)) {
            Err(Incomplete) if !self.place.end => Err(Incomplete),
            first => Ok(matches!(first, Ok(b'{' | b'#'))),
        }
    }

    /// Returns the place behind the label at `at`, which has a colon, and behind the Markdown around it: `**Action:** `.
    fn label(&self, at: usize, label: &str) -> Seen<usize> {
        let stars = |at: usize| {
            let is_star = |byte: &&u8| matches!(byte, b'*' | b'_');
            at + self.rest(at).iter().take(MAX_WRAP).take_while(is_star).count()
        };
        let from = at + markup_len(self.rest(at));
        let Some(len) = fit(self.rest(from), label)? else { return Ok(None) };
        let colon = stars(from + len);
        let is_colon = self.peek(colon)? == b':';
        Ok(is_colon.then(|| self.skip_space(stars(colon + 1))))
    }
}
