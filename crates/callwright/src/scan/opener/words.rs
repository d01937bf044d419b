//! Words and quoted names in front of a payload: `f(…)`, `x = f(…)`, `f⏎{…}`, `"f": {…}`, `['f', a=1]`.

use callwright_json::Span;

use super::{Delimiter, Item, OpenerParser, Step};
use crate::dialect::Known;
use crate::scan::judge::listed;
use crate::shape::keys;
use crate::syntax::blanks;
use crate::tools::names::MAX_NAME;

impl OpenerParser<'_, '_> {
    pub(super) fn quote(&mut self, mark: u8) -> Step {
        let from = self.at + 1;
        let end = self.word_end(from);
        match self.bytes.get(end) {
            None if self.may_hold_name(from, end) => Step::Wait,
            // `'f(a=1)'`
            Some(b'(') if self.resolves(from, end) => self.over(from, Delimiter::Quote(mark)),
            Some(&b) if b == mark => self.quoted_name(from, end),
            _ => Step::Nothing,
        }
    }

    /// Behind a name in quotes: `'f'(a=1)`, `['f'](a=1)`, `["f", {…}]`, `['f', 'arguments': {…}]`.
    pub(super) fn quoted_name(&mut self, from: usize, end: usize) -> Step {
        let name = Span::new(from, end);
        // The opening brace is missing.
        if self.distinct() && self.text.get(from..end).is_some_and(keys::is_of_call) {
            return Step::Item(Item::Value { at: self.at });
        }
        if !self.resolves(from, end) {
            return Step::Nothing;
        }
        match self.bytes.get(end + 1..end + 3) {
            Some([b'(', _]) => return Step::Item(Item::Call { name, at: end + 1 }),
            Some(b"](") if self.delimiters.last() == Some(&Delimiter::Bracket) => {
                self.delimiters.pop();
                return Step::Item(Item::Call { name, at: end + 2 });
            }
            Some(_) => {}
            None => return Step::Wait,
        }
        if let Some(Delimiter::Bracket | Delimiter::Paren) = self.delimiters.last()
            && let Some(bracket) = self.bracket_before(self.at)
        {
            match self.listed(name, end + 1, bracket) {
                Step::Nothing => {}
                step => {
                    self.delimiters.pop();
                    return step;
                }
            }
        }
        let comma = self.skip_space(end + 1);
        match self.bytes.get(comma) {
            None => return Step::Wait,
            Some(b',') => {}
            Some(_) => return Step::Nothing,
        }
        let mut at = self.skip_space(comma + 1);
        if let Some(b'"' | b'\'') = self.bytes.get(at) {
            let key = self.name_end(at + 1);
            let colon = self.skip_space(key + 1);
            match self.bytes.get(colon) {
                None => return Step::Wait,
                Some(b':') if self.text.get(at + 1..key).is_some_and(keys::is_of_call) => {
                    at = self.skip_space(colon + 1);
                }
                Some(_) => return Step::Nothing,
            }
        }
        match self.bytes.get(at) {
            Some(b'{') => Step::Item(Item::Named { name, at }),
            None => Step::Wait,
            Some(_) => Step::Nothing,
        }
    }

    /// Arguments in a list that begins at `bracket`, behind the `name` that ends before `behind`.
    pub(super) fn listed(&self, name: Span, behind: usize, bracket: usize) -> Step {
        let comma = self.skip_space(behind);
        match self.bytes.get(comma) {
            None => return Step::Wait,
            Some(b',') => {}
            Some(_) => return Step::Nothing,
        }
        let Some(tool) = self.place.names.resolve(name.of(self.text)) else {
            return Step::Nothing;
        };
        match listed::begin(self.text, self.skip_space(comma + 1), tool) {
            None => Step::Wait,
            Some(true) => Step::Item(Item::Listed { name, at: bracket }),
            Some(false) => Step::Nothing,
        }
    }

