//! The inside of a string that is still being written.

use super::{Reader, State};
use crate::Guide;
use crate::scan::string_stop;
use crate::search::is_quote;
use crate::tree::escape_at;

/// The reader finds no key that is longer, in bytes.
const LONGEST_KEY: usize = 256;

/// The open string.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body {
    quote: u8,
    /// The beginning of its text in the value.
    from: usize,
    escapes: Escapes,
    hold: Hold,
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

/// The reason why a string does not show before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    Free,
    /// It may be a key, as long as it is not longer than keys are.
    Key,
    /// Its rest may not belong to it.
    Rest,
}

impl Body {
    /// Returns the beginning of a string. Blanks wait: they may stand between two quotes for one, `" "Paris"`.
    pub(super) fn of(quote: u8, from: usize, may_be_key: bool) -> Body {
        let hold = if may_be_key { Hold::Key } else { Hold::Free };
        Body { quote, from, escapes: Escapes::Absent, hold, waits: true }
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

impl Reader {
    /// Reads on in a string; `None` if more text must tell.
    pub(super) fn in_string(&mut self, text: &str, mut body: Body, guide: &dyn Guide) -> Option<()> {
        let bytes = text.as_bytes();
        let from = self.at;
        let mut stop = string_stop(bytes, from, b'"');
        if body.quote == b'\'' {
            stop = from + bytes[from..stop].iter().position(|byte| *byte == b'\'').unwrap_or(stop - from);
        }
        // A piece ends between characters.
        // The rest of a mark is still to come.
        let is_torn = stop == bytes.len() && from < stop && matches!(bytes[stop - 1], b'`' | b'<');
        stop -= usize::from(is_torn);
        let words = text.get(from..stop).unwrap_or("");
        let (words, rest) = words.split_at(end_mark(text, from, words).unwrap_or(words.len()));
        self.words(words, &mut body);
        if !rest.is_empty() {
            body.hold = Hold::Rest;
            self.words(rest, &mut body);
        }
        self.at = stop;
        self.state = State::InString(body);
        let rest = bytes.get(stop..).filter(|rest| !rest.is_empty() && !is_torn)?;
        match rest[0] {
            quote if quote == body.quote => {
                self.at += 1;
                self.out.push('"');
                self.loose += 1;
                self.is_after_string = true;
                self.end_value(guide);
            }
            b'\\' => return self.escape(rest, body),
            // In a string between other quotes it may be the end of the text all the same.
            b'"' => self.give_up(),
            control => {
                // `"a⏎"b": 1`: a quote is forgotten at the end of a line more than elsewhere.
                body.waits = true;
                body.pass(control);
                self.at += 1;
                self.layout(control);
                self.state = State::InString(body);
            }
        }
        Some(())
    }

    /// Takes over plain text. Its end may be behind that of a string whose quote was forgotten, or is another one, as
    /// long as nothing else follows: `"a }`, `"a, "b": 1`, `"a”, "b": 1`.
    fn words(&mut self, words: &str, body: &mut Body) {
        let Some(first) = words.bytes().next() else { return };
        body.pass(first);
        let is_end = |c: char| matches!(c, ' ' | ':' | ',' | '{' | '}' | '[' | ']') || is_quote(c);
        let sure = words.trim_end_matches(is_end).len();
        let (sure, tail) = words.split_at(sure);
        if !sure.is_empty() {
            self.out.push_str(sure);
            self.settle_body(body);
            body.waits = false;
        }
        body.waits |= !tail.is_empty();
        self.out.push_str(tail);
    }

    /// Makes the text so far certain, unless an escape in it may be none.
    fn settle_body(&mut self, body: &Body) {
        let is_text = matches!(body.escapes, Escapes::Absent | Escapes::Sure);
        let shows = match body.hold {
            Hold::Free => true,
            Hold::Key => body.from + LONGEST_KEY < self.out.len(),
            Hold::Rest => false,
        };
        if is_text && shows {
            self.settle_in_string();
        }
    }

    /// Reads the escape at the start of `rest`.
    fn escape(&mut self, rest: &[u8], mut body: Body) -> Option<()> {
        let (letter, len) = escape_at(rest);
        let is_unit = rest.get(1) == Some(&b'u');
        // Half a pair may be torn, and has no UTF-8.
        let needed = if is_unit && letter.is_none() { 12 } else { len.max(2) };
        if rest.len() < needed {
            return None;
        }
        let Some(letter) = letter else {
            self.give_up();
            return Some(());
        };
        let mark = rest[1];
        match mark {
            b'n' | b't' | b'r' => body.pass_escape(Escapes::AfterLayout),
            // The path of a network share begins with two backslashes.
            b'\\' if self.out.len() == body.from => body.pass_escape(Escapes::MayBePath),
            b'"' | b'\\' | b'u' => body.pass_escape(Escapes::Sure),
            b'\'' if body.quote == b'\'' => body.pass_escape(Escapes::Sure),
            b'/' => body.pass(b'\\'),
            // No text has them: beside another odd escape they are a backslash and a letter.
            b'b' | b'f' => body.hold = Hold::Rest,
            _ => {
                self.give_up();
                return Some(());
            }
        }
        let waits = matches!(letter, ' ' | '"' | '\'' | ',' | '}' | ']' | ':')
            || body.waits && matches!(letter, '\n' | '\r' | '\t');
        self.at += len;
        if mark == b'\'' {
            self.out.push('\'');
        } else {
            let escape = rest.get(..len).and_then(|bytes| core::str::from_utf8(bytes).ok());
            self.out.push_str(escape.unwrap_or(""));
        }
        body.waits = waits;
        if !waits {
            self.settle_body(&body);
        }
        self.state = State::InString(body);
        Some(())
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
    words.match_indices(['`', '<']).map(|(at, _)| at).find(is_mark)
}
