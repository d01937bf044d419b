//! Markup that holds the tool's name, or stands around it: `<invoke name="f">`, `<f>`,
//! `<|channel|>commentary to=functions.f <|constrain|>json<|message|>`.

use std::sync::Arc;

use callwright_json::Span;

use super::{Delimiter, OpenerParser, Sort, Step};
use crate::dialect::{Grammar, NameAt, Record, Sign};
use crate::syntax::marks::fit;
use crate::syntax::tag::{Role, Tag, has_attribute, is_foreign, last_tag, names_call, tag_at};
use crate::syntax::{Incomplete, Seen};
use crate::tools::names::is_name_byte;

/// The state of a tool's name in the markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// No header has begun.
    No,
    /// A header has begun, so that a name may come.
    Begun,
    /// The name, and whether it is certain. A later word of the header does not replace a certain name.
    Named(Span, bool),
}

impl<'a> OpenerParser<'a, '_> {
    pub(super) fn name(&self) -> Option<Span> {
        match self.header {
            Header::Named(name, _) => Some(name),
            Header::No | Header::Begun => None,
        }
    }

    /// Takes the step at a tag: `<…>`, `]<]minimax[>[<…>`.
    pub(super) fn tag(&mut self) -> Result<Step, Incomplete> {
        // Nothing begins with a closing tag.
        let is_closing = || self.bytes.get(self.at + 1) == Some(&b'/');
        if !self.is_begun() && (is_closing() || is_foreign(self.text, self.at)) {
            return Ok(Step::Nothing);
        }
        let lexed = tag_at(self.text, self.at);
        if let Some(name) = self.name()
            && let Some(tag) = lexed?
            && let Some(step) = self.argument(name, &tag)
        {
            return Ok(step);
        }
        if let Ok(Some(tag)) = &lexed {
            if let Some(step) = self.nameless(tag) {
                return Ok(step);
            }
            if let Some(step) = self.call_tag(tag)? {
                return Ok(step);
            }
            if let Some(step) = self.name_in_front(tag)? {
                return Ok(step);
            }
        }
        if let Some((record, len)) = self.place.dialects.opener_at(self.text, self.at) {
            // The section around calls names the dialect: many dialects write `<|tool_call_begin|>` inside it.
            let is_inside = self.record.is_some_and(|outer| outer.name_at == NameAt::Header);
            self.begin(record, !is_inside || record.name_at != NameAt::Header);
            // `<function=f`, not closed
            if record.name_at == NameAt::Opener && record.arguments == Grammar::Json {
                return lexed.map(|_| Step::Nothing);
            }
            return Ok(self.over(self.at + len, Delimiter::Tag));
        }
        if self.growing() {
            return Err(Incomplete);
        }
        let Some(tag) = lexed? else { return Ok(Step::Nothing) };
        let end = tag.at.end as usize;
        match tag.role {
            // `<tool_call:x7>`, `<ns:tool_call>`: a group whose word has an addition.
            Role::Group if !tag.closing => {
                if self.name().is_none() {
                    self.header = Header::Begun;
                }
                // Where only one dialect counts, the tag of another says nothing.
                let hermes = self.of_sign(Sign::Group);
                self.record = self.record.or((!self.place.dialects.is_pinned()).then_some(hermes));
                Ok(self.over(end, Delimiter::Tag))
            }
            // `<|im_start|>`, `<｜tool▁sep｜>`: other special tokens say nothing.
            Role::Token => {
                // `<|tool_call_begin|>` alone may be another dialect's; the token behind the name tells.
                if tag.word.of(self.text).eq_ignore_ascii_case("tool_call_argument_begin") {
                    self.record = Some(self.of_sign(Sign::ArgumentToken));
                }
                Ok(self.over(end, Delimiter::Tag))
            }
            _ if !tag.closing && tag.key.is_none() => match self.element(&tag)? {
                Some(step) => Ok(step),
                None => self.name_tag(&tag),
            },
            _ => Ok(Step::Nothing),
        }
    }

    /// Notes that marks of `record` opened a call, and whether a name may follow them. With `is_told`, the call is of
    /// that dialect.
    pub(super) fn begin(&mut self, record: &'a Arc<Record>, is_told: bool) {
        if is_told {
            self.record = Some(record);
        }
        let has_header = matches!(record.name_at, NameAt::Header | NameAt::Payload | NameAt::Opener);
        if has_header && self.name().is_none() {
            self.header = Header::Begun;
        }
    }

    /// Returns the step at a `tag` that begins the arguments of the call of this `name`, or ends the call.
    fn argument(&mut self, name: Span, tag: &Tag) -> Option<Step> {
        let at = self.at;
        // `<|message|><|call|>`: no arguments.
        if self.is_behind_argument_token() && self.is_closer() {
            return Some(Step::Item(Sort::Over.of(name, at)));
        }
        let is_end = tag.closing && matches!(tag.role, Role::Call | Role::Group);
        let is_word = matches!(tag.role, Role::Param | Role::Key | Role::Separator) && !tag.closing;
        let is_element = tag.role == Role::Other && !tag.closing && (tag.marked || self.declares(name, tag));
        // `<|open|>json type="object"<|sep|>{…}`: all arguments at once.
        let is_json = tag.role == Role::Other && tag.word.of(self.text) == "json";
        if is_json && !tag.closing {
            return Some(self.over(tag.at.end as usize, Delimiter::Tag));
        }
        // `<invoke name="g"/><invoke name="f">`: the next call begins, and this one has no arguments.
        let is_next = self.over.is_some() && tag.role == Role::Call && !tag.closing && tag.key.is_some();
        if !(is_end || is_word || is_element || is_next) {
            return None;
        }
        self.record = Some(self.tagged_record(tag));
        let is_argument = is_word || is_element;
        Some(Step::Item(if is_argument { Sort::Tagged.of(name, at) } else { Sort::Over.of(name, at) }))
    }

    /// Returns the step at an argument of a call that names no tool: `<tool_call><parameter=a>`.
    fn nameless(&mut self, tag: &Tag) -> Option<Step> {
        let is_argument = matches!(tag.role, Role::Param | Role::Key) && !tag.closing;
        if !is_argument || self.header != Header::Begun {
            return None;
        }
        self.record = Some(self.tagged_record(tag));
        Some(Step::Item(Sort::Tagged.of(Span::at(self.at), self.at)))
    }

    /// Steps over a tag that opens a call and names its tool: `<invoke name="f">`.
    fn call_tag(&mut self, tag: &Tag) -> Seen<Step> {
        let Some(name) = tag.key.filter(|_| !tag.closing) else { return Ok(None) };
        if !self.opens_call(tag, name)? {
            return Ok(None);
        }
        // `<invoke name="f" a="x">`: an argument where no reader takes one.
        if has_attribute(self.text, tag, |word| self.declares_key(name, word)) {
            return Ok(Some(Step::Nothing));
        }
        self.record = Some(self.call_record(tag));
        self.header = Header::Named(name, true);
        self.over = (tag.role == Role::Call && tag.empty).then_some(tag.at.end as usize);
        Ok(Some(self.over(tag.at.end as usize, Delimiter::Tag)))
    }

    /// Returns whether `tag`, which holds this name, opens a call: `<invoke name="f">`. For a declared tool, so do
    /// `<tool_call name="f">` and `<tool name="f">{`, whose words are not a call's own.
    fn opens_call(&self, tag: &Tag, name: Span) -> Result<bool, Incomplete> {
        let is_declared = || self.resolves(name.start as usize, name.end as usize);
        match tag.role {
            Role::Call => Ok(true),
            Role::Group => Ok(is_declared()),
            _ if names_call(tag.word.of(self.text)) && is_declared() => {
                let next = self.peek(self.skip_space(tag.at.end as usize));
                if self.place.end { Ok(next == Ok(b'{')) } else { next.map(|byte| byte == b'{') }
            }
            _ => Ok(false),
        }
    }

    /// Takes the step at a tag that is a tool's name: `<f>`.
    fn name_tag(&mut self, tag: &Tag) -> Result<Step, Incomplete> {
        let (from, behind) = (self.at + 1, tag.at.end as usize);
        let end = from + self.text.get(from..behind - 1).map_or(0, |name| name.trim_end().len());
        if tag.empty {
            return self.empty_tag(tag);
        }
        if self.bytes.get(self.at) != Some(&b'<') || !self.resolves_tag(from, end) {
            return Ok(Step::Nothing);
        }
        self.record = Some(self.of_sign(Sign::ToolTag));
        self.delimiters.push(Delimiter::Tag);
        let name = Span::new(from, end);
        let at = self.behind_comment(behind, b"<!")?;
        let step = match self.peek(at)? {
            b'{' => Some(Step::Item(Sort::Named.of(name, at))),
            b'"' => self.in_string(name, at)?,
            // `<f>⏎a: x`
            byte if is_name_byte(byte) => {
                let end = self.name_end(at);
                let is_key = self.peek(end)? == b':'
                    && self.text.get(at..end).is_some_and(|key| self.declares_key(name, key));
                is_key.then_some(Step::Item(Sort::Named.of(name, at)))
            }
            b'<' => tag_at(self.text, at)?
                .filter(|inner| {
                    inner.closing == self.is_own(name, inner) && (inner.closing || self.takes(name, inner))
                })
                .map(|_| {
                    self.record = Some(self.of_sign(Sign::ToolElement));
                    Step::Item(Sort::Tagged.of(name, at))
                }),
            _ => None,
        };
        // `<f>Paris</f>`
        let words = || Step::Item(Sort::Words.of(name, behind));
        let may_be_call = self.place.line_start && !self.place.in_fence;
        Ok(step.unwrap_or_else(|| if may_be_call { words() } else { Step::Nothing }))
    }

    /// Returns the call without arguments of a tag on a line of its own: `<f/>`.
    fn empty_tag(&mut self, tag: &Tag) -> Result<Step, Incomplete> {
        let (name, at) = (tag.word, tag.at.end as usize);
        let is_name = self.resolves_tag(name.start as usize, name.end as usize);
        if self.at + 1 != name.start as usize || !is_name || !self.place.line_start {
            return Ok(Step::Nothing);
        }
        match self.bytes.get(at) {
            None if !self.place.end => return Err(Incomplete),
            None | Some(b'\n' | b'\r' | b'<') => {}
            Some(_) => return Ok(Step::Nothing),
        }
        self.record = Some(self.of_sign(Sign::ToolElement));
        self.delimiters.push(Delimiter::Tag);
        Ok(Step::Item(Sort::Over.of(name, at)))
    }

    /// Returns whether `tag` closes the tag that is the tool's `name`.
    fn is_own(&self, name: Span, tag: &Tag) -> bool {
        tag.closing && name.of(self.text).eq_ignore_ascii_case(tag.word.of(self.text))
    }

    /// Returns whether the tool of this name declares the word of `tag`.
    fn declares(&self, name: Span, tag: &Tag) -> bool {
        self.declares_key(name, tag.word.of(self.text))
    }

    fn declares_key(&self, name: Span, key: &str) -> bool {
        let tool = self.place.names.resolve(name.of(self.text));
        tool.is_some_and(|tool| tool.declares(key))
    }

    /// Returns whether the word of `tag` may be an argument of the tool of this name. If the tool declares none, any
    /// word on a line of its own may be.
    fn takes(&self, name: Span, tag: &Tag) -> bool {
        let word = tag.word.of(self.text);
        let tool = self.place.names.resolve(name.of(self.text));
        tool.is_some_and(|tool| if self.place.line_start { tool.takes(word) } else { tool.declares(word) })
    }

    /// Returns the arguments of `name` that begin at `at` in a string, `"{\"a\": 1}"`, or without their brace, at the
    /// first key: `"a": 1}`.
    pub(super) fn in_string(&self, name: Span, at: usize) -> Seen<Step> {
        let (key, end) = (at + 1, self.word_end(at + 1));
        let is_key = || self.text.get(key..end).is_some_and(|word| self.declares_key(name, word));
        let begins = self.peek(key)? == b'{' || self.peek(end)? == b'"' && is_key();
        Ok(begins.then_some(Step::Item(Sort::Named.of(name, at))))
    }

    /// Returns whether `tag` is a token that stands between a name and its arguments.
    pub(super) fn is_header_token(&self, tag: &Tag) -> bool {
        let word = tag.word.of(self.text);
        ["channel", "constrain", "message", "start"].iter().any(|token| token.eq_ignore_ascii_case(word))
    }

    /// Returns whether a mark that closes a call of its dialect stands here.
    fn is_closer(&self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        let mut marks = self.record.into_iter().flat_map(|record| record.closers());
        marks.any(|mark| matches!(fit(rest, mark), Ok(Some(_))))
    }

    /// Returns whether the token before this place begins the arguments of a call with its name in the header.
    fn is_behind_argument_token(&self) -> bool {
        let words = ["message", "tool_call_argument_begin", "tool▁sep"];
        self.record.is_some_and(|record| record.name_at == NameAt::Header)
            && self.token_before().is_some_and(|word| words.contains(&word))
    }

    /// Returns the word of the token before this place.
    pub(super) fn token_before(&self) -> Option<&str> {
        let before = self.text.get(..self.at).unwrap_or("").trim_end();
        let tag = last_tag(before).filter(|tag| tag.role == Role::Token)?;
        Some(tag.word.of(before))
    }

    /// Reads the name behind arrows: `>>>f⏎{…}`.
    pub(super) fn arrows(&mut self) -> Result<Step, Incomplete> {
        let Some((record, len)) = self.place.dialects.opener_at(self.text, self.at) else {
            return if self.growing() { Err(Incomplete) } else { Ok(Step::Nothing) };
        };
        let from = self.at + len;
        let end = self.name_end(from);
        let at = self.skip_space(end);
        let is_line = matches!(self.peek(end)?, b'\n' | b'\r');
        if from == end || !is_line && !self.resolves(from, end) {
            return Ok(Step::Nothing);
        }
        self.record = Some(record);
        match self.peek(at)? {
            b'{' => Ok(Step::Item(Sort::Named.of(Span::new(from, end), at))),
            _ => Ok(Step::Nothing),
        }
    }
}
