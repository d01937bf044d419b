//! Signs that open a payload, or stand around one, in any dialect: brackets, backticks, comments.

use super::{Delimiter, Header, Lead, MAX_TICKS, Sort, Step, tick_run};
use crate::dialect::{self, Anchor, Sign};
use crate::shape::keys;
use crate::syntax::comment::comment;
use crate::syntax::{Incomplete, Seen};
use crate::tools::names::is_name_byte;

/// Farthest distance back to the backticks before a piece of code, in bytes.
const MAX_CODE: usize = 256;
/// Longest label of a fence, in bytes.
const MAX_LABEL: usize = 32;

impl<'a> Lead<'a, '_> {
    /// Returns the value that a `{` begins, if it may be a call. In prose and code, a key of a call must follow;
    /// between the marks around calls, any object may be the next call.
    pub(super) fn brace(&self) -> Seen<Step<'a>> {
        let may_begin = self.is_marked() || self.may_begin_object()? || self.has_torn_key()?;
        Ok(may_begin.then(|| Step::to(Sort::Value.at(self.at))))
    }

    /// Returns whether a key in quotes begins the object here. In a sentence, that must be a key that a call may begin
    /// with: a brace that nothing closes would hold the rest.
    fn may_begin_object(&self) -> Result<bool, Incomplete> {
        let at = self.behind_comment(self.at + 1, b"/")?;
        let quote = self.peek(at)?;
        // Not C's `'{'; // …`
        if !matches!(quote, b'"' | b'\'' | b'`') || !is_name_byte(self.peek(at + 1)?) {
            return Ok(false);
        }
        let key = self.name_at(at + 1);
        Ok(!self.is_in_sentence()
            || self.peek(key.end as usize)? == quote && self.is_known_key(key.of(self.text)))
    }

    /// Returns whether the object's first key is a call's but for its quotes or one sign: `{name: "f"`,
    /// `{""name": "f"`, `{n"ame": "f"`.
    fn has_torn_key(&self) -> Result<bool, Incomplete> {
        /// Number of bytes within which the colon behind any key of a call stands.
        const MOST: usize = 24;
        if self.is_in_sentence() {
            return Ok(false);
        }
        let rest = self.text.get(self.skip_space(self.at + 1)..).unwrap_or("");
        // The odd sign may be a colon.
        match rest.bytes().take(MOST).skip(1).position(|byte| matches!(byte, b':' | b'\n')) {
            None if rest.len() < MOST && !self.place.end => Err(Incomplete),
            colon => Ok(colon.and_then(|at| rest.get(..=at)).is_some_and(keys::is_torn)),
        }
    }

    /// Returns whether marks that only calls have stand in front, or around the list of the call before.
    pub(super) fn is_marked(&self) -> bool {
        let mut around = [self.record, self.place.inside].into_iter().flatten();
        around.any(|record| record.anchor == Anchor::Distinct)
    }

    /// Returns whether text, and no markup, stands before this place on its line.
    pub(super) fn is_in_sentence(&self) -> bool {
        self.from == self.at && !self.place.line_start && !self.place.follows_call
    }

    /// Returns whether this is a key of a call, a tool's name, or a parameter's.
    fn is_known_key(&self, key: &str) -> bool {
        let names = self.place.names;
        keys::is_of_call(key)
            || names.resolve(key).is_some()
            || names.tools().iter().any(|tool| tool.declares(key))
    }

    /// Takes the step at a bracket: `[TOOL_CALLS]`, `['f', a=1]`, or a list of calls.
    pub(super) fn bracket(&self) -> Seen<Step<'a>> {
        match self.peek(self.at + 1)? {
            b if b.is_ascii_alphabetic() => {
                if let Some((record, end)) = self.opener()? {
                    let step = Step::over(end, Delimiter::Tag).of(record);
                    return Ok(Some(Step { header: Some(Header::Begun), ..step }));
                }
            }
            b'[' if self.delimiters.iter().filter(|g| **g == Delimiter::Bracket).count() == 2 => {
                return Ok(None);
            }
            // `<TOOLCALL>[]</TOOLCALL>`: an empty list of calls.
            b']' if self.distinct() && self.name().is_none() => {
                return Ok(Some(Step::to(Sort::Value.at(self.at))));
            }
            _ => {}
        }
        self.pair_or(Step::over(self.at + 1, Delimiter::Bracket))
    }

    /// Returns the call whose name in quotes follows the bracket here, or else the step over the bracket.
    fn pair_or(&self, over: Step<'a>) -> Seen<Step<'a>> {
        let is_quoted = matches!(self.peek(self.skip_space(self.at + 1)), Ok(b'"' | b'\''));
        let listed = if is_quoted { self.listed(self.at)? } else { None };
        Ok(listed.or(Some(over)))
    }

    /// Returns whether the ticks here end a piece of code that began on their line: `` Use `x`<tool_call> ``.
    fn ends_code(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let is_behind_text = before.last().is_some_and(|byte| !byte.is_ascii_whitespace());
        let line = before.iter().rev().take(MAX_CODE).take_while(|byte| **byte != b'\n');
        is_behind_text && line.filter(|byte| **byte == b'`').count() % 2 == 1
    }

    /// Takes the step at the bracket of a call that is a pair: `('f', {…})`.
    pub(super) fn tuple(&self) -> Seen<Step<'a>> {
        let quote = self.skip_space(self.at + 1);
        if !matches!(self.peek(quote)?, b'"' | b'\'') {
            return Ok(None);
        }
        let name = self.word_at(quote + 1);
        match self.behind(name)? {
            Some(b'"' | b'\'') if self.resolves(name) => {
                self.pair_or(Step::over(self.at + 1, Delimiter::Paren))
            }
            _ => Ok(None),
        }
    }

    /// Takes the step at backticks: a fence with its label, or code in a line.
    pub(super) fn ticks(&self) -> Seen<Step<'a>> {
        let run = tick_run(self.bytes, self.at);
        let mut end = self.at + run;
        if run == MAX_TICKS {
            return Ok(None);
        }
        if end == self.bytes.len() && !self.place.end {
            return Err(Incomplete);
        }
        if run < 3 {
            // The tick behind a piece of code in a sentence, `x`, opens nothing.
            let is_last = self.at == self.from
                && !self.place.line_start
                && (self.bytes.get(end).is_some_and(u8::is_ascii_whitespace) || self.ends_code());
            return Ok((!is_last).then(|| Step::over(end, Delimiter::Ticks(run))));
        }
        // ```` ```tool⏎TOOL_NAME: f ````
        if let Some((record, end)) = self.opener()? {
            let name = self.name_at(self.skip_space(end));
            let at = self.skip_space(name.end as usize);
            self.peek(at)?;
            let step = Step::to(Sort::Tagged.of(name, at)).of(record);
            return Ok((!name.is_empty()).then_some(Step { delimiter: Some(Delimiter::Tag), ..step }));
        }
        if self.place.in_fence && self.delimiters.is_empty() {
            return Ok(None);
        }
        let is_of_label = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+');
        // "``` json", alone on its line.
        let gap = self.bytes[end..].iter().take(MAX_LABEL).take_while(|b| **b == b' ').count();
        let word = self.bytes[end + gap..].iter().take(MAX_LABEL + 1).take_while(is_of_label).count();
        if self.bytes.get(end + gap + word).is_none() && !self.place.end {
            return Err(Incomplete);
        }
        let is_apart = 0 < word && matches!(self.bytes.get(end + gap + word), Some(b'\n' | b'\r'));
        let (label, len) = if gap == 0 || is_apart { (end + gap, word) } else { (end, 0) };
        end = label + len;
        if MAX_LABEL < end - label {
            return Ok(None);
        }
        match self.peek(end)? {
            // A fence without a call ends here.
            b'\n' | b'\r' | b' ' if label == end && self.in_own_fence() => return Ok(None),
            // ```` ```f(a=1)``` ```` has no label.
            b'(' | b'.' | b'\\' => end = label,
            _ => {}
        }
        let fence = Step::over(end, Delimiter::Fence(run));
        Ok(match self.text.get(label..end) {
            Some("tool_code") => Some(fence.of(self.of_sign(Sign::FencedCall))),
            Some(dialect::RESULT_LABEL) => None,
            _ => Some(fence),
        })
    }

    /// Steps over a comment: `# the weather in Paris` above a call in a fence, `<!-- where -->` between two tags.
    pub(super) fn comment(&self) -> Seen<Step<'a>> {
        Ok(comment(self.rest(self.at))?.map(|len| Step::past(self.at + len)))
    }

    /// Returns the place behind the blanks at `from`, and behind a comment there that starts with `start`.
    pub(super) fn behind_comment(&self, from: usize, start: &[u8]) -> Result<usize, Incomplete> {
        let at = self.skip_space(from);
        let rest = self.rest(at);
        let len = if rest.starts_with(start) { comment(rest)? } else { None };
        Ok(len.map_or(at, |len| self.skip_space(at + len)))
    }
}
