//! Converts JSON and Python values: from the engine's tree into objects, and from objects into a text for the engine.

use callwright_json::{Kind as JsonKind, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::definitions::Schema;
use crate::refusal::refused;

/// Builds the same object as `json.loads`, without another pass over a text.
///
/// The reader bounds the nesting by [`callwright_json::MAX_DEPTH`].
///
/// # Errors
/// Raises `Refused` where Python lacks the number: one beyond a double, or with more digits than `int` takes.
pub(crate) fn object<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value.kind() {
        JsonKind::Null => Ok(py.None().into_bound(py)),
        JsonKind::Bool => Ok(PyBool::new(py, value.raw() == "true").to_owned().into_any()),
        JsonKind::Number => number(py, value),
        JsonKind::String => string(py, value),
        JsonKind::Array => {
            let elements: PyResult<Vec<Bound<'py, PyAny>>> =
                value.elements().map(|element| object(py, element)).collect();
            Ok(PyList::new(py, elements?)?.into_any())
        }
        JsonKind::Object => {
            let members = PyDict::new(py);
            for (key, member) in value.members() {
                members.set_item(string(py, key)?, object(py, member)?)?;
            }
            Ok(members.into_any())
        }
    }
}

fn string<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    let text = value.as_str().unwrap_or_default();
    // Half a surrogate pair has no UTF-8, but Python's strings can hold it.
    if text.contains(char::REPLACEMENT_CHARACTER) && value.has_lone_surrogate() {
        return json(py)?.call_method1("loads", (value.raw(),));
    }
    Ok(PyString::new(py, &text).into_any())
}

fn number<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    let raw = value.raw();
    if let Ok(small) = raw.parse::<i64>() {
        return Ok(small.into_pyobject(py)?.into_any());
    }
    if !raw.contains(['.', 'e', 'E']) {
        // Python bounds the digits of a number.
        let large = py.get_type::<PyInt>().call1((raw,));
        return large.map_err(|_| no_such_number(py, value, "int takes no number of so many digits"));
    }
    match raw.parse::<f64>() {
        Ok(double) if double.is_finite() => Ok(PyFloat::new(py, double).into_any()),
        _ => Err(no_such_number(py, value, "it is beyond what a float can hold")),
    }
}

fn no_such_number(py: Python<'_>, value: Value<'_>, why: &str) -> PyErr {
    let raw = value.raw();
    let shown = raw.get(..40).map_or_else(|| raw.to_owned(), |start| format!("{start}…"));
    refused(py, "number", &format!("Python has no such number: {shown}: {why}"))
}

/// Returns the JSON text of a caller's schema, or of a tool or a list of them: a text as it is, JSON by `json.dumps`.
///
/// Types with hints, functions and the tools of other packages become JSON in `callwright._sources`, which is imported
/// only for them.
///
/// # Errors
/// Raises a `TypeError` or `ValueError` for an object without a JSON form.
pub(crate) fn definition(object: &Bound<'_, PyAny>, kind: Kind) -> PyResult<String> {
    if object.is_instance_of::<PyString>() {
        return object.extract();
    }
    let py = object.py();
    let is_json =
        |object: &Bound<'_, PyAny>| object.is_instance_of::<PyDict>() || object.is_instance_of::<PyBool>();
    let is_list = || object.cast::<PyList>().is_ok_and(|list| list.iter().all(|element| is_json(&element)));
    if kind == Kind::Records || is_json(object) || kind == Kind::Tools && is_list() {
        return dumps(py, object);
    }
    dumps(py, &sources(py)?.call_method1("definition", (object, kind == Kind::Tools))?)
}

/// The kind of a definition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Schema,
    Tools,
    /// JSON alone.
    Records,
}

/// Returns the instance that `value` is by the type `source`, where that is one.
///
/// # Errors
/// Raises `Refused` where a validator of the type does not take the value.
pub(crate) fn built<'py>(
    source: &Bound<'py, PyAny>,
    value: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_json = source.is_instance_of::<PyDict>()
        || source.is_instance_of::<PyString>()
        || source.is_instance_of::<PyBool>()
        || source.is_instance_of::<Schema>();
    if is_json {
        return Ok(value);
    }
    sources(source.py())?.call_method1("build", (source, value))
}

fn sources(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static SOURCES: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || py.import("callwright._sources").map(|sources| sources.into_any().unbind());
    Ok(SOURCES.get_or_try_init(py, import)?.bind(py))
}

/// Returns the JSON text of `object`.
pub(crate) fn dumps(py: Python<'_>, object: &Bound<'_, PyAny>) -> PyResult<String> {
    let how = PyDict::new(py);
    how.set_item("ensure_ascii", false)?;
    how.set_item("allow_nan", false)?;
    let text = json(py)?.call_method("dumps", (object,), Some(&how))?;
    text.extract().map_err(|error: PyErr| PyTypeError::new_err(error.to_string()))
}

fn json(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static JSON: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(JSON.get_or_try_init(py, || py.import("json").map(|json| json.into_any().unbind()))?.bind(py))
}
