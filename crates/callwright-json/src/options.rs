//! The caller's knowledge of a text besides its schema.

use crate::Fuel;

/// The caller's knowledge of the text besides the schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'f> {
    /// The text may be cut at its end, so no closing bracket is added there.
    pub cut: bool,
    /// The text ended by itself: its last number is whole, `{"a": 30`, where a cut one may begin `300`.
    pub ended: bool,
    /// The value is an element of an open list around it: `, {` behind it begins the next one, `]` ends the
    /// list.
    pub listed: bool,
    /// A quote before the value is closed behind it, so that a quote there belongs to no string of the value.
    pub quoted: bool,
    /// Readings share this fuel; a broken text has no reading once it is spent.
    pub fuel: Option<&'f Fuel>,
}

/// The beginning of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A value: `{`, `[`, a quote, a word, ….
    Value,
    /// The `(` of a call expression, whose arguments are read into an object: `(a=1, b='x')`.
    Arguments,
    /// The inside of an object whose opening bracket is missing: `"a": 1}`.
    Members,
}

impl Start {
    pub(crate) fn is_arguments(self) -> bool {
        self == Start::Arguments
    }
}
