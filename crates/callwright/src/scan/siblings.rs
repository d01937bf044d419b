//! Searches the place behind an element of a list, or of lines of calls, for a call of a declared tool. Beside such a
//! call, each element of its form is a call: a name that no tool has is refused there, and not text.

use std::borrow::Cow;

use callwright_json::{is_arguments, strict};

use super::Scanner;
use super::brackets::BracketMatcher;
use super::opener::{Opener, Sort};
use crate::shape;
use crate::syntax::Incomplete;
use crate::tools::names::{Names, leading_name};

/// Most bytes behind an unknown name that are searched for a declared tool's name.
const REACH: usize = 1 << 10;

impl Scanner<'_> {
    /// Returns whether a call of a declared tool stands beside the element of `opener`, which ends at `end`.
    pub(super) fn sibling(&self, opener: &Opener, end: usize, is_last: bool) -> Result<bool, Incomplete> {
        let is_value = opener.item.sort == Sort::Value;
        match behind(&self.text, end, is_value, &self.names) {
            Err(Incomplete) if is_last || REACH < self.text.len() - end => Ok(false),
            sibling => sibling,
        }
    }

    /// Returns whether `opener` follows a call of its form.
    pub(super) fn goes_on(&self, opener: &Opener) -> bool {
        let is_alike = self.markup.inside.as_ref().is_some_and(|last| last.name == opener.dialect.name);
        is_alike && !opener.is_fenced() && self.follows_call(opener.start)
    }

    /// Returns whether words follow on the line of the element that ends at `end`: `main() starts it.`
    pub(super) fn is_before_words(&self, end: usize) -> bool {
        let rest = self.text.get(end..).unwrap_or("");
        rest.trim_start_matches(' ').starts_with(char::is_alphanumeric)
    }

    /// Returns whether the element at `at` follows a call, with a comma, a semicolon or a line break between them.
    pub(super) fn follows_call(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or("");
        let solid = before.trim_end();
        let is_apart =
            solid.ends_with([',', ';']) || before.get(solid.len()..).is_some_and(|gap| gap.contains('\n'));
        is_apart && self.markup.inside.is_some() && self.is_behind_call(at)
    }

    /// Returns whether nothing but blanks stands between the last call, with what closes it, and `at`.
    pub(super) fn is_behind_call(&self, at: usize) -> bool {
        self.text.get(self.markup.last_call_end..at).is_some_and(|gap| gap.trim().is_empty())
    }
}

/// Returns whether a call of a declared tool stands behind `at`, with nothing between them but elements of its form:
/// objects with a name, or call expressions.
fn behind(text: &str, mut at: usize, is_value: bool, names: &Names<'_>) -> Result<bool, Incomplete> {
    let is_separator = |c: char| c.is_whitespace() || matches!(c, ',' | ';');
    let from = at;
    while at - from <= REACH {
        let rest = text.get(at..).unwrap_or("");
        let element = rest.trim_start_matches(is_separator);
        let gap = &rest[..rest.len() - element.len()];
        let word = leading_name(element);
        let (begin, open) = (at + gap.len(), at + gap.len() + word.len());
        let bracket = *text.as_bytes().get(open).ok_or(Incomplete)?;
        let is_alike = word.is_empty() == is_value && bracket == if is_value { b'{' } else { b'(' };
        if !is_alike || !gap.contains([',', ';', '\n']) {
            return Ok(false);
        }
        if names.resolve(word).is_some() {
            return Ok(true);
        }
        at = BracketMatcher::new(open).advance(text.as_bytes(), false)?;
        let element = text.get(begin..at).unwrap_or("");
        let tree = strict(element).ok();
        let name = match &tree {
            Some(tree) => shape::name_of(tree.root(element)),
            None => is_arguments(text, open).then_some(Cow::Borrowed(word)),
        };
        match name {
            Some(name) if names.resolve(&name).is_none() => {}
            name => return Ok(name.is_some()),
        }
    }
    Ok(false)
}
