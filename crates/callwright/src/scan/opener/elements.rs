//! Calls in elements: `<tool_name>f</tool_name><parameters>…`.
//!
//! Such a call counts inside markup or a fence, or with its arguments in an element right behind the name.

use callwright_json::Span;

use super::{Delimiter, Lead, Step};
use crate::dialect::Sign;
use crate::shape::keys::{self, is_one_of};
use crate::syntax::tag::{Tag, names_call, tag_at};
use crate::syntax::{Incomplete, Seen, at_end};
use crate::tools::names::MAX_NAME;

/// Names of the elements that hold the tool's name alone.
const NAME_TAGS: &[&str] = &["name", "tool_name", "function_name", "tool", "function"];
/// Names of the elements that hold the tool's name alone, and stand in no other element.
const FRONT_TAGS: &[&str] = &["tool_name", "function_name", "tool", "function", "action"];
/// Name of the element that holds the server of a tool.
const SERVER_TAG: &[&str] = &["server_name"];

/// The elements that name a tool.
struct Named {
    /// The server, if one is named.
    server: Option<Span>,
    name: Span,
    /// The place behind the elements.
    end: usize,
}

impl<'a> Lead<'a, '_> {
    /// Steps over an element that holds the name, or over a tag around the name or around the arguments that follow.
    pub(super) fn element(&self, tag: &Tag) -> Seen<Step<'a>> {
        let word = tag.word.of(self.text);
        let around = Step::over(tag.at.end as usize, Delimiter::Tag);
        if self.name().is_some() {
            return Ok(is_one_of(keys::ARGUMENTS, word).then_some(around));
        }
        if self.from < self.at
            && let Some(Named { server, name, end }) = self.named_in(tag)?
        {
            let step = Step { server, ..Step::past(end) };
            return Ok(Some(step.named(name).of(self.of_sign(Sign::NameElement))));
        }
        // `<tool_use><name>f</name>`: only the element inside tells that this is a call.
        let inner = if names_call(word) { self.tag_behind(around.end)? } else { None };
        let Some(inner) = inner else { return Ok(None) };
        Ok(self.named_in(&inner)?.map(|_| around))
    }

    /// Returns the tag behind the blanks at `from`.
    fn tag_behind(&self, from: usize) -> Seen<Tag> {
        let at = self.skip_space(from);
        self.peek(at)?;
        tag_at(self.text, at)
    }

    /// Steps over an element with the name and nothing around it, in front of one with the arguments:
    /// `<tool_name>f</tool_name><arguments>{…}`.
    pub(super) fn name_in_front(&self, tag: &Tag) -> Seen<Step<'a>> {
        if self.from < self.at || !is_one_of(FRONT_TAGS, tag.word.of(self.text)) {
            return Ok(None);
        }
        let name = self.name_at(self.skip_space(tag.at.end as usize));
        if !self.may_hold_name(name) {
            return Ok(None);
        }
        let arguments = at_end(self.arguments_behind(tag, name), self.place.end)?;
        let step = |tag: Tag| Step::over(tag.at.end as usize, Delimiter::Tag).named(name);
        Ok(arguments.map(|tag| step(tag).of(self.of_sign(Sign::NameElement))))
    }

    /// Returns the tag around the arguments behind the element of `tag`, which holds the `name`.
    fn arguments_behind(&self, tag: &Tag, name: Span) -> Seen<Tag> {
        self.peek(name.end as usize)?;
        let element = if self.resolves(name) { self.content_of(tag, FRONT_TAGS)? } else { None };
        let Some((_, end)) = element else { return Ok(None) };
        let is_around = |tag: &Tag| !tag.closing && is_one_of(keys::ARGUMENTS, tag.word.of(self.text));
        Ok(self.tag_behind(end)?.filter(is_around))
    }

    /// Returns the name in the element that `tag` opens, or behind its server:
    /// `<server_name>s</server_name><tool_name>f</tool_name>`. The tool of a server must be declared.
    fn named_in(&self, tag: &Tag) -> Seen<Named> {
        let Some((server, behind)) = self.content_of(tag, SERVER_TAG)? else {
            let content = self.content_of(tag, NAME_TAGS)?;
            return Ok(content.map(|(name, end)| Named { server: None, name, end }));
        };
        let Some(inner) = self.tag_behind(behind)? else { return Ok(None) };
        let content = self.content_of(&inner, NAME_TAGS)?;
        let is_declared =
            |name: Span| self.place.names.resolve_of(server.of(self.text), name.of(self.text)).is_some();
        let content = content.filter(|(name, _)| is_declared(*name));
        Ok(content.map(|(name, end)| Named { server: Some(server), name, end }))
    }

    /// Returns the text in the element that `tag` opens, if that is one of `names`, and the place behind the element.
    fn content_of(&self, tag: &Tag, names: &[&str]) -> Seen<(Span, usize)> {
        let word = tag.word.of(self.text);
        if tag.closing || tag.key.is_some() || !is_one_of(names, word) {
            return Ok(None);
        }
        let from = tag.at.end as usize;
        let rest = self.text.get(from..).unwrap_or("");
        let Some(len) = rest.bytes().take(MAX_NAME).position(|byte| byte == b'<') else {
            return if rest.len() < MAX_NAME { Err(Incomplete) } else { Ok(None) };
        };
        let written = rest.get(..len).unwrap_or("");
        let content = written.trim();
        let start = from + written.find(content).unwrap_or(0);
        let is_own = |closer: &Tag| closer.closing && closer.word.of(self.text).eq_ignore_ascii_case(word);
        let closer = tag_at(self.text, from + len)?.filter(|closer| is_own(closer) && !content.is_empty());
        Ok(closer.map(|closer| (Span::new(start, start + content.len()), closer.at.end as usize)))
    }
}
