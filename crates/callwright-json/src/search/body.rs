//! The bodies of string values: their ends, and the signs in them that must be escaped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::cost::{BEFORE_DECLARED, BEFORE_OTHER, Cost, INCHES, SWALLOW};
use super::escapes::Escapes;
use super::{BODY_STEP, DOUBTFUL, Last, NONE, Quote, RUN, SchemaMode, Search, State, Step};
use crate::ambiguity::open_brackets;
use crate::scan::string_stop;
use crate::spelling::foreign;
use crate::strict::escape_len;
use crate::tree::unescape;
use crate::{Kinds, Place, Problem, RepairKind, Span};

/// A longer run of quotes did not slip in. The search counts the run behind each quote.
const MOST_QUOTES: usize = 4;
/// The longest spelling of a quote, `&quot;`.
const LONGEST_QUOTE: usize = 6;
/// Other spellings of a double quote.
const SPELT: [&str; 4] = ["''", "\\\"", "&quot;", "&#34;"];

impl Search<'_, '_> {
    /// Enters the string that opens at `s.at`.
    pub(super) fn open_string(&mut self, s: State, quote: Quote, len: usize) -> Option<State> {
        let kinds = self.kinds(self.place(&s));
        if !kinds.has(Kinds::STRING) {
            return self.fail(Problem::Unreadable, Span::at(s.at as usize));
        }
        let at = s.at as usize;
        let s = self.swap_quote(s, Span::new(at, at + len));
        let escapes = match self.in_arguments(&s) || self.strict_quotes {
            true => Escapes::Json,
            false => self.escapes(&s, at + len, quote)?,
        };
        let body = (at + len) as u32;
        let step = Step::Body;
        Some(State { at: body, open: body, quote, escapes, step, last: Last::Firm, unpaired: false, ..s })
    }

    /// Replaces the quote at `at` by the double quote of JSON.
    fn swap_quote(&mut self, s: State, at: Span) -> State {
        if at.of(self.text) == "\"" { s } else { self.edit(s, RepairKind::SwapQuote, at, "\"") }
    }

    /// Enters a string whose opening `quote`, which should stand at `s.at`, is missing.
    pub(super) fn open_bare_string(&mut self, s: State, quote: Quote) -> State {
        let before = self.bytes.get(..s.at as usize).unwrap_or(&[]);
        let sign = before.trim_ascii_end();
        let gap = before.get(sign.len()..).unwrap_or(&[]);
        // A longer gap than one blank or a line's margin may belong to the text in part.
        let is_laid_out = matches!(sign.last(), Some(b':' | b'=' | b',' | b'[' | b'{' | b'(' | 0x80..))
            && (gap.len() <= 1 || gap.contains(&b'\n'));
        let habits = if is_laid_out { s.habits } else { s.habits | DOUBTFUL };
        let s = State { habits, ..s };
        let s = self.edit(s, RepairKind::AddQuote, Span::at(s.at as usize), "\"");
        State { open: s.at, quote, escapes: Escapes::Json, step: Step::Body, last: Last::Firm, ..s }
    }

    /// Runs through a string up to the next place that needs a decision, and decides it.
    pub(super) fn body(&mut self, mut s: State) -> Option<State> {
        let mut at = self.body_stop(&s);
        // Line breaks need no decision once one was escaped, and code has many.
        while self.bytes.get(at).is_some_and(|byte| *byte < 0x20) && s.has_paid(RepairKind::EscapeControl) {
            let run = at as u32 + 1 - s.at;
            self.fuel -= BODY_STEP + i64::from(run.div_ceil(RUN));
            s = self.escape_control(s, at);
            s.at = at as u32 + 1;
            at = self.body_stop(&s);
        }
        let s = State { at: at as u32, ..s };
        let rest = self.bytes.get(at..)?;
        if rest.is_empty() {
            self.fail(Problem::Truncated, Span::new(s.open as usize, at));
            return self.closed_by_brackets(s);
        }
        if rest[0] == b'\\' && s.quote.closing(rest).is_none() {
            return self.backslash(s);
        }
        if rest[0] < 0x20 {
            let s = self.escape_control(s, at);
            return Some(State { at: at as u32 + 1, ..s });
        }
        match s.quote.closing(rest) {
            Some(len) => self.closing_quote(s, len),
            None if rest[0] == b'"' => self.inner_double(s),
            // A multi-byte character that only begins like a quote.
            None => Some(State { at: at as u32 + foreign(rest).map_or(1, |c| c.len_utf8() as u32), ..s }),
        }
    }

