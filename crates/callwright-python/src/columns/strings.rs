//! Reads a column of strings in any of Arrow's layouts for them.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::{ArrowError, DataType};
use pyo3_arrow::ffi::ArrayReader;

/// A whole column, chunk by chunk.
pub(super) struct Column {
    chunks: Vec<Strings>,
}

enum Strings {
    Short(StringArray),
    Long(LargeStringArray),
    Views(StringViewArray),
    /// Each row is an index into the values.
    Numbered(Vec<usize>, Box<Strings>, ArrayRef),
    /// A number of nulls.
    Nulls(usize),
}

/// The rows of a column, in order.
pub(super) struct Rows<'a> {
    chunks: &'a [Strings],
    at: usize,
}

impl Column {
    /// Reads a stream to its end.
    pub(super) fn read(reader: Box<dyn ArrayReader + Send>) -> Result<Column, ArrowError> {
        let chunks = reader.map(|chunk| Strings::of(&chunk?));
        Ok(Column { chunks: chunks.collect::<Result<_, _>>()? })
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(Strings::len).sum()
    }

    pub(super) fn rows(&self) -> Rows<'_> {
        Rows { chunks: &self.chunks, at: 0 }
    }
}

impl Rows<'_> {
    /// Returns no rows.
    pub(super) fn none() -> Self {
        Rows { chunks: &[], at: 0 }
    }
}

impl<'a> Iterator for Rows<'a> {
    type Item = Option<&'a str>;

    fn next(&mut self) -> Option<Option<&'a str>> {
        while let Some((chunk, rest)) = self.chunks.split_first() {
            if self.at < chunk.len() {
                self.at += 1;
                return Some(chunk.get(self.at - 1));
            }
            (self.chunks, self.at) = (rest, 0);
        }
        None
    }
}

impl Strings {
    fn of(array: &ArrayRef) -> Result<Strings, ArrowError> {
        match array.data_type() {
            DataType::Utf8 => Ok(Strings::Short(array.as_string().clone())),
            DataType::LargeUtf8 => Ok(Strings::Long(array.as_string().clone())),
            DataType::Utf8View => Ok(Strings::Views(array.as_string_view().clone())),
            DataType::Null => Ok(Strings::Nulls(array.len())),
            DataType::Dictionary(_, _) => {
                let numbered = array.as_any_dictionary();
                let values = Strings::of(numbered.values())?;
                if values.len() == 0 {
                    return Ok(Strings::Nulls(array.len()));
                }
                Ok(Strings::Numbered(numbered.normalized_keys(), Box::new(values), array.clone()))
            }
            other => Err(ArrowError::InvalidArgumentError(format!("this one is of type {other}"))),
        }
    }

    fn len(&self) -> usize {
        match self {
            Strings::Short(array) => array.len(),
            Strings::Long(array) => array.len(),
            Strings::Views(array) => array.len(),
            Strings::Numbered(keys, _, _) => keys.len(),
            Strings::Nulls(n) => *n,
        }
    }

    fn get(&self, row: usize) -> Option<&str> {
        match self {
            Strings::Short(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Long(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Views(array) => array.is_valid(row).then(|| array.value(row)),
            Strings::Numbered(keys, values, array) => {
                array.is_valid(row).then(|| values.get(*keys.get(row)?)).flatten()
            }
            Strings::Nulls(_) => None,
        }
    }
}
