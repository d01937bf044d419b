//! From the place where a strict reader stopped to the place that is wrong, and what to write there.
//!
//! `{"code": "print("hello")"}`: the reader stops at `h`; the suspect is the quote in front of it, and the
//! edits escape that quote and its partner. Nothing is counted over the whole text: strings are strings.
//! The edits are advice for the model, never applied to a call; a repaired call comes from the tolerant reader.

use callwright_json::{Repair, RepairKind, Span, quote};

use super::json_loads::{Bracket, Complaint, Stop, Token};
use super::trouble::Trouble;

/// What is wrong, where, and edits of the text that get a reader past it, if there is a plausible way.
#[derive(Debug)]
pub(super) struct Suspect {
    pub(super) trouble: Trouble,
    pub(super) at: Span,
    pub(super) repairs: Vec<Repair>,
}

/// Finds what made a scan of `text` stop. Linear in the length of `text`.
pub(super) fn suspect(text: &str, stop: &Stop) -> Suspect {
    let look = Look { text, stop, at: stop.at, end: text.trim_end_matches(JSON_SPACE).len() };
    match stop.complaint {
        Complaint::ExtraData => look.extra_data(),
        Complaint::Value => look.value(),
        Complaint::Comma => look.comma(),
        Complaint::Colon => look.colon(),
        Complaint::Key => look.key(),
        Complaint::Unterminated => look.unterminated(),
        Complaint::Control => look.control(),
        Complaint::Escape => look.escape(look.at),
        Complaint::UnicodeEscape => look.escape(look.at.saturating_sub(1)),
        Complaint::ByteOrderMark => look.surroundings(RepairKind::DropProse, '\u{feff}'.len_utf8()),
    }
}

const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
const CLOSERS: [char; 2] = ['}', ']'];
/// A key is looked for in this many bytes; longer ones are rare, and the search stays linear.
const KEY_WINDOW: usize = 64;

struct Look<'a> {
    text: &'a str,
    stop: &'a Stop,
    /// Where the scan stopped.
    at: usize,
    /// The length of the text without the space at its end.
    end: usize,
}

impl<'a> Look<'a> {
    fn from(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or("")
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or("")
    }

