//! Arguments in tags, one raw text each: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`,
//! `<a>x</a>`.
//!
//! A [`Walk`] goes over the text of one call as it arrives and says where it ends and which piece of it is which
//! argument. A raw value may hold anything: it ends at the first closing tag that is followed by what may follow an argument.
//! Where an opener of its own kind stands in front of that, the walk says so, and the marks are read by their cost.

mod json;
mod key;
mod place;
mod value;

use callwright_json::{Guide, Kinds, Span};

use super::value::place_of;
use crate::shape::keys;
use crate::syntax::comment::{MAX_COMMENT, comment};
use crate::syntax::lexer::Lexer;
use crate::syntax::tag::{self, Role, Tag};
use crate::syntax::{Incomplete, Seen, Typing, blanks};
use crate::tools::Tool;
use json::Brackets;
use value::Open;

/// The most whitespace between two tags.
const MAX_SPACE: usize = 256;
/// Keys are no longer, in bytes.
const MAX_KEY: usize = 256;
/// The most arguments of one call.
const MAX_PARAMS: usize = 1024;

/// The most closing tags behind that of a call.
const MAX_CLOSERS: usize = 2;

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
    /// There are none: the tag that names the call has closed itself, `<invoke name="f"/>`.
    Over,
}

impl Style {
    /// The style of arguments that begin with a tag; `is_word` says that its word is none of a key.
    pub(crate) fn of(marked: bool, is_word: bool) -> Style {
        if is_word && !marked { Style::Words } else { Style::Elements { marked } }
    }
}

/// One argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) key: Span,
    pub(crate) typing: Typing,
    pub(crate) value: Span,
    /// It was opened by tokens of a vocabulary, which no text spells by chance: `<arg_key>`, `<|open|>argument key="a"<|sep|>`.
    pub(crate) is_of_tokens: bool,
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

/// Where a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The place behind it.
    pub(crate) at: usize,
    /// How it ends.
    pub(crate) ending: Ending,
}

/// What stands behind white space, as far as the text goes.
enum Next {
    Tag(Tag),
    /// The beginning of a tag, with which the text ends.
    Begun,
    /// The end of the text.
    End,
    Other,
}

impl Next {
    /// What stands at `at`, where `tag` is.
    fn of(View { text, end, .. }: View<'_>, at: usize, tag: Seen<Tag>) -> Result<Next, Incomplete> {
        match tag {
            Ok(Some(tag)) => Ok(Next::Tag(tag)),
            Err(Incomplete) if end => Ok(Next::Begun),
            Ok(None) if at < text.len() && !is_open_space(text, at) => Ok(Next::Other),
            Ok(None) if end => Ok(Next::End),
            Ok(None) | Err(Incomplete) => Err(Incomplete),
        }
    }
}

/// The end of the call at `at`; where a step returns none, it goes on.
fn ends(at: usize, ending: Ending) -> Seen<End> {
    Ok(Some(End { at, ending }))
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
    /// A value holds an opener of its own kind, so that it may end elsewhere.
    pub(crate) is_doubtful: bool,
    /// Words stand behind the call on its line, so that all of it may be a value.
    pub(crate) goes_on: bool,
    /// How many values began like JSON and ended otherwise.
    n_no_json: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Between arguments.
    Between,
    /// In `<arg_key>`, from here; what ends it does not begin before `looked`.
    Key { from: usize, looked: usize },
    /// Behind a key.
    Keyed(Span),
    /// In a value that may be JSON.
    Brackets(Open, Brackets),
    /// In a value.
    Value(Open),
}

impl State {
    /// In the `<arg_key>` that ends at `at`.
    fn key(at: usize) -> State {
        State::Key { from: at, looked: at }
    }
}

/// The text as far as it goes, and the tool that is called in it.
#[derive(Clone, Copy)]
pub(crate) struct View<'t> {
    pub(crate) text: &'t str,
    /// Nothing, where it is not known.
    pub(crate) tool: Option<&'t Tool>,
    /// No more text will come.
    pub(crate) end: bool,
}

