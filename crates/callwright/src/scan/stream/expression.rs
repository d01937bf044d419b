//! What of a call whose arguments are spelt in another language than JSON may go out before its verdict: call
//! expressions, `(path='a', content='''…`, and relaxed objects, `{path:<|"|>a<|"|>,content:<|"|>…`.
//!
//! In goes the text of the call as it grows, out comes the JSON of its arguments, as far as only one reading is left for
//! it: what stands before the last text is right as the reader of the verdict reads it, every required argument is there,
//! and a text is open where any text may stand. Of that goes out what is decided: not a torn escape, nothing from the
//! first mark on that may end it, no brackets at its end, which may be the call's. Nothing behind the text goes out before
//! the verdict.

use std::ops::Range;
use std::sync::Arc;

use callwright_json::{Class, Guide, Member, Place, strict};

use super::json::Escape;
use crate::payload::{self, relaxed};
use crate::tools::Tool;
use crate::tools::names::is_name_byte;

/// How far the arguments of one call are certain.
#[derive(Debug)]
pub(super) struct LiveSpelt {
    spelling: Spelling,
    step: Step,
    /// Everything before this place was looked at.
    at: usize,
    /// The opening bracket.
    start: usize,
    /// The key of the argument that is being read.
    key: Range<usize>,
    /// The declared members that were begun, one bit each.
    seen: u128,
    /// What goes out before the text: the JSON of all that stands before it, with its opening quote.
    head: String,
    /// Where the text begins.
    from: usize,
    /// A run of punctuation at the end of the text so far, which may be the call's: `'a)`.
    doubtful: Option<usize>,
    /// Everything of the text before this place went out.
    sent_to: usize,
    /// All that went out.
    sent: String,
    is_sure: bool,
}

/// The language.
#[derive(Debug)]
enum Spelling {
    /// Keyword arguments of a call expression.
    Call,
    /// Bare keys, and strings between two of these marks.
    Marks(Arc<str>),
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The bracket is to come.
    Bracket,
    /// A key is to come.
    Key,
    /// Inside a key.
    InKey,
    /// A sign is to come: `=` or `:`.
    Sign,
    /// A value is to come.
    Value,
    /// Inside a value that has to be whole before it counts.
    InValue(Inside),
    /// Inside the text that goes out.
    Text(Delimiter),
    /// Nothing more is certain.
    Over,
}

/// What ends a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delimiter {
    /// One quote.
    Quote(u8),
    /// Three of them.
    Triple(u8),
    /// The mark.
    Mark,
}

/// A place inside a value, as far as quotes and brackets tell.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    depth: usize,
    text: Option<Delimiter>,
}

/// What stands at the beginning of a value.
enum Opening {
    /// A text, and the place behind its opening mark.
    Text(Delimiter, usize),
    /// Something else.
    Other,
    /// More must come to tell.
    Torn,
}

impl LiveSpelt {
    /// For the argument list of a call expression, whose parenthesis stands at `at`.
    pub(super) fn call(at: usize) -> LiveSpelt {
        LiveSpelt::new(Spelling::Call, at)
    }

    /// For the relaxed object whose brace stands at `at`, with strings between two of `mark`.
    pub(super) fn marks(at: usize, mark: Arc<str>) -> LiveSpelt {
        LiveSpelt::new(Spelling::Marks(mark), at)
    }

    fn new(spelling: Spelling, at: usize) -> LiveSpelt {
        LiveSpelt {
            spelling,
            step: Step::Bracket,
            at,
            start: at,
            key: at..at,
            seen: 0,
            head: String::new(),
            from: at,
            doubtful: None,
            sent_to: at,
            sent: String::new(),
            is_sure: false,
        }
    }

    /// Is there more than a name and a key that say that this is a call?
    pub(super) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// All that went out.
    pub(super) fn sent(&self) -> &str {
        &self.sent
    }

    /// Looks at what `text`, in which the arguments for `tool` stand, has grown by; returns what may go out now, if
    /// anything may.
    pub(super) fn advance(&mut self, tool: &Tool, text: &str) -> Option<String> {
        let begun = self.sent.len();
        while self.at < text.len() {
            match self.step {
                Step::Over => break,
                Step::Text(delimiter) => {
                    self.step = self.text(delimiter, text.as_bytes());
                    self.release(text);
                    break;
                }
                step => match self.next(step, tool, text) {
                    Some(next) => self.step = next,
                    None => break,
                },
            }
        }
        self.sent.get(begun..).filter(|piece| !piece.is_empty()).map(str::to_owned)
    }

