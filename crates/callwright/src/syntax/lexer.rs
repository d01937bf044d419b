//! Which tags are read: those of all built-in dialects, or those of one of the caller's own.

use std::sync::Arc;

use super::tag::{self, Tag};
use crate::dialect::own::Markup;
use crate::syntax::Seen;

/// Reads tags.
#[derive(Clone, Debug)]
pub(crate) struct Lexer {
    /// The markup of one of the caller's own dialects; without it, the tags of all built-in dialects are read.
    pub(crate) own: Option<Arc<Markup>>,
    /// Will no more text come?
    pub(crate) end: bool,
}

impl Lexer {
    /// The tag that begins at `from`.
    pub(crate) fn tag_at(&self, text: &str, from: usize) -> Seen<Tag> {
        match &self.own {
            None => tag::tag_at(text, from),
            Some(markup) => markup.tag_at(text, from, self.end),
        }
    }

    /// Where the next tag may begin.
    pub(crate) fn next(&self, text: &str, from: usize) -> Option<usize> {
        match &self.own {
            None => tag::next(text, from),
            Some(markup) => markup.next(text, from),
        }
    }

    /// Does a closing tag begin at `at`, where the text ends inside a tag?
    pub(crate) fn is_closer_begun(&self, text: &str, at: usize) -> bool {
        let rest = text.get(at..).unwrap_or("");
        let rest = rest.strip_prefix(tag::MINIMAX).unwrap_or(rest);
        match &self.own {
            None => ["</", "<|close|>"].iter().any(|start| rest.starts_with(start)),
            Some(markup) => markup.is_closer_begun(text, at),
        }
    }
}
