//! Arguments in tags, one raw text each: `<parameter=a>x</parameter>`, `<arg_key>a</arg_key><arg_value>x</arg_value>`,
//! `<a>x</a>`.
//!
//! A [`Walk`] goes over the text of one call as it arrives and says where it ends and which piece of it is which
//! argument. A raw value may hold anything, its own closing tag included: it ends at the first closing tag that is
//! followed by what may follow an argument. Where a value could as well end elsewhere, the walk says so.

mod end;
mod json;
mod value;

use callwright_json::Span;

use super::comment::comment;
use super::lexer::Lexer;
use super::tag::{self, Lexed, Role, Tag};
use crate::dialect::Typing;
use crate::dialect::marks::Fit;
use crate::keys;
use json::Brackets;
use value::{Open, Opener};

/// The most whitespace between two tags.
const MAX_SPACE: usize = 256;
/// Keys are no longer, in bytes.
const MAX_KEY: usize = 256;
/// How far, in characters, it is looked for what is left of a tag.
const NEAR: usize = 24;
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
    /// There are none: the tag that names the call has closed itself, `<invoke name="f"/>`.
    Over,
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
    /// It ended behind its last bracket: marks in it are those of its strings.
    is_json: bool,
    /// Closing tags of arguments stand in it.
    holds_closers: bool,
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
    /// How many values began like JSON and ended otherwise.
    n_no_json: usize,
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
    /// In a value that may be JSON.
    Brackets(Open, Brackets),
    /// In a value.
    Value(Open),
    /// Behind what closes the call, which ends at this place.
    Behind(usize),
    /// Text follows on the same line: the closing tag may have been a value's, and another may come.
    Suspect(usize),
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
    /// May an element named `key` be an argument?
    fn takes(&self, key: &str) -> bool {
        self.declares(key)
    }
    /// Does it take objects or arrays, and no text, for `key`?
    fn takes_brackets(&self, key: &str) -> bool;
    /// Is this its own name?
    fn is_name(&self, name: &str) -> bool;
    /// Those that a tag is not named by as any word is: `dc:title`, `invoke`.
    fn odd_keys(&self) -> &[String] {
        &[]
    }
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
            n_no_json: 0,
            by_tokens: false,
        }
    }

    /// Goes on from where the last call stopped. With `end`, no more text will come.
    pub(crate) fn advance(&mut self, text: &str, keys: &dyn Keys, end: bool) -> Walked {
        self.lexer.ends(end);
        if self.style == Style::Over {
            return Walked::Ended(self.at, Ending::Closed);
        }
        loop {
            let step = match self.state {
                State::Between => self.between(text, keys, end),
                State::Key(from) => self.key(text, from, keys, end),
                State::Keyed(key, typing) => self.keyed(text, key, typing, keys, end),
                State::Brackets(open, brackets) => self.brackets(text, open, brackets, keys, end),
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

    /// The tag at `at` that may open an argument.
    fn opener_at(&self, text: &str, at: usize, keys: &dyn Keys) -> Lexed {
        match self.odd_at(text, at, false, keys.odd_keys()) {
            Lexed::No => self.lexer.tag_at(text, at),
            found => found,
        }
    }

    /// The tag at `at` that opens or closes an element named by one of `odd_keys`.
    fn odd_at(&self, text: &str, at: usize, closing: bool, odd_keys: &[String]) -> Lexed {
        match (self.style, &self.lexer) {
            (Style::Elements { marked }, Lexer::Known) => {
                tag::element_at(text, at, marked, closing, odd_keys)
            }
            _ => Lexed::No,
        }
    }

    fn between(&mut self, text: &str, keys: &dyn Keys, end: bool) -> Step {
        let at = behind_space(text, self.at);
        let over = if self.params.is_empty() { Ending::Cut } else { Ending::Bare };
        let tag = match self.opener_at(text, at, keys) {
            Lexed::Tag(tag) => tag,
            Lexed::Grows if !end => return Step::Wait,
            // What is left of the last closing tag, or of an argument.
            Lexed::Grows if self.lexer.is_closer_begun(text, at) => return Step::Ended(text.len(), over),
            Lexed::Grows => return Step::Ended(text.len(), Ending::Cut),
            Lexed::No if at == text.len() || is_open_space(text, at) => {
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
            Role::Token if self.params.is_empty() => return Step::Ended(at, Ending::Closed),
            Role::Token => self.state = State::Behind(at),
            Role::Call | Role::Group if tag.closing && self.params.is_empty() => {
                return Step::Ended(self.at, Ending::Closed);
            }
            Role::Call | Role::Group if tag.closing => self.state = State::Behind(self.at),
            Role::Call | Role::Group => return Step::Ended(at, Ending::Closed),
            Role::Separator => {}
            Role::Param if !tag.closing && self.style == Style::Words => match tag.key {
                Some(key) => return self.open_with(text, &tag, key, tag.typing),
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
                return self.open_with(text, &tag, tag.word, Typing::Schema);
            }
            _ => return Step::Ended(at, Ending::Broken),
        }
        Step::On
    }

    /// Does `tag` open an argument that is named by it?
    fn is_element(&self, text: &str, tag: &Tag, keys: &dyn Keys) -> bool {
        match self.style {
            Style::Words | Style::Over => false,
            Style::Elements { marked } => {
                !tag.closing && tag.marked == marked && (marked || keys.takes(tag.word.of(text)))
            }
        }
    }

    /// Opens the argument that begins with `tag`. One that is empty ends there, too: `<a/>`, `<a value="x"/>`.
    fn open_with(&mut self, text: &str, tag: &Tag, key: Span, typing: Typing) -> Step {
        self.by_tokens |= tag.by_tokens;
        match (tag.empty, tag.value) {
            (false, None) => {
                self.open(key, typing, Opener { after_open: false, is_of_tokens: tag.is_of_tokens(text) })
            }
            (true, value) => {
                let value = value.unwrap_or(Span::at(self.at));
                let certain = (!self.doubtful).then_some(value.end as usize);
                self.params.push(Param {
                    key,
                    typing,
                    value,
                    certain,
                    tail: None,
                    is_json: false,
                    holds_closers: false,
                    is_of_tokens: false,
                });
            }
            // Which of both is it?
            (false, Some(_)) => return Step::Ended(tag.at.start as usize, Ending::Broken),
        }
        Step::On
    }

    /// `a</arg_key>`, `a<arg_value>`; a declared key may look like a tag: `list<int></arg_key>`.
    fn key(&mut self, text: &str, from: usize, keys: &dyn Keys, end: bool) -> Step {
        // `<arg_key><arg_key>a`
        let inner = behind_space(text, from);
        match self.lexer.tag_at(text, inner) {
            Lexed::Tag(tag) if tag.role == Role::Key && !tag.closing => {
                self.state = State::Key(tag.at.end as usize);
                return Step::On;
            }
            Lexed::Grows if !end => return Step::Wait,
            Lexed::Tag(_) | Lexed::Grows | Lexed::No => {}
        }
        let rest = text.get(from..).unwrap_or("");
        let Some(first) = rest.find('<') else {
            return if end { Step::Ended(text.len(), Ending::Cut) } else { Step::Wait };
        };
        let mut len = first;
        loop {
            let written = rest.get(..len).unwrap_or("");
            let key = written.trim();
            let is_key = len == first || keys.declares(key);
            let behind = match self.lexer.tag_at(text, from + len) {
                Lexed::Tag(tag) if is_key && tag.closing && tag.role == Role::Key => Some(tag.at.end),
                // Of a mark between key and value nothing but the key tells whether it stands in its place.
                Lexed::Tag(tag) if tag.is_joint(text) && !keys.declares(key) && !is_plain(key, keys) => {
                    return Step::Ended(from + len, Ending::Cut);
                }
                Lexed::Tag(tag) if !tag.closing && tag.role == Role::Value => {
                    (is_key && tag.is_joint(text) || keys.declares(key)).then_some(tag.at.start)
                }
                Lexed::Grows if !end => return Step::Wait,
                Lexed::Grows => return Step::Ended(text.len(), Ending::Cut),
                Lexed::Tag(_) | Lexed::No => None,
            };
            if let Some(behind) = behind {
                let start = from + (written.len() - written.trim_start().len());
                self.state = State::Keyed(Span::new(start, start + key.len()), Typing::Schema);
                self.at = behind as usize;
                return Step::On;
            }
            let window = rest.as_bytes().get(len + 1..rest.len().min(MAX_KEY)).unwrap_or(&[]);
            match window.iter().position(|byte| *byte == b'<') {
                Some(more) => len += 1 + more,
                None if !end && rest.len() < MAX_KEY => return Step::Wait,
                None => return Step::Ended(from + first, Ending::Broken),
            }
        }
    }

    /// `<arg_type>…</arg_type><arg_value>`
    fn keyed(&mut self, text: &str, key: Span, typing: Typing, keys: &dyn Keys, end: bool) -> Step {
        let at = behind_space(text, self.at);
        match self.lexer.tag_at(text, at) {
            Lexed::Tag(tag) if tag.role == Role::Value && !tag.closing => {
                self.at = tag.at.end as usize;
                self.open(key, typing, Opener { after_open: false, is_of_tokens: true });
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
            // `a</arg_key></arg_key>`
            Lexed::Tag(tag) if tag.role == Role::Key && tag.closing => {
                self.at = tag.at.end as usize;
                Step::On
            }
            Lexed::Grows if !end => Step::Wait,
            Lexed::No if !end && (at == text.len() || is_open_space(text, at)) => Step::Wait,
            Lexed::Grows => Step::Ended(text.len(), Ending::Cut),
            Lexed::No if at == text.len() => Step::Ended(at, Ending::Cut),
            // `a</arg_key>x</arg_value>`, but not `a</arg_key>arg_value>x`
            Lexed::No if keys.declares(key.of(text)) => {
                let near = near(text, at);
                if near.chars().count() < NEAR && !near.contains("</") && !end {
                    return Step::Wait;
                }
                if value::names_an_argument(near.split("</").next().unwrap_or("")) {
                    return Step::Ended(at, Ending::Broken);
                }
                self.at = at;
                self.open(key, typing, Opener { after_open: false, is_of_tokens: true });
                Step::On
            }
            // A key without a value.
            Lexed::Tag(tag) if tag.role != Role::Other => Step::Ended(at, Ending::Cut),
            Lexed::Tag(_) | Lexed::No => Step::Ended(at, Ending::Broken),
        }
    }

    /// Does the value of `param`, `key`, which is written as `raw` and reads `json`, hold marks that only tags of this
    /// style have? Then one of them is broken.
    pub(crate) fn holds_marks(&self, param: &Param, raw: &str, key: &str, json: &str) -> bool {
        // `]<]minimax[>[<a>x][</a>`
        let ends_with_tag = || {
            let before = raw.trim_end().strip_suffix('>').and_then(|raw| raw.strip_suffix(key));
            before
                .and_then(|raw| raw.strip_suffix("</"))
                .is_some_and(|raw| !raw.contains(&format!("<{key}>")))
        };
        match self.style {
            _ if param.is_json => false,
            Style::Elements { marked: true } => {
                let text = if json.starts_with('"') { raw } else { json };
                text.contains("]minimax[") && self.is_torn(text) || ends_with_tag()
            }
            _ if self.by_tokens && self.is_torn(raw) => true,
            Style::Words => param.holds_closers && self.holds_torn_opener(raw),
            Style::Elements { marked: false } | Style::Over => false,
        }
    }

    /// Does what is left of an argument's opening tag stand in `raw` behind a closing one: `x</parameter>⏎<parameter=b`?
    fn holds_torn_opener(&self, raw: &str) -> bool {
        let mut next = 0;
        while let Some(at) = self.lexer.next(raw, next) {
            next = at + 1;
            let Lexed::Tag(tag) = self.lexer.tag_at(raw, at) else { continue };
            if tag.closing && matches!(tag.role, Role::Param | Role::Value) {
                let from = behind_space(raw, tag.at.end as usize);
                if matches!(self.lexer.tag_at(raw, from), Lexed::Tag(tag) if tag.role != Role::Other) {
                    continue;
                }
                if value::names_an_argument(near(raw, from)) {
                    return true;
                }
            }
        }
        false
    }

    /// Does `raw` hold the marks of a tag that is not whole, or that opens what `raw` does not close? The closing tag of a
    /// call may be text, `]<]minimax[>[</invoke>`, and one of an argument where all are alike: `<|close|>argument<|sep|>`.
    fn is_torn(&self, raw: &str) -> bool {
        let count = |mark: &str| {
            raw.match_indices(mark).filter(|(at, _)| !is_quoted(raw, *at, at + mark.len())).count()
        };
        let mut open: Vec<&str> = Vec::new();
        let mut n_tags = 0;
        let mut next = 0;
        while let Some(at) = self.lexer.next(raw, next) {
            next = self.past(raw, at);
            let Lexed::Tag(tag) = self.lexer.tag_at(raw, at) else { continue };
            if tag.by_tokens || tag.marked {
                n_tags += 1;
                let word = tag.word.of(raw);
                let may_be_text = match tag.role {
                    Role::Call | Role::Group => true,
                    // `<|close|>argumentcall<|sep|>`
                    Role::Other => self.by_tokens && !value::names_an_argument(word),
                    _ => self.by_tokens,
                };
                match tag.closing {
                    true if open.last() == Some(&word) => drop(open.pop()),
                    true if may_be_text => {}
                    true => return true,
                    false => open.push(word),
                }
            }
        }
        let counts = match self.by_tokens {
            true => [count("<|open|>") + count("<|close|>"), count("<|sep|>")],
            false => [count("]minimax["); 2],
        };
        !open.is_empty() || counts != [n_tags; 2]
    }
}

/// Is `key` a word that may well be a key, though nobody declared it, and not one with its value?
fn is_plain(key: &str, keys: &dyn Keys) -> bool {
    let is_word = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    is_word && !key.is_empty() && !(1..key.len()).any(|end| keys.declares(&key[..end]))
}

/// What stands near `from`, behind it.
fn near(text: &str, from: usize) -> &str {
    let rest = text.get(from..).unwrap_or("");
    rest.char_indices().nth(NEAR).map_or(rest, |(end, _)| &rest[..end])
}

/// Does what stands from `start` to `end` stand between two quotes, with a word more at most: `"<|open|>call"`?
fn is_quoted(text: &str, start: usize, end: usize) -> bool {
    let quote = text.get(..start).and_then(|before| before.chars().next_back());
    let behind = text.get(end..).unwrap_or("").trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    quote.is_some_and(|quote| matches!(quote, '"' | '\'' | '`') && behind.starts_with(quote))
}

/// The place behind the whitespace at `from`, line breaks written as `\n` and comments included.
fn behind_space(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut most) = (from, from + MAX_SPACE);
    while at < most {
        match bytes.get(at..) {
            Some([b'\\', b'n' | b'r' | b't', ..]) => at += 2,
            Some([byte, ..]) if byte.is_ascii_whitespace() => at += 1,
            Some(rest @ [b'<', b'!', ..]) => match comment(rest) {
                Fit::Is(len) => (at, most) = (at + len, most + len),
                Fit::Grows | Fit::No => break,
            },
            _ => break,
        }
    }
    at
}

/// The text ends with a backslash, which may become `\n`, or in a comment.
fn is_open_space(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or("");
    rest == "\\" || rest.starts_with("<!") && comment(rest.as_bytes()) == Fit::Grows
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Declared;

    impl Keys for Declared {
        fn declares(&self, key: &str) -> bool {
            matches!(key, "a" | "b")
        }
        fn takes_brackets(&self, key: &str) -> bool {
            key == "j"
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
            ("<parameter=a>x\n<parameter=b>y</parameter></function>", "a=\"x\" b=\"y\" Closed"),
            ("<parameter=a>\nx\n<parameter=b>y</parameter></function>", "a=\"\\nx\\n\" b=\"y\" Closed"),
            (
                "<parameter=a>x\n<parameter=b>y</parameter> z</parameter></function>",
                "a=\"x\" b=\"y</parameter> z\" Closed doubtful",
            ),
            ("<parameter=a>x</function></tool_call>", "a=\"x\" Closed"),
            ("<parameter=a>x</function> and more", " Cut"),
            ("<parameter=a>x</parameter>", "a=\"x\" Bare"),
            ("<parameter=a>x</parameter></function> y</parameter></function>", "a=\"x\" Closed doubtful"),
            ("<parameter=a>x</parameter></function> y", "a=\"x\" Closed"),
            ("<parameter=a>x</parameter><|im_end|> y</parameter></function>", "a=\"x\" Closed doubtful"),
            ("<parameter=a>x</parameter></function><|im_end|> y</parameter>", "a=\"x\" Closed doubtful"),
            ("<parameter=a>x</parameter><|im_end|> y<parameter=b>z</parameter>", "a=\"x\" Closed"),
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
            (
                "<parameter=j> [\"</parameter></function> \\\"\", 1]\n</parameter><parameter=a>x</parameter></function>",
                "j=\" [\\\"</parameter></function> \\\\\\\"\\\", 1]\\n\" a=\"x\" Closed",
            ),
            (
                "<parameter=j>[\"x</parameter><parameter=a>\"]</parameter></function>",
                "j=\"[\\\"x</parameter><parameter=a>\\\"]\" Closed",
            ),
            (
                "<parameter=j>[\"x</parameter><parameter=a>y</parameter></function>",
                "j=\"[\\\"x\" a=\"y\" Closed",
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
