//! Wraps a whole answer: its calls, refusals and text.

use callwright::{NativeCall, Places, Report, Verdict};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::call::{Call, Shown};
use crate::definitions::{Dialects, tools_of};
use crate::options::{self, Options};
use crate::refusal::Refusal;
use crate::repr::Repr;
use crate::text::{Text, code_points};
use crate::value::dumps;

/// The result of reading one answer of a model.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Outcome {
    outcome: callwright::Outcome,
    source: Text,
    native: Vec<Native>,
    verdicts: PyOnceLock<Vec<Py<PyAny>>>,
}

/// A native call, as the server sent it.
#[derive(Default)]
pub(crate) struct Native {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Native {
    fn borrowed(&self) -> NativeCall<'_> {
        NativeCall { id: self.id.as_deref(), name: &self.name, arguments: &self.arguments }
    }
}

impl Outcome {
    pub(crate) fn new(outcome: callwright::Outcome, source: Text, native: Vec<Native>) -> Outcome {
        Outcome { outcome, source, native, verdicts: PyOnceLock::new() }
    }

    fn all(&self, py: Python<'_>) -> PyResult<&[Py<PyAny>]> {
        let build = || {
            let mut places = code_points(&self.source);
            let mut native = self.native.iter().map(|native| native.arguments.as_str());
            let verdicts = self.outcome.verdicts.iter().map(|verdict| {
                let source = verdict.is_native().then(|| native.next()).flatten();
                wrapped(py, verdict, &mut places, source)
            });
            verdicts.collect::<PyResult<Vec<_>>>()
        };
        Ok(self.verdicts.get_or_try_init(py, build)?)
    }

    fn only<'py>(
        &self,
        py: Python<'py>,
        is_wanted: impl Fn(&Verdict) -> bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let pairs = self.all(py)?.iter().zip(&self.outcome.verdicts);
        let wanted: Vec<&Py<PyAny>> =
            pairs.filter(|(_, verdict)| is_wanted(verdict)).map(|(wrapped, _)| wrapped).collect();
        PyTuple::new(py, wanted)
    }
}

/// Wraps a verdict for Python: a `Call` or a `Refusal`. A native call was read from `source`, its own arguments.
pub(crate) fn wrapped(
    py: Python<'_>,
    verdict: &Verdict,
    text: &mut Places<'_>,
    source: Option<&str>,
) -> PyResult<Py<PyAny>> {
    Ok(match verdict {
        Verdict::Accepted(call) => Py::new(py, Call::of(call, text, source))?.into_any(),
        Verdict::Refused(refusal) => Py::new(py, Refusal::of(refusal, text))?.into_any(),
    })
}