    /// Goes over one byte, or stays where the next step has to look at it; `None` where more must come to tell.
    fn next(&mut self, step: Step, tool: &Tool, text: &str) -> Option<Step> {
        let bytes = text.as_bytes();
        let byte = *bytes.get(self.at)?;
        let (open, sign) = match self.spelling {
            Spelling::Call => (b'(', b'='),
            Spelling::Marks(_) => (b'{', b':'),
        };
        let is_key = is_name_byte(byte) && byte != b'\\';
        Some(match step {
            Step::Key | Step::Sign | Step::Value if matches!(byte, b' ' | b'\t' | b'\n' | b'\r') => {
                self.at += 1;
                step
            }
            Step::Bracket if byte == open && tool.schema().judges_members_alone() => {
                self.at += 1;
                Step::Key
            }
            Step::Key if is_key => {
                self.key = self.at..self.at;
                Step::InKey
            }
            Step::InKey if is_key => {
                self.at += 1;
                Step::InKey
            }
            Step::InKey => {
                self.key.end = self.at;
                Step::Sign
            }
            Step::Sign if byte == sign && self.declare(tool, text) => {
                self.at += 1;
                Step::Value
            }
            Step::Value => match self.spelling.opening(bytes, self.at) {
                Opening::Torn => return None,
                Opening::Text(delimiter, from) if self.is_last_demand(tool, text) => {
                    match self.read(tool, text.get(self.start..self.at), true) {
                        Some(head) => {
                            (self.head, self.from, self.sent_to, self.at) = (head, from, from, from);
                            Step::Text(delimiter)
                        }
                        None => Step::Over,
                    }
                }
                Opening::Text(..) | Opening::Other => Step::InValue(Inside::default()),
            },
            Step::InValue(inside) => return self.in_value(inside, byte, tool, text),
            Step::Bracket | Step::Key | Step::Sign | Step::Text(_) | Step::Over => Step::Over,
        })
    }

    /// Goes on in a value that does not go out as it grows.
    fn in_value(&mut self, mut inside: Inside, byte: u8, tool: &Tool, text: &str) -> Option<Step> {
        let bytes = text.as_bytes();
        if let Some(delimiter) = inside.text {
            match self.spelling.closing(delimiter, bytes, self.at)? {
                0 if byte == b'\\' && delimiter != Delimiter::Mark => self.at += 2,
                0 => self.at += 1,
                len => {
                    self.at += len;
                    inside.text = None;
                }
            }
            return Some(Step::InValue(inside));
        }
        match byte {
            b',' if inside.depth == 0 => {
                if !self.is_sure {
                    self.is_sure = self.read(tool, text.get(self.start..self.at), false).is_some();
                }
                self.at += 1;
                return Some(if self.is_sure { Step::Key } else { Step::Over });
            }
            b'(' | b'[' | b'{' => inside.depth += 1,
            b')' | b']' | b'}' if inside.depth == 0 => return Some(Step::Over),
            b')' | b']' | b'}' => inside.depth -= 1,
            _ => match self.spelling.opening(bytes, self.at) {
                Opening::Torn => return None,
                // `{a:x<|"|>,`: it ends a text whose first mark is missing.
                Opening::Text(Delimiter::Mark, _) if !relaxed::may_open(text.get(self.start..self.at)?) => {
                    return Some(Step::Over);
                }
                Opening::Text(delimiter, from) => {
                    self.at = from;
                    inside.text = Some(delimiter);
                    return Some(Step::InValue(inside));
                }
                Opening::Other => {}
            },
        }
        self.at += 1;
        Some(Step::InValue(inside))
    }

    /// Is the key that was read declared, and new?
    fn declare(&mut self, tool: &Tool, text: &str) -> bool {
        let Some((slot, _)) = self.member(tool, text) else { return false };
        let is_new = self.seen & 1 << slot == 0;
        self.seen |= 1 << slot;
        is_new
    }

