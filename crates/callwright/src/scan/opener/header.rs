//! The words of a header, the tool's name among them: `commentary to=functions.f`, `function⏎f`, `"f"`,
//! `functions.f:0`.

use std::sync::Arc;

use callwright_json::Span;

use super::{Header, Lead, Sort, Step};
use crate::dialect::{Grammar, NameAt, Record};
use crate::syntax::marks::find;
use crate::syntax::{Incomplete, Seen, at_end, beginning};
use crate::tools::names::{MAX_NAME, is_name_byte};

/// Farthest distance from a brace to the first mark of a string, in bytes.
const FAR: usize = 512;
/// Number of bytes in which the mark of a string ends that has a quote in it.
const MARK: usize = 8;

impl<'a> Lead<'a, '_> {
    /// Returns the step inside a header where it differs from the usual one.
    pub(super) fn in_header(&self) -> Seen<Step<'a>> {
        let (at, byte) = (self.at, self.peek(self.at)?);
        match (self.header, byte) {
            (Header::No, _) => Ok(None),
            (Header::Named(name, _), b'{') => self.braced(name, at),
            (Header::Named(name, _), b'"') if !self.is_relaxed() => {
                Ok(self.begins_in_string(name, at)?.then(|| Step::to(Sort::Named.of(name, at))))
            }
            // `[ARGS]`, `[CALL_ID]c1`
            (Header::Named(..), b'[') => {
                let rest = self.rest(at + 1);
                let is_mark = |b: &&u8| b.is_ascii_uppercase() || **b == b'_';
                let len = rest.iter().take(16).take_while(is_mark).count();
                if self.peek(at + 1 + len)? != b']' || len == 0 {
                    return Ok(None);
                }
                let behind = at + len + 2;
                let is_id = rest.starts_with(b"CALL_ID]");
                Ok(Some(Step::past(if is_id { self.name_at(behind).end as usize } else { behind })))
            }
            // `:0`, `:f{`
            (_, b':') => {
                Ok(Some(Step::past(if self.name().is_some() { self.behind_number(at) } else { at + 1 })))
            }
            // `<tool: f>⏎{…}`, `<tool: f>⏎Paris`
            (Header::Named(name, _), b'>') if at == name.end as usize => {
                let is_object = self.peek(self.skip_space(at + 1))? == b'{';
                Ok(Some(if is_object { Step::past(at + 1) } else { Step::to(Sort::Words.of(name, at + 1)) }))
            }
            (Header::Named(..), b'\\') if self.bytes.get(at + 1) == Some(&b'n') => {
                Ok(Some(Step::past(at + 2)))
            }
            (_, _) if is_name_byte(byte) => self.header_word(),
            _ => Ok(None),
        }
    }

    /// Steps over a word of a header, and takes it for the name if only markup stands behind it.
    fn header_word(&self) -> Seen<Step<'a>> {
        // The name is certain, whatever words follow: `to=json <|constrain|>json<|message|>`.
        let is_named = matches!(self.header, Header::Named(_, true));
        let written = self.name_at(self.at);
        let (word, end) = (written.of(self.text), written.end as usize);
        if MAX_NAME < word.len() {
            return Ok(None);
        }
        let next = self.peek(end)?;
        // `to=f <|constrain|>bash<|message|>`: any word names the form of the arguments.
        let is_constraint = is_named && self.token_before() == Some("constrain");
        let is_no_name =
            || self.place.dialects.first().is_of_header(word) && (is_named || !self.resolves(written));
        if word == "to" && next == b'=' {
            let name = self.name_at(end + 1);
            self.peek(name.end as usize)?;
            return Ok(Some(Step::past(name.end as usize).named(name)));
        } else if is_constraint || is_no_name() {
            // The arguments are not JSON: in a family, their dialect is the one with tags.
            let tagged = || self.kin().find(|record| record.arguments.is_tagged());
            let record = if word == "xml" { tagged() } else { None };
            return Ok(Some(Step { record, ..Step::past(end) }));
        } else if word == "call" && next == b':' {
            return Ok(Some(Step::past(end + 1)));
        }
        // `get_weather\n<arg_key>`, with the line break written as two characters
        let end = end - if word.ends_with("\\n") { 2 } else { 0 };
        let written = Span::new(self.at, end);
        if is_named || !self.is_followed_by_markup(end)? {
            return Ok(None);
        }
        let header = Header::Named(self.name_in_id(written).unwrap_or(written), false);
        Ok(Some(Step { header: Some(header), ..Step::past(end) }))
    }

    /// Returns the declared name in an id that lost its signs, between the namespace and the number: `functionsf5`,
    /// `functions_f_2`.
    fn name_in_id(&self, id: Span) -> Option<Span> {
        if !self.distinct() || self.resolves(id) {
            return None;
        }
        let (text, end) = (self.text, id.end as usize);
        let is_sign = |c: char| matches!(c, '_' | '.' | '-');
        let numbered = id.of(text).strip_prefix("functions")?.trim_start_matches(is_sign);
        let from = end - numbered.len();
        let name = numbered.trim_end_matches(|c: char| c.is_ascii_digit());
        // The number may belong to the name.
        if name.len() == numbered.len() || self.resolves(Span::new(from, end)) {
            return None;
        }
        let name = Span::new(from, from + name.trim_end_matches(is_sign).len());
        self.resolves(name).then_some(name)
    }

    /// Returns whether a token, a tag, a mark or a brace follows the word that ends at `end`.
    fn is_followed_by_markup(&self, end: usize) -> Result<bool, Incomplete> {
        let at = self.skip_space(self.behind_number(end));
        let is_new_line = self.bytes.get(end..at).is_some_and(|space| space.contains(&b'\n'));
        let is_header = || self.kin().any(|record| record.name_at == NameAt::Header);
        if let Some(markup) = self.record.and_then(|record| record.markup.as_ref())
            && markup.stands_at(self.text, at, self.place.end)?
        {
            return Ok(true);
        }
        Ok(match self.peek(at)? {
            b'<' | b'\\' => true,
            // `<tool: f>`
            b'>' => is_header(),
            b'[' => self.bytes.get(at + 1).is_none_or(u8::is_ascii_uppercase),
            b'{' => is_header(),
            // `<tool_call>f⏎```json⏎{…}`
            b'`' => is_new_line && (is_header() || self.holds_object(at)?),
            _ => false,
        })
    }

    /// Returns the place behind the number of a call at `at`: `:0`.
    pub(super) fn behind_number(&self, at: usize) -> usize {
        let number = self.rest(at).strip_prefix(b":");
        let digits = |number: &[u8]| number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        at + number.map_or(0, |number| 1 + digits(number))
    }

    /// Returns the dialect of the markers so far, and those that share its markers.
    fn kin(&self) -> impl Iterator<Item = &'a Arc<Record>> {
        self.record.into_iter().flat_map(|record| self.place.dialects.kin_of(record))
    }

    fn is_relaxed(&self) -> bool {
        self.record.is_some_and(|record| record.arguments == Grammar::Relaxed)
    }

    /// Returns the payload at the brace of `f{"a": "x"}`, or of `call:f{a:<|"|>x<|"|>}` with any text before it.
    pub(super) fn braced(&self, name: Span, at: usize) -> Seen<Step<'a>> {
        let is_called = || self.text.get(..name.start as usize).is_some_and(|text| text.ends_with("call:"));
        let record = match self.record {
            own if self.is_relaxed() => own,
            _ if is_called() => at_end(self.relaxed(at), self.place.end)?,
            _ => None,
        };
        let sort = if record.is_some() { Sort::Relaxed } else { Sort::Named };
        Ok(Some(Step { record, ..Step::to(sort.of(name, at)) }))
    }

    /// Returns the dialect that the mark of the first string behind `at` tells, in a call without its opener.
    fn relaxed(&self, at: usize) -> Seen<&'a Arc<Record>> {
        let rest = beginning(self.text.get(at..).unwrap_or(""), FAR);
        let quote = rest.find(['"', '\'']);
        let is_its = |record: &&Arc<Record>| {
            let mark = find(rest, std::iter::once(record.string_mark()));
            mark.is_some_and(|mark| quote.is_none_or(|quote| mark < quote))
        };
        match self.place.dialects.relaxed().find(is_its) {
            None if quote.is_none_or(|quote| rest.len() < quote + MARK) && rest.len() < FAR => {
                Err(Incomplete)
            }
            record => Ok(record),
        }
    }
}
