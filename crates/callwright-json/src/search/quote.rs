//! The sorts of quotes around strings.

use core::ops::RangeInclusive;

use crate::spelling::{character, foreign};

/// A sort of quotes, by its index in [`SORTS`], single or tripled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quote {
    sort: u8,
    is_triple: bool,
    /// The quote has a backslash: `\"`.
    is_escaped: bool,
}

/// The opening quotes and the closing quotes of each sort.
const SORTS: [(RangeInclusive<char>, RangeInclusive<char>); 16] = [
    ('"'..='"', '"'..='"'),
    ('\''..='\'', '\''..='\''),
    ('`'..='`', '`'..='`'),
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
    pub(super) const DOUBLE: Quote = Quote { sort: 0, is_triple: false, is_escaped: false };
    pub(super) const SINGLE: Quote = Quote { sort: 1, is_triple: false, is_escaped: false };
    pub(super) const BACK: Quote = Quote { sort: 2, is_triple: false, is_escaped: false };

    /// Returns the quote at the start of `bytes`, and its length. The caller checks for triple quotes.
    pub(super) fn opening(bytes: &[u8]) -> Option<(Quote, usize)> {
        match bytes {
            [b'"' | b'\'' | b'`' | 0x80.., ..] => {
                let c = character(bytes)?;
                let sort = SORTS.iter().position(|(open, _)| open.contains(&c))? as u8;
                Some((Quote { sort, is_triple: false, is_escaped: false }, c.len_utf8()))
            }
            // `\"` where no string is open.
            [b'\\', b'"', ..] => Some((Quote { is_escaped: true, ..Quote::DOUBLE }, 2)),
            _ => bytes.starts_with(b"&quot;").then_some((Quote::DOUBLE, 6)),
        }
    }

    /// Returns the tripled quote: `"""`.
    pub(super) fn tripled(self) -> Quote {
        Quote { is_triple: true, ..self }
    }

    /// Returns the length of this string's closing quote at the start of `bytes`.
    pub(super) fn closing(self, bytes: &[u8]) -> Option<usize> {
        if self.is_escaped {
            return (!self.is_triple && bytes.starts_with(b"\\\"")).then_some(2);
        }
        let c = character(bytes).filter(|c| SORTS[usize::from(self.sort)].1.contains(c))?;
        match self.is_triple {
            true => bytes.starts_with(&[bytes[0]; 3]).then_some(3),
            false => Some(c.len_utf8()),
        }
    }

    /// Returns the first byte that may close the string or needs an escape, besides `"`, `\` and controls.
    pub(super) fn lead(self) -> u8 {
        SORTS[usize::from(self.sort)].1.start().encode_utf8(&mut [0; 4]).as_bytes()[0]
    }

    /// Returns whether Python's and JavaScript's escapes are valid between these quotes.
    pub(super) fn foreign_escapes(self) -> bool {
        self.is_triple || self == Quote::SINGLE || self == Quote::BACK
    }
}

/// Returns whether `c` is a quote of any sort.
pub(crate) fn is_quote(c: char) -> bool {
    SORTS.iter().any(|(open, close)| open.contains(&c) || close.contains(&c))
}

/// Returns the length of the quote of any sort, opening or closing, at the start of `bytes`.
pub(crate) fn mark(bytes: &[u8]) -> Option<usize> {
    let closer = || foreign(bytes).filter(|c| SORTS.iter().any(|(_, close)| close.contains(c)));
    Quote::opening(bytes).map(|(_, len)| len).or_else(|| Some(closer()?.len_utf8()))
}
