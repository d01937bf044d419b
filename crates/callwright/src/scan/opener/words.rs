//! Words and quoted names in front of a payload: `f(…)`, `x = f(…)`, `f⏎{…}`, `"f": {…}`, `['f', a=1]`.

use callwright_json::Span;

use super::{Delimiter, OpenerParser, Sort, Step};
use crate::dialect::Sign;
use crate::scan::judge::listed;
use crate::shape::keys;
use crate::syntax::{Incomplete, at_end, blanks};
use crate::tools::names::MAX_NAME;

impl OpenerParser<'_, '_> {
    pub(super) fn quote(&mut self, mark: u8) -> Result<Step, Incomplete> {
        let from = self.at + 1;
        let end = self.word_end(from);
        match self.peek(end) {
            Err(Incomplete) if self.may_hold_name(from, end) => Err(Incomplete),
            // `'f(a=1)'`, not `print("f(a=1)")`
            Ok(b'(') if self.resolves(from, end) && !self.is_in_statement() => {
                Ok(self.over(from, Delimiter::Quote(mark)))
            }
            Ok(byte) if byte == mark => self.quoted_name(from, end),
            _ => Ok(Step::Nothing),
        }
    }

    /// Returns whether a statement stands in front: `x = `, `print(`, `return `. A string there is a value; in a list,
    /// it may be a call in quotes.
    fn is_in_statement(&self) -> bool {
        let before = self.text.get(self.from..self.at).unwrap_or("").trim_end();
        before.ends_with(['=', '(']) || before.ends_with("return")
    }

    /// Takes the step behind a name in quotes: `'f'(a=1)`, `['f'](a=1)`, `["f", {…}]`, `['f', 'arguments': {…}]`.
    fn quoted_name(&mut self, from: usize, end: usize) -> Result<Step, Incomplete> {
        let name = Span::new(from, end);
        // The opening brace is missing.
        if self.distinct() && self.text.get(from..end).is_some_and(keys::is_of_call) {
            return Ok(Step::Item(Sort::Value.at(self.at)));
        }
        // `{"not": "f", "arguments": {…}}`: the value of a member of something else.
        let is_value = || self.text.get(..self.from).is_some_and(|before| before.trim_end().ends_with(':'));
        if !self.resolves(from, end) || self.at == self.from && is_value() {
            return Ok(Step::Nothing);
        }
        match self.bytes.get(end + 1..end + 3).ok_or(Incomplete)? {
            [b'(', _] => return Ok(Step::Item(Sort::Call.of(name, end + 1))),
            b"](" if self.delimiters.last() == Some(&Delimiter::Bracket) => {
                self.delimiters.pop();
                return Ok(Step::Item(Sort::Call.of(name, end + 2)));
            }
            _ => {}
        }
        if let Some(Delimiter::Bracket | Delimiter::Paren) = self.delimiters.last()
            && let Some(bracket) = self.bracket_before(self.at)
        {
            let listed = self.listed(name, end + 1, bracket);
            if !matches!(listed, Ok(Step::Nothing)) {
                self.delimiters.pop();
                return listed;
            }
        }
        let comma = self.skip_space(end + 1);
        if self.peek(comma)? != b',' {
            return Ok(Step::Nothing);
        }
        let mut at = self.skip_space(comma + 1);
        if let Some(b'"' | b'\'') = self.bytes.get(at) {
            let key = self.name_end(at + 1);
            let colon = self.skip_space(key + 1);
            if self.peek(colon)? != b':' || !self.text.get(at + 1..key).is_some_and(keys::is_of_call) {
                return Ok(Step::Nothing);
            }
            at = self.skip_space(colon + 1);
        }
        match self.peek(at)? {
            b'{' => Ok(Step::Item(Sort::Named.of(name, at))),
            _ => Ok(Step::Nothing),
        }
    }

