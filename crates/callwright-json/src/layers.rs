//! Decodes texts that were encoded as a whole: HTML entities, `%22`, `\u0022`, or one mark before each line.
//!
//! A text counts as encoded if its quotes have only the encoded spelling. Its decoded text is read like any
//! other.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::strict::{escape_len, strict};
use crate::tree::escape_at;

/// A function that returns the first character of a text and the length of its spelling; `None` for an
/// unencoded one.
type Decode = fn(&str) -> Option<(char, usize)>;

/// The spellings of JSON's quotes without a quote.
const LAYERS: [Decode; 5] =
    [entity, |text| bytes_behind(text, "%"), |text| bytes_behind(text, "="), hex, code];

/// The first characters of the spellings.
const SIGNS: [char; 4] = ['&', '%', '=', '\\'];

/// The longest spelling of one character, in bytes: `&#x10FFFF;`
const LONGEST: usize = 10;

/// Decodes `text` if it is encoded as a whole. It returns several texts where several ways are equally good.
pub(crate) fn decoded(text: &str) -> Vec<String> {
    if let Some(plain) = without_margin(text.trim()) {
        return vec![plain];
    }
    if let Some(inside) = in_quotes(text) {
        let ways = [Some(String::from(inside)), unescaped(inside)].into_iter().flatten().collect();
        return if inside.contains('\\') { strict_ones(ways) } else { Vec::new() };
    }
    if text.contains('"') || !text.contains(SIGNS) {
        return Vec::new();
    }
    let Some(decode) = LAYERS.into_iter().find(|decode| begins_with_quote(text, *decode)) else {
        return Vec::new();
    };
    let plain: String = characters(text, decode).map(|(c, _)| c).collect();
    if plain.contains('+') && !text.contains([' ', '\n']) && !text.contains("%20") && decode("%22").is_some()
    {
        // In form data a plus stands for a blank, and `%2B` for a plus.
        let form = text.replace('+', " ");
        let form: String = characters(&form, decode).map(|(c, _)| c).collect();
        return if text.contains("%2B") { vec![form] } else { strict_ones(vec![plain, form]) };
    }
    // The whole text, quotes included, may have been escaped like a JSON string.
    let mut ways = vec![plain];
    ways.extend(unescaped(text).filter(|whole| *whole != ways[0] && strict(whole).is_ok()));
    if ways.len() == 1 { ways } else { strict_ones(ways) }
}

/// Returns the `ways` that are strict JSON.
fn strict_ones(ways: Vec<String>) -> Vec<String> {
    ways.into_iter().filter(|way| strict(way).is_ok()).collect()
}

/// Returns the first character of `text`, in any spelling, and the length of that spelling: `"`, `\"`,
/// `&quot;`, `%22`.
///
/// ```
/// use callwright_json::spelt_char;
///
/// assert_eq!(spelt_char("&quot;name"), Some(('"', 6)));
/// assert_eq!(spelt_char("\\n{"), Some(('\n', 2)));
/// assert_eq!(spelt_char("｛"), Some(('｛', 3)));
/// assert_eq!(spelt_char(""), None);
/// ```
pub fn spelt_char(text: &str) -> Option<(char, usize)> {
    let plain = || text.chars().next().map(|c| (c, c.len_utf8()));
    if !text.starts_with(SIGNS) {
        return plain();
    }
    LAYERS.into_iter().find_map(|decode| decode(text)).or_else(|| escape(text)).or_else(plain)
}

/// Returns the characters of `text`, each with the length of its spelling.
pub(crate) fn characters(text: &str, decode: Decode) -> impl Iterator<Item = (char, usize)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let c = rest.chars().next()?;
        let (c, len) = decode(rest).unwrap_or((c, c.len_utf8()));
        rest = rest.get(len..)?;
        Some((c, len))
    })
}

