//! The bound of a search: what it may spend before a text has too many readings to look at.

use core::ops::SubAssign;

/// What a search may still spend on a text, in units of some nanoseconds: what it takes to look at one byte with care. Each
/// way to read the text goes over the whole of it, so the ways share what there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fuel {
    left: i64,
    /// Were the places counted at which the text can be taken in two ways?
    is_counted: bool,
}

impl Fuel {
    pub(crate) fn of(text: &[u8]) -> Fuel {
        Fuel { left: 12 * text.len() as i64 + (1 << 17), is_counted: false }
    }

    /// Is there nothing left? At quotes, escapes, brackets and line breaks of `text` there is more to look at. They are counted
    /// when a search gets so far, which few do.
    pub(crate) fn is_spent(&mut self, text: &[u8]) -> bool {
        if self.left < 0 && !self.is_counted {
            let is_stop = |b: &&u8| **b < b' ' || b"\"'\\()[]{}".contains(b);
            self.left += 32 * text.iter().filter(is_stop).count() as i64;
            self.is_counted = true;
        }
        self.left < 0
    }
}

impl SubAssign<i64> for Fuel {
    fn sub_assign(&mut self, spent: i64) {
        self.left -= spent;
    }
}
