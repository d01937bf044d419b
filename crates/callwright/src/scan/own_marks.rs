//! Finds a call's own marks: those that end it, and those that begin another one like it.
//!
//! No repaired text continues over them.

use std::sync::Arc;

use super::opener::Opener;
use crate::syntax::{Incomplete, Text, beginning, marks};
use crate::tools::names::is_name_byte;

impl Opener {
    /// Returns the marks that end a call of its dialect, and those of the list around it.
    pub(super) fn dialect_closers(&self) -> impl Iterator<Item = &Text> + Clone {
        let of_list = Some(&self.dialect).filter(|dialect| !Arc::ptr_eq(dialect, &self.record));
        self.record.closers().chain(of_list.into_iter().flat_map(|dialect| dialect.closers()))
    }

    /// Returns the marks that end the call: its own, those of the list around it, and its fence.
    pub(super) fn closers(&self) -> impl Iterator<Item = &str> + Clone {
        self.dialect_closers().map(|mark| &**mark).chain(self.is_fenced().then_some("\n```"))
    }

    /// Returns the first mark in `text` at or behind `looked` that ends the call. Without one, the next search begins
    /// where a mark may have begun.
    pub(super) fn find_closer(&self, text: &str, looked: &mut usize) -> Option<usize> {
        if let Some(len) = marks::find(text.get(*looked..)?, self.closers()) {
            return Some(*looked + len);
        }
        let longest = self.closers().map(str::len).max().unwrap_or(0);
        let sure = text.len().saturating_sub(2 * longest).max(*looked);
        *looked = beginning(text, sure).len().max(*looked);
        None
    }

    /// Returns the mark in `text` that begins the call, `[TOOL_CALLS]`, `<invoke`, `>>>`; empty if that may stand in
    /// any text.
    pub(super) fn opener<'t>(&self, text: &'t str) -> &'t str {
        const LEAST: usize = 3;
        let name = self.item.name.map_or(self.item.at, |name| name.start as usize);
        let opener = text.get(self.start..name).unwrap_or("").split_ascii_whitespace().next().unwrap_or("");
        if opener.len() < LEAST { "" } else { opener }
    }

    /// Returns whether the mark that begins the call stands at `at` once more. In quotes, it is only a mention.
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
