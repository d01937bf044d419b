//! Calls whose special tokens were taken out on the way: `functions.f:0{…}`, `commentary to=functions.f json{…}`,
//! `f[ARGS]{…}`, ``functionf⏎```json``, `f⏎<arg_key>…`.
//!
//! Only for a declared name, and with more than a name in front of the arguments. Behind a sentence, on its line, only
//! what no sentence holds counts: `f<arg_key>`, `f</tool_call>`, `call:f{a:<|"|>`.

use callwright_json::Span;

use super::tag::Header;
use super::{Item, OpenerParser, Step};
use crate::dialect::Known;
use crate::payload::tagged::Style;
use crate::syntax::tag::{Lexed, Role, is_foreign, tag_at};
use crate::tools::names::{MAX_NAME, is_name_byte};

/// What a header may say before its name.
const BEFORE: &[&str] = &["assistant", "commentary ", "analysis "];
/// What may be glued to a name once the tokens between them are gone.
const GLUED_BEFORE: &[&str] = &["function"];
const GLUED_BEHIND: &[&str] = &["json", "code", "commentary", "analysis"];
/// What may stand between a name and its arguments.
const BETWEEN: &[&str] = &["json", "code", "xml", "commentary", "analysis"];

/// The most digits of a call's number.
const MAX_DIGITS: usize = 3;
/// The most blanks that are waited for behind such a word.
const MAX_BLANKS: usize = 16;

/// What stands for a name in front of the marker at `at`, where that is one which stands between a name and its arguments:
/// `g:0<|tool_call_argument_begin|>{…}`.
pub(in crate::scan) fn name_before(text: &str, at: usize) -> Option<&str> {
    let is_marker = matches!(tag_at(text, at), Lexed::Tag(tag) if tag.role == Role::Token && is_between(tag.word.of(text)));
    let before = text.get(..at).filter(|_| is_marker)?;
    let before = before.trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix(':').unwrap_or(before);
    let word = before.bytes().rev().take(MAX_NAME).take_while(|byte| is_name_byte(*byte)).count();
    before.get(before.len() - word..).filter(|name| !name.is_empty())
}

/// Is `word` that of a token which stands between a name and its arguments?
fn is_between(word: &str) -> bool {
    let words = ["tool_call_argument_begin", "content_invoke_tool_json", "tool_sep", "constrain", "message"];
    let word = word.replace('▁', "_");
    words.iter().any(|between| between.eq_ignore_ascii_case(&word))
}

impl OpenerParser<'_, '_> {
    /// A header without its tokens in the middle of a line.
    pub(super) fn stripped_in_line(&mut self) -> Option<Step> {
        let end = self.name_end(self.at);
        let is_possible = match self.bytes.get(end) {
            None => return None,
            Some(b'<') => self.resolves(self.at, end),
            Some(b':') => self.text.get(self.at..end) == Some("call"),
            Some(_) => false,
        };
        if !is_possible {
            return None;
        }
        match self.stripped()? {
            step @ (Step::Item(Item::Tagged { .. } | Item::Relaxed { .. }) | Step::Wait) => Some(step),
            Step::Item(_) | Step::Over | Step::Nothing => Some(Step::Nothing),
        }
    }