    /// Returns the next place in the string that needs a decision. Plain escapes need none.
    fn body_stop(&self, s: &State) -> usize {
        let lead = s.quote.lead();
        let mut at = s.at as usize;
        loop {
            at = match lead {
                b'"' => string_stop(self.bytes, at, b'"'),
                _ => {
                    let rest = self.bytes.get(at..).unwrap_or(&[]);
                    let stop = |&b: &u8| b == lead || b == b'"' || b == b'\\' || b < 0x20;
                    at + rest.iter().position(stop).unwrap_or(rest.len())
                }
            };
            let rest = self.bytes.get(at..).unwrap_or(&[]);
            let plain = rest.first() == Some(&b'\\')
                && !s.escapes.is_text(self.bytes, at, lead)
                && s.quote.closing(rest).is_none();
            match escape_len(self.bytes, at) {
                Some(len) if plain => at += len,
                _ => return at,
            }
        }
    }

    /// Reads a quote that may close the string or be text.
    fn closing_quote(&mut self, s: State, len: usize) -> Option<State> {
        let at = s.at as usize;
        if self.strict_quotes {
            return self.end_string(s, at, len);
        }
        self.lost_closer(&s, at);
        let end = if self.quote_taken(&s) { s.bare.end } else { s.at };
        let taken = State { bare: Span { start: s.open, end }, ..s };
        let bare = match s.quote.lead() {
            b'"' => self.replace(taken, RepairKind::EscapeQuote, at + 1, "\\\""),
            // JSON needs no escape for an apostrophe, but an apostrophe is as odd as a bare quote.
            _ => State { at: (at + len) as u32, ..super::pay(taken, RepairKind::EscapeQuote) },
        };
        self.closed_twice(s, at, len);
        if !self.may_go_on(&s, at + len) {
            return Some(bare);
        }
        let cost = bare.cost.plus(self.swallow(&s, at + len));
        self.fork(State { cost, ..bare });
        self.end_string(s, at, len)
    }

    /// Forks where the quote of `len` bytes at `at` may be the first of two that stand for one: `"Paris"", …`, `“Paris”"`
    fn closed_twice(&mut self, s: State, at: usize, len: usize) {
        let mark = |end: usize| self.bytes.get(end..).and_then(super::mark);
        let other = |end: usize| mark(end).filter(|len| *len < LONGEST_QUOTE).unwrap_or(0);
        let behind = match self.quotes_end(at, len) {
            end if end == at + len => end + other(end),
            end => end,
        };
        if behind == at + len || !self.may_go_on(&s, behind) {
            return;
        }
        let body = self.bytes.get(s.open as usize..at).unwrap_or(&[]);
        let word = body.rsplit(|b| !b.is_ascii_alphanumeric() && *b != b'.').next().unwrap_or(&[]);
        let is_number = !word.is_empty() && !word.iter().any(u8::is_ascii_alphabetic);
        let cost = if is_number { INCHES } else { Cost::default() };
        // `"s = """`: two of three may be the text's own, which nobody escaped.
        let is_empty_text = at + 2 * len < behind && !body.last().is_some_and(u8::is_ascii_alphanumeric);
        // `"say \"hi""`: or the second quote is the text's own, and only every other quote has its backslash.
        self.fuel -= i64::from((body.len() as u32).div_ceil(RUN));
        let is_open = body.windows(2).filter(|pair| pair == b"\\\"").count() % 2 == 1;
        let doubt = if is_open || is_empty_text && !body.is_empty() { DOUBTFUL } else { 0 };
        let s = State { habits: s.habits | doubt, ..s };
        let Some(ended) = self.end_string(s, at, len) else { return };
        let ended = self.double_quote(ended, s.quote, Span::new(at + len, behind));
        self.fork(State { at: behind as u32, cost: ended.cost.plus(cost), ..ended });
    }

