//! Calls in elements: `<tool_name>f</tool_name><parameters>…`.
//!
//! Such a call counts inside markup or a fence, or with its arguments in an element right behind the name.

use callwright_json::Span;

use super::tag::Header;
use super::{Delimiter, OpenerParser, Step};
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
const SERVER_TAG: &str = "server_name";

impl OpenerParser<'_, '_> {
    /// Steps over an element that holds the name, or over a tag around the name or around the arguments that follow.
    pub(super) fn element(&mut self, tag: &Tag) -> Seen<Step> {
        let word = tag.word.of(self.text);
        let end = tag.at.end as usize;
        if self.name().is_some() {
            return Ok(is_one_of(keys::ARGUMENTS, word).then(|| self.over(end, Delimiter::Tag)));
        }
        if self.from < self.at {
            // `<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>{…}`
            if !tag.closing && word == SERVER_TAG {
                let Some((server, name, behind)) = self.served_in(tag)? else {
                    return Ok(Some(Step::Nothing));
                };
                self.server = Some(server);
                return Ok(Some(self.behind_name(name, behind)));
            }
            if let Some((name, behind)) = self.named_in(tag)? {
                return Ok(Some(self.behind_name(name, behind)));
            }
        }
        if !names_call(word) {
            return Ok(None);
        }
        // `<tool_use><name>f</name>`: only the element inside tells that this is a call.
        let is_it = match self.tag_behind(end)? {
            Some(inner) if !inner.closing && inner.word.of(self.text) == SERVER_TAG => true,
            Some(inner) => self.named_in(&inner)?.is_some(),
            None => false,
        };
        Ok(is_it.then(|| self.over(end, Delimiter::Tag)))
    }

    /// Steps over an element that holds the `name`, up to the place `behind` it.
    fn behind_name(&mut self, name: Span, behind: usize) -> Step {
        self.header = Header::Named(name, true);
        self.record = Some(self.of_sign(Sign::NameElement));
        self.past(behind)
    }

    /// Returns the tag behind the blanks at `from`.
    fn tag_behind(&self, from: usize) -> Seen<Tag> {
        let at = self.skip_space(from);
        self.peek(at)?;
        tag_at(self.text, at)
    }

    /// Steps over an element with the name and nothing around it, in front of one with the arguments:
    /// `<tool_name>f</tool_name><arguments>{…}`.
    pub(super) fn name_in_front(&mut self, tag: &Tag) -> Seen<Step> {
        let word = tag.word.of(self.text);
        if self.from < self.at || tag.closing || tag.key.is_some() || !is_one_of(FRONT_TAGS, word) {
            return Ok(None);
        }
        let from = self.skip_space(tag.at.end as usize);
        let name = Span::new(from, self.name_end(from));
        if name.end as usize == self.bytes.len() && !self.may_hold_name(from, name.end as usize) {
            return Ok(None);
        }
        let arguments = at_end(self.arguments_behind(tag, name), self.place.end)?;
        Ok(arguments.map(|arguments| {
            self.delimiters.push(Delimiter::Tag);
            self.behind_name(name, arguments.at.end as usize)
        }))
    }

    /// Returns the tag around the arguments behind the element of `tag`, which holds the `name`.
    fn arguments_behind(&self, tag: &Tag, name: Span) -> Seen<Tag> {
        self.peek(name.end as usize)?;
        if !self.resolves(name.start as usize, name.end as usize) {
            return Ok(None);
        }
        let Some(behind) = self.behind(tag, name)? else { return Ok(None) };
        let is_around = |tag: &Tag| !tag.closing && is_one_of(keys::ARGUMENTS, tag.word.of(self.text));
        Ok(self.tag_behind(behind)?.filter(is_around))
    }

    /// Returns the name in the element that `tag` opens, and the place behind the element.
    fn named_in(&self, tag: &Tag) -> Seen<(Span, usize)> {
        if tag.closing || tag.key.is_some() || !is_one_of(NAME_TAGS, tag.word.of(self.text)) {
            return Ok(None);
        }
        match self.content_of(tag)? {
            Some(name) => Ok(self.behind(tag, name)?.map(|behind| (name, behind))),
            None => Ok(None),
        }
    }

    /// Returns the server and the tool of `<server_name>s</server_name><tool_name>f</tool_name>`, whose first tag is
    /// `tag`, and the place behind them. The tool must be declared.
    fn served_in(&self, tag: &Tag) -> Seen<(Span, Span, usize)> {
        let Some(server) = self.content_of(tag)? else { return Ok(None) };
        let Some(behind) = self.behind(tag, server)? else { return Ok(None) };
        let is_named = |tag: &Tag| !tag.closing && is_one_of(NAME_TAGS, tag.word.of(self.text));
        let Some(named) = self.tag_behind(behind)?.filter(is_named) else { return Ok(None) };
        match self.content_of(&named)? {
            Some(name) if self.place.names.resolve_of(server.of(self.text), name.of(self.text)).is_some() => {
                Ok(self.behind(&named, name)?.map(|behind| (server, name, behind)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the text in the element that `tag` opens.
    fn content_of(&self, tag: &Tag) -> Seen<Span> {
        let from = tag.at.end as usize;
        let rest = self.text.get(from..).unwrap_or("");
        let Some(len) = rest.bytes().take(MAX_NAME).position(|byte| byte == b'<') else {
            return if rest.len() < MAX_NAME { Err(Incomplete) } else { Ok(None) };
        };
        let written = rest.get(..len).unwrap_or("");
        let content = written.trim();
        let start = from + written.find(content).unwrap_or(0);
        Ok((!content.is_empty()).then(|| Span::new(start, start + content.len())))
    }

    /// Returns the place behind the tag that closes the element of `tag`, which holds `content`.
    fn behind(&self, tag: &Tag, content: Span) -> Seen<usize> {
        let rest = self.text.get(content.end as usize..).unwrap_or("");
        let at = content.end as usize + (rest.len() - rest.trim_start().len());
        self.peek(at)?;
        let word = tag.word.of(self.text);
        let is_own = |closer: &Tag| closer.closing && closer.word.of(self.text).eq_ignore_ascii_case(word);
        Ok(tag_at(self.text, at)?.filter(is_own).map(|closer| closer.at.end as usize))
    }
}
