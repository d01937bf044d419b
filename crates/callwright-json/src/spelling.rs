//! Recognises tokens in the spellings of other scripts and languages: blanks, brackets, commas, colons.

/// Returns the character at the start of `bytes`.
pub(crate) fn character(bytes: &[u8]) -> Option<char> {
    if bytes.first()?.is_ascii() { Some(char::from(bytes[0])) } else { foreign(bytes) }
}

/// Returns the character at the start of `bytes`, unless it is ASCII.
pub(crate) fn foreign(bytes: &[u8]) -> Option<char> {
    let len = match bytes.first()? {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => return None,
    };
    core::str::from_utf8(bytes.get(..len)?).ok()?.chars().next()
}

/// Returns the ASCII form of the bracket, comma or colon of another script at the start of `bytes`, and its
/// length.
///
/// `，` → `(b',', 3)`
pub(crate) fn wide(bytes: &[u8]) -> Option<(u8, usize)> {
    let c = foreign(bytes)?;
    let sign = match c {
        '，' | '、' | '﹐' | '﹑' | '⹁' | '\u{60c}' => b',',
        '；' | '﹔' | '\u{61b}' => b';',
        '：' | '﹕' | '︓' | '∶' | '꞉' => b':',
        '｛' | '﹛' => b'{',
        '｝' | '﹜' => b'}',
        '［' | '〈' | '《' | '【' | '〔' | '〖' | '〘' | '〚' => b'[',
        '］' | '〉' | '》' | '】' | '〕' | '〗' | '〙' | '〛' => b']',
        '（' => b'(',
        '）' => b')',
        _ => return None,
    };
    Some((sign, c.len_utf8()))
}

/// Returns the first of `bytes`, or the ASCII sign that is spelt there, and its length.
pub(crate) fn sign(bytes: &[u8]) -> Option<(u8, usize)> {
    wide(bytes).or_else(|| Some((*bytes.first()?, 1)))
}

/// Returns the length of the colon, or of a sign for one, at the start of `bytes`: `:`, `：`, `=`, `=>`, `->`,
/// `:=`.
pub(crate) fn colon(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b':', b'=', ..] | [b'=', b'>' | b':', ..] | [b'-', b'>', ..] => Some(2),
        [b'=', b'=', ..] => None,
        [b':' | b'=', ..] => Some(1),
        _ if matches!(foreign(bytes), Some('→' | '⇒')) => Some(3),
        _ => wide(bytes).filter(|(sign, _)| *sign == b':').map(|(_, len)| len),
    }
}

/// Returns the length of the non-JSON blank at the start of `bytes`: one of Unicode, a control or format
/// character, or a terminal's sequence for a colour.
pub(crate) fn blank(bytes: &[u8]) -> Option<usize> {
    let first = *bytes.first()?;
    if first == 0x1b {
        let parameters = bytes.get(1..)?.strip_prefix(b"[").unwrap_or(&[]);
        let len = parameters.iter().take_while(|b| matches!(b, b'0'..=b'9' | b';' | b'?')).count();
        return Some(if parameters.get(len).is_some_and(u8::is_ascii_alphabetic) { len + 3 } else { 1 });
    }
    if first < 0x80 {
        return (first < b' ' || first == 0x7f).then_some(1);
    }
    let c = foreign(bytes)?;
    is_blank(c).then_some(c.len_utf8())
}

/// Returns whether `c` is a separator, a control or a format character of Unicode (Zs, Zl, Zp, Cc, Cf). Between tokens these are
/// blanks: a byte order mark, a zero-width space.
///
/// ```
/// assert!(callwright_json::is_blank('\u{feff}') && !callwright_json::is_blank('_'));
/// ```
pub fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(
            u32::from(c),
            0xad | 0x600..=0x605
                | 0x61c
                | 0x6dd
                | 0x70f
                | 0x890..=0x891
                | 0x8e2
                | 0x180e
                | 0x200b..=0x200f
                | 0x202a..=0x202e
                | 0x2060..=0x206f
                | 0xfeff
                | 0xfff9..=0xfffb
                | 0x110bd
                | 0x110cd
                | 0x13430..=0x1343f
                | 0x1bca0..=0x1bca3
                | 0x1d173..=0x1d17a
                | 0xe0001..=0xe007f
        )
}

/// Returns the first place at or after `from` that is not a blank, of JSON or any other.
pub(crate) fn skip_blank(bytes: &[u8], from: usize) -> usize {
    let mut at = crate::scan::skip_space(bytes, from);
    while let Some(len) = bytes.get(at..).and_then(blank) {
        at = crate::scan::skip_space(bytes, at + len);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_known_whatever_script_they_are_of() {
        for blank_text in
            ["\u{a0}", "\u{200b}", "\u{feff}", "\u{2028}", "\u{3000}", "\u{e0041}", "\x1b[31m", "\x0c"]
        {
            assert_eq!(blank(blank_text.as_bytes()), Some(blank_text.len()), "{blank_text:?}");
        }
        for text in ["é", "日", "a", "-", "😀", "“"] {
            assert_eq!(blank(text.as_bytes()), None, "{text}");
        }
        assert_eq!(skip_blank("\u{feff} \u{200f}\n{".as_bytes(), 0), 8);
    }
}
