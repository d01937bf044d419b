//! Which tags are read: those of all built-in dialects, or those of one of the caller's own.

use std::sync::Arc;

use super::tag::{self, Tag};
use crate::dialect::own::Markup;
use crate::syntax::Seen;

/// Reads tags.
#[derive(Clone, Debug)]
pub(crate) enum Lexer {
    /// The tags of all built-in dialects.
    Known,
    /// The tags of one of the caller's own dialects.
    Own {
        markup: Arc<Markup>,
        /// Will no more text come?
        end: bool,
    },
}

impl Lexer {
    /// For a dialect with this markup, if it has one of its own.
    pub(crate) fn of(markup: Option<&Arc<Markup>>) -> Lexer {
        markup.map_or(Lexer::Known, |markup| Lexer::Own { markup: Arc::clone(markup), end: false })
    }

    /// Takes note whether more text will come.
    pub(crate) fn ends(&mut self, is_end: bool) {
        match self {
            Lexer::Known => {}
            Lexer::Own { end, .. } => *end = is_end,
        }
    }

    /// The tag that begins at `from`.
    pub(crate) fn tag_at(&self, text: &str, from: usize) -> Seen<Tag> {
        match self {
            Lexer::Known => tag::tag_at(text, from),
            Lexer::Own { markup, end } => markup.tag_at(text, from, *end),
        }
    }

    /// Where the next tag may begin.
    pub(crate) fn next(&self, text: &str, from: usize) -> Option<usize> {
        match self {
            Lexer::Known => tag::next(text, from),
            Lexer::Own { markup, .. } => markup.next(text, from),
        }
    }

    /// Does a closing tag begin at `at`, where the text ends inside a tag?
    pub(crate) fn is_closer_begun(&self, text: &str, at: usize) -> bool {
        let rest = text.get(at..).unwrap_or("");
        let rest = rest.strip_prefix("]<]minimax[>[").unwrap_or(rest);
        match self {
            Lexer::Known => ["</", "<|close|>"].iter().any(|start| rest.starts_with(start)),
            Lexer::Own { markup, .. } => markup.is_closer_begun(text, at),
        }
    }
}
