//! Calls that lost their special tokens on the way: `functions.f:0{…}`, `commentary to=functions.f json{…}`,
//! `f[ARGS]{…}`, ``functionf⏎```json``, `f⏎<arg_key>…`.
//!
//! Such a call needs a declared name at the beginning of a line, and more than the name in front of its arguments.

use callwright_json::Span;

use super::tag::Header;
use super::{OpenerParser, Sort, Step};
use crate::shape::keys::is_one_of;
use crate::syntax::tag::{Role, is_foreign, tag_at};
use crate::syntax::{Incomplete, Seen};

/// Words that a header may have before its name.
const BEFORE: &[&str] = &["assistant", "commentary ", "analysis "];
/// Words that may stand between a name and its arguments.
const BETWEEN: &[&str] = &["json", "code", "xml", "commentary", "analysis"];

/// Words of the tokens that stand between a name and its arguments.
const TOKENS: &[&str] =
    &["tool_call_argument_begin", "content_invoke_tool_json", "tool_sep", "constrain", "message"];

impl OpenerParser<'_, '_> {
    /// Steps over a header without its tokens, up to the end of its name, if one begins here.
    pub(super) fn stripped(&mut self) -> Seen<Step> {
        let mut from = self.at;
        for word in BEFORE {
            from += if self.literal(from, word)? { word.len() } else { 0 };
        }
        if self.at < from {
            from = self.skip_space(from);
        }
        let front = from;
        for mark in ["to=", "call:"] {
            from += if self.literal(from, mark)? { mark.len() } else { 0 };
        }
        let end = self.name_end(from);
        if end == self.bytes.len() && self.may_hold_name(from, end) {
            return Err(Incomplete);
        }
        let name = Span::new(from, end);
        let word = name.of(self.text);
        let tool = self.place.names.tools().get(word.strip_prefix("functions.").unwrap_or(word));
        if tool.is_none() || !self.goes_on_as_header(end, front < from)? {
            return Ok(None);
        }
        self.header = Header::Named(name, true);
        Ok(Some(self.past(end)))
    }

    /// Returns whether a header's signs beside the name announce arguments behind `end`. With `is_headed`, such a sign
    /// stood before the name.
    fn goes_on_as_header(&self, end: usize, is_headed: bool) -> Result<bool, Incomplete> {
        // `f:0`
        let number = self.bytes.get(end..).and_then(|rest| rest.strip_prefix(b":")).unwrap_or(&[]);
        let digits = number.iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
        let mut at = self.skip_space(if digits == 0 { end } else { end + 1 + digits });
        let mut n_words = 0;
        // ` json`, `commentary json`
        for _ in 0..2 {
            let word_end = self.name_end(at);
            let word = self.text.get(at..word_end).unwrap_or("");
            if word_end == self.bytes.len() && BETWEEN.iter().any(|known| known.starts_with(word)) {
                return Err(Incomplete);
            }
            if BETWEEN.contains(&word) {
                (at, n_words) = (self.skip_space(word_end), n_words + 1);
            }
        }
        let is_marked = is_headed || digits != 0 || n_words != 0;
        match self.peek(at)? {
            b'{' | b'`' => Ok(is_marked),
            b'[' => self.literal(at, "[ARGS]"),
            b'<' if n_words == 0 && is_foreign(self.text, at) => Ok(false),
            b'<' => Ok(tag_at(self.text, at)?.is_some_and(|tag| match tag.role {
                Role::Key => !tag.closing,
                Role::Param => !tag.closing && n_words != 0,
                Role::Group => tag.closing,
                Role::Token => is_one_of(TOKENS, &tag.word.of(self.text).replace('▁', "_")),
                _ => false,
            })),
            b':' if at == end && number.is_empty() => Err(Incomplete),
            _ => Ok(false),
        }
    }

    /// Returns the payload at the brace of `f{"a": "x"}`, or of `call:f{a:<|"|>x<|"|>}` with any text before it.
    pub(super) fn braced(&mut self, name: Span, at: usize) -> Result<Step, Incomplete> {
        let is_called = self.text.get(..name.start as usize).is_some_and(|before| before.ends_with("call:"));
        if is_called { self.relaxed(name, at) } else { Ok(Step::Item(Sort::Named.of(name, at))) }
    }

    /// Returns the payload of `call:f{a:<|"|>x<|"|>}` without its opener. The mark of the first string tells the
    /// dialect.
    fn relaxed(&mut self, name: Span, at: usize) -> Result<Step, Incomplete> {
        const FAR: usize = 512;
        let mut levels = 0_usize;
        for from in at..at + FAR {
            match self.peek(from)? {
                b'"' | b'\'' => break,
                b'{' | b'[' => levels += 1,
                b'}' | b']' => levels = levels.saturating_sub(1),
                _ => {}
            }
            if levels == 0 {
                break;
            }
            for record in self.place.dialects.relaxed() {
                if self.literal(from, record.string_mark())? {
                    self.record = Some(record);
                    return Ok(Step::Item(Sort::Relaxed.of(name, at)));
                }
            }
        }
        Ok(Step::Item(Sort::Named.of(name, at)))
    }

    /// Returns whether `word` stands at `at`.
    fn literal(&self, at: usize, word: &str) -> Result<bool, Incomplete> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        match rest.len() < word.len() && word.as_bytes().starts_with(rest) {
            true => Err(Incomplete),
            false => Ok(rest.starts_with(word.as_bytes())),
        }
    }
}
