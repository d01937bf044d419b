//! Arguments in tags, one raw text each: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`,
//! `<a>x</a>`.
//!
//! A [`Walk`] goes over the text of one call as it arrives and says where it ends and which piece of it is which
//! argument. A raw value may hold anything, its own closing tag included: it ends at the first closing tag that is
//! followed by what may follow an argument. Where a value could as well end elsewhere, the walk says so.

use callwright_json::Span;

use super::lexer::Lexer;
use super::tag::{Lexed, Role, Tag};
use crate::dialect::Typing;
use crate::keys;

/// The most whitespace between two tags.
const MAX_SPACE: usize = 256;
/// The longest key, in bytes, that is looked for inside a value.
const MAX_KEY: usize = 256;
/// How often a value's end may be looked for in vain up to the end of the text.
const MAX_RETURNS: usize = 8;
/// The most arguments of one call.
const MAX_PARAMS: usize = 1024;

/// The tokens that tags stand between.
const INNER_TOKENS: [&str; 3] = ["open", "close", "sep"];

/// How keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// In tags for arguments: `<parameter=a>`, `<arg_key>a</arg_key>`.
    Words,
    /// Each key is a tag of its own: `<a>`.
    Elements {
        /// Only tags with the mark of MiniMax M3 are tags.
        marked: bool,
    },
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) key: Span,
    pub(crate) typing: Typing,
    /// Of one that has not ended, what was looked at.
    pub(crate) value: Span,
    /// Up to here it is text whatever follows; `None` where even its beginning is in doubt.
    pub(crate) certain: Option<usize>,
    /// The place behind the last closing tag in it that did not end it.
    pub(crate) tail: Option<usize>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With a closing tag, or where the next call begins.
    Closed,
    /// The text is over behind a whole argument.
    Bare,
    /// The text is over inside an argument, or before any.
    Cut,
    /// Something stands there that belongs to no call.
    Broken,
}

/// Goes over one call.
#[derive(Debug)]
pub(crate) struct Walk {
    style: Style,
    lexer: Lexer,
    at: usize,
    state: State,
    /// What was read so far.
    pub(crate) params: Vec<Param>,
    /// A value could end at another place as well.
    pub(crate) doubtful: bool,
    /// How often a value was looked for up to the end of the text, in vain.
    n_returns: usize,
    /// Its tags stand between tokens: `<|open|>argument key="a"<|sep|>`.
    by_tokens: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Between arguments.
    Between,
    /// In `<arg_key>`, from here.
    Key(usize),
    /// Behind a key.
    Keyed(Span, Typing),
    /// In a value.
    Value(Open),
    /// Behind the closing tag of the call, which ends at this place.
    Behind(usize),
    /// Text follows on the same line: the closing tag may have been a value's, and another may come.
    Suspect(usize),
}

/// A value that is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Open {
    key: Span,
    typing: Typing,
    from: usize,
    /// The first closing tag of the call in it: there it ends if no closing tag of its own comes.
    closer: Option<usize>,
    /// Another call began behind that.
    torn: bool,
    /// A call or a group began in it.
    opened: bool,
    /// An opening tag of another argument ended the one before it.
    after_open: bool,
    /// How many arguments began in it that have not ended.
    nested: usize,
    /// The first closing tag that may be one of theirs, and the place behind it.
    first: Option<(usize, usize)>,
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
}

/// What the walk came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// More text is needed.
    Open,
    /// The call ends here.
    Ended(usize, Ending),
}

/// What the tool says about keys.
pub(crate) trait Keys {
    /// Does it declare `key`?
    fn declares(&self, key: &str) -> bool;
    /// Is this its own name?
    fn is_name(&self, name: &str) -> bool;
    /// Is this the word of an element that holds all arguments, and no argument?
    fn holds_arguments(&self, word: &str) -> bool {
        keys::is_one_of(keys::ARGUMENTS, word) && !self.declares(word)
    }
}

enum Step {
    On,
    Wait,
    Ended(usize, Ending),
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