    fn after_space(&self, at: usize) -> &'a str {
        self.from(at).trim_start_matches(JSON_SPACE)
    }

    /// The closing brackets of all that is open, innermost first.
    fn closers(&self) -> String {
        self.stop.open.iter().rev().map(|b| b.closer()).collect()
    }

    fn in_object(&self) -> bool {
        self.stop.open.last() == Some(&Bracket::Brace)
    }

    /// Something stands behind a complete value: `{"a":1}}`, `{"a":1} Done.`
    fn extra_data(&self) -> Suspect {
        let rest = self.from(self.at);
        let next = rest.chars().next().unwrap_or_default();
        match (next, self.stop.before) {
            ('}' | ']', _) => {
                let run = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r', '}', ']']).len();
                let closers = rest.get(..run).unwrap_or("").match_indices(CLOSERS);
                let without = |(n, _)| without(RepairKind::DropCloser, self.at + n, 1);
                let at = Span::new(self.at, self.at + rest.get(..run).unwrap_or("").trim_end().len());
                let trouble = Trouble::ExtraClosers(closers.clone().map(|(_, c)| c).collect());
                Suspect { trouble, at, repairs: closers.map(without).collect() }
            }
            // {"a": {"b": 1}}, "c": 2}: the object was closed too early.
            (',', Token::Closer(closer)) if self.after_space(self.at + 1).starts_with('"') => {
                let trouble = Trouble::ExtraClosers(self.slice(closer, closer + 1).into());
                extra(trouble, RepairKind::DropCloser, closer)
            }
            ('{' | '[' | ',', _) => self.only(Trouble::SeveralValues, 1),
            _ => match comment_len(rest) {
                Some(len) => self.comment(len),
                None if rest.starts_with("```") => {
                    self.surroundings(RepairKind::DropFence, self.end - self.at)
                }
                None => self.surroundings(RepairKind::DropProse, self.end - self.at),
            },
        }
    }

    /// A value should stand here.
    fn value(&self) -> Suspect {
        let rest = self.from(self.at);
        let Some(next) = rest.chars().next() else { return self.cut() };
        if let Some(suspect) = self.common(next) {
            return suspect;
        }
        match (next, self.stop.before) {
            (',', Token::Comma(_) | Token::Opener) => self.extra_comma(self.at),
            (',' | '}' | ']', Token::Colon) => self.only(Trouble::MissingValue, 0),
            (_, Token::Start) => self.wrapped(rest),
            _ => self.word(rest),
        }
    }

    /// Something stands in front of the first value.
    fn wrapped(&self, rest: &str) -> Suspect {
        let Some(len) = rest.find(['{', '[']) else { return self.only(Trouble::NoJson, 0) };
        let fence = rest.starts_with("```");
        self.surroundings(if fence { RepairKind::DropFence } else { RepairKind::DropProse }, len)
    }

    /// A word that is no JSON literal.
    fn word(&self, rest: &str) -> Suspect {
        let len = rest.find([',', '}', ']', '"', '\n']).unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or("").trim_end();
        let literal = match word {
            "True" | "TRUE" => Some("true"),
            "False" | "FALSE" => Some("false"),
            "None" | "NULL" | "Null" | "nil" | "undefined" => Some("null"),
            _ => None,
        };
        match literal {
            Some(json) => {
                self.swap(Trouble::ForeignLiteral, RepairKind::SwapLiteral, word.len(), json.into())
            }
            None if word.starts_with(char::is_alphabetic) => {
                self.swap(Trouble::BareText, RepairKind::QuoteValue, word.len(), quote(word))
            }
            None if word.starts_with(['.', '+', '-']) || word.starts_with(|c: char| c.is_ascii_digit()) => {
                self.only(Trouble::ForeignLiteral, word.len())
            }
            None => self.only(Trouble::Other, 0),
        }
    }

    /// A comma or a closing bracket should stand here.
    fn comma(&self) -> Suspect {
        let rest = self.from(self.at);
        let Some(next) = rest.chars().next() else {
            return self.missing_closers(self.closers(), self.end);
        };
        if let Some(len) = comment_len(rest) {
            return self.comment(len);
        }
        match (next, self.stop.before) {
            ('}' | ']', _) => self.closer(next),
            (';', _) => self.swap(Trouble::MissingComma, RepairKind::SwapPunctuation, 1, ",".into()),
            ('`', _) if rest.starts_with("```") => {
                self.surroundings(RepairKind::DropFence, self.end - self.at)
            }
            ('"', Token::String(string))
                if !self.in_object() || key_len(self.from(self.at + 1)).is_some() =>
            {
                self.missing_comma(string.range().end)
            }
            (_, Token::String(string)) => self.bare_quote(string),
            ('"', _) => self.missing_comma(self.at),
            ('{' | '[' | '-' | '0'..='9', _) if !self.in_object() => self.missing_comma(self.at),
            _ => self.only(Trouble::Other, 0),
        }
    }

    /// A closing bracket that does not belong to the innermost open one.
    fn closer(&self, closer: char) -> Suspect {
        let open = &self.stop.open;
        let innermost = open.last().map_or('}', |b| b.closer());
        match open.iter().rposition(|b| b.closer() == closer) {
            // {"a": [1, 2}: an outer one is closed, so the inner ones are not.
            Some(n) => {
                let inner = open.get(n + 1..).unwrap_or(&[]);
                self.missing_closers(inner.iter().rev().map(|b| b.closer()).collect(), self.at)
            }
            None if self.after_space(self.at + 1).starts_with(innermost) => {
                extra(Trouble::ExtraClosers(closer.into()), RepairKind::DropCloser, self.at)
            }
            None => {
                self.swap(Trouble::WrongCloser(innermost), RepairKind::SwapBracket, 1, innermost.to_string())
            }
        }
    }

    /// The text goes on behind a string as if it were not over: one of its quotes is wrong.
    fn bare_quote(&self, string: Span) -> Suspect {
        let (open, close) = (string.range().start, string.range().end - 1);
        if let Some(suspect) = self.swallowed_key(open, close, close + 1) {
            return suspect;
        }
        let mut repairs = Vec::new();
        let mut quote = Some(close);
        while let Some(at) = quote {
            if at != close && self.ends_string(at) {
                return Suspect { trouble: Trouble::BareQuote, at: Span::new(close, close + 1), repairs };
            }
            repairs.push(edit(RepairKind::EscapeQuote, at, 1, "\\\""));
            quote = self.next_quote(at + 1);
        }
        // No quote ends it: it ends before the closing brackets of what is open, as far as they are there.
        let (end, missing) = self.before_last_closers(close + 1);
        repairs.push(add_quote(end));
        repairs.extend(add_closers(&missing, end));
        Suspect { trouble: Trouble::BareQuote, at: Span::new(close, close + 1), repairs }
    }

    /// {"a": "x, "b": 1}: the string that opens at `open` has taken in the comma; a key goes on at `key`.
    fn swallowed_key(&self, open: usize, end: usize, key: usize) -> Option<Suspect> {
        let body = self.slice(open + 1, end).trim_end_matches(JSON_SPACE).strip_suffix(',')?;
        if !self.in_object() {
            return None;
        }
        key_len(self.from(key))?;
        Some(unclosed(open, body.len()))
    }

    /// May the quote at `at` end a string, seen from what comes behind it?
    fn ends_string(&self, at: usize) -> bool {
        let rest = self.after_space(at + 1);
        match rest.chars().next() {
            None => true,
            Some(',') => {
                let rest = rest.get(1..).unwrap_or("").trim_start_matches(JSON_SPACE);
                match rest.strip_prefix('"') {
                    Some(key) if self.in_object() => key_len(key).is_some(),
                    _ => !self.in_object(),
                }
            }
            Some('}' | ']') => {
                let rest = rest.trim_start_matches(|c| JSON_SPACE.contains(&c) || CLOSERS.contains(&c));
                rest.is_empty() || rest.starts_with(',')
            }
            Some(_) => false,
        }
    }

    /// The next quote at or after `from` that has no backslash in front of it.
    fn next_quote(&self, from: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = from;
        loop {
            match bytes.get(at)? {
                b'"' => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    /// Where a string ends that runs into the closing brackets at the end of the text, at or after `from`,
    /// and the closing brackets that must follow besides those.
    fn before_last_closers(&self, from: usize) -> (usize, String) {
        let mut at = self.end;
        let mut outer = 0;
        while let Some(bracket) = self.stop.open.get(outer) {
            let kept = self.slice(from, at).trim_end_matches(JSON_SPACE);
            let Some(inner) = kept.strip_suffix(bracket.closer()) else { break };
            at = from + inner.len();
            outer += 1;
        }
        let end = from + self.slice(from, at).trim_end_matches(JSON_SPACE).len();
        let missing = self.stop.open.iter().skip(outer).rev().map(|b| b.closer()).collect();
        (end, missing)
    }

    /// A colon should stand here.
    fn colon(&self) -> Suspect {
        let rest = self.from(self.at);
        let Some(next) = rest.chars().next() else { return self.cut() };
        let Token::String(key) = self.stop.before else { return self.only(Trouble::Other, 0) };
        let key = key.range();
        match next {
            '=' | '：' => {
                let len = if rest.starts_with("=>") { 2 } else { next.len_utf8() };
                self.swap(Trouble::MissingColon, RepairKind::SwapPunctuation, len, ":".into())
            }
            ',' | '}' | ']' => self.only(Trouble::MissingValue, 0),
            _ => match self.slice(key.start + 1, key.end - 1).split_once(':') {
                // {"radius: 10, "unit": "m"}: the key has swallowed its value.
                Some((name, _)) if is_name(name.trim_end()) => unclosed(key.start, name.trim_end().len()),
                _ => Suspect {
                    trouble: Trouble::MissingColon,
                    at: Span::at(key.end),
                    repairs: vec![edit(RepairKind::AddColon, key.end, 0, ":")],
                },
            },
        }
    }

    /// A key should stand here.
    fn key(&self) -> Suspect {
        let rest = self.from(self.at);
        let Some(next) = rest.chars().next() else { return self.cut() };
        if let Some(suspect) = self.common(next) {
            return suspect;
        }
        match next {
            ',' => self.extra_comma(self.at),
            ']' => self.swap(Trouble::WrongCloser('}'), RepairKind::SwapBracket, 1, "}".into()),
            '{' => extra(Trouble::ExtraOpener, RepairKind::DropOpener, self.at),
            _ => {
                let len = rest.find(|c: char| !is_name_char(c)).unwrap_or(rest.len());
                match rest.get(..len) {
                    Some(name) if !name.is_empty() => {
                        self.swap(Trouble::BareKey, RepairKind::QuoteKey, len, quote(name))
                    }
                    _ => self.only(Trouble::Other, 0),
                }
            }
        }
    }

    /// What may go wrong in front of a key as well as of a value.
    fn common(&self, next: char) -> Option<Suspect> {
        match (next, self.stop.before) {
            ('}' | ']', Token::Comma(comma)) => Some(self.extra_comma(comma)),
            ('}' | ']', Token::Start) => {
                Some(extra(Trouble::ExtraClosers(next.into()), RepairKind::DropCloser, self.at))
            }
            ('\\', _) => Some(self.only(Trouble::BadEscape, 1)),
            _ if self.from(self.at).starts_with("```") => None,
            _ => match comment_len(self.from(self.at)) {
                Some(len) => Some(self.comment(len)),
                None => closing_quote(next).map(|close| self.foreign_quotes(next, close)),
            },
        }
    }

    /// A string in quotes of another sort.
    fn foreign_quotes(&self, open: char, close: char) -> Suspect {
        let start = self.at + open.len_utf8();
        let mut escaped = false;
        let end = self.from(start).char_indices().find_map(|(n, c)| {
            let at = start + n + c.len_utf8();
            let ends = c == close && !escaped && {
                let rest = self.after_space(at);
                rest.is_empty() || rest.starts_with([',', ':', '}', ']'])
            };
            escaped = c == '\\' && !escaped;
            ends.then_some((start + n, at))
        });
        let mut suspect = self.only(Trouble::ForeignQuotes, open.len_utf8());
        if let Some((body_end, end)) = end {
            let body =
                self.slice(start, body_end).replace("\\'", "'").replace("\\\"", "\"").replace('"', "\\\"");
            suspect.repairs.push(edit(RepairKind::SwapQuote, self.at, end - self.at, &format!("\"{body}\"")));
        }
        suspect
    }

    /// The string that begins here runs to the end of the text.
    fn unterminated(&self) -> Suspect {
        let is_key = self.in_object() && self.stop.before != Token::Colon;
        let (end, missing) = self.before_last_closers(self.at + 1);
        let mut repairs = Vec::new();
        // A key without a value is nothing to complete.
        if !is_key {
            repairs.push(add_quote(end));
            repairs.extend(add_closers(&missing, end));
        }
        Suspect { trouble: Trouble::UnclosedString(missing), at: Span::new(self.at, self.at + 1), repairs }
    }

    /// A raw control character stands in the string.
    fn control(&self) -> Suspect {
        let open = self.stop.string;
        let rest = self.after_space(self.at);
        let line_end = self.end.min(self.text.len() - rest.len());
        if let Some(key) = rest.strip_prefix('"')
            && let Some(suspect) = self.swallowed_key(open, self.at, self.text.len() - key.len())
        {
            return suspect;
        }
        // Only closing brackets follow on the next lines: the string was over with its line.
        if rest.starts_with(CLOSERS)
            && rest.trim_start_matches(|c| JSON_SPACE.contains(&c) || CLOSERS.contains(&c)).is_empty()
        {
            let body = self.slice(open + 1, line_end).trim_end_matches(JSON_SPACE);
            return unclosed(open, body.len());
        }
        let end = self.next_quote(self.at).unwrap_or(self.text.len());
        let raw = self.slice(self.at, end).char_indices().filter(|&(_, c)| c < ' ');
        let escape = |(n, c)| edit(RepairKind::EscapeControl, self.at + n, 1, &control_escape(c));
        Suspect { repairs: raw.map(escape).collect(), ..self.only(Trouble::RawControl, 1) }
    }

    /// The backslash at `at` begins no escape; the others of its string are looked at as well.
    fn escape(&self, at: usize) -> Suspect {
        let bytes = self.text.as_bytes();
        let mut repairs = Vec::new();
        let mut next = at;
        while let Some(&b) = bytes.get(next) {
            let escape = bytes.get(next + 1);
            next += match (b, escape) {
                (b'"', _) => break,
                (b'\\', Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')) => 2,
                (b'\\', Some(b'u')) if is_hex4(bytes.get(next + 2..)) => 6,
                (b'\\', Some(b'\'')) => {
                    repairs.push(without(RepairKind::DropBackslash, next, 1));
                    2
                }
                (b'\\', _) => {
                    repairs.push(edit(RepairKind::EscapeBackslash, next, 1, "\\\\"));
                    1
                }
                _ => 1,
            };
        }
        Suspect { trouble: Trouble::BadEscape, at: Span::new(at, at + 1), repairs }
    }

    /// The text ends where something must follow.
    fn cut(&self) -> Suspect {
        let trouble = if self.end == 0 { Trouble::NoJson } else { Trouble::Cut(self.closers()) };
        Suspect { trouble, at: Span::at(self.end), repairs: Vec::new() }
    }

    fn missing_closers(&self, closers: String, at: usize) -> Suspect {
        let repairs = add_closers(&closers, at).collect();
        Suspect { trouble: Trouble::MissingClosers(closers), at: Span::at(at), repairs }
    }

    fn missing_comma(&self, at: usize) -> Suspect {
        let repairs = vec![edit(RepairKind::AddComma, at, 0, ",")];
        Suspect { trouble: Trouble::MissingComma, at: Span::at(at), repairs }
    }

    fn extra_comma(&self, at: usize) -> Suspect {
        extra(Trouble::ExtraComma, RepairKind::DropComma, at)
    }

    fn comment(&self, len: usize) -> Suspect {
        self.swap(Trouble::Comment, RepairKind::DropComment, len, String::new())
    }

    fn surroundings(&self, kind: RepairKind, len: usize) -> Suspect {
        self.swap(Trouble::Surroundings, kind, len, String::new())
    }

    fn swap(&self, trouble: Trouble, kind: RepairKind, len: usize, put: String) -> Suspect {
        Suspect { repairs: vec![edit(kind, self.at, len, &put)], ..self.only(trouble, len) }
    }

    fn only(&self, trouble: Trouble, len: usize) -> Suspect {
        Suspect { trouble, at: Span::new(self.at, self.at + len), repairs: Vec::new() }
    }
}

/// The character at `at` is one too many.
fn extra(trouble: Trouble, kind: RepairKind, at: usize) -> Suspect {
    Suspect { trouble, at: Span::new(at, at + 1), repairs: vec![without(kind, at, 1)] }
}

/// The string that opens at `open` is over behind so many bytes.
fn unclosed(open: usize, len: usize) -> Suspect {
    let repairs = vec![add_quote(open + 1 + len)];
    Suspect { trouble: Trouble::UnclosedString(String::new()), at: Span::new(open, open + 1), repairs }
}

fn add_quote(at: usize) -> Repair {
    edit(RepairKind::AddQuote, at, 0, "\"")
}

fn add_closers(closers: &str, at: usize) -> impl Iterator<Item = Repair> {
    closers.chars().map(move |c| edit(RepairKind::AddCloser, at, 0, c.encode_utf8(&mut [0; 4])))
}

fn edit(kind: RepairKind, at: usize, len: usize, put: &str) -> Repair {
    Repair { kind, at: Span::new(at, at + len), put: put.to_owned().into() }
}

fn without(kind: RepairKind, at: usize, len: usize) -> Repair {
    edit(kind, at, len, "")
}

/// The length of the rest of a key, where `rest` begins inside one: `b": 1` → 1.
fn key_len(rest: &str) -> Option<usize> {
    let len = rest.bytes().take(KEY_WINDOW).position(|b| matches!(b, b'"' | b'\n' | b':' | b','))?;
    let behind = rest.get(len..)?.strip_prefix('"')?;
    behind.trim_start_matches(JSON_SPACE).starts_with(':').then_some(len)
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() < KEY_WINDOW && text.chars().all(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.')
}

/// The quote that closes what `open` opens, for other quotes than `"`.
fn closing_quote(open: char) -> Option<char> {
    Some(match open {
        '\'' | '`' => open,
        '“' | '”' | '„' => '”',
        '‘' | '’' => '’',
        '«' => '»',
        '＂' => '＂',
        _ => return None,
    })
}

/// The length of the comment at the start of `rest`.
fn comment_len(rest: &str) -> Option<usize> {
    if rest.starts_with("/*") {
        return Some(rest.find("*/").map_or(rest.len(), |n| n + 2));
    }
    let line = rest.starts_with("//") || rest.starts_with('#');
    line.then(|| rest.find('\n').unwrap_or(rest.len()))
}

fn control_escape(c: char) -> String {
    match c {
        '\n' => String::from("\\n"),
        '\t' => String::from("\\t"),
        '\r' => String::from("\\r"),
        _ => format!("\\u{:04x}", u32::from(c)),
    }
}

fn is_hex4(rest: Option<&[u8]>) -> bool {
    rest.and_then(|r| r.get(..4)).is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit))
}
