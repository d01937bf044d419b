//! The words of a header, the tool's name among them: `commentary to=functions.f`, `function⏎f`, `"f"`,
//! `functions.f:0`.

use callwright_json::Span;

use super::tag::Header;
use super::{OpenerParser, Sort, Step};
use crate::dialect::{Grammar, NameAt};
use crate::syntax::{Incomplete, Seen};
use crate::tools::names::{MAX_NAME, is_name_byte};

/// Words of a header that are not names.
const NO_NAMES: &[&str] = &["json", "code", "xml", "commentary", "analysis", "final", "assistant"];

impl OpenerParser<'_, '_> {
    /// Returns the step inside a header where it differs from the usual one.
    pub(super) fn in_header(&mut self, byte: u8) -> Seen<Step> {
        let at = self.at;
        match (self.header, byte) {
            (Header::No, _) => Ok(None),
            (Header::Named(name, _), b'{') if self.is_relaxed() => {
                Ok(Some(Step::Item(Sort::Relaxed.of(name, at))))
            }
            (Header::Named(name, _), b'{') => self.braced(name, at).map(Some),
            (Header::Named(name, _), b'"') if !self.is_relaxed() => self.in_string(name, at),
            // `[ARGS]`, `[CALL_ID]c1`
            (Header::Named(..), b'[') => {
                let rest = self.bytes.get(at + 1..).unwrap_or(&[]);
                let is_mark = |b: &&u8| b.is_ascii_uppercase() || **b == b'_';
                let len = rest.iter().take(16).take_while(is_mark).count();
                if self.peek(at + 1 + len)? != b']' || len == 0 {
                    return Ok(None);
                }
                let behind = at + len + 2;
                let is_id = rest.get(..len) == Some(b"CALL_ID");
                Ok(Some(self.past(if is_id { self.name_end(behind) } else { behind })))
            }
            // `:0`, `:f{`
            (_, b':') => {
                let digits = self.bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                Ok(Some(self.past(at + 1 + if self.name().is_some() { digits } else { 0 })))
            }
            (_, b'\\') if self.name().is_some() && self.bytes.get(at + 1) == Some(&b'n') => {
                Ok(Some(self.past(at + 2)))
            }
            (_, _) if is_name_byte(byte) => self.header_word(),
            _ => Ok(None),
        }
    }

    /// Steps over a word of a header, and takes it for the name if only markup stands behind it.
    fn header_word(&mut self) -> Seen<Step> {
        let (mut from, mut end) = (self.at, self.name_end(self.at));
        if MAX_NAME < end - from {
            return Ok(Some(Step::Nothing));
        }
        let word = self.text.get(from..end).unwrap_or("");
        let next = self.peek(end)?;
        let is_recipient = word == "to" && next == b'=';
        if is_recipient {
            from = end + 1;
            end = self.name_end(from);
            self.peek(end)?;
        } else if self.is_constraint()
            || NO_NAMES.contains(&word) && (self.is_named() || !self.resolves(from, end))
        {
            // The arguments are not JSON: in a family, their dialect is the one with tags.
            if word == "xml" {
                let mut kin = self.record.into_iter().flat_map(|record| self.place.dialects.kin_of(record));
                self.record = kin.find(|record| record.arguments.is_tagged()).or(self.record);
            }
            return Ok(Some(self.past(end)));
        } else if word == "function" && next == b'\n' && !self.resolves(from, end) {
            // `<tool_call>function⏎f⏎{…}`
            return Ok(Some(self.past(end)));
        } else if word == "call" && next == b':' {
            return Ok(Some(self.past(end + 1)));
        }
        // `get_weather\n<arg_key>`, with the line break written as two characters
        if let Some(escape) = self.text.get(from..end).and_then(|word| word.find("\\n"))
            && end == from + escape + 2
        {
            end -= 2;
        }
        let in_id = if is_recipient { None } else { self.name_in_id(from, end) };
        let name = in_id.unwrap_or(Span::new(from, end));
        let is_name = is_recipient || !self.is_named() && self.is_followed_by_markup(end)?;
        Ok(is_name.then(|| {
            self.header = Header::Named(name, is_recipient);
            self.past(end)
        }))
    }

    /// Returns the declared name in an id that lost its signs, between the namespace and the number: `functionsf5`,
    /// `functions_f_2`.
    fn name_in_id(&self, from: usize, end: usize) -> Option<Span> {
        if !self.distinct() || self.resolves(from, end) {
            return None;
        }
        let is_sign = |c: char| matches!(c, '_' | '.' | '-');
        let numbered = self.text.get(from..end)?.strip_prefix("functions")?.trim_start_matches(is_sign);
        let from = end - numbered.len();
        let name = numbered.trim_end_matches(|c: char| c.is_ascii_digit());
        // The number may belong to the name.
        if name.len() == numbered.len() || self.resolves(from, end) {
            return None;
        }
        let end = from + name.trim_end_matches(is_sign).len();
        self.resolves(from, end).then(|| Span::new(from, end))
    }

    /// Returns whether the name is certain, whatever words follow: `to=json <|constrain|>json<|message|>`.
    fn is_named(&self) -> bool {
        matches!(self.header, Header::Named(_, true))
    }

    /// Returns whether a token, a tag, a mark or a brace follows the word that ends at `end`.
    fn is_followed_by_markup(&self, end: usize) -> Result<bool, Incomplete> {
        let mut at = end;
        if self.bytes.get(at) == Some(&b':') {
            at += 1;
            while self.bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
        }
        at = self.skip_space(at);
        let is_new_line = self.bytes.get(end..at).is_some_and(|space| space.contains(&b'\n'));
        let is_header = || {
            let mut kin = self.record.into_iter().flat_map(|record| self.place.dialects.kin_of(record));
            kin.any(|record| record.name_at == NameAt::Header)
        };
        if let Some(markup) = self.record.and_then(|record| record.markup.as_ref())
            && markup.stands_at(self.text, at, self.place.end)?
        {
            return Ok(true);
        }
        Ok(match self.peek(at)? {
            b'<' | b'\\' => true,
            b'[' => self.bytes.get(at + 1).is_none_or(u8::is_ascii_uppercase),
            b'{' => is_header(),
            b'`' => is_new_line && is_header(),
            _ => false,
        })
    }

    /// Returns whether the word here, whatever it is, names the form of the arguments:
    /// `to=f <|constrain|>bash<|message|>`.
    fn is_constraint(&self) -> bool {
        self.is_named() && self.token_before() == Some("constrain")
    }

    fn is_relaxed(&self) -> bool {
        self.record.is_some_and(|record| record.arguments == Grammar::Relaxed)
    }
}
