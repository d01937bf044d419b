//! Reads the parts between and below the structure: blanks, comments, words and numbers.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;

use super::cost::COMMA_IN_TEXT;
use super::{DOUBTFUL, Frame, Last, Quote, Search, State, Step};
use crate::ambiguity::has_colon;
use crate::scan::skip_space;
use crate::spelling::{self, skip_blank};
use crate::strict::number;
use crate::{Kinds, Problem, RepairKind, Span};

/// The longest comment, in bytes: the search looks for its end behind many a quote.
const LONGEST_COMMENT: usize = 1 << 10;

impl Search<'_, '_> {
    /// Passes over whitespace, comments, and whitespace written as escapes.
    pub(super) fn blank(&mut self, mut s: State) -> State {
        loop {
            let at = skip_space(self.bytes, s.at as usize);
            s.at = at as u32;
            let end = skip_blank(self.bytes, at);
            if at < end {
                s = self.note(s, RepairKind::DropEscape, Span::new(at, end), " ");
                s.at = end as u32;
            }
            let Some((end, kind)) = self.blank_at(end) else { return s };
            // `// ... 8 more` leaves something out. `// note, "b": 2}}` holds more of the line.
            let comment = self.text.get(at..end).unwrap_or("");
            let closes = |brackets: [char; 2]| comment.matches(brackets).count();
            let is_more =
                comment.contains("...") || comment.contains('…') || closes(['{', '[']) < closes(['}', ']']);
            if kind == RepairKind::DropComment && is_more {
                s.habits |= DOUBTFUL;
            }
            s = self.replace(s, kind, end, if kind == RepairKind::DropEscape { " " } else { "" });
        }
    }

    /// Returns the first place at or after `at` that is not blank, and notes nothing.
    pub(crate) fn peek_blank(&self, mut at: usize) -> usize {
        at = skip_space(self.bytes, at);
        // Another token mostly follows at once.
        if self.bytes.get(at).is_some_and(|b| b.is_ascii_graphic() && !b"/-<#\\".contains(b)) {
            return at;
        }
        // Comments are few; a longer run of them is read only in its turn.
        for _ in 0..4 {
            at = skip_blank(self.bytes, at);
            let Some((end, _)) = self.blank_at(at) else { break };
            at = end;
        }
        skip_blank(self.bytes, at)
    }

    /// Returns the end and the repair of the comment or escaped blank that begins at `at`.
    fn blank_at(&self, at: usize) -> Option<(usize, RepairKind)> {
        let rest = self.bytes.get(at..)?;
        // A comment inside a value ends with its line: a longer one would swallow the closing signs.
        let near = &rest[..rest.len().min(LONGEST_COMMENT)];
        let line = || {
            let end = near.iter().position(|byte| *byte == b'\n')?;
            Some((at + end, RepairKind::DropComment))
        };
        let block = |from: usize, close: &[u8]| {
            let end = near.get(from..)?.windows(close.len()).position(|window| window == close)?;
            Some((at + from + end + close.len(), RepairKind::DropComment))
        };
        match rest {
            [b'/', b'/', ..] => line(),
            [b'-', b'-', b' ', word, ..] if word.is_ascii_alphanumeric() => line(),
            [b'<', b'!', b'-', b'-', ..] => block(2, b"-->"),
            [b'#', ..] if !matches!(self.bytes[..at].last(), Some(b'"' | b'\'' | b'`')) => line(),
            [b'/', b'*', ..] => block(2, b"*/"),
            // A line that goes on, `"a" \⏎ "b"`, or a written line break: `{\n  "a": 1}`
            [b'\\', b'\n' | b'n' | b'r' | b't', ..] => Some((at + 2, RepairKind::DropEscape)),
            _ => None,
        }
    }

