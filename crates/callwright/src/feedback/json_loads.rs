//! The errors of CPython's `json.loads` for a text that is not JSON.
//!
//! A text goes in; the message and the place come out, as in `json.JSONDecodeError` of CPython 3.11. Models have read
//! that wording a million times, so they get it. One pass, no recursion.
//!
//! `json.loads` is not quite strict: it takes `NaN`, `Infinity` and `-Infinity`, half a surrogate pair, and one key
//! twice; so does this module. It fails on nesting past the interpreter's recursion limit and on integers of more than
//! 4300 digits, with errors of another type; this module does not.

use callwright_json::Span;

use super::drawing::Position;

/// Returns the error that `json.loads` raises for `text`; `None` if it takes it.
///
/// ```
/// let error = callwright::json_loads_error(r#"{"é": 1}}"#).unwrap();
/// assert_eq!(error.to_string(), "Extra data: line 1 column 9 (char 8)");
/// assert_eq!((error.position, error.at), (8, 9));
/// ```
pub fn json_loads_error(text: &str) -> Option<JsonLoadsError> {
    scan(text).err().map(|stop| stop.error())
}

/// An error of `json.loads`. Its `Display` is Python's `str(error)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLoadsError {
    /// Python's `msg`: `Extra data`, `Expecting ',' delimiter`.
    pub message: &'static str,
    /// Python's `pos`: characters before the place.
    pub position: usize,
    /// Python's `lineno`, from 1.
    pub line: usize,
    /// Python's `colno`: characters, from 1.
    pub column: usize,
    /// The place in bytes.
    pub at: usize,
}

impl std::fmt::Display for JsonLoadsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: line {} column {} (char {})", self.message, self.line, self.column, self.position)
    }
}

/// The stop of a scan, and the scan's knowledge there.
#[derive(Debug)]
pub(super) struct Stop<'t> {
    pub(super) text: &'t str,
    pub(super) complaint: Complaint,
    /// The place in bytes.
    pub(super) at: usize,
    /// The brackets that close the open ones, outermost first.
    pub(super) open: Vec<u8>,
    /// The token in front of the place.
    pub(super) before: Token,
    /// The place at which the last string began.
    pub(super) string: usize,
}

/// The last token before a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// There is no token yet.
    Start,
    /// An opening bracket.
    Opener,
    /// A comma at this place.
    Comma(usize),
    /// A colon.
    Colon,
    /// A string, quotes included.
    String(Span),
    /// Another value, or its closing bracket.
    Value,
}

/// The complaint of `json.loads`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Complaint {
    ExtraData,
    Value,
    Comma,
    Colon,
    Key,
    Unterminated,
    Control,
    Escape,
    UnicodeEscape,
    ByteOrderMark,
}

impl Complaint {
    fn message(self) -> &'static str {
        match self {
            Complaint::ExtraData => "Extra data",
            Complaint::Value => "Expecting value",
            Complaint::Comma => "Expecting ',' delimiter",
            Complaint::Colon => "Expecting ':' delimiter",
            Complaint::Key => "Expecting property name enclosed in double quotes",
            Complaint::Unterminated => "Unterminated string starting at",
            Complaint::Control => "Invalid control character at",
            Complaint::Escape => "Invalid \\escape",
            Complaint::UnicodeEscape => "Invalid \\uXXXX escape",
            Complaint::ByteOrderMark => "Unexpected UTF-8 BOM (decode using utf-8-sig)",
        }
    }
}

impl Stop<'_> {
    pub(super) fn error(&self) -> JsonLoadsError {
        let Position { offset, line, column } = Position::of(self.text, self.at);
        JsonLoadsError { message: self.complaint.message(), position: offset, line, column, at: self.at }
    }

    /// Returns the closing brackets of all open ones, innermost first.
    pub(super) fn closers(&self) -> String {
        self.open.iter().rev().map(|closer| char::from(*closer)).collect()
    }

    /// Returns whether the innermost open bracket belongs to an object.
    pub(super) fn is_in_object(&self) -> bool {
        self.open.last() == Some(&b'}')
    }

    /// Returns the string that misled the reader, which stopped in it, or right behind it.
    pub(super) fn string(&self) -> Option<Span> {
        match (self.complaint, self.before) {
            (Complaint::Comma | Complaint::Colon, Token::String(string)) => Some(string),
            (
                Complaint::Unterminated | Complaint::Control | Complaint::Escape | Complaint::UnicodeEscape,
                _,
            ) => Some(Span::new(self.string, self.text.len())),
            _ => None,
        }
    }
}

