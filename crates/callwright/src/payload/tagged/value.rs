//! The end of one value: the first closing tag of its own that is followed by what may follow an argument. Where it could
//! as well end elsewhere, that is noted.

use std::slice;

use callwright_json::Span;

use super::json::Brackets;
use super::{End, Ending, Param, State, View, Walk, ends};
use crate::payload::may_pass;
use crate::syntax::tag::{Role, Tag};
use crate::syntax::{Incomplete, Seen, Typing};

/// How often a value's end may be looked for in vain up to the end of the text.
const MAX_RETURNS: usize = 8;

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Open {
    pub(super) key: Span,
    pub(super) typing: Typing,
    pub(super) from: usize,
    /// It was opened by tokens of a vocabulary.
    is_of_tokens: bool,
    /// Where such tokens closed the call in it.
    closer: Option<usize>,
    /// Another call began behind that.
    is_torn: bool,
    /// How many arguments began in it that have not ended.
    pub(super) nested: usize,
    /// The first closing tag that may be one of theirs, and the place behind it.
    first: Option<(usize, usize)>,
    /// The first tag in it that leaves open where it ends.
    doubt: Option<usize>,
}

impl Open {
    /// The value of `key` that begins at `from`.
    pub(super) fn new(key: Span, typing: Typing, from: usize) -> Open {
        Open { key, typing, from, ..Open::default() }
    }

    /// Takes note that a tag at `at` leaves open where the value ends.
    fn doubts(&mut self, at: usize) {
        self.doubt = self.doubt.or(Some(at));
    }

    /// The argument with this value, which ends at `end`.
    pub(super) fn param(&self, end: usize) -> Param {
        Param {
            key: self.key,
            typing: self.typing,
            value: Span::new(self.from, end),
            certain: self.doubt.map_or(end, |doubt| doubt.min(end)),
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
                Ok(Some(tag)) => tag,
                Err(Incomplete) if !end => return self.waits_at(at, open),
                Err(Incomplete) | Ok(None) => {
                    if is_drifted(text, at) {
                        open.doubts(at);
                    }
                    self.at = self.past(text, at);
                    continue;
                }
            };
            if open.is_of_tokens && matches!(tag.role, Role::Call | Role::Group) {
                match tag.closing {
                    true => open.closer = open.closer.or(Some(at)),
                    false => open.is_torn |= open.closer.is_some(),
                }
            }
            if self.closes(text, &open, &tag) {
                match self.follows(view, tag.at.end as usize) {
                    Err(Incomplete) => return self.waits_at(at, open),
                    // The text may hold a call with its closing tags; what is behind them tells.
                    Ok(fits) if 0 < open.nested => {
                        open.nested -= 1;
                        if fits {
                            open.first = open.first.or(Some((at, tag.at.end as usize)));
                        }
                    }
                    Ok(true) => {
                        self.close(open, at, tag.at.end as usize);
                        return Ok(None);
                    }
                    Ok(false) => open.doubts(at),
                }
            } else if self.nests(text, &open, &tag) {
                open.doubts(at);
                open.nested += 1;
            } else if tag.role != Role::Other
                || tag.marked
                || self.may_be_next(view, &open, &tag)
                || self.is_around(view, &tag)
            {
                open.doubts(at);
            }
            self.at = self.past(text, at);
        }
        if !end {
            return self.waits_at(text.len(), open);
        }
        // What began in the value never ended: it was only spoken of.
        if let Some((at, behind)) = open.first
            && self.may_return(text, behind)
        {
            self.n_returns += 1;
            self.is_doubtful |= MAX_RETURNS <= self.n_returns;
            self.close(open, at, behind);
            return Ok(None);
        }
        // Tags that no text spells by chance closed its call, and another one began.
        if let Some(closer) = open.closer.filter(|_| open.is_torn)
            && self.may_return(text, closer)
        {
            return ends(closer, Ending::Cut);
        }
        self.at = text.len();
        self.state = State::Value(open);
        ends(text.len(), Ending::Cut)
    }

    /// Goes back to `at` from the end of the text, unless too much was looked at more than once.
    fn may_return(&mut self, text: &str, at: usize) -> bool {
        self.passed += text.len() - at;
        may_pass(self.passed, text.len())
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

/// Does a closing tag begin at `at` that is meant to be an argument's, and is not: `</parameter1>`, `</parameter⏎`?
fn is_drifted(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with("</param"))
}