    /// Returns the arguments in the list that begins at `bracket`, behind the `name` that ends before `behind`.
    fn listed(&self, name: Span, behind: usize, bracket: usize) -> Result<Step, Incomplete> {
        let comma = self.skip_space(behind);
        if self.peek(comma)? != b',' {
            return Ok(Step::Nothing);
        }
        match self.place.names.resolve(name.of(self.text)) {
            Some(tool) if listed::begin(self.text, self.skip_space(comma + 1), tool)? => {
                Ok(Step::Item(Sort::Call.of(name, bracket)))
            }
            _ => Ok(Step::Nothing),
        }
    }

    /// Returns the bracket before `at`, if only blanks stand between them.
    fn bracket_before(&self, at: usize) -> Option<usize> {
        let before = self.bytes.get(..at)?;
        let bracket = before.iter().rposition(|b| !b.is_ascii_whitespace())?;
        matches!(before.get(bracket), Some(b'[' | b'(')).then_some(bracket)
    }

    /// Reads a call that names its tool first in its brackets: `tools.call(f, a=1)`, `call_tool('f', a=1)`.
    fn call_of(&self, paren: usize) -> Result<Step, Incomplete> {
        let mut from = self.skip_space(paren + 1);
        let quote = self.bytes.get(from).copied().filter(|b| matches!(b, b'"' | b'\''));
        from += usize::from(quote.is_some());
        let end = self.name_end(from);
        let next = self.peek(end)?;
        if !self.resolves(from, end) || quote.is_some_and(|quote| quote != next) {
            return Ok(Step::Nothing);
        }
        self.listed(Span::new(from, end), end + usize::from(quote.is_some()), paren)
    }

    pub(super) fn word(&mut self) -> Result<Step, Incomplete> {
        if let Some(step) = self.worded()? {
            return Ok(step);
        }
        // At the end, the rest that a header would wait for does not come.
        if self.at == self.from
            && self.place.line_start
            && let Some(step) = at_end(self.stripped(), self.place.end)?
        {
            return Ok(step);
        }
        // A blank of another script is not a part of the word.
        let is_blank = self.bytes.get(self.at).is_some_and(|byte| !byte.is_ascii());
        let from = if is_blank { self.at + blanks(self.text, self.at, 1) } else { self.at };
        let end = self.name_end(from);
        // A longer word is not a name, whether the rest of it is there already or not.
        if !self.may_hold_name(from, end) {
            return Ok(Step::Nothing);
        }
        let next = self.peek(end)?;
        // `../f(a=1)`
        if next == b'(' && self.text.get(..from).is_some_and(|before| before.ends_with('/')) {
            return Ok(Step::Nothing);
        }
        let word = self.text.get(from..end).unwrap_or("");
        let call = |name_end: usize| Ok(Step::Item(Sort::Call.of(Span::new(from, name_end), end)));
        match next {
            b'(' if self.resolves(from, end) => {
                if self.behind_definition() {
                    Ok(Step::Nothing)
                } else {
                    call(end)
                }
            }
            // `<|python_tag|>f.call(a=1)`
            b'(' if self.free() && word.ends_with(".call") && self.resolves(from, end - ".call".len()) => {
                call(end - ".call".len())
            }
            b'(' if matches!(word, "tools.call" | "call_tool" | "call_function") => self.call_of(end),
            b'(' if self.free() && matches!(word, "print" | "str" | "json.dumps") => {
                Ok(self.over(end + 1, Delimiter::Paren))
            }
            b':' if word == "call" && self.is_begun() => Ok(self.past(end + 1)),
            b'[' | b'{' if word.eq_ignore_ascii_case("functools") => {
                self.record = Some(self.of_sign(Sign::ListWord));
                Ok(self.past(end))
            }
            // The calls beside an undeclared name say whether it is meant as a tool's.
            b'(' if self.may_be_sibling() && is_path(word) && !self.behind_definition() => call(end),
            b' ' if self.free() && matches!(word, "return" | "await" | "let" | "const" | "var") => {
                Ok(self.past(end))
            }
            _ => self.behind_word(Span::new(from, end)),
        }
    }

