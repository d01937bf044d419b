//! The end of one value: the first closing tag of its own that is followed by what may follow an argument. Where it could
//! as well end elsewhere, that is noted.

use std::slice;

use callwright_json::Span;

use super::json::Brackets;
use super::{End, Ending, Param, State, Style, View, Walk, ends};
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
    /// The first closing tag of the call in it: there it ends if no closing tag of its own comes.
    pub(super) closer: Option<usize>,
    /// Another call began behind that.
    torn: bool,
    /// How many calls began in it that have not ended.
    n_calls: usize,
    /// How many groups did.
    n_groups: usize,
    /// It was opened by tokens of a vocabulary.
    is_of_tokens: bool,
    /// How many arguments began in it that have not ended.
    pub(super) nested: usize,
    /// The first closing tag that may be one of theirs, and the place behind it.
    first: Option<(usize, usize)>,
    /// Where the first element begins in it that may be the next argument.
    next: Option<usize>,
    /// The first tag in it that leaves open where it ends.
    doubt: Option<usize>,
    /// It ended behind its last bracket.
    pub(super) is_json: bool,
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

    /// The argument with this value, which ends at `end`; `is_closed` by its own tag.
    pub(super) fn param(&self, end: usize, is_closed: bool) -> Param {
        Param {
            key: self.key,
            typing: self.typing,
            value: Span::new(self.from, end),
            certain: self.doubt.map_or(end, |doubt| doubt.min(end)),
            is_json: self.is_json,
            is_closed,
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
            let is_next = open.next.is_none() && self.may_be_next(view, &open, &tag);
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
                        self.close(open, at, tag.at.end as usize, true);
                        return Ok(None);
                    }
                    Ok(false) => open.doubts(at),
                }
            } else if self.begins_next(view, &open, &tag) {
                let value = text.get(open.from..at).unwrap_or("");
                let end = open.from + without_layout(value).len();
                self.close(open, end, tag.at.end as usize, false);
                if let Some(key) = tag.key {
                    self.open(key, tag.typing, tag.is_of_tokens(text));
                }
                return Ok(None);
            } else if matches!(tag.role, Role::Call | Role::Group | Role::Token) || self.is_around(view, &tag)
            {
                open.doubts(at);
                let n_open = match tag.role {
                    Role::Call => Some(&mut open.n_calls),
                    Role::Group => Some(&mut open.n_groups),
                    Role::Param | Role::Key | Role::Type | Role::Value => None,
                    Role::Separator | Role::Token | Role::Other => None,
                };
                match n_open {
                    Some(n_open) if !tag.closing => *n_open += 1,
                    Some(n_open) if 0 < *n_open => *n_open -= 1,
                    _ if tag.closing => open.closer = open.closer.or(Some(at)),
                    Some(_) | None => {}
                }
                open.torn |= !tag.closing && open.closer.is_some();
            } else if self.nests(text, &open, &tag) {
                open.doubts(at);
                open.nested += 1;
            } else if tag.role != Role::Other || is_drifted(text, at) {
                open.doubts(at);
            }
            if is_next {
                open.doubts(at);
                open.next = Some(at);
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
            self.doubtful |= MAX_RETURNS <= self.n_returns;
            self.close(open, at, behind, false);
            return Ok(None);
        }
        // Only its own closing tag is missing, if nothing but closing tags is left.
        match open.closer {
            Some(closer) if self.only_closers(text, closer) && self.may_return(text, closer) => {
                // Other arguments follow: they begin where the first of them does.
                let closer = open.next.filter(|_| self.n_returns < MAX_RETURNS).unwrap_or(closer);
                self.n_returns += usize::from(open.next.is_some());
                // The blanks in front of it are those of its own line.
                let value = text.get(open.from..closer).unwrap_or("");
                let value = if self.style == Style::Words { without_layout(value) } else { value.trim_end() };
                self.close(open, open.from + value.len(), closer, false);
                Ok(None)
            }
            // Tags that no text spells by chance closed it, and another call began.
            Some(closer) if open.torn && open.is_of_tokens && self.may_return(text, closer) => {
                ends(closer, Ending::Cut)
            }
            _ => {
                self.at = text.len();
                self.state = State::Value(open);
                ends(text.len(), Ending::Cut)
            }
        }
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
    pub(super) fn close(&mut self, open: Open, end: usize, behind: usize, is_closed: bool) {
        self.params.push(open.param(end, is_closed));
        self.state = State::Between;
        self.at = behind;
    }
}

/// Does a closing tag begin at `at` that is meant to be an argument's, and is not: `</parameter1>`, `</parameter⏎`?
fn is_drifted(text: &str, at: usize) -> bool {
    text.get(at..).is_some_and(|rest| rest.starts_with("</param"))
}

/// A value that has no closing tag, without the layout behind it. If it begins on the line of its tag, the line break
/// before the next tag is layout: `<a>x⏎<b>` → `x`. If it begins on a line of its own, it stays as it is.
fn without_layout(value: &str) -> &str {
    let line = value.trim_end_matches([' ', '\t']);
    match value.starts_with(['\r', '\n']) || !line.ends_with('\n') {
        true => value,
        false => line.trim_end(),
    }
}
