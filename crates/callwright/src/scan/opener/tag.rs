//! Markup that holds the tool's name, or stands around it: `<invoke name="f">`, `<f>`,
//! `<|channel|>commentary to=functions.f <|constrain|>json<|message|>`.

use std::sync::Arc;

use callwright_json::Span;

use super::{Delimiter, Header, Item, Lead, Sort, Step};
use crate::dialect::{Grammar, NameAt, Record, Sign};
use crate::syntax::marks::{fit, fit_any};
use crate::syntax::tag::{Role, Tag, attributes_of, last_tag, names_call, tag_at};
use crate::syntax::{Incomplete, Seen};
use crate::tools::names::is_name_byte;

impl<'a> Lead<'a, '_> {
    /// Takes the step at a tag: `<…>`, `]<]minimax[>[<…>`.
    pub(super) fn tag(&self) -> Seen<Step<'a>> {
        // Nothing begins with a closing tag.
        if !self.is_begun() && self.bytes.get(self.at + 1) == Some(&b'/') {
            return Ok(None);
        }
        let lexed = tag_at(self.text, self.at);
        if self.name().is_some() {
            lexed?;
        }
        if let Ok(Some(tag)) = &lexed {
            if let Some(step) = self.other_tag(tag)? {
                return Ok(Some(step));
            }
            if let Some(step) = self.argument(tag)? {
                return Ok(Some(step));
            }
            // `<invoke name="f" a="x"><parameter name="b">`: an argument where no reader takes one.
            if tag.key.is_some_and(|name| self.has_argument(name, tag)) && !self.ends_behind(tag)? {
                return Ok(None);
            }
            if let Some(step) = self.call_tag(tag)? {
                return Ok(Some(step));
            }
            if let Some(step) = self.name_in_front(tag)? {
                return Ok(Some(step));
            }
        }
        if let Some((record, end)) = self.opener()? {
            // `<function=f`, not closed
            if record.name_at == NameAt::Opener && record.arguments == Grammar::Json {
                return lexed.map(|_| None);
            }
            // The section around calls names the dialect: many dialects write `<|tool_call_begin|>` inside it.
            let is_inside = self.record.is_some_and(|outer| outer.name_at == NameAt::Header);
            let begin = self.begin(record, !is_inside || record.name_at != NameAt::Header);
            return Ok(Some(Step { end, delimiter: Some(Delimiter::Tag), ..begin }));
        }
        let Some(tag) = lexed? else { return Ok(None) };
        let over = Step::over(tag.at.end as usize, Delimiter::Tag);
        match tag.role {
            // `<tool_call:x7>`, `<ns:tool_call>`: a group whose word has an addition.
            Role::Group if !tag.closing => {
                let header = self.name().is_none().then_some(Header::Begun);
                // Where only one dialect counts, the tag of another says nothing.
                let is_hermes = self.record.is_none() && !self.place.dialects.is_pinned();
                let record = is_hermes.then(|| self.of_sign(Sign::Group));
                Ok(Some(Step { record, header, ..over }))
            }
            // `<|tool_call_begin|>` alone may be another dialect's; the token behind the name tells.
            Role::Token if tag.word.of(self.text).eq_ignore_ascii_case("tool_call_argument_begin") => {
                Ok(Some(over.of(self.of_sign(Sign::ArgumentToken))))
            }
            // `<|im_start|>`, `<｜tool▁sep｜>`: other special tokens say nothing.
            Role::Token => Ok(Some(over)),
            _ if tag.closing => Ok(None),
            _ => match if tag.key.is_none() { self.element(&tag)? } else { None } {
                None => self.name_tag(&tag),
                step => Ok(step),
            },
        }
    }

    /// Returns the beginning of a call that marks of `record` opened, and whether a name may follow them. With `is_told`,
    /// the call is of that dialect.
    pub(super) fn begin(&self, record: &'a Arc<Record>, is_told: bool) -> Step<'a> {
        let has_header = matches!(record.name_at, NameAt::Header | NameAt::Payload | NameAt::Opener);
        let header = (has_header && self.name().is_none()).then_some(Header::Begun);
        Step { record: is_told.then_some(record), header, ..Step::default() }
    }

    /// Returns the step at a `tag` that begins the arguments of the call, or ends the call. A call that names no tool may
    /// begin with the marks of an argument: `<tool_call><parameter=a>`.
    fn argument(&self, tag: &Tag) -> Seen<Step<'a>> {
        let at = self.at;
        let tagged = |name| Step::to(Sort::Tagged.of(name, at)).of(self.tagged_record(tag));
        let is_word = !tag.closing && matches!(tag.role, Role::Param | Role::Key);
        let name = match self.header {
            Header::No => return Ok(None),
            Header::Begun => return Ok(is_word.then(|| tagged(Span::at(at)))),
            Header::Named(name, _) => name,
        };
        // `<|message|><|call|>`: no arguments.
        let is_behind_token = self.record.is_some_and(|record| record.name_at == NameAt::Header)
            && self.token_before().is_some_and(|word| self.place.dialects.is_header_token(word));
        if is_behind_token && self.is_closer() {
            return Ok(Some(Step::to(Sort::Over.of(name, at))));
        }
        let word = tag.word.of(self.text);
        let is_other = tag.role == Role::Other && !tag.closing;
        // `<|open|>json type="object"<|sep|>{…}`: all arguments at once.
        if is_other && word == "json" {
            return Ok(Some(Step::over(tag.at.end as usize, Delimiter::Tag)));
        }
        let is_separator = tag.role == Role::Separator && !tag.closing;
        // `<tool_call>f<tool_sep>{"a": "x"}`: an object where tags are due.
        if is_separator && self.peek(self.skip_space(tag.at.end as usize))? == b'{' {
            return Ok(Some(Step::past(tag.at.end as usize)));
        }
        // `]<]minimax[>[<to>`
        let is_element = || self.bytes.get(at) == Some(&b']') || self.declares(name, word);
        if is_word || is_separator || is_other && is_element() {
            return Ok(Some(tagged(name)));
        }
        // `<invoke name="g"/><invoke name="f">`: the next call begins, and this one has no arguments.
        let is_next = self.over.is_some() && tag.role == Role::Call && !tag.closing && tag.key.is_some();
        let is_end = tag.closing && matches!(tag.role, Role::Call | Role::Group);
        let step = || Step::to(Sort::Over.of(name, at)).of(self.tagged_record(tag));
        Ok((is_end || is_next).then(step))
    }

    /// Steps over a tag that stands for that of a call: it names a tool, and an argument of that follows,
    /// `<parameter=f><parameter=a>`, `<tool=f><parameter=a>`.
    fn other_tag(&self, tag: &Tag) -> Seen<Step<'a>> {
        let may_be = || match tag.role {
            Role::Param => true,
            Role::Other => names_call(tag.word.of(self.text)),
            _ => false,
        };
        let is_open = |tag: &Tag| !tag.closing && !tag.empty;
        let name = tag.key.filter(|name| is_open(tag) && may_be() && self.resolves(*name));
        let Some(name) = name else { return Ok(None) };
        let at = self.skip_space(tag.at.end as usize);
        self.peek(at)?;
        let inner = tag_at(self.text, at)?.filter(|inner| inner.role == Role::Param && is_open(inner));
        let inner = inner.filter(|inner| inner.key.is_some_and(|key| self.declares(name, key.of(self.text))));
        let step = |inner: Tag| {
            Step::over(tag.at.end as usize, Delimiter::Tag).named(name).of(self.tagged_record(&inner))
        };
        Ok(inner.map(step))
    }

    /// Returns whether `tag` has an argument of the tool of this `name` in it: `<invoke name="f" a="x">`.
    fn has_argument(&self, name: Span, tag: &Tag) -> bool {
        let mut attributes = attributes_of(self.text, tag).filter(|attribute| attribute.value != name);
        attributes.any(|attribute| self.declares(name, attribute.name.of(self.text)))
    }

    /// Returns whether `tag` is a whole element, with nothing in it: `<f a="x"/>`, `<f a="x"></f>`.
    fn ends_behind(&self, tag: &Tag) -> Result<bool, Incomplete> {
        let at = self.skip_space(tag.at.end as usize);
        Ok(tag.empty || tag.closing || fit(self.rest(at), "</")?.is_some())
    }

    /// Steps over a tag that opens a call and names its tool: `<invoke name="f">`. For a declared tool, so do
    /// `<tool_call name="f">` and `<tool name="f">{`, whose words are not a call's own.
    fn call_tag(&self, tag: &Tag) -> Seen<Step<'a>> {
        let Some(name) = tag.key.filter(|_| !tag.closing) else { return Ok(None) };
        let end = tag.at.end as usize;
        // `<function=f {"a": 1}>`
        let word = self.name_at(name.start as usize);
        let brace = self.skip_space(word.end as usize);
        if tag.role == Role::Call && brace < name.end as usize && self.peek(brace)? == b'{' {
            let step = Step::to(Sort::Named.of(word, brace)).of(self.of_sign(Sign::CallTag));
            return Ok(Some(Step { delimiter: Some(Delimiter::Tag), ..step }));
        }
        let opens = match tag.role {
            Role::Call => true,
            Role::Group => self.resolves(name),
            _ if names_call(tag.word.of(self.text)) && self.resolves(name) => {
                match self.peek(self.skip_space(end)) {
                    Err(Incomplete) if !self.place.end => return Err(Incomplete),
                    byte => byte == Ok(b'{'),
                }
            }
            _ => false,
        };
        let over = (tag.role == Role::Call && tag.empty).then_some(end);
        let step = || Step::over(end, Delimiter::Tag).named(name).of(self.call_record(tag));
        Ok(opens.then(|| Step { over, ..step() }))
    }

    /// Steps over a tag that lost all in front of its `name`: `f"><param name="a">x</param>`, `f>⏎<a>x</a>`.
    pub(super) fn torn_tag(&self, name: Span) -> Seen<Step<'a>> {
        if self.from < self.at || !self.stands_alone() || !self.resolves(name) {
            return Ok(None);
        }
        let len = fit_any(self.rest(name.end as usize), ["\">", ">"].into_iter())?;
        Ok(len.map(|len| Step::over(name.end as usize + len, Delimiter::Tag).named(name)))
    }

    /// Takes the step at a tag that is a tool's name: `<f>`, `<f a="x"/>`.
    fn name_tag(&self, tag: &Tag) -> Seen<Step<'a>> {
        let (from, behind) = (self.at + 1, tag.at.end as usize);
        let written = self.text.get(from..behind - 1).unwrap_or("");
        let len = written.find([' ', '\n', '/']).unwrap_or(written.len());
        let name = Span::new(from, from + len);
        if self.peek(self.at)? != b'<' || !self.is_named_by_tag(name) {
            return Ok(None);
        }
        if attributes_of(self.text, tag).next().is_some() && !self.ends_behind(tag)? {
            return Ok(None);
        }
        let (sign, item) = match self.inside_name_tag(name, tag)? {
            Some(found) => found,
            // `<f>Paris</f>`
            None if self.stands_alone() && !tag.empty => (Sign::ToolTag, Sort::Words.of(name, behind)),
            None => return Ok(None),
        };
        Ok(Some(Step { delimiter: Some(Delimiter::Tag), ..Step::to(item) }.of(self.of_sign(sign))))
    }

    /// Returns the arguments of `name` behind its tag, and the sign of their dialect. A tag on a line of its own may close
    /// itself: `<f/>`.
    fn inside_name_tag(&self, name: Span, tag: &Tag) -> Seen<(Sign, Item)> {
        let behind = tag.at.end as usize;
        if tag.empty {
            let next = match self.peek(behind) {
                Err(Incomplete) if self.place.end => b'\n',
                next => next?,
            };
            let is_over = self.place.line_start && matches!(next, b'\n' | b'\r' | b'<');
            return Ok(is_over.then(|| (Sign::ToolElement, Sort::Over.of(name, behind))));
        }
        let at = self.behind_comment(behind, b"<!")?;
        let is_named = match self.peek(at)? {
            b'{' => true,
            b'"' => self.begins_in_string(name, at)?,
            b'<' => {
                let sort = tag_at(self.text, at)?.and_then(|inner| match inner.closing {
                    true if name.of(self.text).eq_ignore_ascii_case(inner.word.of(self.text)) => {
                        Some(Sort::Over)
                    }
                    false if self.takes(name, &inner) => Some(Sort::Tagged),
                    _ => None,
                });
                return Ok(sort.map(|sort| (Sign::ToolElement, sort.of(name, at))));
            }
            // `<f>⏎a: x`
            byte if is_name_byte(byte) => {
                let key = self.name_at(at);
                self.peek(key.end as usize)? == b':' && self.declares(name, key.of(self.text))
            }
            _ => false,
        };
        Ok(is_named.then(|| (Sign::ToolTag, Sort::Named.of(name, at))))
    }

    /// Returns whether a tag is a tool's whole name: `<f>` or `<functions.f>`, but not `<search>` for `books.search`.
    fn is_named_by_tag(&self, name: Span) -> bool {
        let name = name.of(self.text);
        self.place.names.resolve(name).is_some_and(|tool| tool.is_named_by_tag(name))
    }

    /// Returns whether the word of `tag` may be an argument of the tool of this name. If the tool declares none, any
    /// word on a line of its own may be.
    fn takes(&self, name: Span, tag: &Tag) -> bool {
        let word = tag.word.of(self.text);
        let tool = self.place.names.resolve(name.of(self.text));
        tool.is_some_and(|tool| if self.place.line_start { tool.takes(word) } else { tool.declares(word) })
    }

    /// Returns whether the arguments of `name` begin at `at` in a string, `"{\"a\": 1}"`, or without their brace, at the
    /// first key: `"a": 1}`.
    pub(super) fn begins_in_string(&self, name: Span, at: usize) -> Result<bool, Incomplete> {
        let key = self.word_at(at + 1);
        Ok(self.peek(at + 1)? == b'{'
            || self.peek(key.end as usize)? == b'"' && self.declares(name, key.of(self.text)))
    }

    /// Returns whether a mark that closes a call of its dialect stands here.
    fn is_closer(&self) -> bool {
        let marks = self.record.into_iter().flat_map(|record| record.closers());
        matches!(fit_any(self.rest(self.at), marks.map(|mark| &**mark)), Ok(Some(_)))
    }

    /// Returns the word of the token before this place.
    pub(super) fn token_before(&self) -> Option<&str> {
        let before = self.text.get(..self.at).unwrap_or("").trim_end();
        let tag = last_tag(before).filter(|tag| tag.role == Role::Token)?;
        Some(tag.word.of(before))
    }

    /// Reads the name behind arrows: `>>>f⏎{…}`.
    pub(super) fn arrows(&self) -> Seen<Step<'a>> {
        let Some((record, end)) = self.opener()? else { return Ok(None) };
        let name = self.name_at(end);
        let is_line = matches!(self.peek(name.end as usize)?, b'\n' | b'\r');
        let at = self.skip_space(name.end as usize);
        let is_tool = self.resolves(name);
        let is_object = self.peek(at)? == b'{' || is_tool && self.begins_in_string(name, at)?;
        Ok(match is_object {
            true if !name.is_empty() && (is_line || is_tool) => {
                Some(Step::to(Sort::Named.of(name, at)).of(record))
            }
            false if is_line && is_tool && self.stands_alone() => {
                Some(Step::over(at, Delimiter::Tag).named(name).of(record))
            }
            _ => None,
        })
    }
}
