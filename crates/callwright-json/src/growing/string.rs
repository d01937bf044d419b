//! The inside of a string that is still being written.

use super::{Growing, State};
use crate::Guide;
use crate::scan::{ByteSet, string_stop};
use crate::search::is_quote;
use crate::tree::escape_at;

/// The reader finds no key that is longer, in bytes.
const LONGEST_KEY: usize = 256;

/// The open string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    quote: u8,
    /// The beginning of its text in the source.
    source: usize,
    escapes: Escapes,
    /// The length of the value from which on the string shows: a shorter one may be a key.
    shows_from: usize,
    /// The rest of the string may not belong to it.
    is_held: bool,
    /// The last signs may stand behind the string, if its quote was forgotten: they wait for what follows.
    waits: bool,
}

/// The evidence that the backslashes of the string are escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    /// There is no backslash yet.
    Absent,
    /// The last sign is a line break or a tab.
    AfterLayout,
    /// Layout stands before a letter, and may be of a path: `C:\new`.
    MayBePath,
    /// An escape can be nothing else: `\"`, `\\`, a line break before anything but a letter.
    Sure,
}

/// The end of a part of a string that is read at once.
enum End {
    /// More text must tell.
    Torn,
    /// The string ends.
    Quote,
    /// A sign is out of order.
    Odd,
}

/// Plain text of a string.
struct Words {
    /// The length of the part that is read.
    len: usize,
    /// The length of the part that belongs to the string, whatever follows.
    sure: Option<usize>,
}

impl Body {
    /// Returns the beginning of a string. Blanks wait: they may stand between two quotes for one, `" "Paris"`.
    pub(super) fn of(quote: u8, source: usize, from: usize, may_be_key: bool) -> Body {
        let shows_from = if may_be_key { from + LONGEST_KEY } else { 0 };
        Body { quote, source, escapes: Escapes::Absent, shows_from, is_held: false, waits: true }
    }

    /// Returns whether the text so far may show: an escape in it may be none, and a part may not be of the string.
    fn shows(&self) -> bool {
        !self.is_held && matches!(self.escapes, Escapes::Absent | Escapes::Sure)
    }

    /// Takes a sign that is not of an escape.
    fn pass(&mut self, sign: u8) {
        if self.escapes == Escapes::AfterLayout {
            let is_letter = sign.is_ascii_alphabetic();
            self.escapes = if is_letter { Escapes::MayBePath } else { Escapes::Sure };
        }
    }

    /// Takes an escape that is `sure` to be one, or layout.
    fn pass_escape(&mut self, evidence: Escapes) {
        self.pass(b'\\');
        if self.escapes != Escapes::Sure {
            self.escapes = evidence;
        }
    }
}

impl Growing {
    /// Reads on in a string; `None` if more text must tell.
    pub(super) fn in_string(&mut self, text: &str, mut body: Body, guide: &dyn Guide) -> Option<()> {
        let bytes = text.as_bytes();
        // The part of the source that `out` has, and the part of `out` that will be certain.
        let mut copied = self.at;
        let mut sure = None;
        let end = loop {
            let mut stop = string_stop(bytes, self.at, b'"');
            if body.quote == b'\'' {
                let inside = bytes.get(self.at..stop).unwrap_or(&[]);
                stop = self.at + inside.iter().position(|byte| *byte == b'\'').unwrap_or(inside.len());
            }
            let words = text.get(self.at..stop).unwrap_or("");
            let words = self.words(text, words, &mut body);
            if let Some(len) = words.sure {
                sure = Some(self.out.len() + self.at + len - copied);
            }
            self.at += words.len;
            if self.at < stop {
                break End::Torn;
            }
            match bytes.get(stop) {
                None => break End::Torn,
                Some(quote) if *quote == body.quote => break End::Quote,
                Some(b'\\') => match self.escape(bytes, &mut body) {
                    Ok(_) if body.quote == b'\'' && bytes.get(stop + 1) == Some(&b'\'') => {
                        self.out.push_str(text.get(copied..stop).unwrap_or(""));
                        copied = stop + 1;
                    }
                    Ok(true) if body.shows() => sure = Some(self.out.len() + self.at - copied),
                    Ok(_) => {}
                    Err(end) => break end,
                },
                // In a string between other quotes it may be the end of the text all the same.
                Some(b'"') => break End::Odd,
                Some(control) => {
                    // `"a⏎"b": 1`: a quote is forgotten at the end of a line more than elsewhere.
                    body.waits = true;
                    body.pass(*control);
                    self.out.push_str(text.get(copied..stop).unwrap_or(""));
                    self.layout(*control);
                    self.at += 1;
                    copied = self.at;
                }
            }
        };
        self.out.push_str(text.get(copied..self.at).unwrap_or(""));
        self.state = State::InString(body);
        if let Some(sure) = sure
            && body.shows_from <= sure
        {
            self.settle_to(sure, true);
        }
        match end {
            End::Torn => return None,
            End::Odd => self.give_up(),
            End::Quote => {
                self.at += 1;
                self.out.push('"');
                self.loose += 1;
                self.is_after_string = true;
                self.end_value(guide);
            }
        }
        Some(())
    }