    /// Reads a number, a literal or a bare text as a value.
    pub(super) fn bare_value(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        let kinds = self.kinds(self.place(&s));
        let end = self.word_end(at);
        let word = self.text.get(at..end).unwrap_or("");
        let after = State { at: end as u32, open: s.at, step: Step::After, last: Last::Open, ..s };

        if number(self.bytes, at) == Ok(end) {
            let last = if self.options.ended { Last::Firm } else { Last::Open };
            let is_number = kinds.meets(Kinds::NUMBER);
            return if is_number { Some(State { last, ..after }) } else { self.bare_text(s, kinds) };
        }
        if let Some(json) = literal(word, kinds) {
            let after = match word == json {
                true => after,
                false => self.edit(after, RepairKind::SwapLiteral, Span::new(at, end), json),
            };
            return Some(State { last: Last::Firm, ..after });
        }
        // Where a string may stand, `0x10` is one in every mode: its number has another spelling.
        if self.guide.kinds(self.place(&s)).meets(Kinds::NUMBER) {
            let padded = padded(word).filter(|_| !kinds.has(Kinds::STRING));
            if let Some(json) = foreign_number(word).or(padded) {
                return Some(self.edit(after, RepairKind::SwapLiteral, Span::new(at, end), json));
            }
            // `2-4`, `50!`, `01`: a number, and a sign that slipped in or belongs to it. `5e` is a cut
            // number.
            let digits = word.trim_start_matches(['-', '+']);
            let begins = digits.starts_with(|c: char| c.is_ascii_digit());
            let is_cut = || number(format!("{word}0").as_bytes(), 0) == Ok(word.len() + 1);
            if begins && (!digits.contains(char::is_alphabetic) || is_cut()) {
                return self.fail(Problem::Unreadable, Span::new(at, end));
            }
        }
        // `tru` may be a text or a cut literal. One letter has other meanings, and a word in a call is a
        // name.
        let is_cut = |whole: &str| whole.starts_with(word) && literal(whole, kinds).is_some();
        let is_word = 1 < word.len() && !self.begin.start.is_arguments();
        if is_word && LITERALS.into_iter().any(is_cut) && self.may_go_on(&s, end) {
            return self.fail(Problem::Unreadable, Span::new(at, end));
        }
        // A missing value cannot be text.
        if literal(word, Kinds::ANY) == Some("null") && self.may_go_on(&s, end) {
            return self.fail(Problem::Unreadable, Span::new(at, end));
        }
        match word {
            "NaN" | "Infinity" | "-Infinity" | "nan" | "inf" | "-inf" => {
                return self.fail(Problem::NotANumber, Span::new(at, end));
            }
            "undefined" => return self.undefined(s, end),
            // An omission has no value.
            "..." | "…" => return self.fail(Problem::Unreadable, Span::new(at, end)),
            _ => {}
        }
        self.bare_text(s, kinds)
    }

    /// Drops the member of `"a": undefined`, which means that `a` is absent, with the comma on one side.
    fn undefined(&mut self, s: State, end: usize) -> Option<State> {
        let frame = *self.frame(&s)?;
        if !frame.is_object() {
            return None;
        }
        // The member began behind the last `{` or `,`; its key is the last noted edit.
        let before = self.bytes.get(..s.open as usize)?;
        let start = before.iter().rposition(|&b| b == b'{' || b == b',')? + 1;
        let next = self.peek_blank(end);
        // The edits of the dropped key are dropped with it.
        let s = self.forget_behind(s, start);
        let follows_comma = self.bytes[start - 1] == b',';
        let (from, to, step, last) = match self.bytes.get(next) {
            Some(b',') if follows_comma => (start, next + 1, Step::Key, Last::Comma),
            Some(b',') => (start, next + 1, Step::Key, Last::Firm),
            // Behind a dropped comma the object goes on as after the value before.
            _ if follows_comma => (start - 1, end, Step::After, Last::Firm),
            _ => (start, end, Step::Key, Last::Firm),
        };
        let s = self.edit(s, RepairKind::DropUndefined, Span::new(from, to), "");
        let s = self.with_frame(s, Frame { used: frame.used & !frame.last, ..frame });
        Some(State { at: to as u32, step, last, open: start as u32 - 1, ..s })
    }

