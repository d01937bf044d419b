//! The end of one value: the first closing tag of its own that is followed by what may follow an argument. Where it could
//! as well end elsewhere, that is noted.

use std::slice;

use callwright_json::Span;

use super::json::Brackets;
use super::{Ending, Keys, Param, State, Step, Style, Walk, behind_space};
use crate::payload::may_pass;
use crate::syntax::Typing;
use crate::syntax::tag::{Lexed, Role, Tag};

/// How often a value's end may be looked for in vain up to the end of the text.
const MAX_RETURNS: usize = 8;

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) key: Span,
    pub(super) typing: Typing,
    pub(super) from: usize,
    /// The first closing tag of the call in it: there it ends if no closing tag of its own comes.
    pub(super) closer: Option<usize>,
    /// The place behind the last one.
    pub(super) behind_closer: usize,
    /// Another call began behind that.
    torn: bool,
    /// A call or a group began in it.
    opened: bool,
    /// How many of them have not ended.
    n_open: Begun,
    opener: Opener,
    /// How many arguments began in it that have not ended.
    pub(super) nested: usize,
    /// The key of one is declared and has no value yet.
    is_new: bool,
    /// The first closing tag that may be one of theirs, and the place behind it.
    first: Option<(usize, usize)>,
    /// Another one began behind that.
    is_followed: bool,
    /// Its last closing tag that nothing fitting followed.
    rejected: Option<Span>,
    /// Where the first element begins in it that may be the next argument.
    next: Option<usize>,
    /// A key began in it.
    keyed: bool,
    /// The first tag in it that leaves open where it ends.
    doubt: Option<usize>,
    /// Nothing was in doubt before it.
    is_clear: bool,
    /// It ended behind its last bracket.
    pub(super) is_json: bool,
    /// Closing tags of arguments stand in it.
    holds_closers: bool,
}

/// What opened a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opener {
    /// It ended the argument before it, which nothing had closed.
    pub(super) after_open: bool,
    /// See [`Param::is_of_tokens`].
    pub(super) is_of_tokens: bool,
}

/// How many calls and groups are open.
#[derive(Clone, Copy, Debug, Default)]
struct Begun {
    calls: usize,
    groups: usize,
}

impl Begun {
    fn is_any(&self) -> bool {
        self.calls != 0 || self.groups != 0
    }

    fn of(&mut self, role: Role) -> Option<&mut usize> {
        match role {
            Role::Call => Some(&mut self.calls),
            Role::Group => Some(&mut self.groups),
            _ => None,
        }
    }

    fn open(&mut self, role: Role) {
        if let Some(n) = self.of(role) {
            *n += 1;
        }
    }

    /// Closes one; `false` where none of them is open.
    fn close(&mut self, role: Role) -> bool {
        let n = self.of(role).filter(|n| **n != 0);
        n.map(|n| *n -= 1).is_some()
    }
}

impl Open {
    /// Takes note of a tag at `at`, if that `leaves_open` where the value ends.
    fn doubts(&mut self, at: usize, leaves_open: bool) {
        if leaves_open {
            self.doubt = self.doubt.or(Some(at));
        }
    }

    /// Does the value look as if it ended at `at`: on a line of its own where it began on one, else right behind the text?
    fn may_end(&self, text: &str, at: usize) -> bool {
        let value = text.get(self.from..at).unwrap_or("");
        match value.starts_with(['\r', '\n']) {
            true => value.trim_end_matches([' ', '\t']).ends_with('\n'),
            false => !value.ends_with(char::is_whitespace),
        }
    }

    pub(super) fn param(&self, end: usize) -> Param {
        let certain = self.is_clear.then(|| self.doubt.map_or(end, |doubt| doubt.min(end)));
        let value = Span::new(self.from, end);
        Param {
            key: self.key,
            typing: self.typing,
            value,
            certain,
            tail: self.rejected.map(|tag| tag.end as usize),
            is_json: self.is_json,
            holds_closers: self.holds_closers,
            is_of_tokens: self.opener.is_of_tokens,
        }
    }
}

impl Walk {
    /// Enters the value that begins here.
    pub(super) fn open(&mut self, key: Span, typing: Typing, opener: Opener) {
        let from = self.at;
        let open = Open {
            key,
            typing,
            from,
            closer: None,
            behind_closer: from,
            torn: false,
            opened: false,
            n_open: Begun::default(),
            opener,
            nested: 0,
            is_new: false,
            first: None,
            is_followed: false,
            rejected: None,
            next: None,
            keyed: false,
            doubt: None,
            is_clear: !self.doubtful,
            is_json: false,
            holds_closers: false,
        };
        self.state = State::Brackets(open, Brackets::new(from));
    }

