//! The words of a header, one of which is the tool's name: `commentary to=functions.f`, `function⏎f`, `"f"`, `functions.f:0`.

use callwright_json::Span;

use super::tag::{Header, is_argument_token};
use super::{Item, OpenerParser, Step};
use crate::dialect::{Grammar, Known, NameAt};
use crate::syntax::tag::{Lexed, tag_at};
use crate::tools::names::{MAX_NAME, is_name_byte};

/// Words of a header that are no name.
const NO_NAMES: &[&str] = &["json", "code", "xml", "commentary", "analysis", "final", "assistant"];

impl OpenerParser<'_, '_> {
    /// The step inside a header, where it differs from the usual one.
    pub(super) fn in_header(&mut self, byte: u8) -> Option<Step> {
        if let Some(step) = self.id() {
            return Some(step);
        }
        match (self.header, byte) {
            (Header::No, _) => None,
            (Header::Named(name, _), b'(') if self.is_relaxed() => {
                Some(Step::Item(Item::Relaxed { name, at: self.at }))
            }
            (Header::Named(name, _), b'{') => Some(match self.at {
                at if self.is_relaxed() => Step::Item(Item::Relaxed { name, at }),
                at => self.braced(name, at),
            }),
            (Header::Named(name, _), b'"') if !self.is_relaxed() => self.in_string(name, self.at),
            // `[ARGS]`, `[CALL_ID]c1`
            (Header::Named(..), b'[') => {
                let rest = self.bytes.get(self.at..).unwrap_or(&[]);
                let is_mark = |b: &&u8| b.is_ascii_uppercase() || **b == b'_';
                let len = rest.iter().skip(1).take(16).take_while(is_mark).count();
                match rest.get(1 + len) {
                    None => Some(Step::Wait),
                    Some(b']') if len != 0 => {
                        let is_id = rest.get(1..=len) == Some(b"CALL_ID");
                        self.at += len + 2;
                        if is_id {
                            self.at = self.name_end(self.at);
                        }
                        Some(Step::Over)
                    }
                    Some(_) => None,
                }
            }
            // `:0`, `:f{`
            (_, b':') => {
                self.at += 1;
                while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) && self.name().is_some() {
                    self.at += 1;
                }
                Some(Step::Over)
            }
            (_, b'\\') if self.name().is_some() && self.bytes.get(self.at + 1) == Some(&b'n') => {
                self.at += 2;
                Some(Step::Over)
            }
            (Header::Begun, b'"' | b'\'' | b'`') => self.name_in_quotes(byte),
            (_, _) if is_name_byte(byte) => self.header_word(),
            _ => None,
        }
    }

    /// `<tool_call>"f"<arg_key>`: a declared name in quotes.
    fn name_in_quotes(&mut self, quote: u8) -> Option<Step> {
        let from = self.at + 1;
        let end = self.name_end(from);
        match self.bytes.get(end) {
            None => return self.may_hold_name(from, end).then_some(Step::Wait),
            Some(&byte) if byte != quote || !self.resolves(from, end) => return None,
            Some(_) => {}
        }
        match self.is_followed_by_markup(end + 1) {
            None => Some(Step::Wait),
            Some(false) => None,
            Some(true) => {
                self.header = Header::Named(Span::new(from, end), false);
                self.at = end + 1;
                Some(Step::Over)
            }
        }
    }

    /// `weird@id<|tool_call_argument_begin|>`: all that stands in front of that token is the name, whatever it is made of.
    fn id(&mut self) -> Option<Step> {
        let is_kimi = self.header == Header::Begun && self.is(Known::KimiK2) && self.from < self.at;
        let rest = self.text.get(self.at..).filter(|_| is_kimi)?;
        let found = rest.bytes().take(MAX_NAME).position(|byte| byte == b'<');
        let len = found.unwrap_or(rest.len());
        let written = rest.get(..len)?.trim_end();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let numbered = written.rsplit_once(':').filter(|(_, number)| is_number(number));
        let name = numbered.map_or(written, |(name, _)| name);
        if name.bytes().all(is_name_byte) || MAX_NAME <= len {
            return None;
        }
        let is_declared = self.resolves(self.at, self.at + name.len());
        let written = if is_declared { name } else { written };
        match tag_at(self.text, self.at + len) {
            _ if found.is_none() => Some(Step::Wait),
            Lexed::Grows => Some(Step::Wait),
            Lexed::Tag(tag) if is_argument_token(tag.word.of(self.text)) => {
                self.header = Header::Named(Span::new(self.at, self.at + written.len()), true);
                self.at += len;
                Some(Step::Over)
            }
            Lexed::Tag(_) | Lexed::No => None,
        }
    }

    /// A word of a header is the name if nothing but markup stands behind it.
    fn header_word(&mut self) -> Option<Step> {
        let (mut from, mut end) = (self.at, self.name_end(self.at));
        if MAX_NAME < end - from {
            return Some(Step::Nothing);
        }
        let word = self.text.get(from..end).unwrap_or("");
        let Some(&next) = self.bytes.get(end) else { return Some(Step::Wait) };
        let is_recipient = word == "to" && next == b'=';
        if is_recipient {
            from = end + 1;
            end = self.name_end(from);
            if end == self.bytes.len() {
                return Some(Step::Wait);
            }
        } else if NO_NAMES.contains(&word) && (self.is_named() || !self.resolves(from, end)) {
            if word == "xml" {
                self.record = Some(self.known(Known::Beam));
            }
            self.at = end;
            return Some(Step::Over);
        } else if word == "function" && next == b'\n' && !self.resolves(from, end) {
            // `<tool_call>function⏎f⏎{…}`
            self.at = end;
            return Some(Step::Over);
        } else if word == "call" && next == b':' {
            self.at = end + 1;
            return Some(Step::Over);
        } else if word == "function" && next == b'=' {
            // `<tool_call>function=f>`, without its `<`
            let name = Span::new(end + 1, self.name_end(end + 1));
            return match self.bytes.get(name.end as usize) {
                None => Some(Step::Wait),
                Some(b'>') if self.resolves(name.start as usize, name.end as usize) => {
                    self.record = Some(self.known(Known::Qwen3Coder));
                    self.header = Header::Named(name, true);
                    self.at = name.end as usize + 1;
                    Some(Step::Over)
                }
                Some(_) => Some(Step::Nothing),
            };
        }
        // `get_weather\n<arg_key>`, with the line break written as two characters
        if let Some(escape) = self.text.get(from..end).and_then(|word| word.find("\\n"))
            && end == from + escape + 2
        {
            end -= 2;
        }
        // `to=fcommentary json`, without the tokens between them
        let within = match is_recipient {
            true => self.name_within(from, end),
            false => self.name_in_id(from, end),
        };
        let name = within.unwrap_or(Span::new(from, end));
        let is_name = match self.header {
            _ if is_recipient => true,
            _ if self.is_named() => false,
            Header::No | Header::Begun | Header::Named(..) => match self.is_followed_by_markup(end) {
                Some(is_name) => is_name,
                None => return Some(Step::Wait),
            },
        };
        is_name.then(|| {
            self.header = Header::Named(name, is_recipient);
            self.at = end;
            Step::Over
        })
    }

    /// The one declared name in an id whose signs are lost, `functionsf5`, `functions_f_2`, between the namespace and
    /// the number.
    fn name_in_id(&self, from: usize, end: usize) -> Option<Span> {
        if !self.distinct() || self.resolves(from, end) {
            return None;
        }
        let is_sign = |c: char| matches!(c, '_' | '.' | '-');
        let numbered = self.text.get(from..end)?.strip_prefix("functions")?.trim_start_matches(is_sign);
        let from = end - numbered.len();
        let name = numbered.trim_end_matches(|c: char| c.is_ascii_digit());
        // The number may be the name's own.
        if name.len() == numbered.len() || self.resolves(from, end) {
            return None;
        }
        let end = from + name.trim_end_matches(is_sign).len();
        self.resolves(from, end).then(|| Span::new(from, end))
    }

    /// Is the name known, whatever words follow: `to=json <|constrain|>json<|message|>`?
    fn is_named(&self) -> bool {
        matches!(self.header, Header::Named(_, true))
    }

    /// Is the word that ends at `end` followed by a token, a tag, a mark or a brace? `None` where more text must tell.
    fn is_followed_by_markup(&self, end: usize) -> Option<bool> {
        let mut at = end;
        if self.bytes.get(at) == Some(&b':') {
            at += 1;
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
        at = self.skip_space(at);
        let is_new_line = self.bytes.get(end..at).is_some_and(|space| space.contains(&b'\n'));
        let is_header = self.record.is_some_and(|record| record.name_at == NameAt::Header);
        match self
            .record
            .and_then(|record| record.markup.as_ref())
            .map(|markup| markup.tag_at(self.text, at, self.place.end))
        {
            Some(Lexed::Tag(_)) => return Some(true),
            Some(Lexed::Grows) if !self.place.end => return None,
            Some(Lexed::Grows | Lexed::No) | None => {}
        }
        match self.bytes.get(at)? {
            b'<' | b'\\' => Some(true),
            b'[' => Some(self.bytes.get(at + 1).is_none_or(u8::is_ascii_uppercase)),
            b'{' => Some(is_header || self.is_mistral()),
            b'(' => Some(self.is_relaxed()),
            b'`' => Some(is_new_line && is_header),
            _ => Some(false),
        }
    }

    fn is_relaxed(&self) -> bool {
        self.record.is_some_and(|record| record.grammar == Grammar::Relaxed)
    }

    fn is_mistral(&self) -> bool {
        self.is(Known::MistralJson)
    }
}
