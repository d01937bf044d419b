//! The sorts of quotes that strings stand in.

use core::ops::RangeInclusive;

use crate::spelling::foreign;

/// A sort of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    /// `"a"`
    Double,
    /// `'a'`
    Single,
    /// `` `a` ``
    Back,
    /// `"""a"""`
    TripleDouble,
    /// `'''a'''`
    TripleSingle,
    /// `“a”`, `«a»`: a pair of another script, by its place in [`PAIRS`].
    Pair(u8),
}

/// What opens, and what closes, in other scripts.
const PAIRS: [(RangeInclusive<char>, RangeInclusive<char>); 13] = [
    ('“'..='‟', '“'..='‟'),
    ('‘'..='‛', '‘'..='‛'),
    ('‹'..='‹', '›'..='›'),
    ('′'..='‷', '′'..='‷'),
    ('❛'..='❞', '❛'..='❞'),
    ('〝'..='〟', '〝'..='〟'),
    ('「'..='「', '」'..='」'),
    ('『'..='『', '』'..='』'),
    ('｢'..='｢', '｣'..='｣'),
    ('＂'..='＂', '＂'..='＂'),
    ('＇'..='＇', '＇'..='＇'),
    ('«'..='«', '»'..='»'),
    ('´'..='´', '´'..='´'),
];

impl Quote {
    /// The quote that opens at the start of `bytes`, and its length. Triple quotes are asked for apart.
    pub(super) fn opening(bytes: &[u8]) -> Option<(Quote, usize)> {
        match bytes {
            [b'"', ..] => Some((Quote::Double, 1)),
            [b'\'', ..] => Some((Quote::Single, 1)),
            [b'`', ..] => Some((Quote::Back, 1)),
            [b'&', b'q', b'u', b'o', b't', b';', ..] => Some((Quote::Double, 6)),
            _ => {
                let c = foreign(bytes)?;
                let pair = PAIRS.iter().position(|(open, _)| open.contains(&c))?;
                Some((Quote::Pair(pair as u8), c.len_utf8()))
            }
        }
    }

    /// The length of this string's closing quote, if one stands at the start of `bytes`.
    pub(super) fn closing(self, bytes: &[u8]) -> Option<usize> {
        let mark: &[u8] = match self {
            Quote::Double => b"\"",
            Quote::Single => b"'",
            Quote::Back => b"`",
            Quote::TripleDouble => b"\"\"\"",
            Quote::TripleSingle => b"'''",
            Quote::Pair(pair) => {
                let c = foreign(bytes)?;
                return PAIRS[usize::from(pair)].1.contains(&c).then_some(c.len_utf8());
            }
        };
        bytes.starts_with(mark).then_some(mark.len())
    }

    /// Do these two stand around one string?
    pub(super) fn are_partners(open: &[u8], close: &[u8]) -> bool {
        Quote::opening(open).is_some_and(|(quote, _)| quote.closing(close).is_some())
    }

    /// The first byte that may close it or must be escaped in it, besides `"`, `\` and controls.
    pub(super) fn lead(self) -> u8 {
        match self {
            Quote::Double | Quote::TripleDouble => b'"',
            Quote::Single | Quote::TripleSingle => b'\'',
            Quote::Back => b'`',
            Quote::Pair(pair) => PAIRS[usize::from(pair)].1.start().encode_utf8(&mut [0; 4]).as_bytes()[0],
        }
    }

    /// Do the escapes of Python and JavaScript hold in it?
    pub(super) fn foreign_escapes(self) -> bool {
        matches!(self, Quote::Single | Quote::Back | Quote::TripleDouble | Quote::TripleSingle)
    }
}

/// The length of the quote at the start of `bytes`, of whatever sort, whether it opens or closes.
pub(crate) fn mark(bytes: &[u8]) -> Option<usize> {
    // It is asked at each byte of what stands between two tokens, and most are letters.
    match bytes.first()? {
        b'"' | b'\'' | b'`' | b'&' => Quote::opening(bytes).map(|(_, len)| len),
        0x80.. => {
            let c = foreign(bytes)?;
            let is_mark = PAIRS.iter().any(|(open, close)| open.contains(&c) || close.contains(&c));
            is_mark.then_some(c.len_utf8())
        }
        _ => None,
    }
}