/// Returns whether a decoded quote follows the first bracket of `text`, which has no quote in plain spelling.
fn begins_with_quote(text: &str, decode: Decode) -> bool {
    let mut inside = characters(text, decode).skip_while(|(c, _)| !matches!(c, '{' | '[')).skip(1);
    inside.find(|(c, _)| !c.is_whitespace()).is_some_and(|(c, _)| c == '"')
}

/// Returns the inside of a Python string that is the whole text: `'{"a": 1}'`.
fn in_quotes(text: &str) -> Option<&str> {
    let text = text.trim();
    text.strip_prefix('b').unwrap_or(text).strip_prefix('\'')?.strip_suffix('\'')
}

/// Decodes `text` as the inside of a string in single or double quotes.
fn unescaped(text: &str) -> Option<String> {
    characters(text, escape).map(|(c, len)| (c != '\\' || 1 < len).then_some(c)).collect()
}

/// Returns the character of an escape in a string, in single or double quotes, and the escape's length.
pub(crate) fn escape(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    match bytes {
        [b'\\', b'\'', ..] => Some(('\'', 2)),
        [b'\\', ..] if escape_len(bytes, 0).is_some() => {
            let (c, len) = escape_at(bytes);
            Some((c?, len))
        }
        _ => None,
    }
}

fn entity(text: &str) -> Option<(char, usize)> {
    let window = text.get(1..).filter(|_| text.starts_with('&'))?;
    let len = window.bytes().take(LONGEST).position(|b| b == b';')?;
    let name = window.get(..len)?;
    let c = match name {
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "nbsp" => '\u{a0}',
        _ => {
            let number = name.strip_prefix('#')?;
            let hex = number.strip_prefix(['x', 'X']).map(|hex| u32::from_str_radix(hex, 16));
            char::from_u32(hex.unwrap_or_else(|| number.parse()).ok()?)?
        }
    };
    Some((c, len + 2))
}

/// Returns the character whose bytes are spelt in hexadecimal behind `mark`: `%C3%A9` in an address, `=C3=A9`
/// in quoted-printable.
fn bytes_behind(text: &str, mark: &str) -> Option<(char, usize)> {
    let width = mark.len() + 2;
    let byte = |n: usize| {
        let hex = text.get(n * width..(n + 1) * width)?.strip_prefix(mark)?;
        u8::from_str_radix(hex, 16).ok()
    };
    let mut bytes = [0; 4];
    (0..bytes.len()).map_while(|n| Some((n, byte(n)?))).find_map(|(n, byte)| {
        bytes[n] = byte;
        let c = core::str::from_utf8(&bytes[..=n]).ok()?.chars().next()?;
        Some((c, (n + 1) * width))
    })
}

fn hex(text: &str) -> Option<(char, usize)> {
    text.starts_with("\\\\").then_some(('\\', 2)).or_else(|| bytes_behind(text, "\\x"))
}

/// Decodes quotes alone: strings keep their other escapes.
fn code(text: &str) -> Option<(char, usize)> {
    text.starts_with("\\u0022").then_some(('"', 6))
}

/// Returns the text without the margin of its lines: the same mark, `> {`, `| {`, `+ {`, `// {`, or line
/// numbers, `1: {`, ` 2 | "a": 1`.
fn without_margin(text: &str) -> Option<String> {
    let is_mark = |c: char| c.is_ascii_punctuation() && !"{}[](),:\"'`".contains(c);
    let is_apart = |c: char| c.is_whitespace() || matches!(c, ':' | '.' | '|' | ')' | '→');
    let mark = text.split(|c| !is_mark(c)).next().unwrap_or("");
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if !mark.is_empty() {
            let line = line.strip_prefix(mark)?;
            out.push_str(line.strip_prefix(' ').unwrap_or(line));
            continue;
        }
        let line = line.trim_start_matches(' ');
        let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
        out.push_str(behind.strip_prefix(is_apart).filter(|_| behind.len() < line.len())?);
    }
    let is_value = !mark.is_empty() || out.trim_start().starts_with(['{', '[']);
    (is_value && 1 < out.lines().count()).then_some(out)
}
