//! The caller's knowledge of a text besides its schema.

use crate::Fuel;

/// The caller's knowledge of the text besides the schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'f> {
    /// The text may have been cut off at its end: no closing bracket is added there.
    pub cut: bool,
    /// The text ended by itself: a number there is whole, `{"a": 30`, which may begin `300` elsewhere.
    pub ended: bool,
    /// The value is an element of a list that is open around it: `, {` behind it begins the next one, `]` ends the list.
    pub listed: bool,
    /// A quote in front of the value is closed behind it, so that a quote there belongs to no string of the value.
    pub quoted: bool,
    /// Reading spends of this fuel, and a broken text has no reading where none is left.
    pub fuel: Option<&'f Fuel>,
}

/// The way in which the text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With a value: `{`, `[`, a quote, a word, ….
    Value,
    /// With the `(` of a call expression, whose arguments are read into an object: `(a=1, b='x')`.
    Arguments,
    /// With the `(` of a call expression that has nothing behind its `)`.
    ArgumentsAlone,
    /// Inside an object whose opening bracket is missing: `"a": 1}`.
    Members,
}

impl Start {
    pub(crate) fn is_arguments(self) -> bool {
        matches!(self, Start::Arguments | Start::ArgumentsAlone)
    }
}
