//! Calls whose special tokens were taken out on the way: `functions.f:0{…}`, `commentary to=functions.f json{…}`,
//! `f[ARGS]{…}`, ``functionf⏎```json``, `f⏎<arg_key>…`.
//!
//! Only for a declared name at the beginning of a line, and with more than a name in front of the arguments.

use callwright_json::Span;

use super::tag::Header;
use super::{Item, OpenerParser, Step};
use crate::syntax::tag::{Role, is_foreign, tag_at};
use crate::syntax::{Incomplete, Seen};

/// What a header may say before its name.
const BEFORE: &[&str] = &["assistant", "commentary ", "analysis "];
/// What may stand between a name and its arguments.
const BETWEEN: &[&str] = &["json", "code", "xml", "commentary", "analysis"];

/// The most blanks that are waited for behind such a word.
const MAX_BLANKS: usize = 16;

/// Is `word` that of a token which stands between a name and its arguments?
fn is_between(word: &str) -> bool {
    let words = ["tool_call_argument_begin", "content_invoke_tool_json", "tool_sep", "constrain", "message"];
    let word = word.replace('▁', "_");
    words.iter().any(|between| between.eq_ignore_ascii_case(&word))
}

impl OpenerParser<'_, '_> {
    /// A header without its tokens, if one begins here.
    pub(super) fn stripped(&mut self) -> Seen<Step> {
        let mut from = self.at;
        let mut marks = 0;
        for word in BEFORE {
            from += if self.literal(from, word)? { word.len() } else { 0 };
        }
        if self.at < from {
            from = self.skip_space(from);
        }
        for mark in ["to=", "call:"] {
            if self.literal(from, mark)? {
                from += mark.len();
                marks += 1;
            }
        }
        let end = self.name_end(from);
        if end == self.bytes.len() && self.may_hold_name(from, end) {
            return Err(Incomplete);
        }
        let name = Span::new(from, end);
        let word = name.of(self.text);
        if self.place.names.tools().get(word.strip_prefix("functions.").unwrap_or(word)).is_none() {
            return Ok(None);
        }
        let mut at = end;
        // `f:0`
        let behind = self.bytes.get(at + 1..).unwrap_or(&[]);
        let digits = behind.iter().take(8).take_while(|b| b.is_ascii_digit()).count();
        if self.bytes.get(at) == Some(&b':') && digits == behind.len() {
            return Err(Incomplete);
        }
        if self.bytes.get(at) == Some(&b':') && digits != 0 {
            at += 1 + digits;
            marks += 1;
        }
        at = self.skip_space(at);
        // ` json`, `commentary json`
        for _ in 0..2 {
            let word_end = self.name_end(at);
            let word = self.text.get(at..word_end).unwrap_or("");
            if word_end == self.bytes.len() && BETWEEN.iter().any(|known| known.starts_with(word)) {
                return Err(Incomplete);
            }
            if BETWEEN.contains(&word) {
                at = self.skip_space(word_end);
                marks += 1;
                if MAX_BLANKS <= at - word_end {
                    return Ok(None);
                }
                // `run_code⏎json {`, cut behind the blank
                self.peek(at)?;
            }
        }
        match self.bytes.get(at) {
            Some(b'{') if self.text.get(self.at..from) == Some("call:") => self.relaxed(name, at).map(Some),
            Some(b'{') if marks != 0 => Ok(Some(Step::Item(Item::Named { name, at }))),
            Some(b'`') if marks != 0 => Ok(Some(self.goes_on(name, at))),
            Some(b'[') => Ok(self.literal(at, "[ARGS]")?.then(|| self.goes_on(name, at))),
            Some(b'<') if marks <= 2 && is_foreign(self.text, at) => Ok(None),
            Some(b'<') => {
                let Some(tag) = tag_at(self.text, at)? else { return Ok(None) };
                match tag.role {
                    // `to=fanalysis xml<rfl:parameter name="a">`
                    Role::Param if 2 < marks && !tag.closing => {}
                    _ if 2 < marks => return Ok(None),
                    Role::Key if !tag.closing => {}
                    Role::Group if tag.closing => {}
                    Role::Token if is_between(tag.word.of(self.text)) => {
                        return Ok(Some(self.goes_on(name, at)));
                    }
                    _ => return Ok(None),
                }
                self.record = Some(self.tagged_record(&tag));
                Ok(Some(Step::Item(Item::Tagged { name, at })))
            }
            _ => Ok(None),
        }
    }

    /// `f{"a": "x"}`, or `call:f{a:<|"|>x<|"|>}` whatever stands before it.
    pub(super) fn braced(&mut self, name: Span, at: usize) -> Result<Step, Incomplete> {
        let is_called = self.text.get(..name.start as usize).is_some_and(|before| before.ends_with("call:"));
        if is_called { self.relaxed(name, at) } else { Ok(Step::Item(Item::Named { name, at })) }
    }

    /// `call:f{a:<|"|>x<|"|>}`, without what stands before it: the first string's mark tells the dialect.
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
                    return Ok(Step::Item(Item::Relaxed { name, at }));
                }
            }
        }
        Ok(Step::Item(Item::Named { name, at }))
    }

    /// The rest is a header like any other.
    fn goes_on(&mut self, name: Span, at: usize) -> Step {
        self.header = Header::Named(name, true);
        self.past(at)
    }

    /// Does `word` stand at `at`?
    fn literal(&self, at: usize, word: &str) -> Result<bool, Incomplete> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        match rest.len() < word.len() && word.as_bytes().starts_with(rest) {
            true => Err(Incomplete),
            false => Ok(rest.starts_with(word.as_bytes())),
        }
    }
}
