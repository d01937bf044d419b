//! Reads an answer as it arrives: pieces go in, events come out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callwright::{CallDelta, Delta, Event};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::definitions::{Dialects, tools_of};
use crate::options::{self, Options};
use crate::outcome::{Native, Outcome, wrapped};
use crate::partial::PartialCall;
use crate::repr::Repr;
use crate::text::{Text, code_points};

/// Reads one answer as it arrives.
///
/// `feed` takes the next piece of text and returns the events that became certain by it: `TextDelta`, `ReasoningDelta`,
/// and a `Call` or a `Refusal` for each call. With `live`, it also returns `CallStarted` and `ArgumentsDelta` of native
/// calls. No event is ever taken back, and the cuts between pieces change nothing.
///
/// `finish` marks the end of the answer; then `outcome` holds everything. `events` does all of it for a stream. The
/// keywords are those of `parse`.
///
/// >>> scanner = Scanner([{"name": "ping"}])
/// >>> scanner.feed("Well. <tool_call>{'name': 'pi")
/// [TextDelta(text='Well.')]
/// >>> scanner.feed("ng'}</tool_call>") + scanner.finish()
/// [Call(name='ping', arguments={}, repair_class='R1')]
#[pyclass(frozen, subclass, module = "callwright")]
pub(crate) struct Scanner {
    state: Mutex<State>,
}

enum State {
    Open(Box<Reading>),
    Done(Py<Outcome>),
    /// An exception interrupted its end.
    Broken,
}

struct Reading {
    scanner: callwright::Scanner<'static>,
    text: String,
    native: Vec<(usize, Native)>,
}

#[pymethods]
impl Scanner {
    #[new]
    #[pyo3(signature = (
        tools, *, finish_reason = None, native_mode = false, live = false, asked = None, tool_choice = None,
        starts_in_reasoning = false, policy = "auto", calls_in_reasoning = "unclosed", dialects = None,
        unsure_is_text = false, doubt_open_ends = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn new(
        tools: &Bound<'_, PyAny>,
        finish_reason: Option<String>,
        native_mode: bool,
        live: bool,
        asked: Option<String>,
        tool_choice: Option<&Bound<'_, PyAny>>,
        starts_in_reasoning: bool,
        policy: &str,
        calls_in_reasoning: &str,
        dialects: Option<&Dialects>,
        unsure_is_text: bool,
        doubt_open_ends: bool,
    ) -> PyResult<Scanner> {
        let tools: Arc<callwright::ToolSet> = tools_of(tools)?;
        let options = Options {
            finish_reason,
            native_mode,
            tool_choice: options::tool_choice(tool_choice)?,
            starts_in_reasoning,
            unsure_is_text,
            doubt_open_ends,
            ..Options::new(policy, calls_in_reasoning, dialects, asked)?
        };
        let context = callwright::Context { live, ..options.context() };
        let scanner = callwright::Scanner::new(&tools, &context);
        let reading = Reading { scanner, text: String::new(), native: Vec::new() };
        Ok(Scanner { state: Mutex::new(State::Open(Box::new(reading))) })
    }

    /// Takes the next piece of text; returns the events that became certain by it.
    fn feed(&self, py: Python<'_>, text: Text) -> PyResult<Vec<Py<PyAny>>> {
        self.with(py, |reading, events| {
            reading.text.push_str(&text);
            reading.scanner.feed(Delta::Text(&text), events);
        })
    }

    /// Takes the next piece of the upstream's separate reasoning.
    fn feed_reasoning(&self, py: Python<'_>, text: Text) -> PyResult<Vec<Py<PyAny>>> {
        self.with(py, |reading, events| reading.scanner.feed(Delta::Reasoning(&text), events))
    }

    /// Takes the next piece of a native call, as in a server's `delta.tool_calls`: pieces of one call have one `index`.
    #[pyo3(signature = (index, *, id = None, name = None, arguments = None))]
    fn feed_call(
        &self,
        py: Python<'_>,
        index: usize,
        id: Option<String>,
        name: Option<String>,
        arguments: Option<String>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        self.with(py, |reading, events| {
            let at = reading.native.iter().position(|(other, _)| *other == index).unwrap_or_else(|| {
                reading.native.push((index, Native::default()));
                reading.native.len() - 1
            });
            if let Some((_, native)) = reading.native.get_mut(at) {
                native.id = id.clone().or(native.id.take());
                native.name.push_str(name.as_deref().unwrap_or_default());
                native.arguments.push_str(arguments.as_deref().unwrap_or_default());
            }
            let delta = CallDelta {
                index: Some(index),
                id: id.as_deref(),
                name: name.as_deref(),
                arguments: arguments.as_deref(),
            };
            reading.scanner.feed(Delta::ToolCall(delta), events);
        })
    }

    /// Returns what is certain of the call that is being written, once its name is; `None` between calls, and when the
    /// answer has ended.
    fn partial(&self, py: Python<'_>) -> Option<PartialCall> {
        match &mut *self.lock(py) {
            State::Open(reading) => reading.scanner.partial().map(PartialCall::of),
            State::Done(_) | State::Broken => None,
        }
    }