    /// Returns the end of the run of quotes of `len` bytes that begins at `at`, blanks between them aside: `"" "`.
    pub(super) fn quotes_end(&self, at: usize, len: usize) -> usize {
        let quote = self.bytes.get(at..at + len);
        let mut end = at + len;
        for _ in 0..MOST_QUOTES {
            let near = self.bytes.get(end..(end + MOST_QUOTES).min(self.bytes.len())).unwrap_or(&[]);
            let next = end + near.iter().take_while(|byte| **byte == b' ').count();
            if self.bytes.get(next..next + len) != quote {
                break;
            }
            end = next + len;
        }
        end
    }

    /// Reads a double quote inside a string between other quotes.
    fn inner_double(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        self.lost_closer(&s, at);
        // `'XYZ123", "format": …` may end here. `'print("a") …` goes on: its quote is the second of a pair.
        if !s.unpaired && self.may_go_on(&s, at + 1) {
            let ended = State { bare: Span::at(s.open as usize), ..super::pay(s, RepairKind::AddQuote) };
            let ended = self.end_string(ended, at, 1);
            self.fork(ended);
        }
        // Between other quotes every reading takes a double quote for text: its escape is mere spelling.
        let cost = s.cost.plus(self.swallow(&s, at + 1));
        let s = State { cost, unpaired: !s.unpaired, ..s };
        Some(self.replace(s, RepairKind::SwapEscape, at + 1, "\\\""))
    }

    /// Returns the price of taking the quote that ends at `at` for text, if the next member seems to begin
    /// behind it.
    fn swallow(&self, s: &State, at: usize) -> Cost {
        let comma = self.peek_blank(at);
        let is_next =
            self.bytes.get(comma) == Some(&b',') && self.declared_key(s, self.peek_blank(comma + 1));
        if is_next { SWALLOW } else { Cost::default() }
    }

    /// Returns whether the quotes in the open string, which ends at `end`, close one text and open another,
    /// `"a" or "b"`, or the same text again, `"a""a"`. JSON cannot write two texts; a badly quoted text is
    /// one: `"say "hi" now"`.
    fn is_two_texts(&mut self, s: &State, end: usize) -> bool {
        if s.quote != Quote::DOUBLE || !self.quote_taken(s) {
            return false;
        }
        let first = s.bare.end as usize;
        let mut pairs = self.bytes.get(first..end).unwrap_or(&[]).windows(2);
        let is_bare = |pair: &[u8]| pair[1] == b'"' && pair[0] != b'\\';
        let Some(len) = pairs.rposition(is_bare) else { return false };
        let last = first + len + 1;
        self.fuel -= (end - last) as i64;
        if first + 1 == last {
            let open = s.open as usize;
            self.fuel -= (end - open) as i64;
            return self.bytes.get(open..first) == self.bytes.get(last + 1..end);
        }
        let blank = |at: usize| self.bytes.get(at).is_none_or(u8::is_ascii_whitespace);
        !blank(first - 1) && blank(first + 1) && blank(last - 1) && !blank(last + 1)
    }

    /// Ends the string at the quote of `len` bytes at `at`.
    fn end_string(&mut self, s: State, at: usize, len: usize) -> Option<State> {
        let s = self.swap_quote(s, Span::new(at, at + len));
        let doubt = if self.is_two_texts(&s, at) { DOUBTFUL } else { 0 };
        let s = State { habits: s.habits | doubt, ..s };
        self.finish_string(s, at, at + len, Last::Text(len as u8))
    }

    fn finish_string(&mut self, s: State, body_end: usize, end: usize, last: Last) -> Option<State> {
        let body = Span::new(s.open as usize, body_end);
        if !self.admits(self.place(&s), body.of(self.text)) {
            return self.fail(Problem::Unreadable, Span::new(s.open as usize, end));
        }
        let bare = if self.quote_taken(&s) { body } else { Span::default() };
        Some(State { at: end as u32, step: Step::After, last, bare, ..s })
    }

    /// Returns whether the string with this `body` may stand at `place`, where strings may.
    pub(super) fn admits(&self, place: Place, body: &str) -> bool {
        let longest = self.guide.longest(place).filter(|_| self.schema_mode == SchemaMode::Typed);
        // An escape of six bytes may stand for one.
        longest.is_none_or(|longest| body.len() / 6 <= longest && self.guide.admits(place, &unescape(body)))
    }

