//! The end of one value: the first closing tag of its own that is followed by what may follow an argument. Where it could
//! as well end elsewhere, that is noted.

use std::slice;

use callwright_json::Span;

use super::json::Brackets;
use super::{Ending, Keys, MAX_KEY, Param, State, Step, Style, Walk, behind_space, is_open_space};
use crate::dialect::Typing;
use crate::payload::tag::{Lexed, Role, Tag};

/// How often a value's end may be looked for in vain up to the end of the text.
const MAX_RETURNS: usize = 8;

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) key: Span,
    pub(super) typing: Typing,
    pub(super) from: usize,
    /// The first closing tag of the call in it: there it ends if no closing tag of its own comes.
    closer: Option<usize>,
    /// The place behind the last one.
    behind_closer: usize,
    /// Another call began behind that.
    torn: bool,
    /// A call or a group began in it.
    opened: bool,
    /// How many of them have not ended.
    n_open: Begun,
    opener: Opener,
    /// How many arguments began in it that have not ended.
    nested: usize,
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
                        self.doubtful |= open.torn && open.n_open.is_any()
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
                // `<a><a>x</a>`, `<arg_value><arg_value>x</arg_value>`: one of both is too many.
                let is_same = tag.role == Role::Value || self.is_same(text, &open, &tag);
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
        if let Some((at, behind)) = open.first {
            self.n_returns += 1;
            self.doubtful |= open.torn || open.is_new || open.is_followed || MAX_RETURNS <= self.n_returns;
            self.close(open, at, behind);
            return Step::On;
        }
        // Only its own closing tag is missing, if nothing but closing tags is left.
        match open.closer {
            Some(closer) if self.only_closers(text, closer) => {
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
            _ => {
                self.at = text.len();
                self.state = State::Value(open);
                Step::Ended(text.len(), Ending::Cut)
            }
        }
    }

    /// The tag at `at` in a value.
    pub(super) fn tag_in(&self, text: &str, at: usize, open: &Open, keys: &dyn Keys) -> Lexed {
        let own =
            keys.odd_keys().iter().find(|key| *key == open.key.of(text)).map_or(&[][..], slice::from_ref);
        let odd = [true, false].map(|closing| self.odd_at(text, at, closing, own));
        odd.into_iter().find(|odd| *odd != Lexed::No).unwrap_or_else(|| self.lexer.tag_at(text, at))
    }

    pub(super) fn close(&mut self, open: Open, end: usize, behind: usize) {
        self.params.push(open.param(end));
        self.state = State::Between;
        self.at = behind;
    }

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

    /// Does `tag` open the argument that is open?
    fn is_same(&self, text: &str, open: &Open, tag: &Tag) -> bool {
        let key = if self.style == Style::Words { tag.key } else { Some(tag.word) };
        key.is_some_and(|key| key.of(text) == open.key.of(text))
    }

    /// Does `tag` open an element in a value that is an argument if the value's own closing tag is missing?
    fn may_be_next(&self, text: &str, open: &Open, tag: &Tag, keys: &dyn Keys) -> bool {
        let word = tag.word.of(text);
        self.style != Style::Words
            && open.nested == 0
            && keys.declares(word)
            && self.is_element(text, tag, keys)
            && self.is_new(text, open, word)
    }

    /// Has `key` no value yet?
    fn is_new(&self, text: &str, open: &Open, key: &str) -> bool {
        key != open.key.of(text) && self.params.iter().all(|param| param.key.of(text) != key)
    }

    /// The key between `<arg_key>`, which is `tag`, and the tag behind it, `""` where none may be meant; `None` asks for
    /// more text.
    fn key_of<'t>(&self, text: &'t str, tag: &Tag) -> Option<&'t str> {
        let rest = text.get(tag.at.end as usize..)?;
        match rest.bytes().take(MAX_KEY).position(|byte| byte == b'<') {
            Some(len) => rest.get(..len).map(str::trim),
            None => (MAX_KEY <= rest.len()).then_some(""),
        }
    }

    /// Does `tag` close an element around the arguments, `</parameters>`, `</f>`, or open another right behind it?
    fn is_around(&self, text: &str, open: &Open, tag: &Tag, keys: &dyn Keys) -> bool {
        let word = tag.word.of(text);
        let is_next =
            || open.closer.is_some() && behind_space(text, open.behind_closer) == tag.at.start as usize;
        self.style != Style::Words
            && match tag.closing {
                true => keys.is_name(word) || keys.holds_arguments(word),
                false => is_next(),
            }
    }

    /// Does `tag` begin an argument inside a value, whose closing tag will look like the value's own?
    fn nests(&self, text: &str, open: &Open, tag: &Tag) -> bool {
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

    /// Is what stands behind a closing tag what may stand behind an argument? `None` asks for more text.
    pub(super) fn follows(&self, text: &str, from: usize, keys: &dyn Keys, end: bool) -> Option<bool> {
        let at = behind_space(text, from);
        if at == text.len() || is_open_space(text, at) {
            return if end { Some(true) } else { None };
        }
        match self.opener_at(text, at, keys) {
            Lexed::Grows if end => Some(self.lexer.is_closer_begun(text, at)),
            Lexed::Grows => None,
            Lexed::No => Some(false),
            Lexed::Tag(tag) => Some(match self.style {
                Style::Words => match tag.role {
                    Role::Param | Role::Key => !tag.closing,
                    Role::Call | Role::Group | Role::Token => true,
                    // `<arguments><param name="a">x</param></arguments>`
                    Role::Other => tag.closing && keys.holds_arguments(tag.word.of(text)),
                    Role::Type | Role::Value | Role::Separator => false,
                },
                Style::Over => false,
                Style::Elements { .. } => {
                    let word = tag.word.of(text);
                    let is_end = matches!(tag.role, Role::Call | Role::Group)
                        || keys.is_name(word)
                        || keys.holds_arguments(word);
                    self.is_element(text, &tag, keys) || tag.closing && is_end
                }
            }),
        }
    }

    /// Does `tag` open the next argument, though the value before it is not closed? Only on a line of its own, and
    /// for a declared key that has no value yet.
    fn begins_next(&self, text: &str, open: &Open, tag: &Tag, keys: &dyn Keys) -> bool {
        let Some(key) = tag.key.map(|key| key.of(text)) else { return false };
        let before = text.get(..tag.at.start as usize).unwrap_or("").trim_end_matches([' ', '\t']);
        self.style == Style::Words
            && tag.role == Role::Param
            && !tag.closing
            && before.ends_with('\n')
            && self.is_new(text, open, key)
            && keys.declares(key)
    }

    /// The place behind the first byte of what began at `at` and is no tag that matters. A mark before a tag and the tag,
    /// and the tokens around one, are looked at once.
    pub(super) fn past(&self, text: &str, at: usize) -> usize {
        match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) if tag.marked || tag.by_tokens => tag.at.end as usize,
            Lexed::Tag(_) | Lexed::Grows | Lexed::No => at + 1,
        }
    }

    /// Does a whole call stand between `from` and `at`, and nothing of another?
    fn holds_a_call(&self, text: &str, from: usize, at: usize) -> bool {
        let mut open: Vec<Role> = Vec::new();
        let (mut next, mut has_call) = (from, false);
        while let Some(place) = self.lexer.next(text, next).filter(|place| *place < at) {
            next = self.past(text, place);
            let Lexed::Tag(tag) = self.lexer.tag_at(text, place) else { continue };
            match tag.role {
                Role::Call | Role::Group | Role::Param | Role::Key | Role::Value if !tag.closing => {
                    open.push(tag.role);
                }
                Role::Call | Role::Group | Role::Param | Role::Key | Role::Value => {
                    if open.pop() != Some(tag.role) {
                        return false;
                    }
                    has_call |= open.is_empty() && matches!(tag.role, Role::Call | Role::Group);
                }
                Role::Type | Role::Separator | Role::Token | Role::Other => {}
            }
        }
        has_call && open.is_empty()
    }

    /// Is there nothing but closing tags from `at` on?
    fn only_closers(&self, text: &str, at: usize) -> bool {
        let mut at = at;
        loop {
            at = behind_space(text, at);
            match self.lexer.tag_at(text, at) {
                Lexed::Tag(tag) if tag.closing => at = tag.at.end as usize,
                Lexed::Grows => return self.lexer.is_closer_begun(text, at),
                Lexed::Tag(_) | Lexed::No => return at == text.len(),
            }
        }
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
