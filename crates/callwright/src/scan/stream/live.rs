//! What of a call's arguments may go out before the verdict, where they stand as `key sign value , key …` between brackets:
//! `{"path": "a", "content": "…`, `(path='a', content='''…`, `{path:<|"|>a<|"|>,content:<|"|>…`.
//!
//! In goes the text as it grows, out comes the JSON of the arguments, as far as it is certain. Certain is what only one
//! reading is left for: every member is right, and a text is open where any text may stand, so that all that can still come
//! to it is more text, or its end. Of that text goes out what is decided: not a torn escape, and nothing from the first mark
//! on that may end it or be a part of it. What follows the last such text waits for the verdict, so that a call that is
//! refused after all was never a whole one. The order of members is the model's.
//!
//! Strict JSON goes out as it stands, and where a declared member follows whose text may go out as well, the quote was the
//! end. In another [`Spelling`] one text goes out alone, once every required argument is there, and nothing behind it.
//!
//! No byte is looked at twice, but for those of a torn escape and the first ones of the text.

use callwright_json::{Guide, Member, Place, Span, strict};

use super::spelling::{Delimiter, Inside, Spelling};
use crate::shape::keys;
use crate::syntax::Incomplete;
use crate::syntax::escape::{Escape, escape};
use crate::tools::Tool;
use crate::tools::names::is_name_byte;

/// How far the arguments of one call are certain.
#[derive(Debug, Default)]
pub(in crate::scan) struct Live {
    spelling: Spelling,
    step: Step,
    /// The name of the call, as it is written, once it is there: it may stand beside the arguments,
    /// `{"name": "f", "arguments": {…}}`.
    name: Option<Span>,
    /// Everything before this place was looked at.
    at: usize,
    /// The opening bracket.
    start: usize,
    /// The key of the member that is being read.
    key: Span,
    /// What is declared about it.
    place: Option<Place>,
    /// The first byte of its value.
    value: usize,
    /// The declared members that were begun, one bit each.
    seen: u128,
    /// The JSON of what stands before the text, with its opening quote, while that has not gone out. Strict JSON has none.
    head: String,
    /// Where the text begins.
    from: usize,
    /// A run of punctuation at the end of the text so far. A model that forgets the quote that ends it, or escapes it,
    /// writes `"a}`, `"a\"}` or `'a)`: whether it did is seen by what follows.
    doubtful: Option<usize>,
    /// What is certain ends here.
    certain: usize,
    /// What went out ends here.
    sent_to: usize,
    /// All that went out, unless it is the source itself.
    sent: String,
    /// An argument was read that is right, or one has begun to go out.
    is_sure: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Step {
    /// The bracket is to come.
    #[default]
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
    /// Behind a quote that may end it.
    BehindText,
    /// Nothing more is certain.
    Over,
}

impl Live {
    /// For the arguments of the call `name` that begin at `at`; without a name, for the object there that holds both.
    pub(super) fn new(spelling: Spelling, name: Option<Span>, at: usize) -> Live {
        Live { spelling, name, at, start: at, sent_to: at, ..Live::default() }
    }

    /// Is there more than a name and a key that say that this is a call?
    pub(super) fn is_sure(&self) -> bool {
        self.is_sure
    }

    /// All that went out of `text`.
    pub(in crate::scan) fn sent<'t>(&'t self, text: &'t str) -> &'t str {
        match self.spelling {
            Spelling::Json => text.get(self.start..self.sent_to).unwrap_or(""),
            Spelling::Call | Spelling::Marks(_) => &self.sent,
        }
    }

    /// The name of the call in `text`, once its arguments begin; asked until the tool is known.
    pub(super) fn name(&mut self, text: &str) -> Option<Span> {
        self.walk(None, text);
        self.name.filter(|_| matches!(self.step, Step::Bracket))
    }

    /// Looks at what `text`, in which the arguments for `tool` stand, has grown by; returns what may go out now, if
    /// anything may.
    pub(in crate::scan) fn advance(&mut self, tool: &Tool, text: &str) -> Option<String> {
        self.walk(Some(tool), text);
        let fresh = text.get(self.sent_to..self.certain).filter(|fresh| !fresh.is_empty())?;
        (self.sent_to, self.is_sure) = (self.certain, true);
        let piece = std::mem::take(&mut self.head) + &self.spelling.inside_of(fresh);
        if self.spelling != Spelling::Json {
            self.sent.push_str(&piece);
        }
        Some(piece)
    }