    /// Looks for the end of a value; `self.at` is how far that was done.
    pub(super) fn value(&mut self, text: &str, mut open: Open, keys: &dyn Keys, end: bool) -> Step {
        while let Some(at) = self.lexer.next(text, self.at) {
            let tag = match self.tag_in(text, at, &open, keys) {
                Lexed::Tag(tag) => tag,
                Lexed::Grows if !end => {
                    self.at = at;
                    self.state = State::Value(open);
                    return Step::Wait;
                }
                Lexed::Grows | Lexed::No => {
                    open.doubts(at, is_drifted(text, at));
                    self.at = self.past(text, at);
                    continue;
                }
            };
            open.doubts(at, is_drifted(text, at));
            if self.closes(text, &open, &tag) {
                match self.follows(text, tag.at.end as usize, keys, end) {
                    None => {
                        self.at = at;
                        self.state = State::Value(open);
                        return Step::Wait;
                    }
                    // The text may hold a call with its closing tags; what is behind them tells.
                    Some(fits) if 0 < open.nested => {
                        open.nested -= 1;
                        open.holds_closers = true;
                        if fits {
                            open.first = open.first.or(Some((at, tag.at.end as usize)));
                        }
                    }
                    Some(true) => {
                        let is_doubled = open.rejected.is_some_and(|tag| {
                            behind_space(text, tag.end as usize) == at
                                && open.may_end(text, tag.start as usize)
                        });
                        // Tags with a mark of their own stand in no text: an element of that name was in it.
                        let is_marked = self.style == Style::Elements { marked: true };
                        let is_torn = open.first.is_some() && !is_marked || open.is_new;
                        // `x </f><f> y</a></f>`: without an argument in it that is no other call.
                        let holds_another = open.holds_closers || open.keyed || open.next.is_some();
                        self.doubtful |= open.torn && open.n_open.is_any() && holds_another
                            || is_doubled
                            || is_torn && !self.holds_a_call(text, open.from, at);
                        self.close(open, at, tag.at.end as usize);
                        return Step::On;
                    }
                    // Its opening tag ended another value, so the text may as well be that one's.
                    Some(false) => {
                        // `</parameter=b>3</parameter>`: was another argument meant?
                        self.doubtful |= open.opener.after_open || tag.key.is_some();
                        open.doubts(at, true);
                        open.rejected = Some(tag.at);
                        open.holds_closers = true;
                    }
                }
            } else if tag.role == Role::Key && self.style == Style::Words {
                match self.key_of(text, &tag) {
                    None if !end => {
                        self.at = at;
                        self.state = State::Value(open);
                        return Step::Wait;
                    }
                    // `x⏎<arg_key>b</arg_key>` without the value's closing tag, or a text that has such tags.
                    Some(key) if !tag.closing && self.is_new(text, &open, key) && keys.declares(key) => {
                        open.doubts(at, true);
                        open.keyed = true;
                        open.is_new = true;
                    }
                    // `xb</arg_key><arg_value>`: a value and the next key in one.
                    _ => {
                        open.doubts(at, true);
                        self.doubtful |= open.rejected.is_some() || tag.closing && !open.keyed;
                        open.keyed |= !tag.closing;
                    }
                }
            } else if self.begins_next(text, &open, &tag, keys) {
                // It has a closing tag, then, which did not end it.
                self.doubtful |= open.rejected.is_some() || open.is_new || open.torn || open.n_open.is_any();
                let value = text.get(open.from..without_drifted(text, open.from, at)).unwrap_or("");
                self.doubtful |= ends_with_torn_closer(value);
                self.close(open, open.from + without_layout(value).len(), tag.at.end as usize);
                self.at = tag.at.end as usize;
                if let Some(key) = tag.key {
                    self.open(
                        key,
                        tag.typing,
                        Opener { after_open: true, is_of_tokens: tag.is_of_tokens(text) },
                    );
                }
                return Step::On;
            } else if matches!(tag.role, Role::Call | Role::Group)
                || is_last(&tag)
                || self.is_around(text, &open, &tag, keys)
            {
                open.doubts(at, tag.closing);
                match tag.closing {
                    true if open.n_open.close(tag.role) => {}
                    true => {
                        open.closer = open.closer.or(Some(at));
                        open.behind_closer = tag.at.end as usize;
                    }
                    false => {
                        open.n_open.open(tag.role);
                        open.opened = true;
                        open.torn |= open.closer.is_some();
                    }
                }
            } else if self.nests(text, &open, &tag) {
                // `<a><a>x</a>`, `<arg_value><arg_value>x</arg_value>`: one of both is too many, but where an object may have
                // a member of the same name.
                let is_same = tag.role == Role::Value || self.is_same(text, &open, &tag);
                let is_same = is_same && !keys.takes_brackets(open.key.of(text));
                self.doubtful |= behind_space(text, open.from) == at && is_same;
                // Behind what looks like its end, `x</a></f> <f><a>y</a>`, it may as well be another call's.
                self.doubtful |= open.rejected.is_some() || open.closer.is_some();
                open.is_followed |= open.first.is_some();
                open.doubts(at, true);
                open.nested += 1;
                // Was the value before it not closed, or does it speak of an argument?
                let key = tag.key.map_or("", |key| key.of(text));
                let is_new = self.params.iter().all(|param| param.key.of(text) != key);
                open.is_new |= key != open.key.of(text) && is_new && keys.declares(key);
            }
            // `x<parameter>`: a closing tag without its stroke?
            if tag.role == Role::Param && !tag.closing && tag.key.is_none() && self.style == Style::Words {
                open.doubts(at, true);
                open.rejected = Some(tag.at);
            }
            if open.next.is_none() && self.may_be_next(text, &open, &tag, keys) {
                open.doubts(at, true);
                open.next = Some(at);
            }
            self.at = self.past(text, at);
        }
        if !end {
            self.at = text.len();
            self.state = State::Value(open);
            return Step::Wait;
        }
        // What began in the value never ended: it was only spoken of.
        if let Some((at, behind)) = open.first
            && self.may_return(text, behind)
        {
            self.n_returns += 1;
            self.doubtful |= open.torn || open.is_new || open.is_followed || MAX_RETURNS <= self.n_returns;
            self.close(open, at, behind);
            return Step::On;
        }
        // Only its own closing tag is missing, if nothing but closing tags is left.
        match open.closer {
            Some(closer) if self.only_closers(text, closer) && self.may_return(text, closer) => {
                self.doubtful |=
                    open.torn || open.opened || open.is_new || open.rejected.is_some() || open.nested != 0;
                // Other arguments follow: they begin where the first of them does.
                let closer = open.next.filter(|_| self.n_returns < MAX_RETURNS).unwrap_or(closer);
                self.n_returns += usize::from(open.next.is_some());
                // The blanks in front of it are those of its own line.
                let value = text.get(open.from..closer).unwrap_or("");
                self.doubtful |= match self.style {
                    Style::Words => ends_with_torn_closer(value),
                    // `<a>x/a>`, `<a>x</a`
                    Style::Elements { .. } | Style::Over => {
                        let value = value.trim_end();
                        let before = value.strip_suffix('>').unwrap_or(value).strip_suffix(open.key.of(text));
                        before.is_some_and(|before| {
                            before.ends_with('/') && (value.ends_with('>') || before.ends_with("</"))
                        })
                    }
                };
                let value = if self.style == Style::Words { without_layout(value) } else { value.trim_end() };
                self.close(open, open.from + value.len(), closer);
                Step::On
            }
            // Tags that no text spells by chance closed it, and another call began.
            Some(closer) if open.torn && open.opener.is_of_tokens && self.may_return(text, closer) => {
                Step::Ended(closer, Ending::Cut)
            }
            _ => {
                self.at = text.len();
                self.state = State::Value(open);
                Step::Ended(text.len(), Ending::Cut)
            }
        }
    }