    /// Returns whether a quote in the open string was taken for text.
    fn quote_taken(&self, s: &State) -> bool {
        s.bare.start == s.open && s.open > 0
    }

    /// Forks where the quote at `at` may open the next key or element, because the closing quote of this
    /// string was lost: `"New York City, "criteria": …`, `["24 hours], "n": …`
    fn lost_closer(&mut self, s: &State, at: usize) {
        let open = s.open as usize;
        let before = self.bytes.get(open..at).unwrap_or(&[]).trim_ascii_end();
        let Some((b',', text)) = before.split_last() else { return };
        // Brackets before the comma close containers, or they are text: `…[ "a" ], "draft": …`
        let closed = self.before_closers(s, text).filter(|(_, frame)| *frame != NONE);
        if let Some((end, frame)) = closed
            && self.lost_closer_at(s, at, end, frame)
        {
            return;
        }
        self.lost_closer_at(s, at, open + text.len(), s.frame);
    }

    /// Adds the reading in which the string ended at `end`, with `frame` as the innermost container behind it. Returns
    /// whether a key or an element may begin there.
    fn lost_closer_at(&mut self, s: &State, at: usize, end: usize, frame: u32) -> bool {
        let behind = State { frame, ..*s };
        let Some(frame) = self.frame(&behind) else { return false };
        let declared = match frame.is_object().then(|| self.key_kind(&behind, at)) {
            Some(None) => return false,
            Some(Some(true)) => BEFORE_DECLARED,
            Some(Some(false)) | None => BEFORE_OTHER,
        };
        let done = self.end_without_quote(*s, end);
        self.fork(done.map(|done| State { cost: s.cost.plus(declared), ..done }));
        true
    }

    /// Finds the end of `text`, the body of the open string, if the brackets at its end close containers;
    /// also returns the container that is then the innermost. It takes as many brackets as fit: the last one
    /// of `"f() {x}]` in a list of an object.
    fn before_closers(&self, s: &State, text: &[u8]) -> Option<(usize, u32)> {
        let mut body = text;
        let mut ends = Vec::new();
        while let Some((b'}' | b']' | b')', rest)) = body.split_last()
            && ends.len() < crate::MAX_DEPTH
        {
            ends.push(body.len() - 1);
            body = rest.trim_ascii_end();
        }
        let closed = |n: usize| {
            ends[..n].iter().rev().try_fold(s.frame, |frame, at| {
                let open = self.frames.get(frame as usize)?;
                (open.close == text[*at]).then_some(open.parent)
            })
        };
        let (n, frame) = (1..=ends.len()).rev().find_map(|n| Some((n, closed(n)?)))?;
        Some((s.open as usize + text[..ends[n - 1]].trim_ascii_end().len(), frame))
    }

    /// Returns the length of the quote of another sort before `end` that closes the open string:
    /// `"Paris', …`. In `"say 'hi', …` that quote has its partner in the text, so the length is 0.
    fn odd_closer(&mut self, s: &State, end: usize) -> usize {
        let body = self.text.get(s.open as usize..end).unwrap_or("");
        if s.quote == Quote::DOUBLE
            && let Some(spelt) = SPELT.iter().find(|spelt| body.ends_with(**spelt))
            && body.matches(spelt).count() % 2 == 1
        {
            self.fuel -= body.len() as i64;
            return spelt.len();
        }
        let Some((at, last)) = body.char_indices().next_back() else { return 0 };
        let len = last.len_utf8();
        if at == 0
            || body[..at].ends_with(last)
            || super::mark(&body.as_bytes()[at..]) != Some(len)
            || s.quote.closing(&body.as_bytes()[at..]).is_some()
        {
            return 0;
        }
        // Each reading that comes here pays for the count.
        self.fuel -= body.len() as i64;
        let partner = body[..at].char_indices().filter(|(n, c)| {
            if *c != last {
                let opening = Quote::opening(&body.as_bytes()[*n..]);
                return opening.is_some_and(|(open, _)| open.closing(&body.as_bytes()[at..]).is_some());
            }
            // A quote inside a word is an apostrophe.
            let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !(is_inside(body[..*n].chars().next_back()) && is_inside(body[n + c.len_utf8()..].chars().next()))
        });
        if partner.count() % 2 == 0 { len } else { 0 }
    }

