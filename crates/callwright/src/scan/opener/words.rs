//! Words and quoted names in front of a payload: `f(…)`, `x = f(…)`, `f⏎{…}`, `"f": {…}`, `['f', a=1]`.

use callwright_json::Span;

use super::{Delimiter, Lead, Sort, Step};
use crate::dialect::Sign;
use crate::grammar::fold::mark_at;
use crate::scan::judge::listed;
use crate::shape::keys;
use crate::syntax::{Incomplete, Seen};
use crate::tools::names::MAX_NAME;

impl<'a> Lead<'a, '_> {
    /// Takes the step behind a quote: `'f(a=1)'`, `'f'(a=1)`, `["f", {…}]`.
    pub(super) fn quote(&self, mark: u8) -> Seen<Step<'a>> {
        let name = self.word_at(self.at + 1);
        match self.behind(name)? {
            // `'f(a=1)'`, not `print("f(a=1)")`
            Some(b'(') if self.resolves(name) && !self.is_in_statement() => {
                Ok(Some(Step::over(self.at + 1, Delimiter::Quote(mark))))
            }
            Some(byte) if byte == mark => self.quoted_name(name),
            // `"{\"name\": \"f\", …}"`: a call in a string.
            Some(b'{') if name.is_empty() && !self.is_in_sentence() && !self.is_in_statement() => {
                let is_escaped = self.peek(self.skip_space(name.end as usize + 1))? == b'\\';
                Ok(is_escaped.then(|| Step::over(self.at + 1, Delimiter::Quote(mark))))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether a statement stands in front: `x = `, `print(`, `return `. A string there is a value; in a list,
    /// it may be a call in quotes.
    fn is_in_statement(&self) -> bool {
        let before = self.text.get(self.from..self.at).unwrap_or("").trim_end();
        before.ends_with(['=', '(']) || before.ends_with("return")
    }

    /// Takes the step behind a name in quotes: `'f'(a=1)`, `["f", {…}]`, `['f', 'arguments': {…}]`.
    fn quoted_name(&self, name: Span) -> Seen<Step<'a>> {
        let end = name.end as usize + 1;
        // The opening brace is missing.
        if self.is_marked() && keys::NAME.contains(&name.of(self.text)) {
            return Ok(Some(Step::to(Sort::Value.at(self.at))));
        }
        // `{"not": "f", "arguments": {…}}`: the value of a member of something else.
        let is_value = || self.text.get(..self.from).is_some_and(|before| before.trim_end().ends_with(':'));
        if !self.resolves(name) || self.at == self.from && is_value() {
            return Ok(None);
        }
        if self.peek(end)? == b'(' {
            return Ok(Some(Step::to(Sort::Call.of(name, end))));
        }
        let comma = self.skip_space(end);
        if self.peek(comma)? != b',' {
            return Ok(None);
        }
        let mut at = self.skip_space(comma + 1);
        if let Some(b'"' | b'\'') = self.bytes.get(at) {
            let key = self.name_at(at + 1);
            let colon = self.skip_space(key.end as usize + 1);
            if self.peek(colon)? != b':' || !keys::is_of_call(key.of(self.text)) {
                return Ok(None);
            }
            at = self.skip_space(colon + 1);
        }
        Ok((self.peek(at)? == b'{').then(|| Step::to(Sort::Named.of(name, at))))
    }

    /// Returns the call that names its tool first in its `bracket`: `['f', a=1]`, `tools.call(f, a=1)`; or the call of a
    /// list of one name, `['f'](a=1)`.
    pub(super) fn listed(&self, bracket: usize) -> Seen<Step<'a>> {
        let quote = self.skip_space(bracket + 1);
        let quote = quote..quote + usize::from(matches!(self.peek(quote)?, b'"' | b'\''));
        let name = self.name_at(quote.end);
        if self.behind(name)?.is_none() || !self.resolves(name) {
            return Ok(None);
        }
        let end = name.end as usize;
        let quote = self.rest(quote.start).get(..quote.len()).unwrap_or(&[]);
        if !self.rest(end).starts_with(quote) {
            return Ok(None);
        }
        let behind = end + quote.len();
        if self.peek(behind)? == b']' && self.peek(behind + 1)? == b'(' {
            return Ok(Some(Step::to(Sort::Call.of(name, behind + 1))));
        }
        let comma = self.skip_space(behind);
        if self.peek(comma)? != b',' {
            return Ok(None);
        }
        let Some(tool) = self.place.names.resolve(name.of(self.text)) else { return Ok(None) };
        let is_call = listed::begin(self.text, self.skip_space(comma + 1), tool)?;
        Ok(is_call.then(|| Step::to(Sort::Call.of(name, bracket))))
    }

    /// Takes the step at a word: `f(…)`, `print(f(…))`, `x = f(…)`, `f⏎{…}`.
    pub(super) fn word(&self) -> Seen<Step<'a>> {
        let written = self.name_at(self.at);
        let end = written.end as usize;
        // A longer word is not a name, whether the rest of it is there already or not.
        if !self.may_hold_name(written) {
            return Ok(None);
        }
        let next = self.peek(end)?;
        let word = written.of(self.text);
        // `../f(a=1)`
        if next == b'(' && self.text.get(..self.at).is_some_and(|before| before.ends_with('/')) {
            return Ok(None);
        }
        let call = |name: Span| Ok(Some(Step::to(Sort::Call.of(name, end))));
        match next {
            b'(' if self.resolves(written) && self.is_behind_definition() => Ok(None),
            b'(' if self.resolves(written) => call(written),
            // `<|python_tag|>f.call(a=1)`
            b'(' if self.free()
                && let Some(name) = word.strip_suffix(".call")
                && let name = Span::new(self.at, self.at + name.len())
                && self.resolves(name) =>
            {
                call(name)
            }
            b'(' if matches!(word, "tools.call" | "call_tool" | "call_function") => self.listed(end),
            b'(' if self.free() && matches!(word, "print" | "str" | "json.dumps") => {
                Ok(Some(Step::over(end + 1, Delimiter::Paren)))
            }
            b':' if word == "call" && self.is_begun() => Ok(Some(Step::past(end + 1))),
            b'[' | b'{' if word.eq_ignore_ascii_case("functools") => {
                Ok(Some(Step::past(end).of(self.of_sign(Sign::ListWord))))
            }
            b'\n' | b'\r'
                if self.peek(self.skip_space(end))? == b'`'
                    && self.resolves(written)
                    && let Some(step) = self.code_behind(written)? =>
            {
                Ok(Some(step))
            }
            b'"' | b'>' => self.torn_tag(written),
            // The calls beside an undeclared name say whether it is meant as a tool's.
            b'(' if self.may_be_sibling() && is_path(word) && !self.is_behind_definition() => call(written),
            b' ' if self.free() && matches!(word, "return" | "await" | "let" | "const" | "var") => {
                Ok(Some(Step::past(end)))
            }
            _ => self.behind_word(written),
        }
    }

    /// Returns the call of `name` in the code behind it, where another name stands for it.
    fn code_behind(&self, name: Span) -> Seen<Step<'a>> {
        let record = self.of_sign(Sign::NamedCode);
        let at = self.skip_space(name.end as usize);
        let front = record.behind_name().trim_start();
        let Some(len) = mark_at(self.text.get(at..).unwrap_or(""), front, "")? else { return Ok(None) };
        let step = Step::to(Sort::Call.of(name, at + len - 1)).of(record);
        Ok(Some(Step { delimiter: Some(Delimiter::Fence(3)), ..step }))
    }

    /// Takes the step behind a word and blanks: `x = f(…)`, `f⏎{…}`, `f (…)`.
    fn behind_word(&self, written: Span) -> Seen<Step<'a>> {
        const NEAR: usize = 16;
        let end = written.end as usize;
        let after = self.skip_space(end);
        if NEAR <= after - end {
            return Ok(None);
        }
        match self.peek(after)? {
            b'=' if self.free() && is_variable(written.of(self.text)) => Ok(Some(Step::past(after + 1))),
            b'{' => self.word_before_brace(written, after),
            // `[f (a=1), g (b=2)]`
            b'(' if (self.from < self.at || self.place.follows_call) && self.resolves(written) => {
                Ok(Some(Step::to(Sort::Call.of(written, after))))
            }
            _ => Ok(None),
        }
    }

    /// Takes the step at a name before a brace, `get_weather⏎{"city": "Paris"}`, also right behind a sentence:
    /// `the call.get_weather⏎{…}`.
    fn word_before_brace(&self, written: Span, brace: usize) -> Seen<Step<'a>> {
        let (from, end) = (written.start as usize, written.end as usize);
        let word = written.of(self.text);
        let on_next_line = self.bytes[end..brace].contains(&b'\n');
        let is_tool = |name: &Span| self.place.names.tools().get(name.of(self.text)).is_some();
        let signs = word.rmatch_indices(['.', '?', '!']);
        let mut behind_signs = signs.map(|(sign, _)| Span::new(from + sign + 1, end));
        let glued = behind_signs.find(is_tool).filter(|_| on_next_line);
        // `I use get_weather.⏎{…}` ends a sentence, and so does a name before a call that names its tool itself.
        let is_said = !self.free() && word.ends_with('.');
        let is_name = self.resolves(written) && (self.free() || on_next_line) && !is_said;
        match if is_name { Some(written) } else { glued } {
            Some(name) if self.free() => self.braced(name, brace),
            Some(name) if !self.is_call_object(name, brace)? => {
                Ok(Some(Step::to(Sort::Named.of(name, brace))))
            }
            _ => Ok(None),
        }
    }

    /// Returns whether a call of an undeclared name may stand here, which the calls beside it tell to be one.
    fn may_be_sibling(&self) -> bool {
        match self.delimiters.last() {
            Some(Delimiter::Bracket | Delimiter::Fence(_) | Delimiter::Tag) => true,
            Some(Delimiter::Paren | Delimiter::Quote(_) | Delimiter::Ticks(_)) => false,
            None if self.at != self.from => false,
            None => self.place.follows_call || self.stands_alone(),
        }
    }

    /// Returns whether the object at `at` begins with the key of a call's name or of a list of calls. A parameter of
    /// the tool of `name` is not such a key.
    fn is_call_object(&self, name: Span, at: usize) -> Result<bool, Incomplete> {
        let quote = self.skip_space(at + 1);
        let key = self.name_at(quote + usize::from(matches!(self.peek(quote)?, b'"' | b'\'')));
        let written = key.of(self.text);
        if key.end as usize == self.bytes.len() && written.len() <= MAX_NAME && !self.place.end {
            return Err(Incomplete);
        }
        let is_key = keys::NAME.contains(&written) || keys::WRAPPERS.contains(&written);
        Ok(is_key && !self.declares(name, written))
    }

    /// Returns whether code defines the word here and does not call it: `def f(`, `function f(`.
    fn is_behind_definition(&self) -> bool {
        let before = self.text.get(..self.at).and_then(|before| before.strip_suffix(' '));
        let defines = |before: &str| {
            ["def", "function", "class", "fn", "func"].iter().any(|word| before.ends_with(word))
        };
        before.is_some_and(defines)
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
