//! The beginnings and ends of lines, words and blanks.

use callwright_json::is_blank;

use crate::scan::Scanner;
use crate::tools::names::is_name_byte;

/// Longest whitespace before a line's first word, in characters.
const MAX_INDENT: usize = 64;

impl Scanner<'_> {
    /// Returns whether a line begins at `at`, or the model's speech behind its reasoning.
    pub(in crate::scan) fn begins_line(&self, at: usize) -> bool {
        let is_behind_block = || {
            let before = self.text.get(self.at..at).unwrap_or("");
            self.space.removed && !self.has_calls() && before.trim().is_empty()
        };
        // `f{…}f{…}` without its tokens.
        let is_behind_call = || self.has_calls() && at == self.markup.last_call_end;
        self.is_line_start(at) || is_behind_block() || is_behind_call()
    }

    /// Returns whether only blanks stand before `at` on its line.
    pub(super) fn is_line_start(&self, at: usize) -> bool {
        is_line_start(self.text.as_bytes(), at)
    }

    /// Returns the place of the answer's first sign, as long as nothing of the answer has gone out.
    pub(super) fn first_sign(&self) -> Option<usize> {
        let rest = self.text.get(self.at..).filter(|_| self.is_first(self.at))?;
        let sign = rest.trim_start();
        let at = self.at + rest.len() - sign.len();
        sign.chars().next().filter(|first| !is_blank(*first)).map(|_| at)
    }
}

/// Returns whether only blanks stand before `at` on its line.
pub(super) fn is_line_start(bytes: &[u8], at: usize) -> bool {
    let mut before = bytes.get(..at).unwrap_or(&[]);
    for _ in 0..MAX_INDENT {
        match blank_len(last_char(before)) {
            0 => break,
            len => before = &before[..before.len() - len],
        }
    }
    matches!(before.last(), None | Some(b'\n'))
}

/// Returns whether `bytes` end in a word.
pub(super) fn ends_in_word(bytes: &[u8]) -> bool {
    match bytes.last() {
        Some(last) if last.is_ascii() => is_name_byte(*last),
        // Within a letter, a word goes on.
        Some(_) => {
            last_char(bytes).utf8_chunks().all(|chunk| chunk.valid().chars().all(char::is_alphanumeric))
        }
        None => false,
    }
}

/// Returns the last character of `bytes`, or the part of it that is there.
fn last_char(bytes: &[u8]) -> &[u8] {
    let begins = |byte: &u8| byte & 0xc0 != 0x80;
    let len = bytes.iter().rev().take(4).position(begins).map_or(0, |behind| behind + 1);
    bytes.get(bytes.len() - len..).unwrap_or(&[])
}

/// Returns the number of bytes with which `bytes` continue a word: the rest of a letter, or letters.
pub(super) fn rest_of_word(bytes: &[u8]) -> usize {
    let rest = bytes.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    if 0 < rest {
        return rest;
    }
    let mut len = 0;
    loop {
        len += match bytes.get(len..).unwrap_or(&[]) {
            [byte @ 0..=0x7f, ..] if is_name_byte(*byte) => 1,
            // A letter has at most four bytes, so that no word costs a look at the rest of the text.
            rest @ [0x80..=0xff, ..] => match first_letter(rest).filter(|c| c.is_alphanumeric()) {
                Some(letter) => letter.len_utf8(),
                None => return len,
            },
            _ => return len,
        };
    }
}

/// Returns the letter that `bytes` begin with, if it is whole.
fn first_letter(bytes: &[u8]) -> Option<char> {
    bytes.get(..bytes.len().min(4))?.utf8_chunks().next()?.valid().chars().next()
}

/// Returns the length of the blank that `bytes` begin with.
pub(super) fn blank_len(bytes: &[u8]) -> usize {
    match bytes {
        [b' ' | b'\t' | b'\r', ..] => 1,
        [0x80..=0xff, ..] => first_letter(bytes).filter(|c| is_blank(*c)).map_or(0, char::len_utf8),
        _ => 0,
    }
}

/// Returns the place of the first sign that is not a blank, at `from` or behind it.
pub(super) fn behind_blanks(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    loop {
        match blank_len(bytes.get(at..).unwrap_or(&[])) {
            0 => return at,
            len => at += len,
        }
    }
}
