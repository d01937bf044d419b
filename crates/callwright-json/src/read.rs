//! The door: a text goes in, its readings come out.

use alloc::{borrow::Cow, vec, vec::Vec};

use crate::{Class, Guide, Repair, Span, Tree, Value, repair, strict};

/// Reads `text` as one JSON value, however badly it is written.
///
/// ```
/// use callwright_json::{AnyValue, read};
///
/// let parse = read(r#"{"content": "He said "hello""}"#, &AnyValue);
/// let reading = parse.settled().unwrap();
/// assert_eq!(reading.text, r#"{"content": "He said \"hello\""}"#);
/// ```
pub fn read<'t>(text: &'t str, guide: &dyn Guide) -> Parse<'t> {
    read_with(text, guide, &Options::default())
}

/// What the caller knows about the text besides the schema.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The text may have been cut off at its end: no closing bracket is added there.
    pub cut: bool,
}

/// Like [`read`], with options.
pub fn read_with<'t>(text: &'t str, _guide: &dyn Guide, _options: &Options) -> Parse<'t> {
    match strict(text) {
        Ok(tree) => Parse {
            readings: vec![Reading { text: Cow::Borrowed(text), tree, repairs: Vec::new() }],
            diagnostics: Vec::new(),
        },
        Err(at) => Parse {
            readings: Vec::new(),
            diagnostics: vec![Diagnostic { problem: Problem::Unreadable, at: Span::at(at) }],
        },
    }
}

/// All that a text can mean at the least cost.
#[derive(Clone, Debug, Default)]
pub struct Parse<'t> {
    /// None when the text is broken, one when it is settled, several when they tie.
    pub readings: Vec<Reading<'t>>,
    /// Why there is not exactly one reading.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'t> Parse<'t> {
    /// The reading, when there is exactly one.
    pub fn settled(&self) -> Option<&Reading<'t>> {
        match self.readings.as_slice() {
            [reading] => Some(reading),
            _ => None,
        }
    }
}

/// One way to read a text.
#[derive(Clone, Debug)]
pub struct Reading<'t> {
    /// The value as strict JSON: `apply(source, &repairs)`. Borrowed when the source is strict already.
    pub text: Cow<'t, str>,
    /// Where the values stand in `text`.
    pub tree: Tree,
    /// The edits of the source that make it so, in order, none overlapping.
    pub repairs: Vec<Repair>,
}

impl Reading<'_> {
    /// The value.
    pub fn value(&self) -> Value<'_> {
        self.tree.root(&self.text)
    }

    /// The worst class among the repairs.
    pub fn class(&self) -> Class {
        repair::class_of(&self.repairs)
    }
}

/// Why a text has no settled reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub problem: Problem,
    /// The suspect place in the source.
    pub at: Span,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// There is no value in it at all.
    NoValue,
    /// No way of reading it leads to a value.
    Unreadable,
    /// It ends inside a value; the span begins where that value, or the string that is open, begins.
    Truncated,
    /// It can be read in several ways that cost the same.
    Ambiguous,
    /// It holds several different values.
    SeveralValues,
    /// One key stands twice with different values.
    DuplicateKey,
    /// It is nested too deeply, too long, or has too many readings to look at.
    Limit,
    /// It holds `NaN` or `Infinity`, which JSON does not have.
    NotANumber,
    /// It holds an escape whose meaning is open: `\$`, `` \` ``.
    OpenEscape,
}