    fn member(&self, tool: &Tool, text: &str) -> Option<(u8, Place)> {
        let guide = tool.schema().guide();
        match guide.member(guide.root(), text.get(self.key.clone())?) {
            Member::Declared(slot, place) => Some((slot, place)),
            Member::Open(_) | Member::Forbidden => None,
        }
    }

    /// Is the argument that was begun the last required one, or is none missing, and may it be any text?
    fn is_last_demand(&self, tool: &Tool, text: &str) -> bool {
        let guide = tool.schema().guide();
        guide.required(guide.root()) & !self.seen == 0
            && self.member(tool, text).is_some_and(|(_, place)| tool.schema().takes_any_string(place))
    }

    /// The JSON of the arguments whose beginning is `source`, if no verdict will touch it; with `is_open`, up to a text
    /// that is to come, its opening quote included.
    fn read(&self, tool: &Tool, source: Option<&str>, is_open: bool) -> Option<String> {
        let json = self.spelling.json_of(source?, is_open, tool)?;
        let tree = strict(&json).ok()?;
        let guide = tool.schema().guide();
        let n_whole = tree.root(&json).members().count() - usize::from(is_open);
        let is_right = tree.root(&json).members().take(n_whole).all(|(key, value)| {
            let Some(key) = key.as_str() else { return false };
            let Member::Declared(_, place) = guide.member(guide.root(), &key) else { return false };
            tool.schema().fits_at(place, value)
        });
        let head = if is_open { json.strip_suffix("\"}")? } else { &json };
        is_right.then(|| head.to_owned())
    }

    /// Goes on in the text that goes out, as far as it is decided.
    fn text(&mut self, delimiter: Delimiter, bytes: &[u8]) -> Step {
        while let Some(&byte) = bytes.get(self.at) {
            match self.spelling.closing(delimiter, bytes, self.at) {
                None => return Step::Text(delimiter),
                Some(0) => {}
                Some(_) => return Step::Over,
            }
            if delimiter == Delimiter::Mark {
                self.at += 1;
                continue;
            }
            // Four quotes in a row begin a text in more than one way.
            if delimiter == Delimiter::Triple(byte) && self.at == self.from {
                return Step::Over;
            }
            let is_blank = matches!(byte, b'\n' | b'\r' | b'\t');
            let len = match byte {
                _ if is_blank && matches!(delimiter, Delimiter::Triple(_)) => 1,
                ..=0x1f => return Step::Over,
                // `C:\new` may be a path, whose backslashes are none of escapes.
                b'\\' if bytes.get(self.at - 1) == Some(&b':') => return Step::Over,
                b'\\' => match (Escape::at(bytes.get(self.at..).unwrap_or(&[])), bytes.get(self.at + 1)) {
                    (_, Some(b'\'')) => 2,
                    (Escape::Whole(len), _) => len,
                    (Escape::Torn, _) => return Step::Text(delimiter),
                    (Escape::Broken, _) => return Step::Over,
                },
                b'"' => match self.is_foreign_quote(delimiter, bytes) {
                    None => return Step::Text(delimiter),
                    Some(true) => return Step::Over,
                    Some(false) => 1,
                },
                _ => 1,
            };
            match (byte, bytes.get(self.at + 1)) {
                (b',' | b'}' | b']' | b')', _) | (b'\\', Some(b'"' | b'\'')) => {
                    self.doubtful.get_or_insert(self.at);
                }
                (b' ' | b':' | b'\n' | b'\r' | b'\t', _) | (b'\\', Some(b'n' | b't' | b'r')) => {}
                _ => self.doubtful = None,
            }
            self.at += len;
        }
        Step::Text(delimiter)
    }

    /// May a double quote in a text between others be the one that ends it, or that begins what follows it: `'a", b="c"`?
    /// `None` where more must come to tell.
    fn is_foreign_quote(&self, delimiter: Delimiter, bytes: &[u8]) -> Option<bool> {
        let before = bytes.get(self.from..self.at).unwrap_or(&[]).trim_ascii_end();
        if before.ends_with(b",") {
            return Some(true);
        }
        if let Delimiter::Triple(_) | Delimiter::Mark = delimiter {
            return Some(false);
        }
        let behind = bytes.get(self.at + 1..).unwrap_or(&[]).trim_ascii_start();
        Some(matches!(behind.first()?, b',' | b':' | b')' | b']' | b'}'))
    }