    fn param(&self, end: usize) -> Param {
        let certain = self.is_clear.then(|| self.doubt.map_or(end, |doubt| doubt.min(end)));
        let value = Span::new(self.from, end);
        Param {
            key: self.key,
            typing: self.typing,
            value,
            certain,
            tail: self.rejected.map(|tag| tag.end as usize),
        }
    }
}

impl Walk {
    /// For the call whose first argument begins at `from`, with the tags that `lexer` knows.
    pub(crate) fn new(from: usize, style: Style, lexer: Lexer) -> Walk {
        let state = State::Between;
        Walk {
            style,
            lexer,
            at: from,
            state,
            params: Vec::new(),
            doubtful: false,
            n_returns: 0,
            by_tokens: false,
        }
    }

    /// Goes on from where the last call stopped. With `end`, no more text will come.
    pub(crate) fn advance(&mut self, text: &str, keys: &dyn Keys, end: bool) -> Walked {
        self.lexer.ends(end);
        loop {
            let step = match self.state {
                State::Between => self.between(text, keys, end),
                State::Key(from) => self.key(text, from, end),
                State::Keyed(key, typing) => self.keyed(text, key, typing, end),
                State::Value(open) => self.value(text, open, keys, end),
                State::Behind(closed) => self.behind(text, closed, end),
                State::Suspect(closed) => self.suspect(text, closed, end),
            };
            match step {
                Step::On => {}
                Step::Wait => return Walked::Open,
                Step::Ended(at, ending) => return Walked::Ended(at, ending),
            }
        }
    }

    /// The argument that has not ended.
    pub(crate) fn open_param(&self) -> Option<Param> {
        let State::Value(open) = self.state else { return None };
        Some(open.param(self.at.max(open.from)))
    }