/// Reads `text` as `json.loads` does, up to the end or to the first byte that it does not take.
pub(super) fn scan(text: &str) -> Result<(), Stop<'_>> {
    let (complaint, before) = (Complaint::Value, Token::Start);
    let mut scan = Stop { text, complaint, at: 0, open: Vec::new(), before, string: 0 };
    scan.document().map_err(|complaint| Stop { complaint, ..scan })
}

impl Stop<'_> {
    fn document(&mut self) -> Result<(), Complaint> {
        if self.text.starts_with('\u{feff}') {
            return Err(Complaint::ByteOrderMark);
        }
        self.space();
        loop {
            self.value()?;
            self.space();
            // A value is complete, or a container was just opened.
            while self.open.last().is_some_and(|&closer| self.peek() == Some(closer)) {
                self.open.pop();
                self.step(Token::Value);
                self.space();
            }
            match (self.open.last(), self.peek()) {
                (None, None) => return Ok(()),
                (None, Some(_)) => return Err(Complaint::ExtraData),
                (Some(_), _) if self.before == Token::Opener => {}
                (Some(_), Some(b',')) => {
                    self.step(Token::Comma(self.at));
                    self.space();
                }
                (Some(_), _) => return Err(Complaint::Comma),
            }
            if self.is_in_object() {
                self.key()?;
            }
        }
    }

    /// Reads a scalar, or only the opening bracket of a container.
    fn value(&mut self) -> Result<(), Complaint> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or(&[]);
        match rest.first() {
            Some(bracket @ (b'{' | b'[')) => {
                self.open.push(if *bracket == b'{' { b'}' } else { b']' });
                self.step(Token::Opener);
            }
            Some(b'"') => return self.read_string(),
            _ => {
                const WORDS: [&[u8]; 6] = [b"null", b"true", b"false", b"NaN", b"Infinity", b"-Infinity"];
                let word = WORDS.iter().find(|word| rest.starts_with(word)).map(|word| word.len());
                self.at += word.or_else(|| number_len(rest)).ok_or(Complaint::Value)?;
                self.before = Token::Value;
            }
        }
        Ok(())
    }

    /// Goes over a token of one byte.
    fn step(&mut self, token: Token) {
        self.before = token;
        self.at += 1;
    }

    /// Reads a key and its colon.
    fn key(&mut self) -> Result<(), Complaint> {
        if self.peek() != Some(b'"') {
            return Err(Complaint::Key);
        }
        self.read_string()?;
        self.space();
        if self.peek() != Some(b':') {
            return Err(Complaint::Colon);
        }
        self.step(Token::Colon);
        self.space();
        Ok(())
    }

    fn read_string(&mut self) -> Result<(), Complaint> {
        self.string = self.at;
        self.at += 1;
        loop {
            match self.text.as_bytes().get(self.at..).unwrap_or(&[]) {
                [] | [b'\\'] => {
                    self.at = self.string;
                    return Err(Complaint::Unterminated);
                }
                [b'"', ..] => {
                    self.at += 1;
                    self.before = Token::String(Span::new(self.string, self.at));
                    return Ok(());
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
                // CPython needs a byte behind the digits: a text that ends there is a bad escape, not an unterminated
                // string.
                [b'\\', b'u', a, b, c, d, _, ..] if [a, b, c, d].iter().all(|b| b.is_ascii_hexdigit()) => {
                    self.at += 6;
                }
                [b'\\', b'u', ..] => {
                    self.at += 1;
                    return Err(Complaint::UnicodeEscape);
                }
                [b'\\', ..] => return Err(Complaint::Escape),
                [0..0x20, ..] => return Err(Complaint::Control),
                [_, ..] => self.at += 1,
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }
}

/// Returns the length of the longest number at the start of `rest`, as CPython's scanner takes it: `1.` is `1`.
fn number_len(rest: &[u8]) -> Option<usize> {
    let digits =
        |from: usize| rest.get(from..).unwrap_or(&[]).iter().take_while(|b| b.is_ascii_digit()).count();
    let start = usize::from(rest.first() == Some(&b'-'));
    let mut end = match rest.get(start)? {
        b'0' => start + 1,
        b'1'..=b'9' => start + digits(start),
        _ => return None,
    };
    if rest.get(end) == Some(&b'.') && 0 < digits(end + 1) {
        end += 1 + digits(end + 1);
    }
    if let Some(b'e' | b'E') = rest.get(end) {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        let n = digits(end + 1 + sign);
        end += if 0 < n { 1 + sign + n } else { 0 };
    }
    Some(end)
}
