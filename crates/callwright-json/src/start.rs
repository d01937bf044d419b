//! Where reading begins, for a caller that knows it.

/// How the text begins.
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