    /// Reads a text without quotes, up to a place where the document can go on: `{"a": New York, "b": 1}`.
    fn bare_text(&mut self, s: State, kinds: Kinds) -> Option<State> {
        let from = s.at as usize;
        let first = *self.bytes.get(from)?;
        // `"on"--:true`: the colon belongs to the key.
        if !kinds.has(Kinds::STRING)
            || has_colon(self.text.get(from..).unwrap_or(""))
            || !(first.is_ascii_alphanumeric() || b"_/.-+~@$*%\\&".contains(&first) || first >= 0x80)
        {
            return self.fail(Problem::Unreadable, Span::at(from));
        }
        // `*3`: a number with a sign that may belong to it, or a text, where both types may stand.
        let declared = self.guide.kinds(self.place(&s));
        let is_either = declared.meets(Kinds::NUMBER) && declared.has(Kinds::STRING);
        let number_at = self.signs_at(from).map(|len| from + len).filter(|_| is_either);
        if let Some(at) = number_at
            && let Ok(end) = number(self.bytes, at)
            && self.may_go_on(&s, end)
        {
            return self.fail(Problem::Unreadable, Span::new(from, end));
        }
        // The opening quote may be missing: `"out": logStream", …`. A bracket before the first quote makes an
        // expression where calls are written: `f(x=data['a'], y=data['b'])`
        let first_mark = self.next_mark(from);
        let mark = self.bytes.get(first_mark);
        let expression = self.in_arguments(&s) && !matches!(mark, Some(b'"' | b'\''));
        if !expression {
            let is_single = mark == Some(&b'\'') && self.ends_argument(first_mark);
            let quote = if is_single { Quote::SINGLE } else { Quote::DOUBLE };
            let quoted = self.open_bare_string(s, quote);
            self.fork(quoted);
        }
        let mut at = from;
        let mut chosen = None;
        while let Some(&b) = self.bytes.get(at) {
            self.fuel -= 1;
            match b {
                b',' | b'}' | b']' | b'\n' | b')' | b';' if self.may_go_on(&s, at) => {
                    let end = from + self.bytes[from..at].trim_ascii_end().len();
                    let done = self.quote_text(s, end);
                    if chosen.is_some() {
                        self.fork(State { cost: done.cost.plus(COMMA_IN_TEXT), ..done });
                        break;
                    }
                    chosen = Some(done);
                    // A comma before a word may belong to the text: "Paris, France", but not `Rome, }`.
                    if b != b',' || self.begins_argument(&s, at + 1) || self.is_last(at + 1) {
                        break;
                    }
                }
                // Bare texts have no brackets and quotes: `f(a=g(1))` is an expression.
                b'(' | b'{' | b'[' | b'}' | b']' | b'"' | b'\n' | b'`' => break,
                b'\'' if self.ends_argument(at) => break,
                _ => {}
            }
            at += 1;
        }
        chosen.or_else(|| self.fail(Problem::Unreadable, Span::new(from, at)))
    }

    /// Returns the place of the first quote or opening bracket at or behind `from`; the end if there is none.
    fn next_mark(&mut self, from: usize) -> usize {
        if let Some((start, mark)) = self.mark
            && (start..=mark).contains(&from)
        {
            return mark;
        }
        let len = self.bytes[from..].iter().position(|b| b"\"'([{".contains(b));
        let mark = len.map_or(self.bytes.len(), |len| from + len);
        self.mark = Some((from, mark));
        mark
    }

    /// Returns whether the quote at `at` looks like the end of an argument whose first quote is missing: `f(a=x', b=1)`.
    fn ends_argument(&self, at: usize) -> bool {
        let behind = self.bytes.get(self.peek_blank(at + 1));
        self.begin.start.is_arguments() && matches!(behind, Some(b',' | b')' | b']' | b'}'))
    }

    /// Returns whether the next argument of a call begins behind the comma before `at`: `f(a=x, b=1)`.
    fn begins_argument(&self, s: &State, at: usize) -> bool {
        let behind = self.key_at(s, self.peek_blank(at)).map(|key| self.peek_blank(key.end));
        self.in_arguments(s) && behind.is_some_and(|at| self.bytes.get(at) == Some(&b'='))
    }

    /// Returns whether only closing signs follow the comma before `at`.
    fn is_last(&self, at: usize) -> bool {
        matches!(self.bytes.get(self.peek_blank(at)), None | Some(b'}' | b']' | b')' | b','))
    }

