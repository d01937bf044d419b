//! The markers of the caller's own dialects. They find an opener, a closer or a tag at a place of the text.

use std::sync::Arc;

use super::definition::Dialect;
use super::problem::DialectProblem;
use super::speech::Results;
use crate::grammar::template::pieces;
use crate::syntax::marks::{first_of, wide};
use crate::syntax::pattern::{Found, Pattern};
use crate::syntax::tag::Role;
use crate::syntax::{Incomplete, Seen, at_end};

/// The openers and closers of all the caller's own dialects.
#[derive(Debug, Default)]
pub(crate) struct Own {
    /// Each markup with its dialect's place in the set.
    markups: Vec<(u16, Arc<Markup>)>,
    /// The bytes that a marker may begin with.
    begins: Vec<u8>,
}

/// Adds the bytes that `marker` may begin with.
fn add_beginning(begins: &mut Vec<u8>, marker: &str) {
    let Some(&byte) = marker.as_bytes().first() else { return };
    begins.extend([byte.to_ascii_lowercase(), byte.to_ascii_uppercase()]);
    begins.extend(wide(byte).first());
}

impl Own {
    /// Adds the markers of `dialect`, which stands at `record` of its set.
    pub(super) fn add(&mut self, record: u16, dialect: &Dialect, markup: &Arc<Markup>) {
        for pattern in markup.around(false).chain(markup.around(true)) {
            add_beginning(&mut self.begins, pattern.prefix());
        }
        for block in &dialect.reasoning {
            add_beginning(&mut self.begins, &block.open);
        }
        self.markups.push((record, Arc::clone(markup)));
    }

    /// Returns whether a marker may begin with `byte`.
    pub(crate) fn begins_with(&self, byte: u8) -> bool {
        self.begins.contains(&byte)
    }

    /// Returns the first place from `from` up to `to` at which a marker may begin.
    pub(crate) fn next(&self, bytes: &[u8], from: usize, to: usize) -> Option<usize> {
        let stretch = bytes.get(from..to)?;
        stretch.iter().position(|byte| self.begins.contains(byte)).map(|found| from + found)
    }

    /// Returns the longest opener at `at` with its dialect's place in the set. At the `end`, no more text will come.
    pub(crate) fn opener(&self, text: &str, at: usize, end: bool) -> Seen<(u16, Found)> {
        let openers =
            self.markups.iter().flat_map(|(id, own)| own.around(false).map(move |open| (open, *id)));
        let met = openers.map(|(pattern, record)| (pattern.at(text, at), pattern, record));
        Ok(longest(met, end)?.map(|(found, _, record)| (record, found)))
    }

    /// Returns the place behind the longest closer at `at`.
    pub(crate) fn closer(&self, text: &str, at: usize, end: bool) -> Seen<usize> {
        let closers = self.markups.iter().flat_map(|(_, own)| own.around(true));
        let met = closers.map(|pattern| (pattern.at(text, at), pattern, ()));
        Ok(longest(met, end)?.map(|(found, ..)| found.end))
    }

    /// Returns whether a closer that is not an opener stands at `at`. `[done]` closes though `[do {name}]` could open
    /// there, because the closer has no place holder.
    pub(crate) fn closes(&self, text: &str, at: usize, end: bool) -> bool {
        match (self.closer(text, at, end), self.opener(text, at, end)) {
            (Ok(None), _) | (Err(Incomplete), Ok(Some(_))) => false,
            (Ok(Some(close)), Ok(Some((_, open)))) => open.name.is_some() && open.end <= close,
            (_, Err(Incomplete) | Ok(None)) => true,
        }
    }
}