impl<'t> View<'t> {
    /// Does the tool declare `key`?
    fn declares(self, key: &str) -> bool {
        self.tool.is_some_and(|tool| tool.declares(key))
    }

    /// May an element named `key` be an argument?
    fn takes(self, key: &str) -> bool {
        self.tool.is_some_and(|tool| tool.takes(key))
    }

    /// Does the tool take objects or arrays, and no text, for `key`?
    fn takes_brackets(self, key: &str) -> bool {
        let Some(guide) = self.tool.map(|tool| tool.schema().guide()) else { return false };
        let kinds = place_of(guide, guide.root(), key).map(|place| guide.kinds(place));
        kinds.is_some_and(|kinds| kinds.meets(Kinds::OBJECT.or(Kinds::ARRAY)) && !kinds.meets(Kinds::STRING))
    }

    /// Is this the tool's own name?
    fn is_name(self, name: &str) -> bool {
        self.tool.is_some_and(|tool| tool.is_named_by_tag(name))
    }

    /// The tool's parameters whose names are no ordinary words of a tag: `a b`, `dc:title`, `invoke`.
    fn odd_keys(self) -> &'t [String] {
        self.tool.map_or(&[], Tool::odd_keys)
    }

    /// Whether this is the word of an element that holds all arguments, and no argument.
    fn holds_arguments(self, word: &str) -> bool {
        keys::is_one_of(keys::ARGUMENTS, word) && !self.declares(word)
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
            is_doubtful: false,
            goes_on: false,
            n_no_json: 0,
        }
    }

    /// Goes on from where the last call stopped. With `end`, no more text will come.
    pub(crate) fn advance(&mut self, view: View<'_>) -> Result<End, Incomplete> {
        self.lexer.end = view.end;
        if self.style == Style::Over {
            return Ok(End { at: self.at, ending: Ending::Closed });
        }
        loop {
            let ended = match self.state {
                State::Between => self.between(view),
                State::Key { from, looked } => self.key(view, from, looked),
                State::Keyed(key) => self.keyed(view, key),
                State::Brackets(open, brackets) => self.brackets(view, open, brackets),
                State::Value(open) => self.value(view, open),
            };
            if let Some(ended) = ended? {
                return Ok(ended);
            }
        }
    }

    /// What stands behind the white space at `from`, where an argument may be opened, and its place.
    fn next(&self, view: View<'_>, from: usize) -> Result<(usize, Next), Incomplete> {
        let at = behind_space(view.text, from);
        let tag = match self.odd_at(view.text, at, false, view.odd_keys()) {
            Ok(None) => self.lexer.tag_at(view.text, at),
            odd => odd,
        };
        Ok((at, Next::of(view, at, tag)?))
    }

    /// The tag at `at` that opens or closes an element named by one of `odd_keys`.
    fn odd_at(&self, text: &str, at: usize, closing: bool, odd_keys: &[String]) -> Seen<Tag> {
        match (self.style, &self.lexer.own) {
            (Style::Elements { marked }, None) => tag::element_at(text, at, marked, closing, odd_keys),
            _ => Ok(None),
        }
    }

    fn between(&mut self, view: View<'_>) -> Seen<End> {
        let text = view.text;
        let over = if self.params.is_empty() { Ending::Cut } else { Ending::Bare };
        let (at, next) = self.next(view, self.at)?;
        let tag = match next {
            Next::Tag(tag) => tag,
            Next::Begun => return ends(text.len(), Ending::Cut),
            Next::End => return ends(at, over),
            Next::Other => return ends(at, Ending::Broken),
        };
        let behind = tag.at.end as usize;
        let is_closer = matches!(tag.role, Role::Call | Role::Group) && tag.closing;
        if is_closer || tag.role == Role::Token && !INNER_TOKENS.contains(&tag.word.of(text)) {
            return self.closed(view, behind, if is_closer { behind } else { at });
        }
        self.at = behind;
        if MAX_PARAMS <= self.params.len() {
            return ends(at, Ending::Broken);
        }
        match tag.role {
            // The token that ends a tag, once too often.
            Role::Token if tag.word.of(text) == "sep" => {}
            Role::Token => return ends(at, Ending::Broken),
            Role::Call | Role::Group => return ends(at, Ending::Closed),
            Role::Separator => {}
            Role::Param if !tag.closing && self.style == Style::Words => match tag.key {
                Some(key) => return self.open_with(text, &tag, key, tag.typing),
                None => return ends(at, Ending::Broken),
            },
            Role::Key if !tag.closing && self.style == Style::Words => self.state = State::key(self.at),
            _ if tag.closing && view.is_name(tag.word.of(text)) => {
                return ends(self.at, Ending::Closed);
            }
            // `</parameters></invoke>` behind `<tool_name>f</tool_name><parameters>…`
            _ if tag.closing && view.holds_arguments(tag.word.of(text)) => {
                return ends(at, Ending::Closed);
            }
            _ if self.is_element(view, &tag) => {
                return self.open_with(text, &tag, tag.word, Typing::Schema);
            }
            _ => return ends(at, Ending::Broken),
        }
        Ok(None)
    }

    /// Ends the call at `to`, where its closing tag or token ends at `behind`. Words behind it on its line leave open whether it was a
    /// value's: `</parameter></function> is how it ends.</parameter></function>`.
    fn closed(&mut self, view: View<'_>, behind: usize, to: usize) -> Seen<End> {
        let mut behind = behind;
        for _ in 0..MAX_CLOSERS {
            let (_, next) = self.next(view, behind)?;
            let Next::Tag(Tag { closing: true, role: Role::Call | Role::Group, at, .. }) = next else {
                break;
            };
            behind = at.end as usize;
        }
        let line = view.text.get(behind..).unwrap_or("").trim_start_matches([' ', '\t']);
        self.goes_on = line.starts_with(char::is_alphanumeric);
        ends(to, Ending::Closed)
    }

    /// Does `tag` open an argument that is named by it?
    fn is_element(&self, view: View<'_>, tag: &Tag) -> bool {
        let Style::Elements { marked } = self.style else { return false };
        !tag.closing && tag.marked == marked && (marked || view.takes(tag.word.of(view.text)))
    }

    /// Opens the argument that begins with `tag`. One that is empty ends there, too: `<a/>`, `<a value="x"/>`.
    fn open_with(&mut self, text: &str, tag: &Tag, key: Span, typing: Typing) -> Seen<End> {
        match (tag.empty, tag.value) {
            (false, None) => self.open(key, typing, tag.is_of_tokens(text)),
            (true, value) => {
                let value = value.unwrap_or(Span::at(self.at));
                let open = Open::new(key, typing, value.start as usize);
                self.params.push(open.param(value.end as usize));
            }
            // Which of both is it?
            (false, Some(_)) => return ends(tag.at.start as usize, Ending::Broken),
        }
        Ok(None)
    }
}

