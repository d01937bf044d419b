//! The marks of one call's own: those that end it, and those that begin another one like it.
//!
//! No repaired text continues over them.

use super::opener::Opener;
use crate::syntax::{Incomplete, Text, marks};
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

    /// The mark in `text` that its call begins with, `[TOOL_CALLS]`, `<invoke`, `>>>`; empty where that may stand in any text.
    pub(super) fn opener<'t>(&self, text: &'t str) -> &'t str {
        const LEAST: usize = 3;
        let name = self.item.name.map_or(self.item.at, |name| name.start as usize);
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
}
