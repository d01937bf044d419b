//! Wraps a whole answer: its calls, refusals and text.

use callwright::{NativeCall, Places, Report, Verdict};
use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};

use crate::call::{Call, Shown};
use crate::definitions::{Dialects, tools_of};
use crate::messages;
use crate::options::{self, Options};
use crate::refusal::Refusal;
use crate::repr::Repr;
use crate::text::{Text, code_points};
use crate::value::dumps;

/// The result of reading one answer of a model.
///
/// It can be made for tests too, of `Call` and `Refusal`, and of `Shown`; `report` is then the text for `report()`.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Outcome {
    text: String,
    reasoning: String,
    parts: PyOnceLock<Parts>,
    source: Source,
}

/// The parts that are wrapped once, when somebody asks for them.
struct Parts {
    verdicts: Vec<Py<PyAny>>,
    shown: Vec<Shown>,
}

/// The origin of an outcome.
enum Source {
    Answer(Box<Answer>),
    /// Its parts, with the report if there is one.
    Parts(Option<String>),
}

struct Answer {
    outcome: callwright::Outcome,
    text: Text,
    native: Vec<Native>,
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
    pub(crate) fn new(outcome: callwright::Outcome, text: Text, native: Vec<Native>) -> Outcome {
        Outcome {
            text: outcome.text.clone(),
            reasoning: outcome.reasoning.clone(),
            parts: PyOnceLock::new(),
            source: Source::Answer(Box::new(Answer { outcome, text, native })),
        }
    }

    fn parts(&self, py: Python<'_>) -> PyResult<&Parts> {
        self.parts.get_or_try_init(py, || match &self.source {
            Source::Answer(answer) => answer.parts(py),
            // INVARIANT: the parts of such an outcome are set when it is made.
            Source::Parts(_) => Ok(Parts { verdicts: Vec::new(), shown: Vec::new() }),
        })
    }

    fn only<'py, T: PyTypeInfo>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let wanted = |verdict: &&Py<PyAny>| verdict.bind(py).is_instance_of::<T>();
        let wanted: Vec<&Py<PyAny>> = self.parts(py)?.verdicts.iter().filter(wanted).collect();
        PyTuple::new(py, wanted)
    }
}

impl Answer {
    fn parts(&self, py: Python<'_>) -> PyResult<Parts> {
        let mut places = code_points(&self.text);
        let mut native = self.native.iter().map(|native| native.arguments.as_str()).enumerate();
        let verdicts = self.outcome.verdicts.iter().map(|verdict| {
            let source = verdict.is_native().then(|| native.next()).flatten();
            wrapped(py, verdict, &mut places, source)
        });
        let verdicts = verdicts.collect::<PyResult<_>>()?;
        let mut places = code_points(&self.text);
        let shown = self.outcome.shown.iter().map(|shown| Shown::of(shown, &mut places));
        Ok(Parts { verdicts, shown: shown.collect() })
    }

    fn report(&self) -> PyResult<String> {
        let native: Vec<NativeCall<'_>> = self.native.iter().map(Native::borrowed).collect();
        let report = Report::of(&self.outcome, &self.text, &native);
        serde_json::to_string(&report).map_err(|error| PyTypeError::new_err(error.to_string()))
    }
}

