//! The building blocks of written forms, for reading and writing: texts, marks, tags, tokens, comments, patterns.

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

/// A finding at a place of a text that may go on: something, nothing, or more text must tell.
pub(crate) type Seen<T> = Result<Option<T>, Incomplete>;

/// Returns the `seen`; at the `end` of the text, an incomplete one is not there.
pub(crate) fn at_end<T>(seen: Seen<T>, end: bool) -> Seen<T> {
    if end { Ok(seen.unwrap_or(None)) } else { seen }
}

/// Returns the beginning of `text` in at most `most` bytes.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rfind(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or("")
}

/// A text of a record; in the built-in records, a static one.
pub type Text = Cow<'static, str>;

/// The way in which a raw argument gets its type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Typing {
    /// The tool's schema gives the type.
    #[default]
    Schema,
    /// The argument is text.
    Text,
    /// The argument is JSON.
    Json,
}

/// Longest text that is looked up as a name.
pub(crate) const MAX_NAME: usize = 256;

/// Returns whether this byte may stand in a tool's name. Letters beyond ASCII may, and a backslash belongs to an
/// escaped underscore.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'\\') || !byte.is_ascii()
}

/// The white space at the ends of an argument that belongs to the markup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Trim {
    /// One line break at each end, if both ends have one; a line break at one end alone belongs to the text.
    #[default]
    OwnLines,
    /// One line break at each end that has one.
    LineBreak,
    /// All white space at both ends.
    All,
}

/// Returns the length of the blanks at `at` in bytes, for at most `most` characters: visible or not, of any script.
#[inline]
pub(crate) fn blanks(text: &str, at: usize, most: usize) -> usize {
    let rest = text.get(at..).unwrap_or("").chars().take(most);
    rest.take_while(|c| callwright_json::is_blank(*c)).map(char::len_utf8).sum()
}

/// Returns whether `bytes` end with `last`, in any case of the ASCII letters.
pub(crate) fn ends_with_any_case(bytes: &[u8], last: &str) -> bool {
    let from = bytes.len().checked_sub(last.len());
    from.is_some_and(|from| bytes[from..].eq_ignore_ascii_case(last.as_bytes()))
}

/// Returns whether `bytes` begin with `start`, in any case of the ASCII letters.
pub(crate) fn starts_with_any_case(bytes: &[u8], start: impl AsRef<[u8]>) -> bool {
    let start = start.as_ref();
    // One letter tells most of them apart.
    let is_first = |own: &u8| bytes.first().is_some_and(|byte| byte.eq_ignore_ascii_case(own));
    start.first().is_none_or(is_first)
        && bytes.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}
