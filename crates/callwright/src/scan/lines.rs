//! Calls in elements and lines of their own: `<tool_name>f</tool_name><parameters>…`, `tool: f⏎arguments:⏎  a: x`.
//!
//! Only inside of markup or a fence, and for a declared name, with what holds the arguments behind it.

use callwright_json::Span;

use super::header::Header;
use super::lead::{Glue, Item, Leading, Step};
use crate::dialect::Known;
use crate::keys;
use crate::name::MAX_NAME;
use crate::payload::tag::{Lexed, Tag, names_call, tag_at};

/// What an element is called that holds the name alone.
const NAME_TAGS: &[&str] = &["name", "tool_name", "function_name", "tool", "function"];

impl Leading<'_, '_> {
    /// `tool: f⏎arguments:`, at its first word.
    pub(super) fn lines(&self) -> Option<Step> {
        let is_marked = self.glue.iter().any(|glue| matches!(glue, Glue::Fence(_) | Glue::Tag));
        let (from, end) = (self.at, self.name_end(self.at));
        if !is_marked || self.from == self.at || self.bytes.get(end) != Some(&b':') || !self.is_own_line() {
            return None;
        }
        let word = self.text.get(from..end)?;
        if keys::NAME.contains(&word) {
            return self.named_line(end + 1);
        }
        // `get_weather:⏎  city: Paris`
        let behind = self.bytes.get(end + 1..).unwrap_or(&[]);
        let is_block =
            behind.iter().find(|byte| !matches!(byte, b' ' | b'\r')).is_none_or(|byte| *byte == b'\n');
        let is_named = self.is_yaml() && is_block && self.resolves(from, end);
        is_named.then(|| match behind.contains(&b'\n') {
            true => Step::Item(Item::Lines { name: Span::new(from, end), at: end + 1 }),
            false => Step::Wait,
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
                Some(Step::Item(Item::Lines { name, at: key + 1 }))
            }
            Some(b'`' | b'<') if key == next => Some(Step::Item(Item::Lines { name, at: next })),
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
        let tool = self.place.names.resolve(name.of(self.text), self.prefix())?;
        match self.bytes.get(end) {
            None => Some(Step::Wait),
            Some(b':') if tool.declares(self.text.get(at..end)?) => {
                Some(Step::Item(Item::Lines { name, at }))
            }
            Some(_) => None,
        }
    }

    /// An element that holds the name, one around it, or one around the arguments that follow.
    pub(super) fn element(&mut self, tag: &Tag) -> Option<Step> {
        let word = tag.word.of(self.text);
        let end = tag.at.end as usize;
        if self.name().is_some() {
            return keys::ARGUMENTS.contains(&word).then(|| self.over(end, Glue::Tag));
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
                Lexed::Tag(inner) => match self.named_in(&inner)? {
                    Some(_) => Some(self.over(end, Glue::Tag)),
                    None => Some(Step::Wait),
                },
                Lexed::No => None,
            };
        }
        None
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
        self.glue.extend([Glue::Tag, Glue::Quote(quote)]);
        self.record = Some(self.known(Known::XmlNames));
        Some(Step::Item(Item::Named { name, at }))
    }

    /// The declared name that the element which `tag` opens holds, and the place behind it; `Some(None)` where more text
    /// must tell.
    fn named_in(&self, tag: &Tag) -> Option<Option<(Span, usize)>> {
        let word = tag.word.of(self.text);
        if tag.closing || tag.key.is_some() || !NAME_TAGS.contains(&word) {
            return None;
        }
        let from = tag.at.end as usize;
        let rest = self.bytes.get(from..)?;
        let Some(len) = rest.iter().take(MAX_NAME).position(|byte| *byte == b'<') else {
            return (rest.len() < MAX_NAME).then_some(None);
        };
        let written = self.text.get(from..from + len)?;
        let name = written.trim();
        let start = from + written.find(name)?;
        if name.is_empty() || !self.resolves(start, start + name.len()) {
            return None;
        }
        match tag_at(self.text, from + len) {
            Lexed::Grows => Some(None),
            Lexed::Tag(closer) if closer.closing && closer.word.of(self.text) == word => {
                Some(Some((Span::new(start, start + name.len()), closer.at.end as usize)))
            }
            Lexed::Tag(_) | Lexed::No => None,
        }
    }
}