    fn between(&mut self, text: &str, keys: &dyn Keys, end: bool) -> Step {
        let at = behind_space(text, self.at);
        let over = if self.params.is_empty() { Ending::Cut } else { Ending::Bare };
        let tag = match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) => tag,
            Lexed::Grows if !end => return Step::Wait,
            // What is left of the last closing tag, or of an argument.
            Lexed::Grows if self.lexer.is_closer_begun(text, at) => return Step::Ended(text.len(), over),
            Lexed::Grows => return Step::Ended(text.len(), Ending::Cut),
            Lexed::No if at == text.len() || is_open_escape(text, at) => {
                return if end { Step::Ended(at, over) } else { Step::Wait };
            }
            Lexed::No => return Step::Ended(at, Ending::Broken),
        };
        self.at = tag.at.end as usize;
        if MAX_PARAMS <= self.params.len() {
            return Step::Ended(at, Ending::Broken);
        }
        match tag.role {
            // The token that ends a tag, once too often.
            Role::Token if tag.word.of(text) == "sep" => {}
            Role::Token if INNER_TOKENS.contains(&tag.word.of(text)) => {
                return Step::Ended(at, Ending::Broken);
            }
            Role::Token => return Step::Ended(at, Ending::Closed),
            Role::Call | Role::Group if tag.closing && self.params.is_empty() => {
                return Step::Ended(self.at, Ending::Closed);
            }
            Role::Call | Role::Group if tag.closing => self.state = State::Behind(self.at),
            Role::Call | Role::Group => return Step::Ended(at, Ending::Closed),
            Role::Separator => {}
            Role::Param if !tag.closing && self.style == Style::Words => match tag.key {
                Some(key) => return self.open_with(&tag, key, tag.typing),
                None => return Step::Ended(at, Ending::Broken),
            },
            Role::Key if !tag.closing && self.style == Style::Words => self.state = State::Key(self.at),
            _ if tag.closing && keys.is_name(tag.word.of(text)) => {
                return Step::Ended(self.at, Ending::Closed);
            }
            // `</parameters></invoke>` behind `<tool_name>f</tool_name><parameters>…`
            _ if tag.closing && keys.holds_arguments(tag.word.of(text)) => {
                return Step::Ended(at, Ending::Closed);
            }
            _ if self.is_element(text, &tag, keys) => {
                return self.open_with(&tag, tag.word, Typing::Schema);
            }
            _ => return Step::Ended(at, Ending::Broken),
        }
        Step::On
    }

    /// Does `tag` open an argument that is named by it?
    fn is_element(&self, text: &str, tag: &Tag, keys: &dyn Keys) -> bool {
        match self.style {
            Style::Words => false,
            Style::Elements { marked } => {
                !tag.closing && tag.marked == marked && (marked || keys.declares(tag.word.of(text)))
            }
        }
    }

    /// Opens the argument that begins with `tag`. One that is empty ends there, too: `<a/>`, `<a value="x"/>`.
    fn open_with(&mut self, tag: &Tag, key: Span, typing: Typing) -> Step {
        self.by_tokens |= tag.by_tokens;
        match (tag.empty, tag.value) {
            (false, None) => self.open(key, typing, false),
            (true, value) => {
                let value = value.unwrap_or(Span::at(self.at));
                let certain = (!self.doubtful).then_some(value.end as usize);
                self.params.push(Param { key, typing, value, certain, tail: None });
            }
            // Which of both is it?
            (false, Some(_)) => return Step::Ended(tag.at.start as usize, Ending::Broken),
        }
        Step::On
    }

    fn open(&mut self, key: Span, typing: Typing, after_open: bool) {
        let from = self.at;
        self.state = State::Value(Open {
            key,
            typing,
            from,
            closer: None,
            torn: false,
            opened: false,
            after_open,
            nested: 0,
            first: None,
            rejected: None,
            next: None,
            keyed: false,
            doubt: None,
            is_clear: !self.doubtful,
        });
    }

    /// `a</arg_key>`
    fn key(&mut self, text: &str, from: usize, end: bool) -> Step {
        let rest = text.get(from..).unwrap_or("");
        let Some(len) = rest.find('<') else {
            return if end { Step::Ended(text.len(), Ending::Cut) } else { Step::Wait };
        };
        match self.lexer.tag_at(text, from + len) {
            Lexed::Tag(tag) if tag.closing && tag.role == Role::Key => {
                let key = rest.get(..len).unwrap_or("");
                let start = from + (key.len() - key.trim_start().len());
                self.state = State::Keyed(Span::new(start, start + key.trim().len()), Typing::Schema);
                self.at = tag.at.end as usize;
                Step::On
            }
            Lexed::Grows if !end => Step::Wait,
            Lexed::Grows => Step::Ended(text.len(), Ending::Cut),
            Lexed::Tag(_) | Lexed::No => Step::Ended(from + len, Ending::Broken),
        }
    }

    /// `<arg_type>…</arg_type><arg_value>`
    fn keyed(&mut self, text: &str, key: Span, typing: Typing, end: bool) -> Step {
        let at = behind_space(text, self.at);
        match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) if tag.role == Role::Value && !tag.closing => {
                self.at = tag.at.end as usize;
                self.open(key, typing, false);
                Step::On
            }
            Lexed::Tag(tag) if tag.role == Role::Type && !tag.closing => {
                let from = tag.at.end as usize;
                let rest = text.get(from..).unwrap_or("");
                match rest.find('<').map(|len| (len, self.lexer.tag_at(text, from + len))) {
                    Some((len, Lexed::Tag(closer))) if closer.closing && closer.role == Role::Type => {
                        let is_text = rest.get(..len).is_some_and(|word| word.trim() == "string");
                        self.at = closer.at.end as usize;
                        let typing = if is_text { Typing::Text } else { Typing::Schema };
                        self.state = State::Keyed(key, typing);
                        Step::On
                    }
                    None | Some((_, Lexed::Grows)) if !end => Step::Wait,
                    _ => Step::Ended(at, if end { Ending::Cut } else { Ending::Broken }),
                }
            }
            Lexed::Grows if !end => Step::Wait,
            Lexed::No if !end && (at == text.len() || is_open_escape(text, at)) => Step::Wait,
            Lexed::Grows => Step::Ended(text.len(), Ending::Cut),
            Lexed::No if at == text.len() => Step::Ended(at, Ending::Cut),
            Lexed::Tag(_) | Lexed::No => Step::Ended(at, Ending::Broken),
        }
    }

    /// Looks for the end of a value; `self.at` is how far that was done.
    fn value(&mut self, text: &str, mut open: Open, keys: &dyn Keys, end: bool) -> Step {
        while let Some(at) = self.lexer.next(text, self.at) {
            let tag = match self.lexer.tag_at(text, at) {
                Lexed::Tag(tag) => tag,
                Lexed::Grows if !end => {
                    self.at = at;
                    self.state = State::Value(open);
                    return Step::Wait;
                }
                Lexed::Grows | Lexed::No => {
                    self.at = self.past(text, at);
                    continue;
                }
            };
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
                        if fits {
                            open.first = open.first.or(Some((at, tag.at.end as usize)));
                        }
                    }
                    Some(true) => {
                        let is_doubled = open.rejected.is_some_and(|tag| {
                            behind_space(text, tag.end as usize) == at
                                && open.may_end(text, tag.start as usize)
                        });
                        self.doubtful |= open.torn || open.first.is_some() || is_doubled;
                        self.close(open, at, tag.at.end as usize);
                        return Step::On;
                    }
                    // Its opening tag ended another value, so the text may as well be that one's.
                    Some(false) => {
                        // `</parameter=b>3</parameter>`: was another argument meant?
                        self.doubtful |= open.after_open || tag.key.is_some();
                        open.doubts(at, true);
                        open.rejected = Some(tag.at);
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
                        self.doubtful = true;
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
                self.doubtful |= open.rejected.is_some();
                self.close(open, at, tag.at.end as usize);
                self.at = tag.at.end as usize;
                if let Some(key) = tag.key {
                    self.open(key, tag.typing, true);
                }
                return Step::On;
            } else if matches!(tag.role, Role::Call | Role::Group)
                || is_last(&tag)
                || self.is_around(text, &tag, keys)
            {
                open.doubts(at, tag.closing);
                match tag.closing {
                    true => open.closer = open.closer.or(Some(at)),
                    false => {
                        open.opened = true;
                        open.torn |= open.closer.is_some();
                    }
                }
            } else if self.nests(text, &open, &tag) {
                // `<a><a>x</a>`: one of both is too many.
                self.doubtful |= behind_space(text, open.from) == at && self.is_same(text, &open, &tag);
                open.doubts(at, true);
                open.nested += 1;
                // Was the value before it not closed, or does it speak of an argument?
                let key = tag.key.map_or("", |key| key.of(text));
                let is_new = self.params.iter().all(|param| param.key.of(text) != key);
                self.doubtful |= key != open.key.of(text) && is_new && keys.declares(key);
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
            self.doubtful |= open.torn || MAX_RETURNS <= self.n_returns;
            self.close(open, at, behind);
            return Step::On;
        }
        // Only its own closing tag is missing, if nothing but closing tags is left.
        match open.closer {
            Some(closer) if self.only_closers(text, closer) => {
                self.doubtful |= open.torn || open.opened || open.rejected.is_some() || open.nested != 0;
                // Other arguments follow: they begin where the first of them does.
                let closer = open.next.filter(|_| self.n_returns < MAX_RETURNS).unwrap_or(closer);
                self.n_returns += usize::from(open.next.is_some());
                // The blanks in front of it are those of its own line.
                let value = text.get(open.from..closer).unwrap_or("");
                let value = if self.style == Style::Words { value } else { value.trim_end() };
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

    /// Steps over the closing tags that follow. What stands on their line behind them shows whether they were meant.
    fn behind(&mut self, text: &str, closed: usize, end: bool) -> Step {
        let at = behind_space(text, self.at);
        match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) if tag.closing && matches!(tag.role, Role::Call | Role::Group) => {
                self.at = tag.at.end as usize;
                return Step::On;
            }
            Lexed::Grows if !end => return Step::Wait,
            Lexed::No if !end && (at == text.len() || is_open_escape(text, at)) => return Step::Wait,
            Lexed::Tag(_) | Lexed::Grows | Lexed::No => {}
        }
        let line = text.get(self.at..).unwrap_or("").trim_start_matches([' ', '\t']);
        match line.chars().next() {
            Some(c) if c.is_alphanumeric() => {
                self.state = State::Suspect(closed);
                Step::On
            }
            _ => Step::Ended(closed, Ending::Closed),
        }
    }

    /// Is there one more closing tag of an argument before anything is opened? Then the value may end there as well.
    fn suspect(&mut self, text: &str, closed: usize, end: bool) -> Step {
        while let Some(at) = self.lexer.next(text, self.at) {
            match self.lexer.tag_at(text, at) {
                Lexed::Grows if !end => {
                    self.at = at;
                    return Step::Wait;
                }
                Lexed::Tag(tag) => match tag.role {
                    Role::Param | Role::Value if tag.closing => {
                        self.doubtful = true;
                        return Step::Ended(tag.at.end as usize, Ending::Closed);
                    }
                    Role::Param | Role::Key | Role::Call | Role::Group if !tag.closing => {
                        return Step::Ended(closed, Ending::Closed);
                    }
                    _ => {}
                },
                Lexed::Grows | Lexed::No => {}
            }
            self.at = at + 1;
        }
        self.at = text.len();
        if end { Step::Ended(closed, Ending::Closed) } else { Step::Wait }
    }

    fn close(&mut self, open: Open, end: usize, behind: usize) {
        self.params.push(open.param(end));
        self.state = State::Between;
        self.at = behind;
    }

    fn closes(&self, text: &str, open: &Open, tag: &Tag) -> bool {
        tag.closing
            && match self.style {
                Style::Words => matches!(tag.role, Role::Param | Role::Value),
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

    /// Does `json`, the value of an argument, hold marks that only tags of this style have? Then one of them is broken.
    pub(crate) fn holds_marks(&self, json: &str) -> bool {
        let count = |token: &str| json.matches(token).count();
        match self.style {
            Style::Elements { marked: true } => json.contains("]minimax["),
            // A closing tag may be text: `<|close|>argument<|sep|>`.
            _ if self.by_tokens => count("<|open|>") != 0 || count("<|close|>") != count("<|sep|>"),
            Style::Words | Style::Elements { marked: false } => false,
        }
    }

    /// Does `tag` close an element around the arguments: `</parameters>`, `</f>`?
    fn is_around(&self, text: &str, tag: &Tag, keys: &dyn Keys) -> bool {
        let word = tag.word.of(text);
        self.style != Style::Words && tag.closing && (keys.is_name(word) || keys.holds_arguments(word))
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
                Style::Elements { marked } => tag.marked == marked && tag.word.of(text) == open.key.of(text),
            }
    }

    /// Is what stands behind a closing tag what may stand behind an argument? `None` asks for more text.
    fn follows(&self, text: &str, from: usize, keys: &dyn Keys, end: bool) -> Option<bool> {
        let at = behind_space(text, from);
        if at == text.len() || is_open_escape(text, at) {
            return if end { Some(true) } else { None };
        }
        match self.lexer.tag_at(text, at) {
            Lexed::Grows if end => Some(self.lexer.is_closer_begun(text, at)),
            Lexed::Grows => None,
            Lexed::No => Some(false),
            Lexed::Tag(tag) => Some(match self.style {
                Style::Words => match tag.role {
                    Role::Param | Role::Key => !tag.closing,
                    Role::Call | Role::Group | Role::Token => true,
                    Role::Type | Role::Value | Role::Separator | Role::Other => false,
                },
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

    /// The place behind the first byte of what began at `at` and is no tag that matters. A mark before a tag and the tag
    /// are looked at once.
    fn past(&self, text: &str, at: usize) -> usize {
        match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) if tag.marked => tag.at.end as usize,
            Lexed::Tag(_) | Lexed::Grows | Lexed::No => at + 1,
        }
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

fn is_last(tag: &Tag) -> bool {
    tag.role == Role::Token
}

/// The place behind the whitespace at `from`, line breaks written as `\n` included.
fn behind_space(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < from + MAX_SPACE {
        match bytes.get(at..) {
            Some([b'\\', b'n' | b'r' | b't', ..]) => at += 2,
            Some([byte, ..]) if byte.is_ascii_whitespace() => at += 1,
            _ => break,
        }
    }
    at
}

/// The text ends with a backslash, which may become `\n`.
fn is_open_escape(text: &str, at: usize) -> bool {
    text.get(at..) == Some("\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Declared;

    impl Keys for Declared {
        fn declares(&self, key: &str) -> bool {
            matches!(key, "a" | "b")
        }
        fn is_name(&self, name: &str) -> bool {
            name == "f"
        }
    }

    fn show(text: &str, style: Style) -> String {
        let mut walk = Walk::new(0, style, Lexer::Known);
        let whole = walk.advance(text, &Declared, true);
        let params: Vec<String> =
            walk.params.iter().map(|p| format!("{}={:?}", p.key.of(text), p.value.of(text))).collect();
        let mut growing = Walk::new(0, style, Lexer::Known);
        let cuts = text.char_indices().map(|(at, _)| at).skip(1).chain([text.len()]);
        let pieces = cuts
            .map(|cut| growing.advance(&text[..cut], &Declared, false))
            .find(|walked| *walked != Walked::Open)
            .unwrap_or_else(|| growing.advance(text, &Declared, true));
        assert_eq!(pieces, whole, "{text}");
        assert_eq!(growing.params.len(), walk.params.len(), "{text}");
        let Walked::Ended(_, ending) = whole else { panic!("{text}") };
        format!("{} {ending:?}{}", params.join(" "), if walk.doubtful { " doubtful" } else { "" })
    }

    #[test]
    fn a_value_ends_where_an_argument_may_end() {
        for (text, expected) in [
            ("<parameter=a>x</parameter>\n</function>", "a=\"x\" Closed"),
            ("<parameter=a>1 </parameter> 2</parameter></function>", "a=\"1 </parameter> 2\" Closed"),
            ("<parameter=a>x\n<parameter=b>y</parameter></function>", "a=\"x\\n\" b=\"y\" Closed"),
            (
                "<parameter=a>x\n<parameter=b>y</parameter> z</parameter></function>",
                "a=\"x\\n\" b=\"y</parameter> z\" Closed doubtful",
            ),
            ("<parameter=a>x</function></tool_call>", "a=\"x\" Closed"),
            ("<parameter=a>x</function> and more", " Cut"),
            ("<parameter=a>x</parameter>", "a=\"x\" Bare"),
            ("<parameter=a>x</parameter></function> y</parameter></function>", "a=\"x\" Closed doubtful"),
            ("<parameter=a>x</parameter></function> y", "a=\"x\" Closed"),
            ("<parameter=a>x</parameter></func", "a=\"x\" Bare"),
            ("<parameter=a>x</parameter><param", " Cut"),
            ("<parameter=a>x", " Cut"),
            ("", " Cut"),
            ("and so on", " Broken"),
            ("\n\n</function>", " Closed"),
            ("<arg_key> a </arg_key>\n<arg_value>x</arg_value>\\n</tool_call>", "a=\"x\" Closed"),
            (
                "<arg_key>a</arg_key><arg_type>string</arg_type><arg_value>x</arg_value></tool_call>",
                "a=\"x\" Closed",
            ),
        ] {
            assert_eq!(show(text, Style::Words), expected, "{text}");
        }
        for (text, expected) in [
            ("<a>x</a>\n<b><a>1</a></b></f>", "a=\"x\" b=\"<a>1</a>\" Closed"),
            ("<a><i>x</i></a></f>", "a=\"<i>x</i>\" Closed"),
            ("<c>x</c></f>", " Broken"),
        ] {
            assert_eq!(show(text, Style::Elements { marked: false }), expected, "{text}");
        }
        let marked = "]<]minimax[>[<c>x</c> y]<]minimax[>[</c>]<]minimax[>[</invoke>";
        assert_eq!(show(marked, Style::Elements { marked: true }), "c=\"x</c> y\" Closed");
    }
}
