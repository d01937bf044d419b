//! Wraps a right call, and one that the text only shows.

use callwright::Places;
use callwright_json::strict;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::repair::{Coercion, Repair};
use crate::repr::Repr;
use crate::text::code_points;
use crate::value::object;

/// A right call: of a declared tool, with arguments that fit its schema and have one reading.
///
/// `arguments` is the value, `arguments_json` its strict JSON text, byte for byte the model's where that was valid. A
/// native call's repairs are places in its own arguments; `start` and `end` are places in the answer's text, markup
/// included.
///
/// Ask before it runs where `unsure`, `open_end` or `unchecked` is true: it may be shown rather than made, the answer
/// may end before the call does, or a full check against its schema would take too much work.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Call {
    /// The upstream's id of the call.
    #[pyo3(get)]
    id: Option<String>,
    /// The declared name.
    #[pyo3(get)]
    name: String,
    /// The arguments as strict JSON text.
    #[pyo3(get)]
    arguments_json: String,
    /// The name of the call's dialect.
    #[pyo3(get)]
    dialect: String,
    /// The start of the call in the text, in code points.
    #[pyo3(get)]
    start: usize,
    /// The end of the call.
    #[pyo3(get)]
    end: usize,
    /// The worst class of its repairs: `R0`, `R1` or `R2`.
    #[pyo3(get)]
    repair_class: &'static str,
    /// The name that the model wrote, if that was another one.
    #[pyo3(get)]
    renamed_from: Option<String>,
    /// The call's place beside the words: `above`, `below`, `line`, `between`, `sentence`.
    #[pyo3(get)]
    beside_prose: Option<&'static str>,
    /// The model may show the call rather than make it.
    #[pyo3(get)]
    unsure: bool,
    /// The answer ends before the call does, so more could have followed.
    #[pyo3(get)]
    open_end: bool,
    /// A full check against the schema would take more work than a check may do.
    #[pyo3(get)]
    unchecked: bool,
    repairs: Vec<Repair>,
    coercions: Vec<Coercion>,
    arguments: PyOnceLock<Py<PyAny>>,
}

impl Call {
    /// Wraps a call; `text` has the places of the answer, `source` is the text that the call was read from.
    pub(crate) fn of(call: &callwright::Acceptance, text: &mut Places<'_>, source: Option<&str>) -> Call {
        let (start, end) = text.pair(call.span);
        let repairs = match source {
            Some(source) => Repair::all(&call.repairs, &mut code_points(source)),
            None => Repair::all(&call.repairs, text),
        };
        Call {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments_json: call.arguments.clone(),
            dialect: call.dialect.to_string(),
            start,
            end,
            repair_class: call.class().code(),
            renamed_from: call.renamed_from.clone(),
            beside_prose: call.beside_prose.map(callwright::BesideProse::name),
            unsure: call.unsure,
            open_end: call.open_end,
            unchecked: call.unchecked,
            repairs,
            coercions: Coercion::all(&call.coercions),
            arguments: PyOnceLock::new(),
        }
    }
}

#[pymethods]
impl Call {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("name", "arguments")
    }

    /// Returns the arguments as a dict.
    ///
    /// Raises `Refused` where Python lacks the number, as for `1e400`; `arguments_json` has it.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let build = || {
            let text = &self.arguments_json;
            // INVARIANT: an accepted call has strict JSON.
            let tree = strict(text).unwrap_or_default();
            object(py, tree.root(text)).map(Bound::unbind)
        };
        Ok(self.arguments.get_or_try_init(py, build)?.bind(py).clone())
    }

    /// Returns the repairs, in order.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.repairs.iter().cloned())
    }

    /// Returns the values that were converted to the schema's type.
    #[getter]
    fn coercions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.coercions.iter().cloned())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Call").field_if(self.id.is_some(), "id", &self.id)?;
        let repr = repr.field("name", &self.name)?;
        let repr = match self.arguments(py) {
            Ok(arguments) => repr.field("arguments", arguments)?,
            Err(_) => repr.field("arguments_json", &self.arguments_json)?,
        };
        let repr = repr.field_if(self.repair_class != "R0", "repair_class", self.repair_class)?;
        let repr = repr.field_if(self.unsure, "unsure", true)?;
        let repr = repr.field_if(self.open_end, "open_end", true)?;
        Ok(repr.field_if(self.unchecked, "unchecked", true)?.finish())
    }
}

/// A call that the text only shows: it stays in the text, at `start:end`.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shown {
    /// The tool that it names, as far as the name is readable.
    name: Option<String>,
    /// The name of its dialect.
    dialect: String,
    /// The start in the text, in code points.
    start: usize,
    /// The end.
    end: usize,
    /// The reason why it counts as shown: `fence`, `indent`, `prefix`, `element`, `pair`, `line`, `sentence`,
    /// `between`, `other_form`, `repeat`, `unsure`.
    by: &'static str,
    /// The reason, as the end of a sentence.
    message: String,
}

impl Shown {
    pub(crate) fn of(shown: &callwright::ShownCall, text: &mut Places<'_>) -> Shown {
        let (start, end) = text.pair(shown.span);
        Shown {
            name: shown.name.clone(),
            dialect: shown.dialect.to_string(),
            start,
            end,
            by: shown.by.name(),
            message: shown.by.to_string(),
        }
    }
}

#[pymethods]
impl Shown {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Shown").field("name", &self.name)?.field("by", self.by)?;
        Ok(repr.field("start", self.start)?.field("end", self.end)?.finish())
    }
}