    /// Goes back to `at` from the end of the text, unless too much was looked at more than once.
    fn may_return(&mut self, text: &str, at: usize) -> bool {
        self.passed += text.len() - at;
        may_pass(self.passed, text.len())
    }

    /// The tag at `at` in a value.
    pub(super) fn tag_in(&self, text: &str, at: usize, open: &Open, keys: &dyn Keys) -> Lexed {
        let own =
            keys.odd_keys().iter().find(|key| *key == open.key.of(text)).map_or(&[][..], slice::from_ref);
        let odd = self.odd_at(text, at, true, own).or_else(|| self.odd_at(text, at, false, own));
        odd.or_else(|| self.lexer.tag_at(text, at))
    }

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

/// The end of the value from `from` on that the next argument ends at `at`: a drifted closing tag at its end is none of its
/// text.
fn without_drifted(text: &str, from: usize, at: usize) -> usize {
    let value = text.get(from..at).unwrap_or("").trim_end();
    let tag = value.rfind("</").filter(|tag| is_drifted(value, *tag));
    let is_last = |tag: &usize| !value.get(*tag..).unwrap_or("").contains(char::is_whitespace);
    let Some(tag) = tag.filter(is_last) else { return at };
    // On a line of its own it takes the line.
    from + value.get(..tag).unwrap_or("").trim_end_matches([' ', '\t']).len()
}

/// Does `value`, which no closing tag of its own ends, end with what is left of one: `x/parameter>`, `x</DSML｜parameter>`?
fn ends_with_torn_closer(value: &str) -> bool {
    let line = value.trim_end().rsplit('\n').next().unwrap_or("");
    line.rfind('/').and_then(|tag| line.get(tag..)).is_some_and(names_an_argument)
}

/// Does `piece` hold the word of an argument's tag?
pub(super) fn names_an_argument(piece: &str) -> bool {
    ["param", "arg_", "argument"].iter().any(|word| piece.contains(word))
}

/// The value that no closing tag of its own ends: where it begins right behind its tag, it ends with its last line.
fn without_layout(value: &str) -> &str {
    let line = value.trim_end_matches([' ', '\t']);
    match value.starts_with(['\r', '\n']) || !line.ends_with('\n') {
        true => value,
        false => line.trim_end(),
    }
}

fn is_last(tag: &Tag) -> bool {
    tag.role == Role::Token
}
