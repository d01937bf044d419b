//! Converts JSON and Python values: from the engine's tree into objects, and from objects into a text for the engine.

use callwright_json::{Kind, Value};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::refusal::refused;

/// Builds the same object as `json.loads`, without another pass over a text.
///
/// The reader bounds the nesting by [`callwright_json::MAX_DEPTH`].
///
/// # Errors
/// Raises `Refused` where Python lacks the number: one beyond a double, or with more digits than `int` takes.
pub(crate) fn object<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    match value.kind() {
        Kind::Null => Ok(py.None().into_bound(py)),
        Kind::Bool => Ok(PyBool::new(py, value.raw() == "true").to_owned().into_any()),
        Kind::Number => number(py, value),
        Kind::String => string(py, value),
        Kind::Array => {
            let elements: PyResult<Vec<Bound<'py, PyAny>>> =
                value.elements().map(|element| object(py, element)).collect();
            Ok(PyList::new(py, elements?)?.into_any())
        }
        Kind::Object => {
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

/// Returns the JSON text of a caller's definition: a text as it is, any other object by `json.dumps`.
///
/// A class with `model_json_schema`, such as pydantic's, stands for its schema.
///
/// # Errors
/// Raises a `TypeError` or `ValueError` for an object without a JSON form.
pub(crate) fn definition(object: &Bound<'_, PyAny>) -> PyResult<String> {
    if object.is_instance_of::<PyString>() {
        return object.extract();
    }
    let py = object.py();
    if let Ok(schema) = object.getattr("model_json_schema") {
        return definition(&schema.call0()?);
    }
    dumps(py, object)
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
