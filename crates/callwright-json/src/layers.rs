//! Texts that were encoded as a whole: entities for the signs of HTML, `%22`, `\u0022`, or one mark before each line.
//!
//! A text is taken for encoded where its quotes stand in no other spelling. What it says then is read like any other.

use alloc::string::String;

use crate::spelling::skip_blank;

/// A way to write the quotes of JSON without one.
struct Layer {
    quotes: &'static [&'static str],
    /// The character that the text begins with, and the length of its spelling; none where it stands for itself.
    decode: fn(&str) -> Option<(char, usize)>,
}

const LAYERS: [Layer; 3] = [
    Layer { quotes: &["&quot;", "&#34;", "&#x22;", "&#X22;"], decode: entity },
    Layer { quotes: &["%22"], decode: percent },
    Layer { quotes: &["\\u0022"], decode: code },
];

/// The longest spelling of one character, in bytes: `&#x10FFFF;`
const LONGEST: usize = 10;

/// What `text` says, if it is encoded as a whole.
pub(crate) fn decoded(text: &str) -> Option<String> {
    without_prefix(text).or_else(|| {
        if text.contains(['"', '\'']) {
            return None;
        }
        let layer = LAYERS.iter().find(|layer| begins_with_quote(text, layer.quotes))?;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let (c, len) = (layer.decode)(rest).unwrap_or((c, c.len_utf8()));
            out.push(c);
            rest = rest.get(len..)?;
        }
        Some(out)
    })
}

/// Is one of `quotes` the first thing behind the first bracket?
fn begins_with_quote(text: &str, quotes: &[&str]) -> bool {
    let Some(open) = text.find(['{', '[']) else { return false };
    let first = skip_blank(text.as_bytes(), open + 1);
    text.get(first..).is_some_and(|rest| quotes.iter().any(|quote| rest.starts_with(quote)))
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

fn percent(text: &str) -> Option<(char, usize)> {
    let byte = |at: usize| {
        let hex = text.get(at..at + 3)?.strip_prefix('%')?;
        u8::from_str_radix(hex, 16).ok()
    };
    let first = byte(0)?;
    let len = match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    };
    let mut bytes = [0; 4];
    for (n, slot) in bytes.iter_mut().enumerate().take(len) {
        *slot = byte(3 * n)?;
    }
    let c = core::str::from_utf8(bytes.get(..len)?).ok()?.chars().next()?;
    Some((c, 3 * len))
}

/// A quote alone: what stands in strings stays escaped.
fn code(text: &str) -> Option<(char, usize)> {
    text.starts_with("\\u0022").then_some(('"', 6))
}

/// The text without the mark that each of its lines begins with: `> {`, `| {`, `+ {`, `// {`.
fn without_prefix(text: &str) -> Option<String> {
    let is_mark = |c: char| c.is_ascii_punctuation() && !"{}[](),:\"'`".contains(c);
    let mark = text.split(|c| !is_mark(c)).next().filter(|mark| !mark.is_empty())?;
    if text.lines().count() < 2 || !text.lines().all(|line| line.starts_with(mark)) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let line = line.get(mark.len()..)?;
        out.push_str(line.strip_prefix(' ').unwrap_or(line));
    }
    Some(out)
}
