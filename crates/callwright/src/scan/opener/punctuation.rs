//! What opens a payload, or stands around one, in any dialect: brackets, backticks, comments.

use super::tag::Header;
use super::{Delimiter, Item, MAX_TICKS, OpenerParser, Step, tick_run};
use crate::dialect::{self, Known};
use crate::shape::keys;
use crate::syntax::comment::comment;
use crate::syntax::marks::Fit;
use crate::tools::names::{MAX_NAME, is_name_byte};

/// How far back, in bytes, the backticks before a piece of code are looked for.
const MAX_CODE: usize = 256;
/// The longest label of a fence.
const MAX_LABEL: usize = 32;

impl OpenerParser<'_, '_> {
    /// `{` may begin a value that is a call; in prose and code, only where a key of one follows.
    pub(super) fn brace(&self) -> Step {
        let item = Step::Item(Item::Value { at: self.at });
        if self.distinct() {
            return item;
        }
        let Some(mut key) = self.behind_comment(self.at + 1, b"/") else { return Step::Wait };
        // `{{"name": …}}`
        if self.bytes.get(key) == Some(&b'{') {
            key = self.skip_space(key + 1);
        }
        match self.bytes.get(key) {
            None => Step::Wait,
            // Not C's `'{'; // …`
            Some(quote @ (b'"' | b'\'' | b'`')) => match self.bytes.get(key + 1) {
                None => Step::Wait,
                // In a sentence only a key that a call may begin with: a brace that nothing closes would hold the rest.
                Some(&byte) if is_name_byte(byte) && self.is_in_sentence() => {
                    let end = self.name_end(key + 1);
                    match self.bytes.get(end) {
                        None if self.may_be_key(key + 1, end) => Step::Wait,
                        Some(last) if last == quote && self.is_known_key(key + 1, end) => item,
                        _ => Step::Nothing,
                    }
                }
                Some(&byte) if is_name_byte(byte) => item,
                Some(_) => Step::Nothing,
            },
            // `{name: "f"}`, but not `{ color: red; }`; `“name”`
            Some(&byte) if is_name_byte(byte) => {
                let end = self.name_end(key);
                let colon = self.skip_space(end);
                match self.bytes.get(colon) {
                    None if colon == end && !self.may_be_key(key, end) => Step::Nothing,
                    None if end - key <= MAX_NAME => Step::Wait,
                    Some(b':' | b'=' | b'"' | b'\'') if self.is_known_key(key, end) => item,
                    _ => Step::Nothing,
                }
            }
            Some(_) => Step::Nothing,
        }
    }

    /// Is there text before it on its line, and no markup?
    fn is_in_sentence(&self) -> bool {
        self.from == self.at && !self.place.line_start
    }

    /// Whether this is the key of a part of a call, a tool's name, or a parameter's.
    fn is_known_key(&self, from: usize, end: usize) -> bool {
        let Some(key) = self.text.get(from..end) else { return false };
        let key = key.trim_matches(['“', '”', '„', '‘', '’', '‚']);
        let names = self.place.names;
        keys::is_of_call(key)
            || names.resolve(key).is_some()
            || names.tools().iter().any(|tool| tool.declares(key))
    }

    /// Could the word so far be or become such a key?
    fn may_be_key(&self, from: usize, end: usize) -> bool {
        let word = self.text.get(from..end).unwrap_or("");
        let word = word.trim_start_matches(['“', '”', '„', '‘', '’', '‚']);
        let names = self.place.names;
        let begins = |key: &str| key.starts_with(word);
        names.may_hold(word)
            || keys::all_of_call().any(begins)
            || names.tools().iter().any(|tool| tool.parameters().any(begins))
    }

