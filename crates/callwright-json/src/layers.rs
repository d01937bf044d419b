//! Texts that were encoded as a whole: entities for the signs of HTML, `%22`, `\u0022`, or one mark before each line.
//!
//! A text is taken for encoded where its quotes stand in no other spelling. What it says then is read like any other.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use crate::strict;

/// The character that a text begins with, and the length of its spelling; none where it stands for itself.
type Decode = fn(&str) -> Option<(char, usize)>;

/// The ways to write the quotes of JSON without one.
const LAYERS: [Decode; 5] = [entity, percent, quoted_printable, hex, code];

/// The longest spelling of one character, in bytes: `&#x10FFFF;`
const LONGEST: usize = 10;

/// What `text` may say, if it is encoded as a whole; several where two ways to decode it are as good.
pub(crate) fn decoded(text: &str) -> Vec<String> {
    let lines = text.trim();
    if let Some(plain) = without_prefix(lines).or_else(|| without_numbers(lines)) {
        return vec![plain];
    }
    if let Some(inside) = in_quotes(text) {
        let ways = [Some(String::from(inside)), unescaped(inside)].into_iter().flatten().collect();
        return if inside.contains('\\') { strict_ones(ways) } else { Vec::new() };
    }
    if text.contains('"') {
        return Vec::new();
    }
    let Some(decode) = LAYERS.into_iter().find(|decode| begins_with_quote(text, *decode)) else {
        return Vec::new();
    };
    let plain: String = characters(text, decode).map(|(c, _)| c).collect();
    if plain.contains('+') && !text.contains([' ', '\n']) && !text.contains("%20") && decode("%22").is_some()
    {
        // In forms a plus stands for a blank, and `%2B` for itself.
        let form = text.replace('+', " ");
        let form: String = characters(&form, decode).map(|(c, _)| c).collect();
        return if text.contains("%2B") { vec![form] } else { strict_ones(vec![plain, form]) };
    }
    // With its quotes the whole text may have been escaped, as a string of JSON is.
    let mut ways = vec![plain];
    ways.extend(unescaped(text).filter(|whole| *whole != ways[0] && strict(whole).is_ok()));
    if ways.len() == 1 { ways } else { strict_ones(ways) }
}

/// Those of `ways` that are right JSON.
fn strict_ones(ways: Vec<String>) -> Vec<String> {
    ways.into_iter().filter(|way| strict(way).is_ok()).collect()
}

/// The character that `text` begins with, however it is spelt, and the length of that: `"`, `\"`, `&quot;`, `%22`.
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
    LAYERS.into_iter().find_map(|decode| decode(text)).or_else(|| escape(text)).or_else(plain)
}

/// The characters of `text`, each with the length of its spelling.
pub(crate) fn characters(text: &str, decode: Decode) -> impl Iterator<Item = (char, usize)> {
    let mut rest = text;
    core::iter::from_fn(move || {
        let c = rest.chars().next()?;
        let (c, len) = decode(rest).unwrap_or((c, c.len_utf8()));
        rest = rest.get(len..)?;
        Some((c, len))
    })
}

/// Is a quote in another spelling the first thing behind the first bracket?
fn begins_with_quote(text: &str, decode: Decode) -> bool {
    let mut inside = characters(text, decode).skip_while(|(c, _)| !matches!(c, '{' | '[')).skip(1);
    inside.find(|(c, _)| !c.is_whitespace()).is_some_and(|(c, len)| c == '"' && 1 < len)
}

/// What stands between the quotes of a string of Python around the whole text: `'{"a": 1}'`.
fn in_quotes(text: &str) -> Option<&str> {
    let text = text.trim();
    text.strip_prefix('b').unwrap_or(text).strip_prefix('\'')?.strip_suffix('\'')
}

/// `text` read as the inside of a string, between quotes of either sort.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escaped) = rest.split_at(at);
        let (c, len) = escape(escaped)?;
        out.push_str(before);
        out.push(c);
        rest = escaped.get(len..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// The escape of a string, with quotes of either sort.
fn escape(text: &str) -> Option<(char, usize)> {
    let escaped = text.strip_prefix('\\')?;
    Some(match escaped.chars().next()? {
        'n' => ('\n', 2),
        'r' => ('\r', 2),
        't' => ('\t', 2),
        c @ ('\\' | '"' | '\'' | '/') => (c, 2),
        'u' => {
            let hex = u32::from_str_radix(escaped.get(1..5)?, 16).ok()?;
            (char::from_u32(hex)?, 6)
        }
        _ => return None,
    })
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

/// Quoted-printable: `=22`, and `=3D` for the sign itself.
fn quoted_printable(text: &str) -> Option<(char, usize)> {
    let code = text.strip_prefix('=')?.get(..2)?;
    u8::from_str_radix(code, 16).ok().filter(u8::is_ascii).map(|byte| (char::from(byte), 3))
}

fn hex(text: &str) -> Option<(char, usize)> {
    let escaped = text.starts_with("\\\\").then_some(('\\', 2));
    text.starts_with("\\x22").then_some(('"', 4)).or(escaped)
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

/// The text without the numbers that its lines begin with: `1: {`, ` 2 | "a": 1`.
fn without_numbers(text: &str) -> Option<String> {
    let is_apart = |c: char| c.is_whitespace() || matches!(c, ':' | '.' | '|' | ')' | '→');
    if !text.trim_start_matches(' ').starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut last = None;
    for line in text.split_inclusive('\n') {
        let body = line.trim_start_matches(' ');
        let digits = body.len() - body.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number: u32 = body.get(..digits)?.parse().ok()?;
        if last.is_some_and(|last| number.checked_sub(1) != Some(last)) {
            return None;
        }
        last = Some(number);
        out.push_str(body.get(digits..)?.strip_prefix(is_apart)?);
    }
    let is_whole = out.trim_start().starts_with(['{', '[']) && 1 < out.lines().count();
    is_whole.then_some(out)
}
