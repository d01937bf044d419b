//! Tells the certain part of a text that is still being written.

use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::definitions::schema_of;
use crate::repr::Repr;
use crate::text::Text;
use crate::value::object;

/// The certain part of a value that is being written.
///
/// `value` is the value so far, and `None` as long as nothing of it is certain (`text` is empty then). `complete` are the
/// JSON pointers of the values that are complete, each with all that is in it; that of the whole is `""`.
#[pyclass(frozen, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Partial {
    /// The value so far as strict JSON.
    #[pyo3(get)]
    text: String,
    complete: Vec<String>,
}

impl Partial {
    pub(crate) fn of(partial: &callwright::Partial) -> Partial {
        Partial { text: partial.text().to_owned(), complete: partial.complete() }
    }
}

#[pymethods]
impl Partial {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("value", "complete")
    }

    #[new]
    fn new(text: String, complete: Vec<String>) -> Partial {
        Partial { text, complete }
    }

    /// Returns the value so far, a new object each time.
    ///
    /// Raises `Refused` where Python lacks a number in it; `text` has it.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        // INVARIANT: the text is strict JSON, or empty.
        match callwright_json::strict(&self.text) {
            Ok(tree) => object(py, tree.root(&self.text)).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Returns the pointers of the values that are complete.
    #[getter]
    fn complete<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.complete)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Partial").field("text", &self.text)?;
        Ok(repr.field("complete", self.complete(py)?)?.finish())
    }

    fn __getnewargs__(&self) -> (&str, Vec<String>) {
        (&self.text, self.complete.clone())
    }
}

/// A call that is being written: what is certain of it before its verdict. Nothing of it may run.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PartialCall {
    /// The upstream's id of a native call.
    id: Option<String>,
    /// The declared name.
    name: String,
    /// The arguments so far.
    arguments: Partial,
}

impl PartialCall {
    pub(crate) fn of(call: callwright::PartialCall) -> PartialCall {
        PartialCall { id: call.id, name: call.name, arguments: Partial::of(&call.arguments) }
    }
}

#[pymethods]
impl PartialCall {
    #[new]
    #[pyo3(signature = (id, name, arguments))]
    fn new(id: Option<String>, name: String, arguments: &Bound<'_, Partial>) -> PartialCall {
        PartialCall { id, name, arguments: arguments.get().clone() }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "PartialCall").field_if(self.id.is_some(), "id", &self.id)?;
        Ok(repr.field("name", &self.name)?.field("arguments", self.arguments.clone())?.finish())
    }

    fn __getnewargs__(&self) -> (Option<&str>, &str, Partial) {
        (self.id.as_deref(), &self.name, self.arguments.clone())
    }
}

/// Returns what is certain of the value in a JSON text that is still being written, whatever follows.
///
/// A string shows while it is written, a number once it is sure that it ended. What does not fit the `schema` is left
/// out, and all from the first sign on that is out of order. With a `finish_reason` the text is over: where it has one
/// reading, all of its value is there. A `Scanner` does the same for the call that is being written, and reads each
/// piece once.
///
/// >>> so_far = partial('{"city": "Paris", "days": [1, 2], "note": "Take an umb')
/// >>> so_far.value
/// {'city': 'Paris', 'days': [1, 2], 'note': 'Take an umb'}
/// >>> so_far.complete
/// ('/city', '/days')
#[pyfunction]
#[pyo3(signature = (text, schema = None, *, finish_reason = None))]
pub(crate) fn partial(
    py: Python<'_>,
    text: Text,
    schema: Option<&Bound<'_, PyAny>>,
    finish_reason: Option<&str>,
) -> PyResult<Partial> {
    let schema = schema.map(schema_of).transpose()?;
    Ok(py.detach(|| Partial::of(&callwright::partial(&text, schema.as_deref(), finish_reason))))
}
