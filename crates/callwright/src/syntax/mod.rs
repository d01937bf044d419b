//! Of what written forms consist, whoever reads or writes them: texts, marks, tags, tokens, comments, patterns.

pub(crate) mod comment;
pub(crate) mod escape;
pub(crate) mod marks;
pub(crate) mod pattern;
pub(crate) mod tag;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The text ends before it tells what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Incomplete;

/// What stands at a place of a text that may go on: something, or nothing, or more text must tell.
pub(crate) type Seen<T> = Result<Option<T>, Incomplete>;

/// What was `seen`, where with `end` no more text will come: what is not whole then is not there.
pub(crate) fn at_end<T>(seen: Seen<T>, end: bool) -> Seen<T> {
    if end { Ok(seen.unwrap_or(None)) } else { seen }
}

/// As much of the beginning of `text` as `most` bytes hold.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or("")
}

/// A text of a record: a static one in what is built in.
pub type Text = Cow<'static, str>;

/// How an argument that is raw text gets its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Typing {
    /// By the tool's schema.
    #[default]
    Schema,
    /// It is text.
    Text,
    /// It is JSON.
    Json,
}

/// The longest text that is looked up as a name.
pub(crate) const MAX_NAME: usize = 256;

/// May this byte stand in a tool's name? Letters beyond ASCII may; a backslash is an escaped underscore's.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'\\') || !byte.is_ascii()
}

/// The white space at the ends of an argument that is the markup's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trim {
    /// One line break at each end of a text that has one at both; one at a single end is the text's.
    #[default]
    OwnLines,
    /// One line break at each end that has one.
    LineBreak,
    /// All of it.
    All,
}

/// Could `text[at..]`, all of which is there so far, still grow into one of `markers`?
pub(crate) fn may_grow_into<'m>(text: &str, at: usize, mut markers: impl Iterator<Item = &'m str>) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    markers.any(|marker| rest.len() < marker.len() && starts_with_any_case(marker.as_bytes(), rest))
}

/// The bytes of blanks at `at`, visible or not, of any script, in at most `most` characters.
#[inline]
pub(crate) fn blanks(text: &str, at: usize, most: usize) -> usize {
    let rest = text.get(at..).unwrap_or("").chars().take(most);
    rest.take_while(|c| callwright_json::is_blank(*c)).map(char::len_utf8).sum()
}

/// Does `bytes` end with `last`, whatever the case of its ASCII letters?
pub(crate) fn ends_with_any_case(bytes: &[u8], last: &str) -> bool {
    let from = bytes.len().checked_sub(last.len());
    from.is_some_and(|from| bytes[from..].eq_ignore_ascii_case(last.as_bytes()))
}

/// Does `bytes` begin with `start`, whatever the case of its ASCII letters?
pub(crate) fn starts_with_any_case(bytes: &[u8], start: impl AsRef<[u8]>) -> bool {
    let start = start.as_ref();
    // Most are told apart by one letter.
    let is_first = |own: &u8| bytes.first().is_some_and(|byte| byte.eq_ignore_ascii_case(own));
    start.first().is_none_or(is_first)
        && bytes.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}
