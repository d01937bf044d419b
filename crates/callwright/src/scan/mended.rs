//! Repairs broken marks in front of a payload, which is then read as if they were whole.

use std::sync::Arc;

use callwright_json::Span;

use super::Scanner;
use super::opener::{Delimiter, Look, Mended, Opener, Sort, parse_mended};
use crate::dialect::{Grammar, Record};
use crate::grammar::marks;
use crate::marks::{FRAME_FUEL, fronts};
use crate::syntax::{Seen, blanks};
use crate::tools::Tool;

impl Scanner<'_> {
    /// Returns the opener at `at` whose marks are broken, by the text up to `to`: `<tool_cal>⏎{`.
    pub(super) fn mended(&self, at: usize, to: usize, end: bool) -> Seen<Opener> {
        let tools = self.names.tools();
        let text = self.text.get(at..to).filter(|_| !self.rules.stop.is_cut() && self.may_repair());
        let Some(text) = text.filter(|text| self.rules.dialects.may_break_at(text)) else { return Ok(None) };
        let mut ways: Vec<(&Arc<Record>, Mended)> = Vec::new();
        for record in self.rules.dialects.broken_at(text, tools) {
            if !self.rules.dialects.admits(record) {
                continue;
            }
            self.work.fuel.spend(FRAME_FUEL * record.frames().len() * (1 + tools.len()));
            for (end, front) in record.frames().iter().flat_map(|frame| fronts(text, frame, tools)) {
                let name = front.tool.map(|tool| tools.iter().nth(tool).map_or("", Tool::name).to_owned());
                let at = Span::new(at, at + end);
                ways.push((record, Mended { at, whole: front.whole, edits: front.edits, name }));
            }
        }
        let least = ways.iter().map(|(_, mended)| mended.edits).min().filter(|edits| 0 < *edits);
        let nearest = ways.into_iter().find(|(_, mended)| Some(mended.edits) == least);
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
