//! Tells whether Python can read an argument list. If it can, the strings are exactly the quoted ones:
//! `("a", b="c")` has two, and `("a" if x else "b")` is not a string with quotes in it.
//!
//! The order of tokens distinguishes a list from a text with unescaped quotes: `(a="say "hi" there")`.

use alloc::vec::Vec;

use crate::scan::{skip_space, string_stop};

/// The deepest nesting of brackets.
const MOST_OPEN: usize = 64;

/// A place between two tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// A name: a keyword of the list, `a=`, or a value.
    Name,
    /// A string: another one continues it.
    String,
    /// Another value.
    Value,
    /// An operator that wants a value behind it.
    Operator,
    /// A bracket that opens, a comma, `=`.
    Start,
}

/// Returns whether a list of arguments that Python reads begins with the `(` at byte `from` of `text`. It may hold expressions.
///
/// ```
/// use callwright_json::is_arguments;
///
/// assert!(is_arguments("f('a' if x else 'b')", 1));
/// assert!(!is_arguments("f('it's')", 1));
/// ```
pub fn is_arguments(text: &str, from: usize) -> bool {
    arguments(text.as_bytes(), from).is_some()
}

/// Returns the place behind the list.
fn arguments(bytes: &[u8], from: usize) -> Option<usize> {
    bytes.get(from).filter(|byte| **byte == b'(')?;
    let mut open: Vec<u8> = Vec::new();
    let (mut at, mut last) = (from, Last::Operator);
    // In the outermost brackets alone: the argument has a name, and it must have one.
    let (mut is_named, mut must_be_named) = (false, false);
    loop {
        at = skip_space(bytes, at);
        let byte = *bytes.get(at)?;
        let is_value = matches!(last, Last::Name | Last::String | Last::Value);
        let is_outer = open.len() == 1;
        let (end, token, fits) = match byte {
            _ if let Some(end) = string(bytes, at) => (end, Last::String, !is_value || last == Last::String),
            b'(' | b'[' | b'{' => {
                open.push(if byte == b'(' { b')' } else { byte + 2 });
                // A call or an index stands behind a value, a dictionary does not.
                (at + 1, Last::Start, !(is_value && byte == b'{') && open.len() <= MOST_OPEN)
            }
            b')' | b']' | b'}' => (at + 1, Last::Value, open.pop() == Some(byte) && last != Last::Operator),
            b',' => (at + 1, Last::Start, is_value),
            b'=' if bytes.get(at + 1) != Some(&b'=') => {
                (is_named, must_be_named) = (is_named || is_outer, must_be_named || is_outer);
                (at + 1, Last::Operator, last == Last::Name)
            }
            b':' => (at + 1, Last::Start, !is_outer),
            b'0'..=b'9' => (word(bytes, at, |b| b == b'.'), Last::Value, !is_value),
            _ if byte.is_ascii_alphabetic() || byte == b'_' || 0x80 <= byte => {
                let end = word(bytes, at, |_| false);
                match bytes.get(at..end)? {
                    b"and" | b"or" | b"in" | b"is" | b"if" | b"else" | b"for" | b"not" | b"await" => {
                        (end, Last::Operator, true)
                    }
                    _ => (end, Last::Name, !is_value),
                }
            }
            // `**{…}` and `*[…]` have no name, but may follow named arguments.
            b'*' if last == Last::Start => {
                is_named |= is_outer;
                (at + 1 + usize::from(bytes.get(at + 1) == Some(&b'*')), Last::Operator, true)
            }
            b'+' | b'-' | b'~' => (at + 1, Last::Operator, true),
            b'*' | b'/' | b'%' | b'@' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'^' | b'.' => {
                let more = bytes[at + 1..].iter().take_while(|b| b"*/<>=".contains(b));
                (at + 1 + more.count(), Last::Operator, is_value)
            }
            _ => return None,
        };
        let ends_argument = is_outer && (byte == b',' || open.is_empty()) && last != Last::Start;
        if !fits || ends_argument && must_be_named && !is_named {
            return None;
        }
        if open.is_empty() {
            return Some(end);
        }
        is_named &= !ends_argument;
        (at, last) = (end, token);
    }
}

/// Returns whether the parentheses at `at`, in a list that Python reads, enclose one value and make no tuple:
/// `('a' 'b')`.
pub(crate) fn is_group(bytes: &[u8], at: usize) -> bool {
    let (mut depth, mut at, mut is_empty) = (0_usize, at, true);
    while let Some(byte) = bytes.get(at) {
        if let Some(end) = string(bytes, at) {
            (at, is_empty) = (end, false);
            continue;
        }
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 1 => return !is_empty,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 1 => return false,
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => is_empty = false,
        }
        at += 1;
    }
    false
}

/// Returns the place where all brackets from `at` on are closed, if each quote begins or ends a string.
pub(crate) fn closed(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' | b'\'' => {
                at = string(bytes, at)?;
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 1 => return Some(at + 1),
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
}

/// Returns the end of the string that begins at `at`, with its prefix.
pub(crate) fn string(bytes: &[u8], at: usize) -> Option<usize> {
    let prefix = prefix(bytes, at);
    let open = at + prefix;
    let quote = *bytes.get(open).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let is_long = bytes.get(open + 1) == Some(&quote) && bytes.get(open + 2) == Some(&quote);
    let width = if is_long { 3 } else { 1 };
    let mut end = open + width;
    loop {
        end = string_stop(bytes, end, quote);
        match *bytes.get(end)? {
            b'\\' => end += 2,
            b'\n' if !is_long => return None,
            byte if byte == quote && bytes.get(end..end + width)?.iter().all(|b| *b == quote) => {
                return Some(end + width);
            }
            _ => end += 1,
        }
    }
}

/// Returns the length of the prefix before a string's quote: `r`, `f`, `rb`.
pub(crate) fn prefix(bytes: &[u8], at: usize) -> usize {
    let is_letter = |b: &&u8| matches!(b, b'r' | b'R' | b'b' | b'B' | b'u' | b'U' | b'f' | b'F');
    let len = bytes.get(at..).unwrap_or(&[]).iter().take(2).take_while(is_letter).count();
    let is_string = matches!(bytes.get(at + len), Some(b'"' | b'\''));
    if is_string { len } else { 0 }
}

fn word(bytes: &[u8], from: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let is_word = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_' || 0x80 <= **b || is_part(**b);
    from + bytes.get(from..).unwrap_or(&[]).iter().take_while(is_word).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_reads_is_told_from_what_nobody_escaped() {
        for text in [
            "()",
            "(\"a\")",
            "(\"a\", 'b', c=\"d\",)",
            "(\"a\" \"b\")",
            "(a=\"x\" if y else \"z\")",
            "(a=r\"C:\\new\", b=f'{c}')",
            "(a=[\"x\", *y], **{\"b\": 'c'})",
            "(a=\"x\".upper()[0], b=-1.5 ** 2)",
            "(a=\"\"\"say \"hi\"\n\"\"\")",
            "(x for x in \"abc\")",
        ] {
            assert_eq!(arguments(text.as_bytes(), 0), Some(text.len()), "{text}");
        }
        for text in [
            "(a=\"say \"hi\" there\")",
            "(a='it's', b='x')",
            "(a=\"x\", \"y\")",
            "(a=\"x\" b=\"y\")",
            "(a: \"x\")",
            "(a=\"x\"",
            "(a=)(",
            "(a=\"x\ny\")",
            "(a=\"x\"}",
            "{\"a\"}",
            "(\"a\" +)",
            "(a=\"say \"hi\"\")",
        ] {
            assert!(!is_arguments(text, 0), "{text}");
        }
    }
}