    /// Goes over the arguments for `tool` as far as `text` decides; without a tool, over what stands before them.
    fn walk(&mut self, tool: Option<&Tool>, text: &str) {
        let bytes = text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let next = match self.step {
                Step::Over => break,
                // The arguments begin, whose tool is to be found by the name.
                Step::Bracket if tool.is_none() && self.name.is_some() => break,
                Step::Text(delimiter) => {
                    let ended = self.text(delimiter, bytes);
                    self.certain = self.doubtful.unwrap_or(self.at);
                    // Over the quote that ends it.
                    self.at += usize::from(ended.is_ok());
                    ended
                }
                Step::InValue(inside) => self.in_value(inside, byte, tool, text),
                Step::Value if !is_blank(byte) => self.value(byte, tool, text),
                step => Ok(self.next(step, byte, tool, text)),
            };
            match next {
                Ok(step) => self.step = step,
                Err(Incomplete) => break,
            }
        }
    }

    /// Goes over one byte between values.
    fn next(&mut self, step: Step, byte: u8, tool: Option<&Tool>, text: &str) -> Step {
        let at = self.at;
        self.at += 1;
        let is_quoted = self.spelling == Spelling::Json;
        let (open, sign) = if self.spelling == Spelling::Call { (b'(', b'=') } else { (b'{', b':') };
        // A key with an escape has two spellings.
        let is_in_key =
            byte != b'\\' && if is_quoted { byte != b'"' && b' ' <= byte } else { is_name_byte(byte) };
        match step {
            Step::Bracket | Step::Key | Step::Sign | Step::Value | Step::BehindText if is_blank(byte) => step,
            Step::Bracket if byte == open && tool.is_none_or(|tool| tool.schema().judges_members_alone()) => {
                (self.start, self.sent_to) = (at, at);
                Step::Key
            }
            Step::Key if if is_quoted { byte == b'"' } else { is_in_key } => {
                self.key = Span::at(at + usize::from(is_quoted));
                Step::InKey
            }
            Step::InKey if is_in_key => Step::InKey,
            Step::InKey if !is_quoted || byte == b'"' => {
                self.key = Span::new(self.key.start as usize, at);
                // Behind a bare key stands the sign.
                self.at = at + usize::from(is_quoted);
                Step::Sign
            }
            Step::Sign if byte == sign && tool.is_none_or(|tool| self.declare(tool, text)) => Step::Value,
            Step::BehindText if byte == b',' => Step::Key,
            Step::Bracket
            | Step::Key
            | Step::InKey
            | Step::Sign
            | Step::Value
            | Step::InValue(_)
            | Step::Text(_)
            | Step::BehindText
            | Step::Over => Step::Over,
        }
    }

    /// Is the key that was read declared, and new?
    fn declare(&mut self, tool: &Tool, text: &str) -> bool {
        let guide = tool.schema().guide();
        let Member::Declared(slot, place) = guide.member(guide.root(), self.key.of(text)) else {
            return false;
        };
        let is_new = self.seen & 1 << slot == 0;
        self.seen |= 1 << slot;
        self.place = Some(place);
        is_new
    }

    /// The step into the value that begins with `byte`.
    fn value(&mut self, byte: u8, tool: Option<&Tool>, text: &str) -> Result<Step, Incomplete> {
        self.value = self.at;
        let in_value = Step::InValue(Inside::default());
        let Some(tool) = tool else {
            let key = self.key.of(text);
            return Ok(match byte {
                b'{' if self.name.is_some() && keys::ARGUMENTS.contains(&key) => Step::Bracket,
                b'{' | b'[' | b',' => Step::Over,
                b'"' if self.name.is_none() && keys::NAME.contains(&key) => in_value,
                _ if keys::COMPANIONS.contains(&key) => in_value,
                _ => Step::Over,
            });
        };
        let Some((delimiter, from)) = self.spelling.opening(text.as_bytes(), self.at)? else {
            return Ok(in_value);
        };
        if !self.place.is_some_and(|place| tool.schema().takes_any_string(place)) {
            return Ok(in_value);
        }
        if self.spelling != Spelling::Json {
            let guide = tool.schema().guide();
            if guide.required(guide.root()) & !self.seen != 0 {
                return Ok(in_value);
            }
            let Some(head) = self.read(tool, text, true) else { return Ok(Step::Over) };
            (self.head, self.sent_to) = (head, from);
        }
        (self.at, self.from, self.certain, self.doubtful) = (from, from, from, None);
        Ok(Step::Text(delimiter))
    }