    /// Ends the open string at `end`, where its closing quote is missing or of another sort, and forgets the
    /// edits behind that place.
    fn end_without_quote(&mut self, s: State, end: usize) -> Option<State> {
        let odd = self.odd_closer(&s, end);
        let s = self.forget_behind(s, end);
        let body = self.bytes.get(s.open as usize..end).unwrap_or(&[]);
        if let Some(path) = body.strip_suffix(b"\\\"").filter(|_| odd == 2)
            && (path.is_empty() || path.windows(2).any(|pair| pair[0] == b'\\' && pair[1] != b'"'))
        {
            // `"C:\\dir\", "n": 1`: the text escapes its backslashes, so this quote is open.
            // `"C:\tmp\", "n": 1` may hold escapes.
            let is_open = path.windows(2).any(|pair| pair[0] == b'\\' && b"bfnrt".contains(&pair[1]));
            let is_escaped = path.windows(2).any(|pair| pair == b"\\\\");
            let doubt = if is_open && !is_escaped { DOUBTFUL } else { 0 };
            let s = super::pay(State { habits: s.habits | doubt, ..s }, RepairKind::AddQuote);
            return self.end_behind_backslash(s, end - 2);
        }
        let s = match odd {
            0 => self.edit(s, RepairKind::AddQuote, Span::at(end), "\""),
            // `"Paris'`: the string lacks its own closing quote, so it also pays for a missing quote.
            odd => {
                let s = self.edit(s, RepairKind::SwapQuote, Span::new(end - odd, end), "\"");
                super::pay(s, RepairKind::AddQuote)
            }
        };
        self.finish_string(s, end - odd, end, Last::Firm)
    }

    /// Ends the open string at the quote behind the backslash at `at`; the backslash is text.
    fn end_behind_backslash(&mut self, s: State, at: usize) -> Option<State> {
        let s = self.edit(s, RepairKind::EscapeBackslash, Span::new(at, at + 1), "\\\\");
        self.finish_string(s, at + 1, at + 2, Last::Text(1))
    }

    /// Ends a string that reaches the end of the text. If the text ends in exactly the open brackets, and the
    /// string itself cannot explain them, its closing quote was lost before them: `{"a": "Homo sapiens}`.
    ///
    /// A cut text must not pass for a whole one: `{"code": "fn f() { x }` ends in a bracket that the string
    /// explains.
    fn closed_by_brackets(&mut self, s: State) -> Option<State> {
        if self.options.cut {
            return None;
        }
        let open = s.open as usize;
        let text = self.bytes.get(open..self.last_at + 1)?;
        let (end, NONE) = self.before_closers(&s, text)? else { return None };
        let body = self.bytes.get(open..end)?;
        if let Some(path) = body.strip_suffix(b"\\\"")
            && s.quote == Quote::DOUBLE
            // `"he said \"so\"}` escapes its quotes, and lost its closing one.
            && !path.windows(2).any(|pair| pair == b"\\\"")
        {
            // `{"path": "C:\dir\"}`: an escaped quote would leave the string without an end, so the backslash
            // is text.
            return self.end_behind_backslash(s, open + path.len());
        }
        // A text that lacks both quotes is read as a bare text.
        let is_opened = |len: usize| super::mark(&self.bytes[open - len..]) == Some(len);
        let opener = &self.bytes[open - (1..=open.min(LONGEST_QUOTE)).find(|len| is_opened(*len))?..open];
        let between = self.bytes.get(end..self.last_at + 1)?;
        let quote = (0..body.len()).find(|&i| {
            body[i] == b'"' && (i == 0 || body[i - 1] != b'\\')
                // `\&quot;` does not tell whose quote it is.
                || 1 < opener.len() && body[i..].starts_with(opener)
        });
        // Each reading that comes here pays for the search.
        self.fuel -= quote.unwrap_or(body.len()) as i64;
        let own_line = between.contains(&b'\n') && !body.contains(&b'\n');
        let escapes_lines = || body.windows(2).any(|w| w == b"\\n");
        let is_closed = || own_line && escapes_lines() || open_brackets(body) == Some(0);
        // `"x,⏎)`, `"x',)`: the comma belongs to the text or to the list.
        let has_comma = body.trim_ascii_end().ends_with(b",");
        if has_comma || body.is_empty() || quote.is_some() || !is_closed() {
            return None;
        }
        self.end_without_quote(s, end)
    }

