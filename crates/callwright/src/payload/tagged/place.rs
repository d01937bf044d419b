//! What a tag in a value, or behind it, is to that value.

use super::value::Open;
use super::{Next, Style, View, Walk};
use crate::syntax::Incomplete;
use crate::syntax::tag::{Role, Tag};

impl Walk {
    /// May `tag` be the closing tag of the value?
    pub(super) fn closes(&self, text: &str, open: &Open, tag: &Tag) -> bool {
        tag.closing
            && match self.style {
                Style::Words => matches!(tag.role, Role::Param | Role::Value),
                Style::Over => false,
                Style::Elements { marked } => {
                    tag.marked == marked && tag.word.of(text).eq_ignore_ascii_case(open.key.of(text))
                }
            }
    }

    /// Returns whether `tag` opens an argument inside a value, whose closing tag will look like the value's own.
    pub(super) fn nests(&self, text: &str, open: &Open, tag: &Tag) -> bool {
        !tag.closing
            && match self.style {
                Style::Words => {
                    let is_key = |key: &str| !key.is_empty() && !key.contains(char::is_whitespace);
                    // Marks of a caller's own may be any characters, which a text holds by chance.
                    let is_tag = tag.at.of(text).starts_with(['<', ']']);
                    let has_key = is_tag && tag.key.is_some_and(|key| is_key(key.of(text)));
                    tag.role == Role::Value || tag.role == Role::Param && has_key
                }
                Style::Over => false,
                Style::Elements { marked } => tag.marked == marked && tag.word.of(text) == open.key.of(text),
            }
    }

    /// Is what stands behind a closing tag what may stand behind an argument?
    pub(super) fn follows(&self, view: View<'_>, from: usize) -> Result<bool, Incomplete> {
        let (at, next) = self.next(view, from)?;
        let tag = match next {
            Next::Tag(tag) => tag,
            Next::Begun => return Ok(at == view.text.len() || self.lexer.is_closer_begun(view.text, at)),
            Next::End => return Ok(true),
            Next::Other => return Ok(false),
        };
        let word = tag.word.of(view.text);
        Ok(match self.style {
            Style::Words => match tag.role {
                Role::Param | Role::Key => !tag.closing,
                Role::Call | Role::Group | Role::Token => true,
                // `<arguments><param name="a">x</param></arguments>`
                Role::Other => tag.closing && view.holds_arguments(word),
                Role::Value | Role::Separator => false,
            },
            Style::Over => false,
            Style::Elements { .. } => {
                let is_end = matches!(tag.role, Role::Call | Role::Group)
                    || view.is_name(word)
                    || view.holds_arguments(word);
                self.is_element(view, &tag) || tag.closing && is_end
            }
        })
    }

    /// The place behind the first byte of what began at `at` and is no tag that matters. A mark before a tag and the tag,
    /// and the tokens around one, are looked at once.
    pub(super) fn past(&self, text: &str, at: usize) -> usize {
        match self.lexer.tag_at(text, at) {
            Ok(Some(tag)) if tag.marked || tag.by_tokens => tag.at.end as usize,
            _ => at + 1,
        }
    }
}
