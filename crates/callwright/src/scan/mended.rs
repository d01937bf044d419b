//! Repairs broken marks in front of a payload, which is then read as if they were whole.

use std::sync::Arc;

use callwright_json::Span;

use super::Scanner;
use super::opener::{Delimiter, Look, Opener, Sort, parse_mended};
use crate::dialect::Grammar;
use crate::grammar::marks;
use crate::marks::fronts;
use crate::syntax::{Seen, blanks};

impl Scanner<'_> {
    /// Returns the opener at `at` whose marks are broken, by the text up to `to`: `<tool_cal>⏎{`.
    pub(super) fn mended(&self, at: usize, to: usize, end: bool) -> Seen<Opener> {
        let tools = self.names.tools();
        let text = self.text.get(at..to).unwrap_or("");
        let ways = self.near_at(text).into_iter().flat_map(|record| {
            fronts((text, at), record, tools, &self.work.fuel).into_iter().map(move |front| (record, front))
        });
        let nearest = ways.min_by_key(|(_, front)| front.edits).filter(|(_, front)| 0 < front.edits);
        let Some((record, mended)) = nearest else { return Ok(None) };
        let behind = mended.at.end as usize;
        let fence = mended.whole.contains("```").then_some(Delimiter::Fence(3));
        let tags = marks(&mended.whole).map(|_| Delimiter::Tag);
        let list = mended.whole.trim_end().ends_with('[').then_some(Delimiter::Bracket);
        let delimiters = tags.chain(fence).chain(list).collect();
        let mut opener = match &mended.name {
            Some(own) => {
                let from = mended.at.of(&self.text).find(&**own).map(|len| at + len);
                let name = from.map_or(Span::at(behind), |from| Span::new(from, from + own.len()));
                let at = behind + blanks(&self.text, behind, usize::MAX);
                let item = match record.arguments {
                    Grammar::Relaxed => Sort::Relaxed.of(name, at),
                    _ => Sort::Named.of(name, at),
                };
                Opener { delimiters, ..Opener::bare(mended.at.start as usize, item, Arc::clone(record)) }
            }
            None => match parse_mended(&self.text, mended.at, record, delimiters, self.place(true, end))? {
                Look::Found(opener) => opener,
                Look::TooMany(_) | Look::Nothing => return Ok(None),
            },
        };
        opener.mended = Some(mended);
        Ok(Some(opener))
    }
}