#[pymethods]
impl Outcome {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("text", "calls", "refusals")
    }

    /// Returns the model's words besides its calls, without markup.
    #[getter]
    fn text(&self) -> &str {
        &self.outcome.text
    }

    /// Returns the model's reasoning, where it is marked.
    #[getter]
    fn reasoning(&self) -> &str {
        &self.outcome.reasoning
    }

    /// Returns the right calls, in their order.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.only(py, |verdict| matches!(verdict, Verdict::Accepted(_)))
    }

    /// Returns the calls that may not run, in their order.
    #[getter]
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.only(py, |verdict| matches!(verdict, Verdict::Refused(_)))
    }

    /// Returns both, in the order in which the model made them.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.all(py)?)
    }

    /// Returns the calls that the text only shows; they are part of `text`.
    #[getter]
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let mut places = code_points(&self.source);
        let shown: Vec<Shown> =
            self.outcome.shown.iter().map(|shown| Shown::of(shown, &mut places)).collect();
        PyTuple::new(py, shown)
    }

    /// Returns the versioned report as JSON text: the line that `callwright parse --json` writes. Its places are bytes
    /// of UTF-8.
    fn report(&self) -> PyResult<String> {
        let native: Vec<NativeCall<'_>> = self.native.iter().map(Native::borrowed).collect();
        let report = Report::of(&self.outcome, &self.source, &native);
        serde_json::to_string(&report).map_err(|error| PyTypeError::new_err(error.to_string()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Outcome").field("text", self.text())?;
        let repr = repr.field_if(!self.reasoning().is_empty(), "reasoning", self.reasoning())?;
        let repr = repr.field("calls", self.calls(py)?)?;
        let refusals = self.refusals(py)?;
        Ok(repr.field_if(!refusals.is_empty(), "refusals", refusals)?.finish())
    }
}

/// Finds the calls in one whole answer.
///
/// `text` is the answer's text and `tools` a `ToolSet` or definitions.
///
/// `native` are the server's native calls: a list of `{"id", "name", "arguments"}` or of OpenAI's
/// `{"id", "function": {"name", "arguments"}}`, dicts or objects. With `native`, even an empty list, only explicit
/// forms in the text are calls, as for a server that knows tools (`native_mode`).
///
/// `finish_reason` is the upstream's. `asked` names the dialect that a prompt asked for. `tool_choice` is the
/// request's: JSON without a name is a call only where it leaves one tool. `starts_in_reasoning` says that the text
/// begins inside a thought.
///
/// `policy` is `auto`, `heal`, `feedback` or `strict`, `calls_in_reasoning` is `ignore`, `unclosed` or `accept`. With
/// `unsure_is_text`, calls that may only be shown stay text; with `doubt_open_ends`, calls that end too early are
/// refused even where a repair is possible.
///
/// No text of a model raises an exception: broken calls are among the outcome's `refusals`.
///
/// >>> outcome = parse("Sure. <tool_call>{'name': 'ping', 'arguments': {}}</tool_call>", [{"name": "ping"}])
/// >>> outcome
/// Outcome(text='Sure.', calls=(Call(name='ping', arguments={}, repair_class='R1'),))
#[pyfunction]
#[pyo3(signature = (
    text, tools, native = None, finish_reason = None, *, native_mode = None, asked = None, tool_choice = None,
    starts_in_reasoning = false, policy = "auto", calls_in_reasoning = "unclosed", dialects = None,
    unsure_is_text = false, doubt_open_ends = false
))]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn parse(
    py: Python<'_>,
    text: Text,
    tools: &Bound<'_, PyAny>,
    native: Option<&Bound<'_, PyAny>>,
    finish_reason: Option<String>,
    native_mode: Option<bool>,
    asked: Option<String>,
    tool_choice: Option<&Bound<'_, PyAny>>,
    starts_in_reasoning: bool,
    policy: &str,
    calls_in_reasoning: &str,
    dialects: Option<&Dialects>,
    unsure_is_text: bool,
    doubt_open_ends: bool,
) -> PyResult<Outcome> {
    let tools = tools_of(tools)?;
    let options = Options {
        finish_reason,
        native_mode: native_mode.unwrap_or(native.is_some() && asked.is_none()),
        tool_choice: options::tool_choice(tool_choice)?,
        starts_in_reasoning,
        unsure_is_text,
        doubt_open_ends,
        ..Options::new(policy, calls_in_reasoning, dialects, asked)?
    };
    let native = native.map_or_else(|| Ok(Vec::new()), native_calls)?;
    let outcome = py.detach(|| {
        let calls: Vec<NativeCall<'_>> = native.iter().map(Native::borrowed).collect();
        callwright::parse(&tools, &text, &calls, &options.context())
    });
    Ok(Outcome::new(outcome, text, native))
}

fn native_calls(calls: &Bound<'_, PyAny>) -> PyResult<Vec<Native>> {
    calls.try_iter()?.map(|call| native_call(&call?)).collect()
}

fn native_call(call: &Bound<'_, PyAny>) -> PyResult<Native> {
    let function = member(call, "function")?.unwrap_or_else(|| call.clone());
    let text = |value: Option<Bound<'_, PyAny>>, key: &str| match value {
        None => Ok(None),
        Some(value) => value
            .extract::<String>()
            .map(Some)
            .map_err(|_| PyTypeError::new_err(format!("`{key}` of a native call must be a str"))),
    };
    let arguments = match member(&function, "arguments")? {
        None => String::new(),
        Some(text) if text.is_instance_of::<PyString>() => text.extract()?,
        // Servers differ: they send JSON text in a string, or the object itself.
        Some(object) => dumps(call.py(), &object)?,
    };
    Ok(Native {
        id: text(member(call, "id")?, "id")?,
        name: text(member(&function, "name")?, "name")?.unwrap_or_default(),
        arguments,
    })
}

/// Returns the member of a dict, or the attribute of an object, unless it is missing or `None`.
fn member<'py>(of: &Bound<'py, PyAny>, key: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let member = match of.cast::<PyDict>() {
        Ok(dict) => dict.get_item(key)?,
        Err(_) => of.getattr_opt(key)?,
    };
    Ok(member.filter(|member| !member.is_none()))
}
