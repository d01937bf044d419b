//! Escapes in the strings of JSON, as they arrive: `\n`, `\u00e9`, `\ud83d\ude00`.

use super::{Incomplete, Seen};

/// An escape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Escape {
    /// The length in bytes.
    pub(crate) len: usize,
    /// The letter that it stands for; `None` for half a surrogate pair.
    pub(crate) letter: Option<char>,
}

/// Returns the escape at the start of `bytes`, whose first byte is a backslash.
pub(crate) fn escape(bytes: &[u8]) -> Seen<Escape> {
    let letter = match *bytes.get(1).ok_or(Incomplete)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        mark @ (b'"' | b'\\' | b'/') => char::from(mark),
        b'u' => return unicode(bytes),
        _ => return Ok(None),
    };
    Ok(Some(Escape { len: 2, letter: Some(letter) }))
}

fn unicode(bytes: &[u8]) -> Seen<Escape> {
    let Some(unit) = unit(bytes)? else { return Ok(None) };
    if let 0xd800..=0xdbff = unit
        && let Some(low @ 0xdc00..=0xdfff) = self::unit(&bytes[6..])?
    {
        let letter = char::from_u32(0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
        return Ok(Some(Escape { len: 12, letter }));
    }
    Ok(Some(Escape { len: 6, letter: char::from_u32(unit) }))
}

/// Returns the unit of an escape like `\u00e9`.
fn unit(bytes: &[u8]) -> Seen<u32> {
    let mut unit = 0;
    for (i, &byte) in bytes.iter().take(6).enumerate() {
        match (i, char::from(byte).to_digit(16)) {
            (0, _) if byte == b'\\' => {}
            (1, _) if byte == b'u' => {}
            (2.., Some(digit)) => unit = unit << 4 | digit,
            _ => return Ok(None),
        }
    }
    if bytes.len() < 6 { Err(Incomplete) } else { Ok(Some(unit)) }
}