    /// Lets out what is certain and has not gone out yet.
    fn release(&mut self, text: &str) {
        let end = self.doubtful.unwrap_or(self.at);
        let Some(piece) = text.get(self.sent_to..end).filter(|piece| !piece.is_empty()) else { return };
        let inside = self.spelling.escaped(piece);
        if self.sent.is_empty() {
            self.sent.push_str(&self.head);
        }
        self.sent.push_str(&inside);
        self.sent_to = end;
        self.is_sure = true;
    }
}

impl Spelling {
    /// What a value that begins at `at` begins with.
    fn opening(&self, bytes: &[u8], at: usize) -> Opening {
        let rest = bytes.get(at..).unwrap_or(&[]);
        match (self, rest) {
            (Spelling::Marks(mark), _) if rest.starts_with(mark.as_bytes()) => {
                Opening::Text(Delimiter::Mark, at + mark.len())
            }
            (Spelling::Marks(mark), _) if mark.as_bytes().starts_with(rest) => Opening::Torn,
            (Spelling::Marks(_), _) => Opening::Other,
            (Spelling::Call, [quote @ (b'"' | b'\''), behind @ ..]) => match behind {
                [first, ..] if first != quote => Opening::Text(Delimiter::Quote(*quote), at + 1),
                [first, second, ..] if first == quote && second == quote => {
                    Opening::Text(Delimiter::Triple(*quote), at + 3)
                }
                // A text of no length.
                [_, _, ..] => Opening::Text(Delimiter::Quote(*quote), at + 1),
                _ => Opening::Torn,
            },
            (Spelling::Call, _) => Opening::Other,
        }
    }

    /// The length of what ends a text at `at`, 0 where nothing does; `None` where more must come to tell.
    fn closing(&self, delimiter: Delimiter, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let triple;
        let mark: &[u8] = match (delimiter, self) {
            (Delimiter::Quote(quote), _) => return Some(usize::from(rest.first() == Some(&quote))),
            (Delimiter::Triple(quote), _) => {
                triple = [quote; 3];
                &triple
            }
            (Delimiter::Mark, Spelling::Marks(mark)) => mark.as_bytes(),
            (Delimiter::Mark, Spelling::Call) => return Some(0),
        };
        match rest.starts_with(mark) {
            true => Some(mark.len()),
            false if !rest.is_empty() && mark.starts_with(rest) => None,
            false => Some(0),
        }
    }

    /// The JSON of the arguments whose beginning is `source`, as the verdict's reader has it; with `is_open`, an empty
    /// text is its last value.
    fn json_of(&self, source: &str, is_open: bool, tool: &Tool) -> Option<String> {
        let guide = tool.schema().guide();
        match self {
            Spelling::Call => {
                let source = format!("{source}{})", if is_open { "''" } else { "" });
                let read = payload::read_arguments_at(&source, 0, guide, false);
                // What had to be inferred may be inferred in another way once more is there.
                let reading =
                    payload::settled_object(&read.parse).filter(|r| r.class() <= Class::Lossless)?;
                Some(reading.value().raw().to_owned())
            }
            Spelling::Marks(mark) => {
                let text = if is_open { [&**mark, mark].concat() } else { String::new() };
                let spelt = relaxed::json_like(&format!("{source}{text}}}"), mark, &|_| false)?;
                let read = payload::read_json_at(&spelt.json, 0, guide, false);
                let reading = payload::settled_object(&read.parse)?;
                Some(reading.value().raw().to_owned())
            }
        }
    }

    /// The piece of a text as the inside of a string of JSON.
    fn escaped(&self, piece: &str) -> String {
        match self {
            Spelling::Marks(_) => {
                let json = crate::value::Value::from(piece).to_string();
                json.get(1..json.len() - 1).unwrap_or("").to_owned()
            }
            Spelling::Call => {
                let mut json = String::with_capacity(piece.len());
                let mut chars = piece.chars();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => json.push_str("\\\""),
                        '\n' => json.push_str("\\n"),
                        '\r' => json.push_str("\\r"),
                        '\t' => json.push_str("\\t"),
                        // What is no escape of JSON is not let out, but for `\'`.
                        '\\' => match chars.next() {
                            Some('\'') | None => json.push('\''),
                            Some(c) => json.extend(['\\', c]),
                        },
                        c => json.push(c),
                    }
                }
                json
            }
        }
    }
}
