//! The end of one value: the first closing tag of its own that is followed by what may follow an argument. An opener of its own
//! kind in front of that leaves open where it ends.

use std::slice;

use callwright_json::Span;

use super::json::Brackets;
use super::{End, Ending, Param, State, View, Walk, ends};
use crate::syntax::tag::{Role, Tag};
use crate::syntax::{Incomplete, Seen, Typing};

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    pub(super) key: Span,
    pub(super) typing: Typing,
    pub(super) from: usize,
    /// It was opened by tokens of a vocabulary.
    is_of_tokens: bool,
    /// Where such tokens open another call in it.
    next_call: Option<usize>,
}

impl Open {
    /// The value of `key` that begins at `from`.
    pub(super) fn new(key: Span, typing: Typing, from: usize) -> Open {
        Open { key, typing, from, ..Open::default() }
    }

    /// The argument with this value, which ends at `end`.
    pub(super) fn param(&self, end: usize) -> Param {
        Param {
            key: self.key,
            typing: self.typing,
            value: Span::new(self.from, end),
            is_of_tokens: self.is_of_tokens,
        }
    }
}

impl Walk {
    /// Enters the value that begins here.
    pub(super) fn open(&mut self, key: Span, typing: Typing, is_of_tokens: bool) {
        let open = Open { is_of_tokens, ..Open::new(key, typing, self.at) };
        self.state = State::Brackets(open, Brackets::new(self.at));
    }

    /// Looks for the end of a value; `self.at` is how far that was done.
    pub(super) fn value(&mut self, view: View<'_>, mut open: Open) -> Seen<End> {
        let View { text, end, .. } = view;
        while let Some(at) = self.lexer.next(text, self.at) {
            let tag = match self.tag_in(view, at, &open) {
                Err(Incomplete) if !end => return self.waits_at(at, open),
                tag => tag.ok().flatten(),
            };
            if let Some(tag) = tag {
                if self.closes(text, &open, &tag) {
                    match self.follows(view, tag.at.end as usize) {
                        Err(Incomplete) => return self.waits_at(at, open),
                        Ok(true) => {
                            self.close(open, at, tag.at.end as usize);
                            return Ok(None);
                        }
                        Ok(false) => {}
                    }
                }
                if open.is_of_tokens && !tag.closing && matches!(tag.role, Role::Call | Role::Group) {
                    open.next_call = open.next_call.or(Some(at));
                }
                self.is_doubtful |= self.nests(text, &open, &tag);
            }
            self.at = self.past(text, at);
        }
        if !end {
            return self.waits_at(text.len(), open);
        }
        self.at = text.len();
        self.state = State::Value(open);
        // No text spells tokens by chance: behind a value that nothing closes the next call begins.
        ends(open.next_call.unwrap_or(text.len()), Ending::Cut)
    }

    /// The tag at `at` in a value.
    pub(super) fn tag_in(&self, view: View<'_>, at: usize, open: &Open) -> Seen<Tag> {
        let text = view.text;
        let own =
            view.odd_keys().iter().find(|key| *key == open.key.of(text)).map_or(&[][..], slice::from_ref);
        for is_closing in [true, false] {
            if let Some(tag) = self.odd_at(text, at, is_closing, own)? {
                return Ok(Some(tag));
            }
        }
        self.lexer.tag_at(text, at)
    }

    /// More text must tell what stands at `at` in the value.
    fn waits_at(&mut self, at: usize, open: Open) -> Seen<End> {
        self.at = at;
        self.state = State::Value(open);
        Err(Incomplete)
    }

    /// Ends the value at `end`; the call goes on at `behind`.
    pub(super) fn close(&mut self, open: Open, end: usize, behind: usize) {
        self.params.push(open.param(end));
        self.state = State::Between;
        self.at = behind;
    }
}