    /// The bracket that stands before `at` with nothing but blanks between them.
    pub(super) fn bracket_before(&self, at: usize) -> Option<usize> {
        let before = self.bytes.get(..at)?;
        let bracket = before.iter().rposition(|b| !b.is_ascii_whitespace())?;
        matches!(before.get(bracket), Some(b'[' | b'(')).then_some(bracket)
    }

    /// `tools.call(f, a=1)`, `call_tool('f', a=1)`
    pub(super) fn call_of(&self, paren: usize) -> Step {
        let mut from = self.skip_space(paren + 1);
        let quote = self.bytes.get(from).copied().filter(|b| matches!(b, b'"' | b'\''));
        from += usize::from(quote.is_some());
        let end = self.name_end(from);
        match self.bytes.get(end) {
            None => Step::Wait,
            Some(_) if !self.resolves(from, end) => Step::Nothing,
            Some(&next) if quote.is_some_and(|quote| quote != next) => Step::Nothing,
            Some(_) => self.listed(Span::new(from, end), end + usize::from(quote.is_some()), paren),
        }
    }

    pub(super) fn word(&mut self) -> Step {
        if let Some(step) = self.worded() {
            return step;
        }
        if self.at == self.from {
            let stripped = if self.place.line_start { self.stripped() } else { self.stripped_in_line() };
            match stripped {
                // At the end, what would be waited for is not there.
                Some(Step::Wait) if self.place.end => {}
                Some(step) => return step,
                None => {}
            }
        }
        // A blank of another script is no part of it.
        let is_blank = self.bytes.get(self.at).is_some_and(|byte| !byte.is_ascii());
        let from = if is_blank { self.at + blanks(self.text, self.at, 1) } else { self.at };
        let end = self.name_end(from);
        // A longer word is none, whether the rest of it is there already or not.
        if !self.may_hold_name(from, end) {
            return Step::Nothing;
        }
        let Some(&next) = self.bytes.get(end) else { return Step::Wait };
        // `../f(a=1)`
        if next == b'(' && self.text.get(..from).is_some_and(|before| before.ends_with('/')) {
            return Step::Nothing;
        }
        let word = self.text.get(from..end).unwrap_or("");
        match next {
            b'(' if self.resolves(from, end) => {
                if self.behind_definition() {
                    return Step::Nothing;
                }
                return Step::Item(Item::Call { name: Span::new(from, end), at: end });
            }
            // `<|python_tag|>f.call(a=1)`
            b'(' if self.free() && word.ends_with(".call") && self.resolves(from, end - ".call".len()) => {
                return Step::Item(Item::Call { name: Span::new(from, end - ".call".len()), at: end });
            }
            b'(' if matches!(word, "tools.call" | "call_tool" | "call_function") => return self.call_of(end),
            b'(' if self.free() && self.is_shallow() && matches!(word, "print" | "str" | "json.dumps") => {
                return self.over(end + 1, Delimiter::Paren);
            }
            b':' if word == "call" && self.is_begun() => {
                self.at = end + 1;
                return Step::Over;
            }
            b'[' | b'{' if word.eq_ignore_ascii_case("functools") => {
                self.record = Some(self.known(Known::Phi4Mini));
                self.at = end;
                return Step::Over;
            }
            // A name that no tool has, where those beside it say that it is meant as one.
            b'(' if self.may_be_sibling() && is_path(word) && !self.behind_definition() => {
                return Step::Item(Item::Call { name: Span::new(from, end), at: end });
            }
            b' ' if self.free() && matches!(word, "return" | "await" | "let" | "const" | "var") => {
                self.at = end;
                return Step::Over;
            }
            _ => {}
        }
        let after = self.skip_space(end);
        match self.bytes.get(after) {
            None if after - end < 16 => Step::Wait,
            Some(b'=') if after - end < 16 && self.free() && self.is_first_sign() && is_variable(word) => {
                match self.bytes.get(after + 1) {
                    None => Step::Wait,
                    Some(b'=') => Step::Nothing,
                    Some(_) => {
                        self.at = after + 1;
                        Step::Over
                    }
                }
            }
            // `get_weather⏎{"city": "Paris"}`, also right behind a sentence: `the call.get_weather⏎{…}`
            Some(b'{') if after - end < 16 => {
                let on_next_line = self.bytes[end..after].contains(&b'\n');
                let glued =
                    word.rmatch_indices(['.', '?', '!']).map(|(dot, _)| from + dot + 1).find(|&from| {
                        on_next_line
                            && self
                                .text
                                .get(from..end)
                                .is_some_and(|n| self.place.names.tools().get(n).is_some())
                    });
                // `I use get_weather.⏎{…}` is the end of a sentence, and so is a name before a call with its own.
                let is_said = !self.free() && word.ends_with('.');
                let from = if self.resolves(from, end) && (self.free() || on_next_line) && !is_said {
                    Some(from)
                } else {
                    glued
                };
                let Some(name) = from.map(|from| Span::new(from, end)) else { return Step::Nothing };
                if self.free() {
                    return self.braced(name, after);
                }
                let item = Step::Item(Item::Named { name, at: after });
                match self.is_call_object(name, after) {
                    Some(false) => item,
                    Some(true) => Step::Nothing,
                    None => Step::Wait,
                }
            }
            Some(b':') if self.free() && self.resolves(from, end) => {
                let value = self.skip_space(after + 1);
                match self.bytes.get(value) {
                    None => Step::Wait,
                    Some(b'{') => Step::Item(Item::Named { name: Span::new(from, end), at: value }),
                    Some(_) => Step::Nothing,
                }
            }
            _ => Step::Nothing,
        }
    }

