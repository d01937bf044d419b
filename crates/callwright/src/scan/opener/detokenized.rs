//! Calls that lost their special tokens on the way: `functions.f:0{…}`, `commentary to=functions.f json{…}`,
//! `f[ARGS]{…}`, `f⏎<arg_key>…`.
//!
//! Such a call needs a declared name at the beginning of a line, and more than the name in front of its arguments.

use super::{Lead, Step};
use crate::syntax::marks::fit;
use crate::syntax::tag::{Role, tag_at};
use crate::syntax::{Incomplete, Seen, at_end};

impl<'a> Lead<'a, '_> {
    /// Steps over a header without its tokens, up to the end of its name, if one begins here. At the end, the rest that
    /// it would wait for does not come.
    pub(super) fn stripped(&self) -> Seen<Step<'a>> {
        if self.from < self.at || !self.place.line_start {
            return Ok(None);
        }
        at_end(self.bare_header(), self.place.end)
    }

    fn bare_header(&self) -> Seen<Step<'a>> {
        let mut from = self.at;
        for word in ["assistant", "commentary ", "analysis "] {
            from += fit(self.rest(from), word)?.unwrap_or(0);
        }
        if self.at < from {
            from = self.skip_space(from);
        }
        let front = from;
        for mark in ["to=", "call:"] {
            from += fit(self.rest(from), mark)?.unwrap_or(0);
        }
        let name = self.name_at(from);
        let end = name.end as usize;
        if self.behind(name)?.is_none() {
            return Ok(None);
        }
        let written = name.of(self.text);
        let tool = self.place.names.tools().get(written.strip_prefix("functions.").unwrap_or(written));
        let is_call = tool.is_some() && self.goes_on_as_header(end, front < from)?;
        Ok(is_call.then(|| Step::past(end).named(name)))
    }

    /// Returns whether a header's signs beside the name announce arguments behind `end`. With `is_headed`, such a sign
    /// stood before the name.
    fn goes_on_as_header(&self, end: usize, is_headed: bool) -> Result<bool, Incomplete> {
        let (dialects, first) = (self.place.dialects, self.place.dialects.first());
        // `f:0`
        let number = self.behind_number(end);
        let is_numbered = end + 1 < number;
        let mut at = self.skip_space(if is_numbered { number } else { end });
        let mut n_words = 0;
        // ` json`, `commentary json`
        for _ in 0..2 {
            let word = self.name_at(at);
            let behind = word.end as usize;
            if behind == self.bytes.len() && first.may_be_of_header(word.of(self.text)) {
                return Err(Incomplete);
            }
            if !first.is_of_header(word.of(self.text)) {
                break;
            }
            (at, n_words) = (self.skip_space(behind), n_words + 1);
        }
        match self.peek(at)? {
            b'{' | b'`' => Ok(is_headed || is_numbered || n_words != 0),
            b'[' => Ok(fit(self.rest(at), "[ARGS]")?.is_some()),
            b'<' => Ok(tag_at(self.text, at)?.is_some_and(|tag| match tag.role {
                Role::Key => !tag.closing,
                Role::Param => !tag.closing && n_words != 0,
                Role::Group => tag.closing,
                Role::Token => dialects.is_header_token(tag.word.of(self.text)),
                _ => false,
            })),
            b':' if number == self.bytes.len() => Err(Incomplete),
            _ => Ok(false),
        }
    }
}