    /// Reads the bytes from `s.at` to `end` as a text without quotes.
    fn quote_text(&mut self, s: State, end: usize) -> State {
        let from = s.at as usize;
        // `x”` has half of a pair.
        let last = self.text.get(from..end).and_then(|text| text.char_indices().next_back());
        let is_half =
            last.is_some_and(|(at, c)| !c.is_ascii() && super::mark(&self.bytes[from + at..]).is_some());
        let habits = if is_half { s.habits | DOUBTFUL } else { s.habits };
        let s = State { habits, ..s };
        let mut s = self.edit(s, RepairKind::QuoteValue, Span::at(from), "\"");
        for at in from..end {
            s = match self.bytes[at] {
                b'\\' => self.edit(s, RepairKind::EscapeBackslash, Span::new(at, at + 1), "\\\\"),
                ..0x20 => self.escape_control(s, at),
                _ => s,
            };
        }
        let s = self.edit(s, RepairKind::QuoteValue, Span::at(end), "\"");
        State { at: end as u32, open: from as u32, step: Step::After, last: Last::Open, ..s }
    }

    pub(super) fn escape_control(&mut self, s: State, at: usize) -> State {
        let put = match self.bytes[at] {
            b'\n' => Cow::Borrowed("\\n"),
            b'\r' => Cow::Borrowed("\\r"),
            b'\t' => Cow::Borrowed("\\t"),
            b => Cow::Owned(format!("\\u{b:04x}")),
        };
        self.edit(s, RepairKind::EscapeControl, Span::new(at, at + 1), put)
    }

    /// Returns the end of the run of characters that make up names, numbers and literals.
    pub(super) fn word_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(&b) = self.bytes.get(at)
            && (b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'+' | b'-' | b'$' | 0x80..))
        {
            // Punctuation and blanks of other scripts end a word: `10，`
            let rest = &self.bytes[at..];
            if 0xc2 <= b && (spelling::wide(rest).is_some() || spelling::blank(rest).is_some()) {
                break;
            }
            at += 1;
        }
        at
    }
}

/// The literals of JSON and of Python.
const LITERALS: [&str; 6] = ["true", "false", "null", "True", "False", "None"];

/// Returns the JSON of the literal `word`, of JSON or another language, if it is of one of these `kinds`.
pub(super) fn literal(word: &str, kinds: Kinds) -> Option<&'static str> {
    match word {
        "true" | "True" | "TRUE" if kinds.has(Kinds::BOOL) => Some("true"),
        "false" | "False" | "FALSE" if kinds.has(Kinds::BOOL) => Some("false"),
        "null" | "None" | "NULL" | "Null" | "nil" | "Nil" if kinds.has(Kinds::NULL) => Some("null"),
        _ => None,
    }
}

/// Returns an integer without its leading zeros, if its octal and decimal values agree: `05` → `5`.
fn padded(word: &str) -> Option<String> {
    let digits = word.trim_start_matches(['-', '+']);
    let number = digits.trim_start_matches('0');
    let is_octal = 1 < number.len() && number.bytes().all(|b| matches!(b, b'0'..=b'7'));
    let sign = word.strip_suffix(digits).filter(|sign| matches!(*sign, "" | "-" | "+"))?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (is_number && !is_octal).then(|| format!("{}{number}", sign.trim_start_matches('+')))
}

/// Returns the JSON spelling of a number that another language writes differently; `None` for anything else.
///
/// `.5` → `0.5`, `5.` → `5.0`, `+5` → `5`, `1_000` → `1000`, `0x1F` → `31`. Leading zeros (`007`) stay open.
fn foreign_number(word: &str) -> Option<String> {
    let (sign, body) = match word.as_bytes().first()? {
        b'+' => ("", &word[1..]),
        b'-' => ("-", &word[1..]),
        _ => ("", word),
    };
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = body.strip_prefix(prefix) {
            let n = u64::from_str_radix(digits, radix).ok()?;
            return Some(format!("{sign}{n}"));
        }
    }
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => body.split_at(at),
        None => (body, ""),
    };
    let underscores = !mantissa.starts_with('_') && !mantissa.ends_with('_') && !mantissa.contains("__");
    let mut digits: String = mantissa.chars().filter(|&c| c != '_').collect();
    if digits.starts_with('.') {
        digits.insert(0, '0');
    }
    if digits.ends_with('.') {
        digits.push('0');
    }
    let json = format!("{sign}{digits}{exponent}");
    let any_digit = mantissa.bytes().any(|b| b.is_ascii_digit());
    (underscores && any_digit && number(json.as_bytes(), 0) == Ok(json.len())).then_some(json)
}