    /// Takes plain text of a string. Its end may be behind that of a string whose quote was forgotten, or is another one,
    /// as long as nothing else follows: `"a }`, `"a, "b": 1`, `"a”, "b": 1`.
    fn words(&self, text: &str, words: &str, body: &mut Body) -> Words {
        let (Some(first), Some(last)) = (words.bytes().next(), words.bytes().last()) else {
            return Words { len: 0, sure: None };
        };
        // The rest of a mark is still to come.
        let is_torn = self.at + words.len() == text.len() && matches!(last, b'`' | b'<');
        let len = words.len() - usize::from(is_torn);
        body.pass(first);
        let words = words.get(..len).unwrap_or("");
        let shown = match end_mark(text, self.at, words) {
            Some(mark) => words.get(..mark).unwrap_or(""),
            None => words,
        };
        let is_end = |c: char| matches!(c, ' ' | ':' | ',' | '{' | '}' | '[' | ']') || is_quote(c);
        let sure = shown.trim_end_matches(is_end).len();
        body.waits = sure < shown.len() || body.waits && sure == 0;
        let sure = (0 < sure && body.shows()).then_some(sure);
        if shown.len() < len {
            body.is_held = true;
        }
        Words { len, sure }
    }

    /// Reads the escape that begins here; the result tells whether it is surely of the string.
    fn escape(&mut self, bytes: &[u8], body: &mut Body) -> Result<bool, End> {
        let rest = bytes.get(self.at..).unwrap_or(&[]);
        let (letter, len) = escape_at(rest);
        let mark = *rest.get(1).ok_or(End::Torn)?;
        let Some(letter) = letter else {
            // Half a pair may be torn, and has no UTF-8.
            return Err(if mark == b'u' && rest.len() < 12 { End::Torn } else { End::Odd });
        };
        match mark {
            b'n' | b't' | b'r' => body.pass_escape(Escapes::AfterLayout),
            // The path of a network share begins with two backslashes.
            b'\\' if self.at == body.source => body.pass_escape(Escapes::MayBePath),
            b'"' | b'\\' | b'u' => body.pass_escape(Escapes::Sure),
            b'\'' if body.quote == b'\'' => body.pass_escape(Escapes::Sure),
            b'/' => body.pass(b'\\'),
            // No text has them: beside another odd escape they are a backslash and a letter.
            b'b' | b'f' => body.is_held = true,
            _ => return Err(End::Odd),
        }
        self.at += len;
        body.waits = matches!(letter, ' ' | '"' | '\'' | ',' | '}' | ']' | ':')
            || body.waits && matches!(letter, '\n' | '\r' | '\t');
        Ok(!body.waits)
    }

    /// Writes a raw control character, such as a line break, as JSON writes it.
    fn layout(&mut self, control: u8) {
        let quoted = crate::quote(char::from(control).encode_utf8(&mut [0; 4]));
        self.out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or(""));
    }
}

/// Returns the place in `words`, which begin at `from` of `text`, of a fence or a tag that may end the text: behind a
/// bracket, `"a\"}⏎```⏎`, `"a}</tool_call>`.
fn end_mark(text: &str, from: usize, words: &str) -> Option<usize> {
    let is_mark = |at: &usize| {
        let (before, behind) = text.split_at(from + at);
        before.trim_end().ends_with(['}', ']'])
            && ["``", "</", "<|", "<｜"].iter().any(|mark| behind.starts_with(mark))
    };
    ByteSet(*b"`<").places(words.as_bytes()).find(is_mark)
}
