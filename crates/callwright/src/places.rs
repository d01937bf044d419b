//! Places of a text as other languages count them.

use callwright_json::Span;

/// The unit in which a language counts the places of its strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Code points, as Python does.
    CodePoints,
    /// UTF-16 units, as JavaScript does.
    Utf16,
}

/// The places of one text, from bytes to units, for callers that ask in order.
///
/// Each place is counted from the last one, so that all places of a text cost one pass.
///
/// ```
/// use callwright::{Places, Unit};
///
/// let text = "ü😀{}";
/// let span = callwright_json::Span::new(6, 8);
/// assert_eq!(Places::new(text, Unit::CodePoints).pair(span), (2, 4));
/// assert_eq!(Places::new(text, Unit::Utf16).pair(span), (3, 5));
/// ```
#[derive(Debug)]
pub struct Places<'t> {
    text: &'t str,
    unit: Unit,
    is_ascii: bool,
    /// The last place, in bytes and in units.
    last: (usize, usize),
}

impl<'t> Places<'t> {
    /// Makes the places of `text` in `unit`s.
    pub fn new(text: &'t str, unit: Unit) -> Places<'t> {
        Places { text, unit, is_ascii: text.is_ascii(), last: (0, 0) }
    }

    /// Returns the text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the units of `span`, as the pair `start, end` of a slice.
    pub fn pair(&mut self, span: Span) -> (usize, usize) {
        (self.at(span.start as usize), self.at(span.end as usize))
    }

    fn at(&mut self, byte: usize) -> usize {
        if self.is_ascii {
            return byte;
        }
        let (last, count) = self.last;
        let between = |from: usize, to: usize| {
            let part = self.text.get(from..to).unwrap_or("");
            match self.unit {
                Unit::CodePoints => part.chars().count(),
                Unit::Utf16 => part.encode_utf16().count(),
            }
        };
        let count = if last <= byte { count + between(last, byte) } else { count - between(byte, last) };
        self.last = (byte, count);
        count
    }
}