/// Wraps a verdict for Python: a `Call` or a `Refusal`. A native call was read from its own arguments, which `source`
/// has with their number.
pub(crate) fn wrapped(
    py: Python<'_>,
    verdict: &Verdict,
    text: &mut Places<'_>,
    source: Option<(usize, &str)>,
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

    #[new]
    #[pyo3(signature = (text = "", reasoning = "", verdicts = Vec::new(), shown = Vec::new(), *, report = None))]
    fn made(
        py: Python<'_>,
        text: &str,
        reasoning: &str,
        verdicts: Vec<Py<PyAny>>,
        shown: Vec<Shown>,
        report: Option<String>,
    ) -> PyResult<Outcome> {
        for verdict in &verdicts {
            let verdict = verdict.bind(py);
            if !verdict.is_instance_of::<Call>() && !verdict.is_instance_of::<Refusal>() {
                let kind = verdict.get_type().name()?;
                return Err(PyTypeError::new_err(format!("a verdict is a Call or a Refusal, not {kind}")));
            }
        }
        let parts = PyOnceLock::new();
        parts.get_or_init(py, || Parts { verdicts, shown });
        let source = Source::Parts(report);
        Ok(Outcome { text: text.to_owned(), reasoning: reasoning.to_owned(), parts, source })
    }

    /// Returns the model's words besides its calls, without markup.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Returns the model's reasoning, where it is marked.
    #[getter]
    fn reasoning(&self) -> &str {
        &self.reasoning
    }

    /// Returns the right calls, in their order.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.only::<Call>(py)
    }

    /// Returns the calls that may not run, in their order.
    #[getter]
    fn refusals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        self.only::<Refusal>(py)
    }

    /// Returns both, in the order in which the model made them.
    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.parts(py)?.verdicts)
    }

    /// Returns the calls that the text only shows; they are part of `text`.
    #[getter]
    fn shown<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.parts(py)?.shown.iter().cloned())
    }

    /// Returns the versioned report as JSON text: the line that `callwright parse --json` writes. Its places are bytes
    /// of UTF-8. Raises `ValueError` for an outcome that was made without one.
    fn report(&self) -> PyResult<String> {
        match &self.source {
            Source::Answer(answer) => answer.report(),
            Source::Parts(Some(report)) => Ok(report.clone()),
            Source::Parts(None) => {
                Err(PyValueError::new_err("this outcome was made by hand, without a report"))
            }
        }
    }

    /// Returns what comes into the conversation after this answer, as messages of OpenAI's API.
    ///
    /// The first is the model's own: its words, and its calls under their `tool_call_id`. A message of role `tool`
    /// follows for each call with one of `results`, which are in the order of `calls`: a `str` as it is, anything else
    /// as JSON. With no results there are no such messages. Refused native calls are among the model's calls, and a
    /// message of role `tool` has the feedback; refused calls in the text are among its words, and the last message, of
    /// role `user`, has theirs. Reasoning is left out.
    ///
    /// Raises `ValueError` for another number of results than there are calls, and `TypeError` for a result without a
    /// JSON form.
    ///
    /// >>> outcome = parse("", [{"name": "ping"}], native=[{"id": "call_1", "name": "ping", "arguments": "{}"}])
    /// >>> for message in outcome.messages(["pong"]):
    /// ...     print(message)
    /// {'role': 'assistant', 'content': None, 'tool_calls': [{'id': 'call_1', 'type': 'function', 'function': {'name': 'ping', 'arguments': '{}'}}]}
    /// {'role': 'tool', 'tool_call_id': 'call_1', 'content': 'pong'}
    #[pyo3(signature = (results = None))]
    fn messages<'py>(
        &self,
        py: Python<'py>,
        results: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let results = results.map_or_else(|| Ok(Vec::new()), |results| results.try_iter()?.collect())?;
        messages::after(py, &self.text, &self.parts(py)?.verdicts, results)
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let Ok(other) = other.cast::<Outcome>() else { return Ok(py.NotImplemented()) };
        let other = other.get();
        let is_equal = (&self.text, &self.reasoning) == (&other.text, &other.reasoning)
            && self.parts(py)?.shown == other.parts(py)?.shown
            && self.verdicts(py)?.eq(other.verdicts(py)?)?;
        Ok(PyBool::new(py, is_equal).to_owned().into_any().unbind())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (&self.text, &self.reasoning, self.verdicts(py)?).into_pyobject(py)?.hash()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Outcome").field("text", self.text())?;
        let repr = repr.field_if(!self.reasoning().is_empty(), "reasoning", self.reasoning())?;
        let repr = repr.field("calls", self.calls(py)?)?;
        let refusals = self.refusals(py)?;
        Ok(repr.field_if(!refusals.is_empty(), "refusals", refusals)?.finish())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        let report = match &self.source {
            Source::Answer(answer) => Some(answer.report()?),
            Source::Parts(report) => report.clone(),
        };
        named.set_item("report", report)?;
        let parts = (&self.text, &self.reasoning, self.verdicts(py)?, self.shown(py)?);
        Ok((parts.into_pyobject(py)?, named))
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