    /// Takes the step behind a word and blanks: `x = f(…)`, `f⏎{…}`, `f: {…}`.
    fn behind_word(&mut self, written: Span) -> Result<Step, Incomplete> {
        let (from, end) = (written.start as usize, written.end as usize);
        let word = written.of(self.text);
        let after = self.skip_space(end);
        let is_near = after - end < 16;
        match self.peek(after) {
            Err(Incomplete) if is_near => Err(Incomplete),
            Ok(b'=') if is_near && self.free() && is_variable(word) => Ok(self.past(after + 1)),
            Ok(b'{') if is_near => self.word_before_brace(written, after),
            Ok(b':') if self.free() && self.resolves(from, end) => {
                let value = self.skip_space(after + 1);
                match self.peek(value)? {
                    b'{' => Ok(Step::Item(Sort::Named.of(written, value))),
                    _ => Ok(Step::Nothing),
                }
            }
            _ => Ok(Step::Nothing),
        }
    }

    /// Takes the step at a name before a brace, `get_weather⏎{"city": "Paris"}`, also right behind a sentence:
    /// `the call.get_weather⏎{…}`.
    fn word_before_brace(&mut self, written: Span, brace: usize) -> Result<Step, Incomplete> {
        let (from, end) = (written.start as usize, written.end as usize);
        let word = written.of(self.text);
        let on_next_line = self.bytes[end..brace].contains(&b'\n');
        let is_tool = |from: &usize| {
            self.text.get(*from..end).is_some_and(|n| self.place.names.tools().get(n).is_some())
        };
        let mut signs = word.rmatch_indices(['.', '?', '!']).map(|(dot, _)| from + dot + 1);
        let glued = signs.find(is_tool).filter(|_| on_next_line);
        // `I use get_weather.⏎{…}` ends a sentence, and so does a name before a call that names its tool itself.
        let is_said = !self.free() && word.ends_with('.');
        let is_name = self.resolves(from, end) && (self.free() || on_next_line) && !is_said;
        let Some(from) = is_name.then_some(from).or(glued) else { return Ok(Step::Nothing) };
        let name = Span::new(from, end);
        if self.free() {
            return self.braced(name, brace);
        }
        match self.is_call_object(name, brace)? {
            true => Ok(Step::Nothing),
            false => Ok(Step::Item(Sort::Named.of(name, brace))),
        }
    }

    /// Returns whether a call of an undeclared name may stand here, which the calls beside it tell to be one.
    fn may_be_sibling(&self) -> bool {
        match self.delimiters.last() {
            Some(Delimiter::Bracket) => true,
            Some(Delimiter::Fence(_) | Delimiter::Tag) => true,
            Some(Delimiter::Paren | Delimiter::Quote(_) | Delimiter::Ticks(_)) => false,
            None if self.at != self.from => false,
            None => self.place.follows_call || self.place.line_start && !self.place.in_fence,
        }
    }

    /// Returns whether the object at `at` begins with the key of a call's name or of a list of calls. A parameter of
    /// the tool of `name` is not such a key.
    fn is_call_object(&self, name: Span, at: usize) -> Result<bool, Incomplete> {
        let quote = self.skip_space(at + 1);
        let from = quote + usize::from(matches!(self.peek(quote)?, b'"' | b'\''));
        let end = self.name_end(from);
        if end == self.bytes.len() && end - from <= MAX_NAME && !self.place.end {
            return Err(Incomplete);
        }
        let key = self.text.get(from..end).unwrap_or("");
        let tool = self.place.names.resolve(name.of(self.text));
        let is_declared = tool.is_some_and(|tool| tool.declares(key));
        Ok(!is_declared && (keys::NAME.contains(&key) || keys::WRAPPERS.contains(&key)))
    }

    /// Returns whether code defines the word here and does not call it: `def f(`, `function f(`.
    fn behind_definition(&self) -> bool {
        let before = self.bytes.get(..self.at).unwrap_or(&[]);
        let Some((b' ', before)) = before.split_last() else { return false };
        [&b"def"[..], b"function", b"class", b"fn", b"func"].iter().any(|word| before.ends_with(word))
    }
}

/// Returns whether `word` is a path of identifiers: `f`, `music.play`.
fn is_path(word: &str) -> bool {
    word.split('.').all(|part| !part.is_empty() && is_variable(part))
}

fn is_variable(word: &str) -> bool {
    !word.starts_with(|c: char| c.is_ascii_digit())
        && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