    /// Reads a backslash in a string: an escape of JSON, of another language, or none at all.
    fn backslash(&mut self, s: State) -> Option<State> {
        let at = s.at as usize;
        if s.escapes.is_text(self.bytes, at, s.quote.lead()) {
            return Some(self.replace(s, RepairKind::EscapeBackslash, at + 1, "\\\\"));
        }
        // Where Python can read the whole list, Python's own escapes are meant.
        if self.strict_quotes {
            match self.bytes.get(at + 1) {
                Some(b'\n') => return Some(self.replace(s, RepairKind::DropEscape, at + 2, "")),
                // `C:\Users`: Python refuses it.
                Some(b'N' | b'U' | b'u' | b'x') if !is_escape(&self.bytes[at..]) => {
                    return self.fail(Problem::OpenEscape, Span::new(at, at + 2));
                }
                _ => {}
            }
        }
        if let Some(len) = escape_len(self.bytes, at) {
            return Some(State { at: (at + len) as u32, ..s });
        }
        let Some(&next) = self.bytes.get(at + 1) else {
            return self.fail(Problem::Truncated, Span::new(s.open as usize, at));
        };
        let foreign = s.quote.foreign_escapes() || self.in_arguments(&s) || self.strict_quotes;
        match next {
            b'\'' | b'`' | b'$' if next == b'\'' || s.quote == Quote::BACK => {
                let s = self.replace(s, RepairKind::DropBackslash, at + 1, "");
                Some(State { at: s.at + 1, ..s })
            }
            b'$' | b'`' if s.escapes == Escapes::Json => {
                // A backslash before `$` may be a shell's escape or text, and the text does not say.
                self.fail(Problem::OpenEscape, Span::new(at, at + 2))
            }
            _ if foreign && let Some((c, len)) = foreign_escape(&self.bytes[at..]) => {
                let put = match u32::from(c) {
                    code @ (..0x20 | 0x22 | 0x5c | 0x7f..=0x9f) => format!("\\u{code:04x}"),
                    _ => String::from(c),
                };
                Some(self.replace(s, RepairKind::SwapEscape, at + len, put))
            }
            // A line that goes on, or two lines and a backslash: the text does not say.
            b'\n' | b'\r' if !foreign => self.fail(Problem::OpenEscape, Span::new(at, at + 2)),
            _ => Some(self.replace(s, RepairKind::EscapeBackslash, at + 1, "\\\\")),
        }
    }

    pub(super) fn in_arguments(&self, s: &State) -> bool {
        self.frame(s).is_some_and(|f| f.shape == super::Shape::Arguments)
    }
}

/// Returns whether an escape of JSON or of another language stands at the start of `bytes`.
fn is_escape(bytes: &[u8]) -> bool {
    escape_len(bytes, 0).is_some() || foreign_escape(bytes).is_some()
}

/// Returns the character of the Python or JavaScript escape at the start of `bytes`, and the escape's length.
pub(super) fn foreign_escape(bytes: &[u8]) -> Option<(char, usize)> {
    let hex = |from: usize, len: usize| {
        let digits = core::str::from_utf8(bytes.get(from..from + len)?).ok()?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    match bytes.get(1)? {
        b'x' => Some((hex(2, 2)?, 4)),
        b'U' => Some((hex(2, 8)?, 10)),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let close = bytes.iter().take(10).position(|&b| b == b'}')?;
            Some((hex(3, close - 3)?, close + 1))
        }
        // `\0`, `\101`
        b'0'..=b'7' => {
            let len = bytes.iter().skip(1).take(3).take_while(|b| matches!(b, b'0'..=b'7')).count();
            let digits = core::str::from_utf8(bytes.get(1..=len)?).ok()?;
            let is_whole = !bytes.get(1 + len).is_some_and(u8::is_ascii_digit);
            Some((char::from_u32(u32::from_str_radix(digits, 8).ok()?)?, 1 + len)).filter(|_| is_whole)
        }
        b'a' => Some(('\u{7}', 2)),
        b'v' => Some(('\u{b}', 2)),
        _ => None,
    }
}
