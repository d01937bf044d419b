//! Places in a text, in bytes.

use core::fmt;

/// A half-open range of bytes in a text: `start..end`.
///
/// Texts are limited to 4 GiB, so two `u32` are enough.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// The end, one past the last byte.
    pub end: u32,
}

impl Span {
    /// Creates the span `start..end`. Offsets past 4 GiB saturate; the doors refuse such texts before.
    pub fn new(start: usize, end: usize) -> Span {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    /// Creates the empty span at `at`, an insertion point.
    pub fn at(at: usize) -> Span {
        Span::new(at, at)
    }

    /// Returns the length in bytes.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Returns whether the span is an insertion point.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the span as a range, for slicing.
    pub fn range(self) -> core::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the text that the span covers, or `""` where it does not lie in `text` on character
    /// boundaries.
    pub fn of(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}
