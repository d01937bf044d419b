//! Calls in elements and lines of their own: `<tool_name>f</tool_name><parameters>…`, `tool: f⏎arguments:⏎  a: x`.
//!
//! Only inside of markup or a fence, and for a declared name, with what holds the arguments behind it.

use callwright_json::Span;

use super::tag::Header;
use super::{Delimiter, Item, OpenerParser, Step};
use crate::dialect::Known;
use crate::shape::keys::{self, is_one_of};
use crate::syntax::tag::{Lexed, Tag, names_call, tag_at};
use crate::tools::names::MAX_NAME;

/// What an element is called that holds the name alone.
const NAME_TAGS: &[&str] = &["name", "tool_name", "function_name", "tool", "function"];
/// What an element is called that holds the name alone and stands in no other element.
const FRONT_TAGS: &[&str] = &["tool_name", "function_name", "tool", "function", "action"];
/// What an element is called that holds the server of a tool.
const SERVER_TAG: &str = "server_name";

impl OpenerParser<'_, '_> {
    /// `tool: f⏎arguments:`, at its first word.
    pub(super) fn lines(&mut self) -> Option<Step> {
        let is_marked =
            self.delimiters.iter().any(|delimiter| matches!(delimiter, Delimiter::Fence(_) | Delimiter::Tag));
        if !is_marked || self.from == self.at || !self.is_own_line() && !self.distinct() {
            return None;
        }
        if self.bytes.get(self.at..self.at + 2) == Some(b"- ") {
            return self.row();
        }
        let (from, end) = (self.at, self.name_end(self.at));
        if self.bytes.get(end) != Some(&b':') {
            return None;
        }
        let word = self.text.get(from..end)?;
        if keys::NAME.contains(&word) {
            return self.named_line(end + 1);
        }
        // `tool_calls:⏎  - tool: f`
        if keys::WRAPPERS.contains(&word) {
            let dash = self.skip_space(end + 1);
            return match self.bytes.get(dash..dash + 2) {
                Some(b"- ") => {
                    self.at = dash;
                    Some(Step::Over)
                }
                None if self.bytes.get(dash).is_none_or(|byte| *byte == b'-') => Some(Step::Wait),
                Some(_) | None => None,
            };
        }
        // `get_weather:⏎  city: Paris`
        let behind = self.bytes.get(end + 1..).unwrap_or(&[]);
        let is_block =
            behind.iter().find(|byte| !matches!(byte, b' ' | b'\r')).is_none_or(|byte| *byte == b'\n');
        let is_named = self.is_yaml() && is_block && self.resolves(from, end);
        is_named.then(|| match behind.contains(&b'\n') {
            true => Step::Item(Item::Lines { name: Span::new(from, end), at: end + 1, is_list: false }),
            false => Step::Wait,
        })
    }

    /// `- tool: f⏎  arguments:`, at the dash.
    fn row(&self) -> Option<Step> {
        let from = self.skip_space(self.at + 1);
        let end = self.name_end(from);
        let is_key = match self.bytes.get(end) {
            None => return Some(Step::Wait),
            Some(byte) => *byte == b':',
        };
        let word = self.text.get(from..end)?;
        let step = match word {
            _ if !is_key => return None,
            _ if keys::NAME.contains(&word) => self.named_line(end + 1)?,
            _ if self.resolves(from, end) => match self.bytes.get(end + 1) {
                None if !self.place.end => return Some(Step::Wait),
                Some(byte) if !byte.is_ascii_whitespace() => return None,
                None | Some(_) => {
                    Step::Item(Item::Lines { name: Span::new(from, end), at: end + 1, is_list: true })
                }
            },
            _ => return None,
        };
        Some(match step {
            Step::Item(Item::Lines { name, .. }) => {
                Step::Item(Item::Lines { name, at: self.at, is_list: true })
            }
            step => step,
        })
    }

    /// The rest of a line that names the tool, and the line behind it.
    fn named_line(&self, from: usize) -> Option<Step> {
        let rest = self.text.get(from..)?;
        let Some(len) = rest.bytes().take(MAX_NAME).position(|byte| byte == b'\n') else {
            return (rest.len() < MAX_NAME).then_some(Step::Wait);
        };
        let written = rest.get(..len)?;
        let name = written.trim().trim_matches(['"', '\'']);
        let start = from + written.find(name)?;
        let name = Span::new(start, start + name.len());
        if !self.resolves(start, name.end as usize) {
            return None;
        }
        let next = self.skip_space(from + len);
        let key = self.name_end(next);
        match self.bytes.get(key) {
            None => Some(Step::Wait),
            Some(b':') if keys::ARGUMENTS.contains(&self.text.get(next..key)?) => {
                Some(Step::Item(Item::Lines { name, at: key + 1, is_list: false }))
            }
            Some(b'`' | b'<') if key == next => {
                Some(Step::Item(Item::Lines { name, at: next, is_list: false }))
            }
            Some(_) => None,
        }
    }

