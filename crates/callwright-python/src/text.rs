//! A text as Python hands it over, and its places as Python counts them.

use std::ops::Deref;

use callwright_json::Span;
use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyString;

/// A text: a `str`, whose memory is read where it is, or UTF-8 in `bytes`.
pub(crate) enum Text {
    /// A `str`.
    Python(PyBackedStr),
    /// What came as bytes, or in pieces.
    Owned(String),
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Python(text) => text,
            Text::Owned(text) => text,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    /// A `str` with half a surrogate pair is a `UnicodeEncodeError`, bytes that are no UTF-8 are a `UnicodeDecodeError`:
    /// both are a `ValueError` that names the place.
    fn extract(text: Borrowed<'_, 'py, PyAny>) -> PyResult<Text> {
        if text.is_instance_of::<PyString>() {
            return Ok(Text::Python(text.extract()?));
        }
        let Ok(bytes) = text.extract::<PyBackedBytes>() else {
            let kind = text.get_type().name()?;
            return Err(PyTypeError::new_err(format!("a text must be str or bytes, not {kind}")));
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(Text::Owned(text.to_owned())),
            Err(error) => Err(PyUnicodeDecodeError::new_err_from_utf8(text.py(), &bytes, error)),
        }
    }
}

/// Places of one text, asked for in order: bytes go in, code points come out.
///
/// Each place is counted from the one asked for before, so that all places of a text cost one pass.
pub(crate) struct Places<'t> {
    text: &'t str,
    is_ascii: bool,
    /// The place asked for last, in bytes and in code points.
    last: (usize, usize),
}

impl<'t> Places<'t> {
    pub(crate) fn of(text: &'t str) -> Places<'t> {
        Places { text, is_ascii: text.is_ascii(), last: (0, 0) }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The code points of `span`, which are a pair `start, end` as slices have them.
    pub(crate) fn pair(&mut self, span: Span) -> (usize, usize) {
        (self.at(span.start as usize), self.at(span.end as usize))
    }

    fn at(&mut self, byte: usize) -> usize {
        if self.is_ascii {
            return byte;
        }
        let (last, count) = self.last;
        let between = |from: usize, to: usize| self.text.get(from..to).map_or(0, |part| part.chars().count());
        let count = if last <= byte { count + between(last, byte) } else { count - between(byte, last) };
        self.last = (byte, count);
        count
    }
}
