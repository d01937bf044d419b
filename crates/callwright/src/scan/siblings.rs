//! In a list of calls, or on lines of calls, each element of their form is a call: a name that no tool has is refused there, and
//! not text. In goes a place behind such an element, out comes whether a call of a declared tool stands beside it.

use std::sync::Arc;

use callwright_json::is_arguments;

use super::Scanner;
use super::brackets::{BracketMatcher, Progress};
use super::opener::{Item, Opener};
use crate::dialect::Record;
use crate::shape::keys;
use crate::tools::names::{Names, leading_name};

/// How far a declared tool's name is looked for behind one that is not, in bytes.
const REACH: usize = 1 << 10;

/// Does a call of a declared tool stand beside an element?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sibling {
    Yes,
    No,
    /// More text must tell.
    Grows,
}

impl Scanner<'_> {
    /// Does a call of a declared tool stand beside the element of `opener`, which ends at `end`?
    pub(super) fn sibling(&self, opener: &Opener, end: usize, is_last: bool) -> Sibling {
        let is_value = matches!(opener.item, Item::Value { .. });
        if self.goes_on(opener) {
            return Sibling::Yes;
        }
        match behind(&self.text, end, is_value, &self.names) {
            Sibling::Grows if is_last || REACH < self.text.len() - end => Sibling::No,
            sibling => sibling,
        }
    }

    /// Does `opener` go on where a call of its form ended?
    pub(super) fn goes_on(&self, opener: &Opener) -> bool {
        let is_alike = |dialect: &Arc<Record>| dialect.name == opener.dialect.name;
        let is_alike = self.markup.inside.as_ref().is_some_and(|(dialect, _)| is_alike(dialect));
        is_alike && !opener.is_fenced() && self.follows_call(opener.start)
    }

    /// Does what stands at `at` follow a call, with a comma, a semicolon or a line break between them?
    pub(super) fn follows_call(&self, at: usize) -> bool {
        let is_behind = |from: usize| self.text.get(from..at).is_some_and(|gap| gap.trim().is_empty());
        let before = self.text.get(..at).unwrap_or("");
        let solid = before.trim_end();
        let is_apart =
            solid.ends_with([',', ';']) || before.get(solid.len()..).is_some_and(|gap| gap.contains('\n'));
        is_apart && self.markup.inside.as_ref().is_some_and(|(_, from)| is_behind(*from))
    }
}

/// Does a call of a declared tool stand behind `at`, with nothing between them but elements of its form?
fn behind(text: &str, mut at: usize, is_value: bool, names: &Names<'_>) -> Sibling {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let from = at;
    while at - from <= REACH {
        let rest = text.get(at..).unwrap_or("");
        let element = rest.trim_start_matches(is_separator);
        at += rest.len() - element.len();
        let is_apart =
            rest.get(..rest.len() - element.len()).is_some_and(|gap| gap.contains([',', ';', '\n']));
        if element.is_empty() {
            return Sibling::Grows;
        }
        let (name, open) = match is_value {
            true => match name_in(element) {
                Ok(name) => (name, 0),
                Err(sibling) => return sibling,
            },
            false => (leading_name(element), leading_name(element).len()),
        };
        if !is_apart || name.is_empty() {
            return Sibling::No;
        }
        match element.as_bytes().get(open) {
            Some(b'{') if is_value => {}
            Some(b'(') if !is_value => {}
            Some(_) => return Sibling::No,
            None => return Sibling::Grows,
        }
        if names.resolve(name).is_some() {
            return Sibling::Yes;
        }
        let mut brackets = BracketMatcher::new(at + open);
        match brackets.advance(text.as_bytes(), false) {
            Progress::Ended(end) if is_value || is_arguments(text, at + open) => at = end,
            Progress::Ended(_) => return Sibling::No,
            Progress::Open => return Sibling::Grows,
        }
    }
    Sibling::No
}

/// The name in `{"name": "f", …`, where it comes first.
fn name_in(object: &str) -> Result<&str, Sibling> {
    let mut rest = object.trim_start_matches('{').trim_start();
    let mut string = || {
        let inside = match rest.strip_prefix('"') {
            Some(inside) => inside,
            None if rest.is_empty() => return Err(Sibling::Grows),
            None => return Err(Sibling::No),
        };
        let (text, behind) = inside.split_once('"').ok_or(Sibling::Grows)?;
        rest = behind.trim_start().trim_start_matches(':').trim_start();
        Ok(text)
    };
    let key = string()?;
    if keys::NAME.contains(&key) { string() } else { Err(Sibling::No) }
}
