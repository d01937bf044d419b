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

use crate::payload::{self, relaxed};
use crate::syntax::escape::{Escape, escape};
use crate::syntax::{Incomplete, Seen};
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
                    self.step = self.text(delimiter, text.as_bytes()).unwrap_or(self.step);
                    self.release(text);
                    break;
                }
                step => match self.next(step, tool, text) {
                    Ok(next) => self.step = next,
                    Err(Incomplete) => break,
                },
            }
        }
        self.sent.get(begun..).filter(|piece| !piece.is_empty()).map(str::to_owned)
    }

    /// Goes over one byte, or stays where the next step has to look at it.
    fn next(&mut self, step: Step, tool: &Tool, text: &str) -> Result<Step, Incomplete> {
        let bytes = text.as_bytes();
        let byte = *bytes.get(self.at).ok_or(Incomplete)?;
        let (open, sign) = match self.spelling {
            Spelling::Call => (b'(', b'='),
            Spelling::Marks(_) => (b'{', b':'),
        };
        let is_key = is_name_byte(byte) && byte != b'\\';
        Ok(match step {
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
            Step::Value => match self.spelling.opening(bytes, self.at)? {
                Some((delimiter, from)) if self.is_last_demand(tool, text) => {
                    match self.read(tool, text.get(self.start..self.at), true) {
                        Some(head) => {
                            (self.head, self.from, self.sent_to, self.at) = (head, from, from, from);
                            Step::Text(delimiter)
                        }
                        None => Step::Over,
                    }
                }
                _ => Step::InValue(Inside::default()),
            },
            Step::InValue(inside) => return self.in_value(inside, byte, tool, text),
            Step::Bracket | Step::Key | Step::Sign | Step::Text(_) | Step::Over => Step::Over,
        })
    }

    /// Goes on in a value that does not go out as it grows.
    fn in_value(
        &mut self,
        mut inside: Inside,
        byte: u8,
        tool: &Tool,
        text: &str,
    ) -> Result<Step, Incomplete> {
        let bytes = text.as_bytes();
        if let Some(delimiter) = inside.text {
            match self.spelling.closing(delimiter, bytes, self.at)? {
                None if byte == b'\\' && delimiter != Delimiter::Mark => self.at += 2,
                None => self.at += 1,
                Some(len) => {
                    self.at += len;
                    inside.text = None;
                }
            }
            return Ok(Step::InValue(inside));
        }
        match byte {
            b',' if inside.depth == 0 => {
                if !self.is_sure {
                    self.is_sure = self.read(tool, text.get(self.start..self.at), false).is_some();
                }
                self.at += 1;
                return Ok(if self.is_sure { Step::Key } else { Step::Over });
            }
            b'(' | b'[' | b'{' => inside.depth += 1,
            b')' | b']' | b'}' if inside.depth == 0 => return Ok(Step::Over),
            b')' | b']' | b'}' => inside.depth -= 1,
            _ => match self.spelling.opening(bytes, self.at)? {
                // `{a:x<|"|>,`: it ends a text whose first mark is missing.
                Some((Delimiter::Mark, _)) if !relaxed::may_open(&text[self.start..self.at]) => {
                    return Ok(Step::Over);
                }
                Some((delimiter, from)) => {
                    self.at = from;
                    inside.text = Some(delimiter);
                    return Ok(Step::InValue(inside));
                }
                None => {}
            },
        }
        self.at += 1;
        Ok(Step::InValue(inside))
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
    fn text(&mut self, delimiter: Delimiter, bytes: &[u8]) -> Result<Step, Incomplete> {
        while let Some(&byte) = bytes.get(self.at) {
            if self.spelling.closing(delimiter, bytes, self.at)?.is_some() {
                return Ok(Step::Over);
            }
            if delimiter == Delimiter::Mark {
                self.at += 1;
                continue;
            }
            // Four quotes in a row begin a text in more than one way.
            if delimiter == Delimiter::Triple(byte) && self.at == self.from {
                return Ok(Step::Over);
            }
            let is_blank = matches!(byte, b'\n' | b'\r' | b'\t');
            let len = match byte {
                _ if is_blank && matches!(delimiter, Delimiter::Triple(_)) => 1,
                ..=0x1f => return Ok(Step::Over),
                // `C:\new` may be a path, whose backslashes are none of escapes.
                b'\\' if bytes.get(self.at - 1) == Some(&b':') => return Ok(Step::Over),
                b'\\' if bytes.get(self.at + 1) == Some(&b'\'') => 2,
                b'\\' => match escape(&bytes[self.at..])? {
                    Some(Escape { len, letter: Some(_) }) => len,
                    _ => return Ok(Step::Over),
                },
                b'"' if self.is_foreign_quote(delimiter, bytes)? => return Ok(Step::Over),
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
        Err(Incomplete)
    }

    /// May a double quote in a text between others be the one that ends it, or that begins what follows it: `'a", b="c"`?
    fn is_foreign_quote(&self, delimiter: Delimiter, bytes: &[u8]) -> Result<bool, Incomplete> {
        let before = bytes.get(self.from..self.at).unwrap_or(&[]).trim_ascii_end();
        if before.ends_with(b",") {
            return Ok(true);
        }
        if let Delimiter::Triple(_) | Delimiter::Mark = delimiter {
            return Ok(false);
        }
        let behind = bytes.get(self.at + 1..).unwrap_or(&[]).trim_ascii_start();
        Ok(matches!(behind.first().ok_or(Incomplete)?, b',' | b':' | b')' | b']' | b'}'))
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
    /// What ends the text that begins at `at`, and the place behind its opening mark.
    fn opening(&self, bytes: &[u8], at: usize) -> Seen<(Delimiter, usize)> {
        let rest = bytes.get(at..).unwrap_or(&[]);
        match (self, rest) {
            (Spelling::Marks(mark), _) if rest.starts_with(mark.as_bytes()) => {
                Ok(Some((Delimiter::Mark, at + mark.len())))
            }
            (Spelling::Marks(mark), _) if mark.as_bytes().starts_with(rest) => Err(Incomplete),
            (Spelling::Call, [quote @ (b'"' | b'\''), behind @ ..]) => match behind {
                [first, second, ..] if first == quote && second == quote => {
                    Ok(Some((Delimiter::Triple(*quote), at + 3)))
                }
                [first] if first == quote => Err(Incomplete),
                [] => Err(Incomplete),
                // One of no length, too.
                _ => Ok(Some((Delimiter::Quote(*quote), at + 1))),
            },
            (Spelling::Marks(_) | Spelling::Call, _) => Ok(None),
        }
    }

    /// The length of what ends a text at `at`.
    fn closing(&self, delimiter: Delimiter, bytes: &[u8], at: usize) -> Seen<usize> {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let triple;
        let mark: &[u8] = match (delimiter, self) {
            (Delimiter::Quote(quote), _) => return Ok((rest.first() == Some(&quote)).then_some(1)),
            (Delimiter::Triple(quote), _) => {
                triple = [quote; 3];
                &triple
            }
            (Delimiter::Mark, Spelling::Marks(mark)) => mark.as_bytes(),
            (Delimiter::Mark, Spelling::Call) => return Ok(None),
        };
        match rest.starts_with(mark) {
            false if !rest.is_empty() && mark.starts_with(rest) => Err(Incomplete),
            is_it => Ok(is_it.then_some(mark.len())),
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
