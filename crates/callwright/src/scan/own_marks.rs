//! The marks of one call's own: those that end it, and those that begin another one like it.
//!
//! A payload whose brackets nobody closed ends at them, `{"city": "Paris"[TOOL_CALLS]f[ARGS]{…}`, and no repaired text
//! continues over them.

use callwright_json::strict_end;

use super::opener::Opener;
use crate::syntax::marks;
use crate::syntax::tag::{Role, Tag, last_tag, tag_at};
use crate::syntax::{Incomplete, Text};
use crate::tools::names::is_name_byte;

impl Opener {
    /// The marks that end a call of its dialect, and those of the list that it stands in.
    pub(super) fn dialect_closers(&self) -> impl Iterator<Item = &Text> + Clone {
        self.record.closers().chain(self.dialect.closers())
    }

    /// The marks that end what it begins, its own and those of the list that it stands in, and its fence.
    pub(super) fn closers(&self) -> impl Iterator<Item = &str> + Clone {
        self.dialect_closers().map(|mark| &**mark).chain(self.is_fenced().then_some("\n```"))
    }

    /// The place behind the mark at `at`, if that ends its call: `</tool_call>`, `</invoke>`, `</f>`.
    pub(super) fn behind_closer(&self, text: &str, at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let mut marks = self.dialect_closers();
        let marked = marks.find_map(|mark| match marks::fit(rest.as_bytes(), mark) {
            Ok(Some(len)) => Some(at + len),
            Err(Incomplete) | Ok(None) => None,
        });
        let tagged = || {
            let Ok(Some(tag)) = tag_at(text, at) else { return None };
            let before = text.get(self.start..self.item.at())?;
            let is_own = |opener: Tag| opener.word.of(before).eq_ignore_ascii_case(tag.word.of(text));
            let behind = text.get(tag.at.end as usize..)?.trim_start();
            let is_last = || behind.is_empty() || behind.starts_with('<');
            let is_closer = match tag.role {
                Role::Token => is_last(),
                _ => tag.closing && last_tag(before).is_some_and(is_own),
            };
            is_closer.then_some(tag.at.end as usize)
        };
        marked.or_else(tagged)
    }

    /// The mark in `text` that its call begins with, `[TOOL_CALLS]`, `<invoke`, `>>>`; empty where that may stand in any text.
    pub(super) fn opener<'t>(&self, text: &'t str) -> &'t str {
        const LEAST: usize = 3;
        let name = self.item.name().map_or(self.item.at(), |name| name.start as usize);
        let opener = text.get(self.start..name).unwrap_or("").split_ascii_whitespace().next().unwrap_or("");
        if opener.len() < LEAST { "" } else { opener }
    }

    /// Does the mark that its call begins with stand at `at` once more? One in quotes is spoken of.
    pub(super) fn is_begun_again(&self, text: &str, at: usize) -> bool {
        let opener = self.opener(text);
        let rest = text.get(at..).unwrap_or("");
        let is_next = |behind: &u8| match self.is_distinct() {
            true => !matches!(behind, b'"' | b'\'' | b'`' | b'\\'),
            // `>>>f`
            false => is_name_byte(*behind),
        };
        !opener.is_empty()
            && match marks::fit(rest.as_bytes(), opener) {
                Ok(Some(len)) => rest.as_bytes().get(len).is_some_and(is_next),
                Err(Incomplete) | Ok(None) => false,
            }
    }

    /// Where its payload ends if that is JSON with brackets missing: behind a value in it such a mark follows.
    pub(super) fn unclosed_end(&self, text: &str) -> Option<usize> {
        let at = strict_end(text, self.item.at()).err()?;
        let before = text.get(..at)?.trim_end();
        if before.ends_with(['{', '[', ',', ':']) {
            return None;
        }
        (self.behind_closer(text, at).is_some() || self.is_begun_again(text, at)).then_some(at)
    }
}