    /// Is there nothing before it on its line but what opened the markup?
    fn is_own_line(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let last = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        matches!(last, Some(b'\n'))
    }

    /// Is the fence that it stands in one of YAML?
    fn is_yaml(&self) -> bool {
        let before = self.text.get(..self.at).unwrap_or("").trim_end();
        ["```yaml", "```yml"].iter().any(|fence| before.ends_with(fence))
    }

    /// `<f>⏎city: Paris`: lines behind the name in a tag of its own.
    pub(super) fn lines_of(&self, name: Span, at: usize) -> Option<Step> {
        let end = self.name_end(at);
        let tool = self.place.names.resolve(name.of(self.text))?;
        match self.bytes.get(end) {
            None => Some(Step::Wait),
            Some(b':') if tool.declares(self.text.get(at..end)?) => {
                // The indent of the first line is that of all.
                let line = self.text.get(..at)?.trim_end_matches(' ');
                let at = if line.ends_with('\n') { line.len() } else { at };
                Some(Step::Item(Item::Lines { name, at, is_list: false }))
            }
            Some(_) => None,
        }
    }

    /// An element that holds the name, one around it, or one around the arguments that follow.
    pub(super) fn element(&mut self, tag: &Tag) -> Option<Step> {
        let word = tag.word.of(self.text);
        let end = tag.at.end as usize;
        if self.name().is_some() {
            return is_one_of(keys::ARGUMENTS, word).then(|| self.over(end, Delimiter::Tag));
        }
        // `<use_mcp_tool><server_name>s</server_name><tool_name>f</tool_name><arguments>{…}`
        if self.from < self.at && !tag.closing && word == SERVER_TAG {
            return Some(match self.served_in(tag) {
                None => Step::Nothing,
                Some(None) => Step::Wait,
                Some(Some((server, name, behind))) => {
                    self.server = Some(server);
                    self.header = Header::Named(name, true);
                    self.record = Some(self.known(Known::XmlNames));
                    self.at = behind;
                    Step::Over
                }
            });
        }
        let is_of_call = names_call(word);
        if self.from < self.at
            && let Some(named) = self.named_in(tag)
        {
            return Some(match named {
                None => Step::Wait,
                Some((name, behind)) => {
                    self.header = Header::Named(name, true);
                    self.record = Some(self.known(Known::XmlNames));
                    self.at = behind;
                    Step::Over
                }
            });
        }
        if is_of_call {
            // `<tool_use><name>f</name>`: only what stands in it tells.
            let inner = self.skip_space(end);
            return match tag_at(self.text, inner) {
                Lexed::Grows => Some(Step::Wait),
                _ if self.bytes.get(inner).is_none() => Some(Step::Wait),
                Lexed::Tag(inner) if !inner.closing && inner.word.of(self.text) == SERVER_TAG => {
                    Some(self.over(end, Delimiter::Tag))
                }
                Lexed::Tag(inner) => match self.named_in(&inner)? {
                    Some(_) => Some(self.over(end, Delimiter::Tag)),
                    None => Some(Step::Wait),
                },
                Lexed::No => None,
            };
        }
        None
    }

    /// `<tool_name>f</tool_name><arguments>{…}`: an element with the name, with nothing around it, in front of one with the
    /// arguments.
    pub(super) fn name_in_front(&mut self, tag: &Tag) -> Option<Step> {
        let word = tag.word.of(self.text);
        if self.from < self.at || tag.closing || tag.key.is_some() || !is_one_of(FRONT_TAGS, word) {
            return None;
        }
        let from = self.skip_space(tag.at.end as usize);
        let end = self.name_end(from);
        let wait = || (!self.place.end).then_some(Step::Wait);
        if end == self.bytes.len() {
            return wait().filter(|_| self.may_hold_name(from, end));
        }
        if !self.resolves(from, end) {
            return None;
        }
        let Some(behind) = self.behind(tag, Span::new(from, end))? else { return wait() };
        let next = self.skip_space(behind);
        match tag_at(self.text, next) {
            Lexed::Tag(tag) if !tag.closing && is_one_of(keys::ARGUMENTS, tag.word.of(self.text)) => {
                self.header = Header::Named(Span::new(from, end), true);
                self.record = Some(self.known(Known::XmlNames));
                Some(self.over(tag.at.end as usize, Delimiter::Tag))
            }
            Lexed::Grows => wait(),
            Lexed::No if self.bytes.get(next).is_none() => wait(),
            Lexed::Tag(_) | Lexed::No => None,
        }
    }