    /// Goes on in a value that does not go out as it grows.
    fn in_value(
        &mut self,
        inside: Inside,
        byte: u8,
        tool: Option<&Tool>,
        text: &str,
    ) -> Result<Step, Incomplete> {
        Ok(match inside.behind(&self.spelling, text, self.start, self.at)? {
            Some((inside, at)) => {
                self.at = at;
                Step::InValue(inside)
            }
            None if byte == b',' && self.is_right(tool, text) => {
                self.at += 1;
                Step::Key
            }
            None => Step::Over,
        })
    }

    /// Is the value that ends here one that no verdict will touch? Around the arguments, the call's name is noted.
    fn is_right(&mut self, tool: Option<&Tool>, text: &str) -> bool {
        let raw = text.get(self.value..self.at).unwrap_or("");
        let Some(tool) = tool else {
            if !keys::NAME.contains(&self.key.of(text)) {
                return true;
            }
            // A name with an escape has two spellings.
            let is_plain = !raw.contains('\\') && strict(raw).is_ok();
            let end = self.value + raw.trim_end().len();
            self.name = is_plain.then(|| Span::new(self.value + 1, end - 1));
            return is_plain;
        };
        let is_right = match self.spelling {
            Spelling::Json => self.place.is_some_and(|place| {
                strict(raw).is_ok_and(|tree| tool.schema().fits_at(place, tree.root(raw)))
            }),
            // All of them are looked at once more in front of the text.
            Spelling::Call | Spelling::Marks(_) => self.is_sure || self.read(tool, text, false).is_some(),
        };
        self.is_sure |= is_right;
        is_right
    }

    /// The JSON of the arguments before this place, if no verdict will touch it; with `is_open`, up to a text that is to
    /// come, its opening quote included.
    fn read(&self, tool: &Tool, text: &str, is_open: bool) -> Option<String> {
        let guide = tool.schema().guide();
        let json = self.spelling.json_of(text.get(self.start..self.at)?, is_open, guide)?;
        let tree = strict(&json).ok()?;
        let n_whole = tree.root(&json).members().count() - usize::from(is_open);
        let is_right = tree.root(&json).members().take(n_whole).all(|(key, value)| {
            let Some(key) = key.as_str() else { return false };
            let Member::Declared(_, place) = guide.member(guide.root(), &key) else { return false };
            tool.schema().fits_at(place, value)
        });
        let head = if is_open { json.strip_suffix("\"}")? } else { &json };
        is_right.then(|| head.to_owned())
    }

    /// Goes on in the text that goes out, as far as it is decided; returns the step behind it.
    fn text(&mut self, delimiter: Delimiter, bytes: &[u8]) -> Result<Step, Incomplete> {
        let is_json = self.spelling == Spelling::Json;
        while let Some(&byte) = bytes.get(self.at) {
            if self.spelling.closing(delimiter, bytes, self.at)?.is_some() {
                return Ok(if is_json { Step::BehindText } else { Step::Over });
            }
            if delimiter == Delimiter::Mark {
                self.at += 1;
                continue;
            }
            // Four quotes in a row begin a text in more than one way.
            if delimiter == Delimiter::Triple(byte) && self.at == self.from {
                return Ok(Step::Over);
            }
            let behind = bytes.get(self.at + 1);
            let len = match byte {
                b'\n' | b'\r' | b'\t' if matches!(delimiter, Delimiter::Triple(_)) => 1,
                ..=0x1f => return Ok(Step::Over),
                // `C:\new` may be a path, whose backslashes are none of escapes.
                b'\\' if !is_json && bytes.get(self.at - 1) == Some(&b':') => return Ok(Step::Over),
                b'\\' if !is_json && behind == Some(&b'\'') => 2,
                b'\\' => match escape(&bytes[self.at..])? {
                    Some(Escape { len, letter: Some(_) }) => len,
                    _ => return Ok(Step::Over),
                },
                b'"' if self.is_foreign_quote(delimiter, bytes)? => return Ok(Step::Over),
                _ => 1,
            };
            let may_close = match byte {
                b',' | b'}' | b']' => true,
                b')' => !is_json,
                b'\\' => matches!(behind, Some(b'"' | b'\'')),
                _ => false,
            };
            if may_close {
                self.doubtful.get_or_insert(self.at);
            } else if !matches!(
                (byte, behind),
                (b' ' | b':' | b'\n' | b'\r' | b'\t', _) | (b'\\', Some(b'n' | b't' | b'r'))
            ) {
                self.doubtful = None;
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
        if let Delimiter::Triple(_) = delimiter {
            return Ok(false);
        }
        let behind = bytes.get(self.at + 1..).unwrap_or(&[]).trim_ascii_start();
        Ok(matches!(behind.first().ok_or(Incomplete)?, b',' | b':' | b')' | b']' | b'}'))
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
