//! Places where what is cut in two is read as one: a line that is broken, `sk-proj-Ab12\⏎Cd34…`, and the parts of a message,
//! `{"type": "text", "text": "…sk-proj-Ab12"}, {"type": "text", "text": "Cd34…"}`. A key may lie across.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};

/// On either side of a place so many letters are looked at: no key that has a shape needs more to be known by.
const SIDE: usize = 128;
/// Fewer are no key.
const SHORTEST: usize = 19;
/// So long may be what stands between two parts of a message: marks and a few names.
const BETWEEN: usize = 256;

/// Tells where in a text something is.
pub(crate) type Look<'l> = dyn Fn(&str, &mut dyn FnMut(Range<usize>)) + 'l;

/// Tells where in a text that lies across such a place `look` finds something: both pieces of it.
pub(crate) fn find(text: &str, look: &Look<'_>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut across = |before: usize, behind: usize| {
        let (left, right) = (letters_before(bytes, before), letters_behind(bytes, behind));
        if left.is_empty() || right.is_empty() || left.len() + right.len() < SHORTEST {
            return;
        }
        let (Some(head), Some(tail)) = (text.get(left.clone()), text.get(right.clone())) else { return };
        let joined = format!("{head}{tail}");
        look(&joined, &mut |range| {
            if range.start < head.len() && head.len() < range.end {
                found(left.start + range.start..left.end);
                found(right.start..right.start + range.end - head.len());
            }
        });
    };
    let mut at = 0;
    while let Some(line) = bytes.get(at..).and_then(|rest| memchr(b'\n', rest)).map(|n| at + n) {
        let before = bytes.get(..line).unwrap_or_default();
        let before = before.strip_suffix(b"\r").unwrap_or(before);
        across(before.strip_suffix(b"\\").unwrap_or(before).len(), line + 1);
        at = line + 1;
    }
    let mut last: Option<usize> = None;
    for key in memmem::find_iter(bytes, b"\"text\"") {
        let Some(begin) = value_of(bytes, key + 6) else { continue };
        let Some(end) = string_end(bytes, begin) else { return };
        if let Some(last) = last
            && bytes.get(last..key).is_some_and(is_between)
        {
            across(last, begin);
        }
        last = Some(end);
    }
}

fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.+/=~:".contains(byte)
}

fn letters_before(bytes: &[u8], at: usize) -> Range<usize> {
    let before = bytes.get(..at).unwrap_or_default();
    at - before.iter().rev().take(SIDE).take_while(|byte| is_letter(byte)).count()..at
}

fn letters_behind(bytes: &[u8], at: usize) -> Range<usize> {
    let behind = bytes.get(at..).unwrap_or_default();
    at..at + behind.iter().take(SIDE).take_while(|byte| is_letter(byte)).count()
}

/// The begin of the string that is the value of the key which ends at `at`.
fn value_of(bytes: &[u8], at: usize) -> Option<usize> {
    let past = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + rest.iter().take(BETWEEN).take_while(|byte| byte.is_ascii_whitespace()).count()
    };
    let colon = past(at);
    (bytes.get(colon) == Some(&b':')).then_some(())?;
    let quote = past(colon + 1);
    (bytes.get(quote) == Some(&b'"')).then_some(quote + 1)
}

/// The end of the string that begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// `"}, {"type": "text", `
fn is_between(bytes: &[u8]) -> bool {
    let count = |of: u8| bytes.iter().filter(|byte| **byte == of).count();
    bytes.len() <= BETWEEN && count(b'}') == 1 && count(b'{') == 1 && count(b'[') + count(b']') == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        let key = |joined: &str, found: &mut dyn FnMut(Range<usize>)| {
            joined.match_indices("sk-0123456789abcdef").for_each(|(at, key)| found(at..at + key.len()));
        };
        find(text, &key, &mut |range| bytes[range].fill(b'*'));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_key_is_found_across_lines_and_parts() {
        for (text, out) in [
            ("use sk-0123456\n789abcdef.", "use **********\n*********."),
            ("sk-0123456\\\r\n789abcdef", "**********\\\r\n*********"),
            (
                r#"[{"type":"text","text":"x sk-01234"} , {"type": "text", "text" : "56789abcdef y"}]"#,
                r#"[{"type":"text","text":"x ********"} , {"type": "text", "text" : "*********** y"}]"#,
            ),
            (
                r#"[{"text":"sk-01234","type":"text"},{"text":"56789abcdef"}]"#,
                r#"[{"text":"********","type":"text"},{"text":"***********"}]"#,
            ),
        ] {
            assert_eq!(masked(text), out);
        }
        for text in [
            "sk-0123456\n\n789abcdef",
            r#"[{"text":"sk-01234"}],[{"text":"56789abcdef"}]"#,
            r#"{"text":"sk-01234","n":{"text":"56789abcdef"}}"#,
            r#"{"text":"sk-01234"},{"text"#,
            r#"{"text":"sk-01234\"#,
        ] {
            assert_eq!(masked(text), text);
        }
    }
}