    /// May a call stand here of which only its siblings tell that it is one?
    fn may_be_sibling(&self) -> bool {
        match self.delimiters.last() {
            Some(Delimiter::Bracket) => true,
            Some(Delimiter::Fence(_) | Delimiter::Tag) => true,
            Some(Delimiter::Paren | Delimiter::Quote(_) | Delimiter::Ticks(_)) => false,
            None if self.at != self.from => false,
            None => self.place.follows_call || self.place.line_start && !self.place.in_fence,
        }
    }

    /// Does the object at `at` behind `name` begin with the key of a call's name or of a list of calls, which is none of
    /// that tool's parameters? `None` asks for more text.
    fn is_call_object(&self, name: Span, at: usize) -> Option<bool> {
        let quote = self.skip_space(at + 1);
        let from = quote + usize::from(matches!(self.bytes.get(quote)?, b'"' | b'\''));
        let end = self.name_end(from);
        if end == self.bytes.len() && end - from <= MAX_NAME && !self.place.end {
            return None;
        }
        let key = self.text.get(from..end).unwrap_or("");
        let tool = self.place.names.resolve(name.of(self.text));
        let is_declared = tool.is_some_and(|tool| tool.declares(key));
        Some(!is_declared && (keys::NAME.contains(&key) || keys::WRAPPERS.contains(&key)))
    }

    /// Are there few calls around it yet: `json.dumps(print(`?
    fn is_shallow(&self) -> bool {
        self.delimiters.iter().filter(|delimiter| **delimiter == Delimiter::Paren).count() < 3
    }

    /// Was nothing assigned before it in the same statement: `a = b = f(`?
    fn is_first_sign(&self) -> bool {
        let before = self.bytes.get(self.from..self.at).unwrap_or(&[]);
        self.is_begun() || before.iter().filter(|byte| **byte == b'=').count() < 2
    }

    /// `def f(`, `function f(`: code that defines, not calls.
    pub(super) fn behind_definition(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let Some((b' ', before)) = before.split_last() else { return false };
        [&b"def"[..], b"function", b"class", b"fn", b"func"].iter().any(|word| before.ends_with(word))
    }
}

/// `f`, `music.play`
fn is_path(word: &str) -> bool {
    word.split('.').all(|part| !part.is_empty() && is_variable(part))
}

fn is_variable(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