    /// `<use_tool name="f" arguments='{"a": "x"}'/>`
    pub(super) fn attributed(&mut self, tag: &Tag) -> Option<Step> {
        let name =
            tag.key.filter(|name| !tag.closing && self.resolves(name.start as usize, name.end as usize))?;
        let inside = tag.at.of(self.text);
        let keys = keys::ARGUMENTS.iter().filter_map(|key| inside.find(key).map(|at| at + key.len()));
        let value =
            keys.filter(|end| inside.get(*end..).is_some_and(|rest| rest.starts_with('='))).min()? + 1;
        let quote = inside.as_bytes().get(value).copied().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let at = tag.at.start as usize + value + 1;
        if self.bytes.get(at) != Some(&b'{') {
            return None;
        }
        self.delimiters.extend([Delimiter::Tag, Delimiter::Quote(quote)]);
        self.record = Some(self.known(Known::XmlNames));
        Some(Step::Item(Item::Named { name, at }))
    }

    /// The declared name that the element which `tag` opens holds, and the place behind it; `Some(None)` where more text
    /// must tell.
    fn named_in(&self, tag: &Tag) -> Option<Option<(Span, usize)>> {
        if tag.closing || tag.key.is_some() || !is_one_of(NAME_TAGS, tag.word.of(self.text)) {
            return None;
        }
        let Some(name) = self.content_of(tag)? else { return Some(None) };
        if !self.resolves(name.start as usize, name.end as usize) {
            return None;
        }
        Some(self.behind(tag, name)?.map(|behind| (name, behind)))
    }

    /// The server and the tool of `<server_name>s</server_name><tool_name>f</tool_name>`, whose first tag is `tag`, and
    /// the place behind them; `Some(None)` where more text must tell. Only for a tool that is declared.
    fn served_in(&self, tag: &Tag) -> Option<Option<(Span, Span, usize)>> {
        let Some(server) = self.content_of(tag)? else { return Some(None) };
        let Some(behind) = self.behind(tag, server)? else { return Some(None) };
        let from = self.skip_space(behind);
        let named = match tag_at(self.text, from) {
            Lexed::Tag(named) if !named.closing && is_one_of(NAME_TAGS, named.word.of(self.text)) => named,
            Lexed::Grows => return Some(None),
            _ if self.bytes.get(from).is_none() => return Some(None),
            Lexed::Tag(_) | Lexed::No => return None,
        };
        let Some(name) = self.content_of(&named)? else { return Some(None) };
        self.place.names.resolve_of(server.of(self.text), name.of(self.text))?;
        Some(self.behind(&named, name)?.map(|behind| (server, name, behind)))
    }

    /// The text in the element that `tag` opens; `Some(None)` where more must come.
    fn content_of(&self, tag: &Tag) -> Option<Option<Span>> {
        let from = tag.at.end as usize;
        let rest = self.bytes.get(from..)?;
        let Some(len) = rest.iter().take(MAX_NAME).position(|byte| *byte == b'<') else {
            return (rest.len() < MAX_NAME).then_some(None);
        };
        let written = self.text.get(from..from + len)?;
        let content = written.trim();
        let start = from + written.find(content)?;
        (!content.is_empty()).then(|| Some(Span::new(start, start + content.len())))
    }

    /// The place behind the tag that closes the element of `tag`, which holds `content`; `Some(None)` where more must come.
    fn behind(&self, tag: &Tag, content: Span) -> Option<Option<usize>> {
        let rest = self.text.get(content.end as usize..)?;
        let at = content.end as usize + (rest.len() - rest.trim_start().len());
        match tag_at(self.text, at) {
            Lexed::Grows => Some(None),
            Lexed::No if self.bytes.get(at).is_none() => Some(None),
            Lexed::Tag(closer)
                if closer.closing
                    && closer.word.of(self.text).eq_ignore_ascii_case(tag.word.of(self.text)) =>
            {
                Some(Some(closer.at.end as usize))
            }
            Lexed::Tag(_) | Lexed::No => None,
        }
    }
}
