//! Repairs one JSON text, or refuses it with an exception.

use std::hash::{Hash, Hasher};

use callwright_json::{Tree, strict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::definitions::schema_of;
use crate::partial::Partial;
use crate::refusal::unhealed;
use crate::repair::{Coercion, Repair, class_of};
use crate::repr::Repr;
use crate::text::{Text, code_points};
use crate::value::{built, object};

/// A repaired text: strict JSON that fits the schema, with its repairs.
///
/// It can be made for tests too. Raises `ValueError` for a text that is not strict JSON.
#[pyclass(frozen, eq, hash, module = "callwright")]
pub(crate) struct Healed {
    text: String,
    tree: Tree,
    repairs: Vec<Repair>,
    coercions: Vec<Coercion>,
    /// The text ends before its value does: it lacked brackets there, or was cut.
    #[pyo3(get)]
    open_end: bool,
}

impl PartialEq for Healed {
    fn eq(&self, other: &Healed) -> bool {
        // The tree says where the values of the text are.
        let edits = (&self.repairs, &self.coercions, self.open_end);
        self.text == other.text && edits == (&other.repairs, &other.coercions, other.open_end)
    }
}

impl Eq for Healed {}

impl Hash for Healed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.text, &self.repairs, &self.coercions).hash(state);
    }
}

#[pymethods]
impl Healed {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("text", "value")
    }

    #[new]
    #[pyo3(signature = (text, *, repairs = Vec::new(), coercions = Vec::new(), open_end = false))]
    fn new(text: String, repairs: Vec<Repair>, coercions: Vec<Coercion>, open_end: bool) -> PyResult<Healed> {
        let no_json = |_| PyValueError::new_err("`text` is not strict JSON");
        let tree = strict(&text).map_err(no_json)?;
        Ok(Healed { text, tree, repairs, coercions, open_end })
    }

    /// Returns the strict JSON text; the source itself where that was right.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Returns the value of the text, a new one each time.
    ///
    /// Raises `Refused` where Python lacks the number, as for `1e400`; `text` has it.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        object(py, self.tree.root(&self.text))
    }

    /// Returns the repairs, in order; their places are code points of the source.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.repairs.iter().cloned())
    }

    /// Returns the values that were converted to the schema's type after the repairs.
    #[getter]
    fn coercions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.coercions.iter().cloned())
    }

    /// Returns the worst class of the repairs: `R0`, `R1` or `R2`.
    #[getter]
    fn repair_class(&self) -> &'static str {
        class_of(&self.repairs, !self.coercions.is_empty())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let class = self.repair_class();
        let repr = Repr::new(py, "Healed").field("text", self.text())?;
        Ok(repr.field_if(class != "R0", "repair_class", class)?.finish())
    }

    fn __getnewargs_ex__<'py>(&'py self, py: Python<'py>) -> PyResult<((&'py str,), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("repairs", self.repairs(py)?)?;
        named.set_item("coercions", self.coercions(py)?)?;
        named.set_item("open_end", self.open_end)?;
        Ok(((&self.text,), named))
    }
}

/// Makes strict JSON of one text that should be JSON: a call's arguments, or a whole answer.
///
/// `schema` is a dict, a JSON text, a `Schema`, or a type with hints. Readings that do not fit it do not
/// count, and values are converted to its types. `finish_reason` is the upstream's: after `length` nothing is closed.
///
/// Raises `Refused`, a `ValueError`, unless there is exactly one reading.
///
/// >>> healed = heal('{"path": "a.txt", "content": "He said "hi""}')
/// >>> healed.text
/// '{"path": "a.txt", "content": "He said \\"hi\\""}'
/// >>> [repair.kind for repair in healed.repairs]
/// ['escape-quote', 'escape-quote']
#[pyfunction]
#[pyo3(signature = (text, schema = None, *, finish_reason = None))]
pub(crate) fn heal(
    py: Python<'_>,
    text: Text,
    schema: Option<&Bound<'_, PyAny>>,
    finish_reason: Option<&str>,
) -> PyResult<Healed> {
    let healed = read(py, &text, schema, finish_reason)?;
    let repairs = match healed.repairs.as_slice() {
        [] => Vec::new(),
        repairs => Repair::all(repairs, &mut code_points(&text)),
    };
    let coercions = Coercion::all(&healed.coercions);
    let callwright::Healed { text, tree, open_end, .. } = healed;
    Ok(Healed { text, tree, repairs, coercions, open_end })
}

/// Returns the value of one text that should be JSON: a `json.loads` that repairs a text with one reading, and refuses
/// others. Arguments and errors are those of `heal`. Where `schema` is a type, the value is an instance of it.
///
/// >>> loads("{'city': 'Paris', days: 3,}")
/// {'city': 'Paris', 'days': 3}
/// >>> loads('{"cut": "of')
/// Traceback (most recent call last):
///     ...
/// callwright.Refused: Unterminated string starting at: line 1 column 9 (char 8)
#[pyfunction]
#[pyo3(signature = (text, schema = None, *, finish_reason = None))]
pub(crate) fn loads<'py>(
    py: Python<'py>,
    text: Text,
    schema: Option<&Bound<'py, PyAny>>,
    finish_reason: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let value = object(py, read(py, &text, schema, finish_reason)?.value())?;
    match schema {
        Some(source) => built(source, value),
        None => Ok(value),
    }
}

fn read(
    py: Python<'_>,
    text: &str,
    schema: Option<&Bound<'_, PyAny>>,
    finish_reason: Option<&str>,
) -> PyResult<callwright::Healed> {
    let schema = schema.map(schema_of).transpose()?;
    py.detach(|| callwright::heal(text, schema.as_deref(), finish_reason)).map_err(|reason| {
        let refused = unhealed(py, text, reason);
        // The text may be written further, and what is certain of it is worth having where it was cut.
        let partial = Partial::of(&callwright::partial(text, schema.as_deref(), None));
        match refused.value(py).setattr("partial", partial) {
            Ok(()) => refused,
            Err(error) => error,
        }
    })
}
