//! Marks that stand one behind the other in a text.

use std::ops::Deref;

use super::fold;
use super::form::{NAME, marks};
use crate::syntax::marks::first_of;
use crate::syntax::{Seen, blanks};

/// One mark or several, with any blanks between them: `</arg_key>⏎<arg_value>`. `{}` in it stands for a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sequence {
    whole: String,
    marks: Vec<String>,
    is_named: bool,
}

/// Most white space between two marks.
const MAX_SPACE: usize = 256;

impl Deref for Sequence {
    type Target = str;

    fn deref(&self) -> &str {
        &self.whole
    }
}

impl Sequence {
    /// Compiles `whole`, a text of a template.
    pub(crate) fn new(whole: &str) -> Sequence {
        let marks = marks(whole).map(str::to_owned).collect();
        Sequence { whole: whole.to_owned(), marks, is_named: whole.contains(NAME) }
    }

    /// Returns the place behind the marks at `from` of `text`. `name` fills their slot, and a tag may have this
    /// `namespace`.
    pub(crate) fn at(&self, text: &str, from: usize, name: &str, namespace: &str) -> Seen<usize> {
        if self.is_named {
            return Sequence::new(&self.whole.replace(NAME, name)).at(text, from, name, namespace);
        }
        let mut at = from;
        for mark in &self.marks {
            if from < at {
                at = behind_blanks(text, at);
            }
            match fold::mark_at(text.get(at..).unwrap_or(""), mark, namespace)? {
                Some(len) => at += len,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// Returns the place behind the first mark of the sequence that stands at `from`.
    pub(crate) fn part_at(&self, text: &str, from: usize) -> Seen<usize> {
        let rest = text.get(from..).unwrap_or("");
        first_of(self.marks.iter().map(|mark| fold::mark_at(rest, mark, ""))).map(|len| Some(from + len?))
    }

    /// Returns the first letter.
    pub(crate) fn first(&self) -> char {
        self.whole.chars().next().unwrap_or_default()
    }
}

/// Returns the place behind the blanks at `from`; line breaks written as `\\n` are blanks. A backslash at the end of
/// the text may become one.
pub(crate) fn behind_blanks(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        at += blanks(text, at, MAX_SPACE);
        match text.as_bytes().get(at..) {
            Some([b'\\', b'n' | b'r' | b't', ..]) if at - from < MAX_SPACE => at += 2,
            Some([b'\\']) => return text.len(),
            _ => return at,
        }
    }
}
