//! A text in which all spellings of a mark are equal, letter by letter.

use crate::syntax::{Incomplete, Seen};

/// The letters of a text, and the same letters without case and with one sort of bars and quotes.
#[derive(Debug)]
pub(crate) struct Folded {
    pub(crate) letters: Vec<char>,
    pub(crate) folded: Vec<char>,
    /// The byte at which each letter begins, and the byte at which the last one ends.
    places: Vec<usize>,
}

impl Folded {
    /// Folds `text`, which stands at `from` of a longer one. It drops the blank that a tokenizer puts behind the bar in
    /// a mark, and a second bar: `<｜DSML｜ invoke`, `<｜｜DSML｜｜invoke`.
    pub(crate) fn of(text: &str, from: usize) -> Folded {
        let mut all = Folded {
            letters: Vec::with_capacity(text.len()),
            folded: Vec::with_capacity(text.len()),
            places: Vec::with_capacity(text.len() + 1),
        };
        for (at, letter) in letters_of(text) {
            all.letters.push(letter);
            all.folded.push(fold(letter));
            all.places.push(from + at);
        }
        all.places.push(from + text.len());
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.letters.len()
    }

    /// Returns the byte at which the letter of this number begins.
    pub(crate) fn byte(&self, at: usize) -> usize {
        self.places.get(at).or(self.places.last()).copied().unwrap_or(0)
    }

    /// Returns the place behind the blanks at `at`.
    pub(crate) fn behind_blanks(&self, at: usize) -> usize {
        let rest = self.letters.get(at..).unwrap_or(&[]);
        at + rest.iter().take_while(|letter| letter.is_whitespace()).count()
    }

    pub(crate) fn is_word_at(&self, at: usize) -> bool {
        self.letters.get(at).is_some_and(|letter| letter.is_alphanumeric() || *letter == '_')
    }
}

/// Returns the letters of `text` and their places, without the blank that a tokenizer puts behind the bar in a mark, and
/// without a second bar.
fn letters_of(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut letters = text.char_indices().peekable();
    let mut is_behind_bar = false;
    std::iter::from_fn(move || {
        let (mut at, mut letter) = letters.next()?;
        while is_behind_bar
            && (letter == ' ' || is_bar(letter))
            && let Some(next) = letters.next_if(|(_, next)| is_bar(letter) || next.is_alphanumeric())
        {
            (at, letter) = next;
        }
        is_behind_bar = is_bar(letter);
        Some((at, letter))
    })
}

#[inline]
fn is_bar(letter: char) -> bool {
    matches!(letter, '|' | '｜')
}

/// Returns the folded letters of `text`, one after the other.
pub(crate) fn folded_letters(text: &str) -> impl Iterator<Item = char> {
    letters_of(text).map(|(_, letter)| fold(letter))
}

/// Returns the length of `mark` at the start of `text`. Both are folded, and a spelling may differ:
///
/// - Blanks may stand beside the signs of the mark, not inside its words: `</parameter >`, `name = "a"`. Its own blanks
///   may be lost, and the quotes of its attributes.
/// - A tag's word may have the `namespace` of the call, `<ns:parameter>`, or a suffix, `<arg_key:x7>`.
pub(crate) fn mark_at(text: &str, mark: &str, namespace: &str) -> Seen<usize> {
    // Nearly all marks are not there, or have the proper spelling.
    if is_other(text.as_bytes(), mark.as_bytes(), !namespace.is_empty()) {
        return Ok(None);
    }
    if text.starts_with(mark) {
        return Ok(Some(mark.len()));
    }
    let (mut rest, mut before, mut has_blank) = (text, None, false);
    for (at, want) in mark.char_indices() {
        if want.is_whitespace() {
            has_blank = true;
            continue;
        }
        let want = fold(want);
        let is_inside = before.is_some_and(is_word) && is_word(want);
        if before.is_some() && (has_blank || !is_inside) {
            rest = without(rest, |c| c.is_whitespace() || c == TOKEN_BLANK);
        }
        rest = match before {
            Some('|') if want != '|' => without(rest, is_bar),
            Some('<' | '/') if !namespace.is_empty() && !mark[at..].starts_with(namespace) => {
                if rest.len() < namespace.len() && namespace.starts_with(rest) {
                    return Err(Incomplete);
                }
                rest.strip_prefix(namespace).unwrap_or(rest)
            }
            Some(letter) if want == '>' && is_word(letter) => without_suffix(rest),
            _ => rest,
        };
        let mut letters = rest.chars();
        let letter = fold(letters.next().ok_or(Incomplete)?);
        // `<parameter name=a>`
        let is_last = || matches!(mark[at..].chars().nth(1), Some('>' | ' '));
        if letter != want && !(want == '"' && (before == Some('=') || is_last())) {
            return Ok(None);
        }
        rest = if letter == want { letters.as_str() } else { rest };
        (before, has_blank) = (Some(want), false);
    }
    Ok(Some(text.len() - rest.len()))
}

/// Returns whether the first two signs of `text` already tell that `mark` does not stand there.
#[inline]
fn is_other(text: &[u8], mark: &[u8], has_namespace: bool) -> bool {
    let (&[own, next, ..], &[first, second, ..]) = (text, mark) else { return false };
    let is_sign = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'');
    let differ = |a: u8, b: u8| is_sign(a) && is_sign(b) && !a.eq_ignore_ascii_case(&b);
    differ(own, first) || !has_namespace && differ(next, second) && second != b'>'
}

/// Some tokenizers write this for a blank.
const TOKEN_BLANK: char = 'Ġ';

/// Returns the folded letters of `text` without its blanks, and without the quote behind `name=`.
pub(crate) fn solid(text: &str) -> Vec<char> {
    let mut all = Vec::with_capacity(text.len());
    all.extend(text.chars().filter(|letter| !letter.is_whitespace() && *letter != TOKEN_BLANK).map(fold));
    all.dedup_by(|next, before| matches!((*before, *next), ('|', '|') | ('=', '"')));
    all
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() && letter != TOKEN_BLANK || letter == '_'
}

/// Returns `text` without the letters of a sort at its beginning, at most `MOST` of them.
fn without(text: &str, is_it: impl Fn(char) -> bool) -> &str {
    const MOST: usize = 64;
    let len = text.chars().take(MOST).take_while(|letter| is_it(*letter)).map(char::len_utf8).sum();
    text.get(len..).unwrap_or("")
}

/// Returns `text` without the suffix of a tag's word: `:x7>` → `>`
fn without_suffix(text: &str) -> &str {
    text.strip_prefix(':').map_or(text, |suffix| without(suffix, is_word))
}

/// Returns whether `letter` is outside ASCII and not in `mark`. Such a letter is not a slip.
pub(crate) fn is_foreign(letter: char, mark: &[char]) -> bool {
    !letter.is_ascii() && !letter.is_whitespace() && !mark.contains(&letter)
}

#[inline]
pub(crate) fn fold(letter: char) -> char {
    match letter {
        '\'' => '"',
        _ if letter.is_ascii() => letter.to_ascii_lowercase(),
        '｜' => '|',
        '▁' => '_',
        '“' | '”' | '‘' | '’' | '＂' => '"',
        // The wide forms of ASCII: `＜/parameter＞`.
        '！'..='～' => char::from_u32(u32::from(letter) - 0xfee0).map_or(letter, fold),
        _ => letter,
    }
}