/// The place behind the whitespace at `from`, line breaks written as `\n` and comments included.
fn behind_space(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    // However many comments there are: nothing remembers that they were passed.
    let end = from + MAX_SPACE + MAX_COMMENT;
    let (mut at, mut most) = (from, from + MAX_SPACE);
    while at < most {
        match bytes.get(at..) {
            Some([b'\\', b'n' | b'r' | b't', ..]) => at += 2,
            Some([_, ..]) if 0 < blanks(text, at, 1) => at += blanks(text, at, 1),
            Some(rest @ [b'<', b'!', ..]) => match comment(rest) {
                Ok(Some(len)) => (at, most) = (at + len, end.min(most + len)),
                _ => break,
            },
            _ => break,
        }
    }
    at
}

/// The text ends with a backslash, which may become `\n`, or in a comment.
fn is_open_space(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or("");
    rest == "\\" || rest.starts_with("<!") && comment(rest.as_bytes()).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is looked for again with each piece of a stream.
    #[test]
    fn what_may_stand_between_tags_is_bounded() {
        for unit in [" ", "\\n", "<!-- x -->"] {
            let behind = behind_space(&unit.repeat(4 * MAX_COMMENT), 0);
            assert!(behind <= MAX_SPACE + 2 * MAX_COMMENT, "{unit:?}: {behind}");
        }
    }
}
