//! Finds the end of a payload in one forward pass over brackets and quotes, which can be resumed at any byte.
//!
//! It follows strict JSON exactly, and most broken JSON and call expressions well enough. It decides nothing: the
//! caller reads the text up to this end, and searches further if that does not settle.

use memchr::memchr2;

use crate::syntax::Incomplete;

/// The state of the pass over one payload.
#[derive(Debug)]
pub(crate) struct BracketMatcher {
    at: usize,
    /// The open brackets, each by its byte.
    open: Vec<u8>,
    /// The number of open brackets of each sort: `(`, `[`, `{`. Surplus closers then cost no search.
    counts: [u32; 3],
    quote: Option<Quote>,
    /// The last byte outside strings that is not whitespace.
    before: u8,
}

#[derive(Clone, Copy, Debug)]
struct Quote {
    mark: u8,
    /// The quote is a triple one: `"""`.
    triple: bool,
    /// The place of a quote that closes the string if the text behind it fits, and the place up to which that text was
    /// read.
    closing: Option<(usize, usize)>,
}

impl BracketMatcher {
    /// Returns the matcher of a payload whose first bracket stands at `from`.
    pub(crate) fn new(from: usize) -> BracketMatcher {
        BracketMatcher { at: from, open: Vec::new(), counts: [0; 3], quote: None, before: b'(' }
    }

    /// Returns the place that the pass has reached.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Continues the pass, and returns the place behind the last bracket of the payload. With `end`, no more text will
    /// come.
    pub(crate) fn advance(&mut self, bytes: &[u8], end: bool) -> Result<usize, Incomplete> {
        while let Some(&byte) = bytes.get(self.at) {
            if let Some(quote) = self.quote {
                self.in_string(bytes, quote, end)?;
                continue;
            }
            match byte {
                b'(' | b'[' | b'{' => {
                    self.open.push(byte);
                    self.counts[sort(byte)] += 1;
                }
                b')' | b']' | b'}' => {
                    self.close(sort(byte));
                    if self.open.is_empty() {
                        return Ok(self.at + 1);
                    }
                }
                // A quote opens a string only where a key or value may begin: `it's` does not.
                b'"' | b'\'' | b'`' if self.may_begin_string(bytes) => {
                    if bytes.len() < self.at + 3 && !end {
                        return Err(Incomplete);
                    }
                    let triple = bytes.get(self.at..self.at + 3) == Some(&[byte; 3]);
                    self.quote = Some(Quote { mark: byte, triple, closing: None });
                    self.at += if triple { 3 } else { 1 };
                    continue;
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                self.before = byte;
            }
            self.at += 1;
        }
        Err(Incomplete)
    }

    fn may_begin_string(&self, bytes: &[u8]) -> bool {
        match self.before {
            b'(' | b'[' | b'{' | b',' | b':' | b'=' | b';' | b'+' => true,
            // `r'\d'`, `f"{x}"`
            b'r' | b'f' | b'b' | b'u' => {
                let before = self.at.checked_sub(2).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
                matches!(before, b'(' | b'[' | b'{' | b',' | b':' | b'=' | b' ')
            }
            _ => false,
        }
    }

    /// Steps over the string.
    fn in_string(&mut self, bytes: &[u8], quote: Quote, end: bool) -> Result<(), Incomplete> {
        if let Some((at, mut looked)) = quote.closing {
            while bytes.get(looked).is_some_and(u8::is_ascii_whitespace) {
                looked += 1;
            }
            let closes = match bytes.get(looked) {
                Some(b',' | b':' | b']' | b'}' | b')' | b';' | b'=' | b'+' | b'#') => true,
                Some(_) => false,
                None if end => true,
                None => {
                    self.quote = Some(Quote { closing: Some((at, looked)), ..quote });
                    return Err(Incomplete);
                }
            };
            self.quote = if closes { None } else { Some(Quote { closing: None, ..quote }) };
            self.before = quote.mark;
            self.at = at + 1;
            return Ok(());
        }
        let Some(found) = memchr2(quote.mark, b'\\', &bytes[self.at..]) else {
            self.at = bytes.len();
            return Err(Incomplete);
        };
        self.at += found;
        if bytes.get(self.at) == Some(&b'\\') {
            if self.at + 1 == bytes.len() && !end {
                return Err(Incomplete);
            }
            self.at = (self.at + 2).min(bytes.len());
        } else if !quote.triple {
            self.quote = Some(Quote { closing: Some((self.at, self.at + 1)), ..quote });
        } else if bytes.len() < self.at + 3 && !end {
            return Err(Incomplete);
        } else if bytes.get(self.at..self.at + 3) == Some(&[quote.mark; 3]) {
            self.quote = None;
            self.before = quote.mark;
            self.at += 3;
        } else {
            self.at += 1;
        }
        Ok(())
    }

    /// Closes the innermost bracket of the closer's sort; a closer without an opener changes nothing.
    fn close(&mut self, sort_of_closer: usize) {
        if self.counts[sort_of_closer] == 0 {
            return;
        }
        while let Some(opener) = self.open.pop() {
            self.counts[sort(opener)] -= 1;
            if sort(opener) == sort_of_closer {
                return;
            }
        }
    }
}

fn sort(bracket: u8) -> usize {
    match bracket {
        b'(' | b')' => 0,
        b'[' | b']' => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_of(text: &str) -> Option<usize> {
        BracketMatcher::new(0).advance(text.as_bytes(), true).ok()
    }

    #[test]
    fn ends_behind_the_last_bracket() {
        for payload in [
            r#"{"a": "}", "b": ["]", {}]}"#,
            r#"{"a": "say \"}\" now"}"#,
            r#"{"a": "say "x}" now"}"#,
            "{'a': 'it's }', b: it's}",
            "(a='x)', b=[1, (2)], c=r'\\)')",
            "(a=\"\"\"one \" ) two\"\"\")",
            "{\"meta\": {], \"b\": 1}}",
            "(a=[1, 2)",
        ] {
            let text = format!("{payload} and }} ) more");
            assert_eq!(end_of(&text), Some(payload.len()), "{payload}");
        }
        assert_eq!(end_of("{\"a\": \"}"), None);
        assert_eq!(end_of("{\"a\": [1, 2"), None);
    }

    #[test]
    fn any_chunking_ends_at_the_same_place() {
        let text = r#"{"a": "say "x}" \" now" , 'b': """x " }""", "c": [1, {"d": 'é'}]} tail"#;
        let whole = end_of(text);
        assert!(whole.is_some());
        let mut brackets = BracketMatcher::new(0);
        let found =
            (1..=text.len()).find_map(|n| brackets.advance(&text.as_bytes()[..n], n == text.len()).ok());
        assert_eq!(found, whole);
    }
}
