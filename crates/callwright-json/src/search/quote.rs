//! The sorts of quotes that strings stand in.

/// A sort of quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    /// `"a"`
    Double,
    /// `'a'`
    Single,
    /// `` `a` ``
    Back,
    /// `“a”`
    Curly,
    /// `‘a’`
    CurlySingle,
    /// `«a»`
    Angle,
    /// `‹a›`
    AngleSingle,
    /// `´a´`
    Acute,
    /// `′a′`, `″a″`
    Prime,
    /// `❝a❞`, `❛a❜`
    Heavy,
    /// `〝a〞`
    Reversed,
    /// `｢a｣`
    HalfCorner,
    /// `「a」`
    Corner,
    /// `『a』`
    CornerDouble,
    /// `＂a＂`
    Wide,
    /// `＇a＇`
    WideSingle,
    /// `"""a"""`
    TripleDouble,
    /// `'''a'''`
    TripleSingle,
}

impl Quote {
    /// The quote that opens at the start of `bytes`, and its length. Triple quotes are asked for apart.
    pub(super) fn opening(bytes: &[u8]) -> Option<(Quote, usize)> {
        match bytes {
            [b'"', ..] => Some((Quote::Double, 1)),
            [b'\'', ..] => Some((Quote::Single, 1)),
            [b'`', ..] => Some((Quote::Back, 1)),
            [b'&', b'q', b'u', b'o', b't', b';', ..] => Some((Quote::Double, 6)),
            [0xe2, 0x80, 0x9c..=0x9f, ..] => Some((Quote::Curly, 3)),
            [0xe2, 0x80, 0x98..=0x9b, ..] => Some((Quote::CurlySingle, 3)),
            [0xe2, 0x80, 0xb9, ..] => Some((Quote::AngleSingle, 3)),
            [0xe2, 0x80, 0xb2..=0xb7, ..] => Some((Quote::Prime, 3)),
            [0xe2, 0x9d, 0x9b..=0x9e, ..] => Some((Quote::Heavy, 3)),
            [0xe3, 0x80, 0x9d..=0x9f, ..] => Some((Quote::Reversed, 3)),
            [0xef, 0xbd, 0xa2, ..] => Some((Quote::HalfCorner, 3)),
            [0xe3, 0x80, 0x8c, ..] => Some((Quote::Corner, 3)),
            [0xe3, 0x80, 0x8e, ..] => Some((Quote::CornerDouble, 3)),
            [0xef, 0xbc, 0x82, ..] => Some((Quote::Wide, 3)),
            [0xef, 0xbc, 0x87, ..] => Some((Quote::WideSingle, 3)),
            [0xc2, 0xab, ..] => Some((Quote::Angle, 2)),
            [0xc2, 0xb4, ..] => Some((Quote::Acute, 2)),
            _ => None,
        }
    }

    /// The length of this string's closing quote, if one stands at the start of `bytes`.
    pub(super) fn closing(self, bytes: &[u8]) -> Option<usize> {
        match (self, bytes) {
            (Quote::Double, [b'"', ..]) | (Quote::Single, [b'\'', ..]) | (Quote::Back, [b'`', ..]) => Some(1),
            (Quote::Curly, [0xe2, 0x80, 0x9c..=0x9f, ..])
            | (Quote::CurlySingle, [0xe2, 0x80, 0x98..=0x9b, ..])
            | (Quote::AngleSingle, [0xe2, 0x80, 0xba, ..])
            | (Quote::Prime, [0xe2, 0x80, 0xb2..=0xb7, ..])
            | (Quote::Heavy, [0xe2, 0x9d, 0x9b..=0x9e, ..])
            | (Quote::Reversed, [0xe3, 0x80, 0x9d..=0x9f, ..])
            | (Quote::HalfCorner, [0xef, 0xbd, 0xa3, ..])
            | (Quote::Corner, [0xe3, 0x80, 0x8d, ..])
            | (Quote::CornerDouble, [0xe3, 0x80, 0x8f, ..])
            | (Quote::Wide, [0xef, 0xbc, 0x82, ..])
            | (Quote::WideSingle, [0xef, 0xbc, 0x87, ..])
            | (Quote::TripleDouble, [b'"', b'"', b'"', ..])
            | (Quote::TripleSingle, [b'\'', b'\'', b'\'', ..]) => Some(3),
            (Quote::Angle, [0xc2, 0xbb, ..]) | (Quote::Acute, [0xc2, 0xb4, ..]) => Some(2),
            _ => None,
        }
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
            Quote::Curly | Quote::CurlySingle | Quote::AngleSingle | Quote::Prime | Quote::Heavy => 0xe2,
            Quote::Angle | Quote::Acute => 0xc2,
            Quote::Corner | Quote::CornerDouble | Quote::Reversed => 0xe3,
            Quote::Wide | Quote::WideSingle | Quote::HalfCorner => 0xef,
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
    if bytes.first().is_some_and(|first| first.is_ascii() && !b"\"'`&".contains(first)) {
        return None;
    }
    let closes = || {
        [Quote::Angle, Quote::AngleSingle, Quote::Corner, Quote::CornerDouble, Quote::HalfCorner].into_iter()
    };
    let opening = Quote::opening(bytes).map(|(_, len)| len);
    opening.or_else(|| closes().find_map(|quote| quote.closing(bytes)))
}