    pub(super) fn bracket(&mut self) -> Step {
        match self.bytes.get(self.at + 1) {
            // `[TOOL_CALLS]`
            Some(b) if b.is_ascii_alphabetic() => {
                if let Some((record, len)) = self.place.dialects.opener_at(self.text, self.at) {
                    self.record = Some(record);
                    self.header = Header::Begun;
                    return self.over(self.at + len, Delimiter::Tag);
                }
                if self.growing() {
                    return Step::Wait;
                }
            }
            Some(b'[') if self.delimiters.iter().filter(|g| **g == Delimiter::Bracket).count() == 2 => {
                return Step::Nothing;
            }
            // `<TOOLCALL>[]</TOOLCALL>`: a list of no calls.
            Some(b']') if self.distinct() => return Step::Item(Item::Value { at: self.at }),
            Some(_) => {}
            None => return Step::Wait,
        }
        self.over(self.at + 1, Delimiter::Bracket)
    }

    /// Do the ticks here end a piece of code that began on their line: `` Use `x`<tool_call> ``?
    fn ends_code(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let is_behind_text = before.last().is_some_and(|byte| !byte.is_ascii_whitespace());
        let line = before.iter().rev().take(MAX_CODE).take_while(|byte| **byte != b'\n');
        is_behind_text && line.filter(|byte| **byte == b'`').count() % 2 == 1
    }

    /// `('f', {…})`
    pub(super) fn tuple(&mut self) -> Step {
        let quote = self.skip_space(self.at + 1);
        match self.bytes.get(quote) {
            None => Step::Wait,
            Some(b'"' | b'\'') => {
                let name = self.word_end(quote + 1);
                match self.bytes.get(name) {
                    None if self.may_hold_name(quote + 1, name) => Step::Wait,
                    Some(b'"' | b'\'') if self.resolves(quote + 1, name) => {
                        self.over(self.at + 1, Delimiter::Paren)
                    }
                    Some(_) | None => Step::Nothing,
                }
            }
            Some(_) => Step::Nothing,
        }
    }

    pub(super) fn ticks(&mut self) -> Step {
        let run = tick_run(self.bytes, self.at);
        let mut end = self.at + run;
        if run == MAX_TICKS {
            return Step::Nothing;
        }
        if end == self.bytes.len() && !self.place.end {
            return Step::Wait;
        }
        if run < 3 {
            // The tick behind a piece of code in a sentence, `x`, opens nothing.
            let is_last = self.at == self.from
                && !self.place.line_start
                && (self.bytes.get(end).is_some_and(u8::is_ascii_whitespace) || self.ends_code());
            return if is_last { Step::Nothing } else { self.over(end, Delimiter::Ticks(run)) };
        }
        if self.place.in_fence && self.delimiters.is_empty() {
            return Step::Nothing;
        }
        let label = end;
        while self
            .bytes
            .get(end)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'+'))
        {
            end += 1;
        }
        match self.bytes.get(end) {
            _ if MAX_LABEL < end - label => return Step::Nothing,
            None => return Step::Wait,
            // The end of a fence with no call in it.
            Some(b'\n' | b'\r' | b' ') if label == end && self.in_own_fence() => return Step::Nothing,
            // ```` ```f(a=1)``` ```` has no label.
            Some(b'(' | b'.' | b'\\') => end = label,
            Some(_) => {}
        }
        if self.text.get(label..end) == Some("tool_code") {
            self.record = Some(self.known(Known::ToolCode));
        } else if self.text.get(label..end) == Some(dialect::RESULT_LABEL) {
            return Step::Nothing;
        }
        self.over(end, Delimiter::Fence(run))
    }

    /// `# the weather in Paris` above a call in a fence, `<!-- where -->` between two tags.
    pub(super) fn comment(&mut self) -> Step {
        match comment(self.bytes.get(self.at..).unwrap_or(&[])) {
            Fit::Is(len) => {
                self.at += len;
                Step::Over
            }
            Fit::Grows => Step::Wait,
            Fit::No => Step::Nothing,
        }
    }

    /// The place behind the blanks at `from`, and behind a comment there that starts with `start`; `None` where more text must
    /// tell.
    pub(super) fn behind_comment(&self, from: usize, start: &[u8]) -> Option<usize> {
        let at = self.skip_space(from);
        match self.bytes.get(at..).filter(|rest| rest.starts_with(start)).map(comment) {
            Some(Fit::Is(len)) => Some(self.skip_space(at + len)),
            Some(Fit::Grows) => None,
            Some(Fit::No) | None => Some(at),
        }
    }
}
