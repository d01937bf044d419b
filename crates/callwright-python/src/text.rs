//! Takes a text from Python, and converts its places to Python's.

use std::ops::Deref;

use callwright::{Places, Unit};
use pyo3::exceptions::{PyTypeError, PyUnicodeDecodeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyString;

/// A text: a `str`, read in place, or UTF-8 in `bytes`.
pub(crate) enum Text {
    /// A `str`.
    Python(PyBackedStr),
    /// A text from bytes, or from pieces.
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

    /// Takes the text of a `str` or of bytes. It raises `UnicodeEncodeError` for half a surrogate pair, and
    /// `UnicodeDecodeError` for invalid UTF-8: both are a `ValueError` that names the place.
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

/// Returns the places of `text` in code points, as Python counts.
pub(crate) fn code_points(text: &str) -> Places<'_> {
    Places::new(text, Unit::CodePoints)
}