    /// Ends the answer, with the upstream's `finish_reason` if that came last; returns the last events.
    #[pyo3(signature = (finish_reason = None))]
    fn finish(&self, py: Python<'_>, finish_reason: Option<&str>) -> PyResult<Vec<Py<PyAny>>> {
        let mut state = self.lock(py);
        let reading = match std::mem::replace(&mut *state, State::Broken) {
            State::Open(reading) => reading,
            other => {
                *state = other;
                return Err(ended());
            }
        };
        let Reading { mut scanner, text, native } = *reading;
        if let Some(finish_reason) = finish_reason {
            scanner.finish_reason(finish_reason);
        }
        let (events, outcome) = py.detach(|| scanner.finish());
        let native: Vec<Native> = native.into_iter().map(|(_, native)| native).collect();
        let told = told(py, &events, &text, native.iter().map(|native| native.arguments.as_str()))?;
        *state = State::Done(Py::new(py, Outcome::new(outcome, Text::Owned(text), native))?);
        Ok(told)
    }

    /// Returns the result of the whole answer; `ValueError` before `finish`.
    #[getter]
    fn outcome(&self, py: Python<'_>) -> PyResult<Py<Outcome>> {
        match &*self.lock(py) {
            State::Done(outcome) => Ok(outcome.clone_ref(py)),
            State::Open(_) | State::Broken => {
                Err(PyValueError::new_err("the answer has not ended: call `finish` first"))
            }
        }
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let stands = match &*self.lock(py) {
            State::Open(reading) => format!("{} characters so far", reading.text.chars().count()),
            State::Done(_) | State::Broken => String::from("finished"),
        };
        format!("<Scanner: {stands}>")
    }
}

impl Scanner {
    fn with(
        &self,
        py: Python<'_>,
        feed: impl FnOnce(&mut Reading, &mut Vec<Event>) + Send,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let mut state = self.lock(py);
        let State::Open(reading) = &mut *state else { return Err(ended()) };
        let mut events = Vec::new();
        py.detach(|| feed(reading, &mut events));
        told(py, &events, &reading.text, std::iter::empty())
    }

    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, State> {
        // A thread that waits for another one's piece does not hold the interpreter meanwhile.
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

fn ended() -> PyErr {
    PyRuntimeError::new_err("the answer has ended: a scanner reads one answer")
}

/// Converts events for Python. Native verdicts come last, each read from its own of `arguments`.
fn told<'a>(
    py: Python<'_>,
    events: &[Event],
    text: &str,
    arguments: impl Iterator<Item = &'a str>,
) -> PyResult<Vec<Py<PyAny>>> {
    let mut arguments = arguments.enumerate();
    // Most pieces bring prose, which has no place.
    let mut places = None;
    let mut told = Vec::with_capacity(events.len());
    for event in events {
        let event = match event {
            Event::Text(text) => Py::new(py, TextDelta { text: text.clone() })?.into_any(),
            Event::Reasoning(text) => Py::new(py, ReasoningDelta { text: text.clone() })?.into_any(),
            Event::CallStarted { call, id, name } => {
                Py::new(py, CallStarted { index: *call, id: id.clone(), name: name.clone() })?.into_any()
            }
            Event::CallArguments { call, piece } => {
                Py::new(py, ArgumentsDelta { index: *call, text: piece.clone() })?.into_any()
            }
            Event::Call(verdict) => {
                let source = verdict.is_native().then(|| arguments.next()).flatten();
                wrapped(py, verdict, places.get_or_insert_with(|| code_points(text)), source)?
            }
            // Other events of the engine are unknown to this version, and are skipped.
            _ => continue,
        };
        told.push(event);
    }
    Ok(told)
}

/// A piece of the model's words.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct TextDelta {
    text: String,
}

/// A piece of the model's reasoning.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ReasoningDelta {
    text: String,
}

/// The start of a native call, sent before its verdict; only with `live`. `index` counts the native calls from 0, in
/// the order of their verdicts. A call in the text is never sent before its verdict.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CallStarted {
    index: usize,
    id: Option<String>,
    name: String,
}

/// The next piece of the arguments of a started call. All pieces together begin the `arguments_json` of its `Call`;
/// those of a refused call are never a whole value.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ArgumentsDelta {
    index: usize,
    text: String,
}

#[pymethods]
impl TextDelta {
    #[new]
    fn new(text: String) -> TextDelta {
        TextDelta { text }
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("text",)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(Repr::new(py, "TextDelta").field("text", &self.text)?.finish())
    }
}

#[pymethods]
impl ReasoningDelta {
    #[new]
    fn new(text: String) -> ReasoningDelta {
        ReasoningDelta { text }
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }

    #[classattr]
    fn __match_args__() -> (&'static str,) {
        ("text",)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(Repr::new(py, "ReasoningDelta").field("text", &self.text)?.finish())
    }
}

#[pymethods]
impl CallStarted {
    #[new]
    fn new(index: usize, id: Option<String>, name: String) -> CallStarted {
        CallStarted { index, id, name }
    }

    fn __getnewargs__(&self) -> (usize, Option<&str>, &str) {
        (self.index, self.id.as_deref(), &self.name)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "CallStarted").field("index", self.index)?;
        let repr = repr.field_if(self.id.is_some(), "id", &self.id)?;
        Ok(repr.field("name", &self.name)?.finish())
    }
}

#[pymethods]
impl ArgumentsDelta {
    #[new]
    fn new(index: usize, text: String) -> ArgumentsDelta {
        ArgumentsDelta { index, text }
    }

    fn __getnewargs__(&self) -> (usize, &str) {
        (self.index, &self.text)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "ArgumentsDelta").field("index", self.index)?;
        Ok(repr.field("text", &self.text)?.finish())
    }
}