    /// A header without its tokens, if one begins here.
    pub(super) fn stripped(&mut self) -> Option<Step> {
        let mut from = self.at;
        let mut marks = 0;
        for word in BEFORE {
            match self.literal(from, word) {
                Some(true) => from += word.len(),
                Some(false) => {}
                None => return Some(Step::Wait),
            }
        }
        if self.at < from {
            from = self.skip_space(from);
        }
        for (mark, is_marking) in [("to=", true), ("call:", true)] {
            match self.literal(from, mark) {
                Some(true) => {
                    from += mark.len();
                    marks += usize::from(is_marking);
                }
                Some(false) => {}
                None => return Some(Step::Wait),
            }
        }
        let end = self.name_end(from);
        if end == self.bytes.len() && self.may_hold_name(from, end) {
            return Some(Step::Wait);
        }
        let name = self.name_within(from, end)?;
        marks += usize::from(name != Span::new(from, end));
        let mut at = end;
        // `f:0`
        let behind = self.bytes.get(at + 1..).unwrap_or(&[]);
        let digits = behind.iter().take(8).take_while(|b| b.is_ascii_digit()).count();
        if self.bytes.get(at) == Some(&b':') && digits == behind.len() {
            return Some(Step::Wait);
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
                return Some(Step::Wait);
            }
            if BETWEEN.contains(&word) {
                at = self.skip_space(word_end);
                marks += 1;
                if MAX_BLANKS <= at - word_end {
                    return None;
                }
                // `run_code⏎json {`, cut behind the blank
                if at == self.bytes.len() {
                    return Some(Step::Wait);
                }
            }
        }
        match *self.bytes.get(at)? {
            b'{' if self.text.get(self.at..from) == Some("call:") => self.relaxed(name, at),
            b'{' if marks != 0 => Some(Step::Item(Item::Named { name, at })),
            b'`' if marks != 0 => self.goes_on(name, at),
            b'[' => match self.literal(at, "[ARGS]") {
                Some(true) => self.goes_on(name, at),
                Some(false) => None,
                None => Some(Step::Wait),
            },
            // `to=fanalysis xml<rfl:parameter name="a">`
            b'<' if 2 < marks => match tag_at(self.text, at) {
                Lexed::Grows => Some(Step::Wait),
                Lexed::Tag(tag) if tag.role == Role::Param && !tag.closing => {
                    self.record = Some(self.known(Known::Beam));
                    Some(Step::Item(Item::Tagged { name, at, style: Style::Words }))
                }
                Lexed::Tag(_) | Lexed::No => None,
            },
            b'<' if is_foreign(self.text, at) => None,
            b'<' => match tag_at(self.text, at) {
                Lexed::Grows => Some(Step::Wait),
                Lexed::Tag(tag)
                    if tag.role == Role::Key && !tag.closing || tag.role == Role::Group && tag.closing =>
                {
                    self.record = Some(self.known(self.glm(at)));
                    Some(Step::Item(Item::Tagged { name, at, style: Style::Words }))
                }
                Lexed::Tag(tag) if tag.role == Role::Token && self.is_between(tag.word) => {
                    self.goes_on(name, at)
                }
                Lexed::Tag(_) | Lexed::No => None,
            },
            _ => None,
        }
    }

    /// `f{"a": "x"}`, or `call:f{a:<|"|>x<|"|>}` whatever stands before it.
    pub(super) fn braced(&mut self, name: Span, at: usize) -> Step {
        let is_called = self.text.get(..name.start as usize).is_some_and(|before| before.ends_with("call:"));
        let relaxed = if is_called { self.relaxed(name, at) } else { None };
        relaxed.unwrap_or(Step::Item(Item::Named { name, at }))
    }

    /// `call:f{a:<|"|>x<|"|>}`, without what stands before it: the first string's mark tells the dialect.
    fn relaxed(&mut self, name: Span, at: usize) -> Option<Step> {
        const FAR: usize = 512;
        let named = Some(Step::Item(Item::Named { name, at }));
        let mut levels = 0_usize;
        for from in at..at + FAR {
            match self.bytes.get(from) {
                None => return Some(Step::Wait),
                Some(b'"' | b'\'') => return named,
                Some(b'{' | b'[') => levels += 1,
                Some(b'}' | b']') => levels = levels.saturating_sub(1),
                Some(_) => {}
            }
            if levels == 0 {
                return named;
            }
            for record in [Known::Gemma4, Known::FunctionGemma].map(|known| self.known(known)) {
                match self.literal(from, &record.string_mark) {
                    Some(true) => {
                        self.record = Some(record);
                        return Some(Step::Item(Item::Relaxed { name, at }));
                    }
                    Some(false) => {}
                    None => return Some(Step::Wait),
                }
            }
        }
        named
    }

    /// The rest is a header like any other.
    fn goes_on(&mut self, name: Span, at: usize) -> Option<Step> {
        self.header = Header::Named(name, true);
        self.at = at;
        Some(Step::Over)
    }

    /// Whether this is the word of a token that stands between a name and its arguments.
    fn is_between(&self, word: Span) -> bool {
        is_between(word.of(self.text))
    }

    /// The declared name in the word `from..end`, what is glued to it left out.
    pub(super) fn name_within(&self, from: usize, end: usize) -> Option<Span> {
        if self.resolves(from, end) {
            return Some(Span::new(from, end));
        }
        let word = self.text.get(from..end)?;
        let is_tool = |name: &str| {
            let name = name.strip_prefix("functions.").unwrap_or(name);
            self.place.names.tools().get(name).is_some()
        };
        for before in GLUED_BEFORE {
            if word.strip_prefix(before).is_some_and(is_tool) {
                return Some(Span::new(from + before.len(), end));
            }
        }
        // `0f`, with its number in front
        let name = word.trim_start_matches(|c: char| c.is_ascii_digit());
        if word.len() - name.len() <= MAX_DIGITS && is_tool(name) {
            return Some(Span::new(end - name.len(), end));
        }
        let behind = GLUED_BEHIND.iter().find(|behind| word.strip_suffix(**behind).is_some_and(is_tool))?;
        Some(Span::new(from, end - behind.len()))
    }

    /// Does `word` stand at `at`? `None` where more text must tell.
    fn literal(&self, at: usize, word: &str) -> Option<bool> {
        let rest = self.bytes.get(at..).unwrap_or(&[]);
        if rest.starts_with(word.as_bytes()) {
            Some(true)
        } else if rest.len() < word.len() && word.as_bytes().starts_with(rest) {
            None
        } else {
            Some(false)
        }
    }
}