/// Returns the longest of the patterns that were `met`, and among equals the one with fewer place holders. It is
/// incomplete while a pattern may still grow.
fn longest<'p, T>(
    met: impl Iterator<Item = (Seen<Found>, &'p Pattern, T)>,
    end: bool,
) -> Seen<(Found, &'p Pattern, T)> {
    let mut best: Option<(Found, &Pattern, T)> = None;
    let mut grows = false;
    for (met, pattern, meaning) in met {
        grows |= met.is_err();
        let is_better = |found: &Found| {
            best.as_ref().is_none_or(|(other, known, _)| {
                (other.end, known.is_fixed()) < (found.end, pattern.is_fixed())
            })
        };
        if let Some(found) = met.unwrap_or(None).filter(is_better) {
            best = Some((found, pattern, meaning));
        }
    }
    if grows && (best.is_none() || !end) { Err(Incomplete) } else { Ok(best) }
}

const SECTION: &[&str] = &["id"];
const CALL: &[&str] = &["name", "id"];
const ARGUMENT: &[&str] = &["key", "type"];

/// The markers of one dialect, as tags.
#[derive(Debug)]
pub(crate) struct Markup {
    marks: Vec<(Pattern, Role, bool)>,
}

impl Markup {
    /// Compiles the markers of `dialect`.
    pub(super) fn new(dialect: &Dialect) -> Result<Markup, (&'static str, DialectProblem)> {
        let (section, call, argument) = (&dialect.section, &dialect.call, dialect.argument.as_ref());
        let open = argument.map_or(&[][..], |argument| std::slice::from_ref(&argument.open));
        let close = argument.map_or(&[][..], |argument| std::slice::from_ref(&argument.close));
        let mut marks = Vec::new();
        for (member, texts, slots, role, closing) in [
            ("section.open", &*section.open, SECTION, Role::Group, false),
            ("section.close", &section.close, &[], Role::Group, true),
            ("call.open", &call.open, CALL, Role::Call, false),
            ("call.close", &call.close, &[], Role::Call, true),
            ("argument.open", open, ARGUMENT, Role::Param, false),
            ("argument.close", close, &[], Role::Param, true),
        ] {
            for text in texts {
                let pattern = Pattern::new(text, slots).map_err(|problem| (member, problem))?;
                marks.push((pattern, role, closing));
            }
        }
        if argument.is_some_and(|argument| !argument.open.contains("{key}")) {
            return Err(("argument.open", DialectProblem::Missing("{key} must stand in it")));
        }
        Ok(Markup { marks })
    }

    /// Returns the openers or the closers of calls and sections.
    fn around(&self, closing: bool) -> impl Iterator<Item = &Pattern> {
        let marks = self.marks.iter().filter(move |(.., closes)| *closes == closing);
        marks.filter(|(_, role, _)| *role != Role::Param).map(|(pattern, ..)| pattern)
    }

    /// Returns whether a mark stands at `at`. At the `end`, no more text will come.
    pub(crate) fn stands_at(&self, text: &str, at: usize, end: bool) -> Result<bool, Incomplete> {
        let found = self.marks.iter().map(|(pattern, ..)| pattern.at(text, at));
        Ok(at_end(first_of(found), end)?.is_some())
    }

    /// Returns the fixed beginnings of the marks of its `dialect`, and the texts around its results. A result or a
    /// description that holds one of them could be read as a mark.
    pub(crate) fn heads(&self, dialect: &Dialect) -> Vec<String> {
        let marks = self.marks.iter().map(|(pattern, ..)| pattern.prefix().to_owned());
        let thoughts = dialect.reasoning.iter().flat_map(|block| [&block.open, &block.close]);
        let texts = thoughts.chain(&dialect.string_mark).filter_map(|mark| mark.split_whitespace().next());
        let results = dialect.speech.iter().flat_map(|speech| {
            let Results { open, result, between, close, .. } = &speech.results;
            [open, result, between, close].into_iter().flat_map(|text| fixed(text))
        });
        let heads = marks.chain(texts.map(str::to_owned)).chain(results);
        heads.filter(|head| !head.is_empty()).collect()
    }
}

/// Returns the pieces between the slots of a text that are more than words and white space.
fn fixed(text: &str) -> impl Iterator<Item = String> {
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace();
    let texts = pieces(text).map(|(piece, _)| piece.trim());
    texts.filter(move |piece| 2 <= piece.len() && piece.contains(is_sign)).map(str::to_owned)
}
