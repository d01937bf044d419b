//! Writes the messages that follow an answer in a conversation: the model's own, the results, and the errors.
//!
//! The form is that of OpenAI's API. A server takes a history only where each call has arguments that are an object, a
//! name, and an answer to its id, so that a refused call which is not like that stands among the model's words.

use callwright_json::{is_object, quote};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::call::{Call, function_call, made_id};
use crate::refusal::Refusal;
use crate::value::dumps;

/// The name of the dialect of native calls.
const NATIVE: &str = "native";

/// Returns the messages after an answer with these words and verdicts, whose calls had these results.
///
/// # Errors
/// Raises a `ValueError` unless there are as many results as calls, or none.
pub(crate) fn after<'py>(
    py: Python<'py>,
    words: &str,
    verdicts: &[Py<PyAny>],
    results: Vec<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let verdicts = verdicts.iter().map(|verdict| verdict.bind(py));
    let n_calls = verdicts.clone().filter(|verdict| verdict.is_instance_of::<Call>()).count();
    if !results.is_empty() && results.len() != n_calls {
        let n_results = results.len();
        return Err(PyValueError::new_err(format!("there are {n_results} results for {n_calls} calls")));
    }
    let mut results = results.into_iter();
    let (mut said, mut errors) = (Vec::from_iter((!words.is_empty()).then(|| words.to_owned())), Vec::new());
    let (mut calls, mut answers) = (Vec::new(), Vec::new());
    for verdict in verdicts {
        if let Ok(call) = verdict.cast::<Call>() {
            let call = call.get();
            calls.push(call.to_openai(py, None)?);
            if let Some(result) = results.next() {
                answers.push(answer(py, &call.tool_call_id, content(py, result)?)?);
            }
        } else if let Ok(refusal) = verdict.cast::<Refusal>() {
            let refusal = refusal.get();
            match refusal.name.as_deref().filter(|name| refusal.dialect == NATIVE && !name.is_empty()) {
                Some(name) => {
                    let id = refusal.id.clone().unwrap_or_else(|| {
                        let number = refusal.number.to_string();
                        let texts = [words, name, &refusal.block, &number];
                        made_id(&texts.map(str::as_bytes))
                    });
                    calls.push(function_call(py, &id, name, &arguments(&refusal.block))?);
                    answers.push(answer(py, &id, PyString::new(py, &refusal.feedback).into_any())?);
                }
                None => {
                    said.push(refusal.block.clone());
                    errors.push(refusal.feedback.clone());
                }
            }
        }
    }
    let mut messages = vec![spoken(py, &said, calls)?];
    messages.extend(answers);
    if !errors.is_empty() {
        messages.push(message(py, "user", PyString::new(py, &errors.join("\n\n")).into_any())?);
    }
    Ok(messages)
}

/// Returns the model's own message.
fn spoken<'py>(
    py: Python<'py>,
    said: &[String],
    calls: Vec<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyDict>> {
    let said = said.join("\n");
    let has_words = !said.trim().is_empty();
    let content = match (has_words, calls.is_empty()) {
        (true, _) => PyString::new(py, &said).into_any(),
        // Servers refuse a turn with neither words nor calls.
        (false, true) => PyString::new(py, "…").into_any(),
        (false, false) => py.None().into_bound(py),
    };
    let own = message(py, "assistant", content)?;
    if !calls.is_empty() {
        own.set_item("tool_calls", PyList::new(py, calls)?)?;
    }
    Ok(own)
}

fn answer<'py>(py: Python<'py>, id: &str, content: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("role", "tool")?;
    answer.set_item("tool_call_id", id)?;
    answer.set_item("content", content)?;
    Ok(answer)
}

fn message<'py>(py: Python<'py>, role: &str, content: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let message = PyDict::new(py);
    message.set_item("role", role)?;
    message.set_item("content", content)?;
    Ok(message)
}

/// Returns a result as the content of a message.
fn content<'py>(py: Python<'py>, result: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match result.is_instance_of::<PyString>() {
        true => Ok(result),
        false => Ok(PyString::new(py, &dumps(py, &result)?).into_any()),
    }
}

/// Returns the arguments of a refused call in a form that servers take: an object of strict JSON.
fn arguments(block: &str) -> String {
    match block.trim() {
        "" | "null" | "[]" => String::from("{}"),
        object if is_object(object) => object.to_owned(),
        // What cannot be read is kept, under a name of its own.
        other => format!("{{\"unreadable_arguments\": {}}}", quote(other)),
    }
}
