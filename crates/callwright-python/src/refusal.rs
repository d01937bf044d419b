//! A call that may not run and why, and the exception for a text that was not repaired.

use callwright::{Places, Reason, WhyReport};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;

use crate::repr::Repr;
use crate::text::code_points;

/// A place in a text: `offset` counts code points from 0, `line` and `column` from 1.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

#[pymethods]
impl Position {
    #[new]
    fn new(offset: usize, line: usize, column: usize) -> Position {
        Position { offset, line, column }
    }

    fn __repr__(&self) -> String {
        let Position { offset, line, column } = self;
        format!("Position(offset={offset}, line={line}, column={column})")
    }

    fn __getnewargs__(&self) -> (usize, usize, usize) {
        (self.offset, self.line, self.column)
    }
}

/// One way in which a value does not fit its schema: at `pointer`, by `keyword`, and `message` says how.
#[pyclass(frozen, get_all, eq, hash, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Violation {
    pointer: String,
    keyword: String,
    message: String,
}

#[pymethods]
impl Violation {
    #[new]
    fn new(pointer: String, keyword: String, message: String) -> Violation {
        Violation { pointer, keyword, message }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Violation { pointer, keyword, message } = self;
        let repr = Repr::new(py, "Violation").field("pointer", pointer)?.field("keyword", keyword)?;
        Ok(repr.field("message", message)?.finish())
    }

    fn __getnewargs__(&self) -> (&str, &str, &str) {
        (&self.pointer, &self.keyword, &self.message)
    }
}

/// A call that may not run, and why.
///
/// `code` is for programs: `unknown-tool`, `not-offered`, `unreadable`, `too-long`, `truncated`, `open-end`, `ambiguous`,
/// `shape`, `invalid`; `message` is for people, and `feedback` is what to tell the model: the content of the message that
/// answers a native call's id, or of a message of role `user`. `position` is a place in `block`, the payload as the model wrote it.
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Refusal {
    /// Which call of the answer it is, counted from 1.
    #[pyo3(get)]
    number: usize,
    /// The id that the upstream gave the call.
    #[pyo3(get)]
    id: Option<String>,
    /// The tool that it names, as far as that can be read.
    #[pyo3(get)]
    name: Option<String>,
    /// The name of the dialect that the call was written in.
    #[pyo3(get)]
    dialect: String,
    /// Where it begins in the text, in code points.
    #[pyo3(get)]
    start: usize,
    /// Where it ends.
    #[pyo3(get)]
    end: usize,
    /// The payload as the model wrote it.
    #[pyo3(get)]
    block: String,
    /// The stable name of the reason.
    #[pyo3(get)]
    code: &'static str,
    /// What is wrong, in one line.
    #[pyo3(get)]
    message: String,
    /// What to tell the model.
    #[pyo3(get)]
    feedback: String,
    /// The suspect place in `block`.
    position: Option<Position>,
    /// What to do about it, one sentence each.
    hints: Vec<String>,
    /// The block repaired, where there is a way.
    #[pyo3(get)]
    fix: Option<String>,
    /// Is `fix` the only way to read it?
    #[pyo3(get)]
    fix_is_certain: bool,
    readings: Vec<String>,
    violations: Vec<Violation>,
    nearest: Vec<String>,
}

impl Refusal {
    pub(crate) fn of(refusal: &callwright::Refusal, text: &mut Places<'_>) -> Refusal {
        let (start, end) = text.pair(refusal.span);
        let feedback = refusal.feedback().message_to_model();
        Refusal::told(refusal, (start, end), feedback)
    }

    /// The same, where a caller of `heal` is told.
    fn told(refusal: &callwright::Refusal, (start, end): (usize, usize), feedback: String) -> Refusal {
        let why = WhyReport::of(refusal);
        let violations = why.violations.iter().map(|violation| Violation {
            pointer: violation.pointer.to_owned(),
            keyword: violation.keyword.to_owned(),
            message: violation.message.to_owned(),
        });
        Refusal {
            number: refusal.number,
            id: refusal.id.clone(),
            name: refusal.name.clone(),
            dialect: refusal.dialect.to_string(),
            start,
            end,
            block: refusal.block.clone(),
            code: why.code,
            message: why.message,
            feedback,
            position: why.position.map(|at| Position { offset: at.offset, line: at.line, column: at.column }),
            hints: why.hints,
            fix_is_certain: why.fix.as_ref().is_some_and(|fix| fix.certain),
            fix: why.fix.map(|fix| fix.text),
            readings: why.readings.to_vec(),
            violations: violations.collect(),
            nearest: why.nearest.to_vec(),
        }
    }
}

#[pymethods]
impl Refusal {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("name", "code", "feedback")
    }

    /// The suspect place in `block`.
    #[getter]
    fn position(&self) -> Option<Position> {
        self.position.clone()
    }

    /// What to do about it, one sentence each.
    #[getter]
    fn hints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.hints)
    }

    /// The readings of an ambiguous payload, as strict JSON texts.
    #[getter]
    fn readings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.readings)
    }

    /// What does not fit the schema.
    #[getter]
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.violations.iter().cloned())
    }

    /// The declared names that come closest to an unknown one, best first.
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.nearest)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Refusal").field_if(self.id.is_some(), "id", &self.id)?;
        let repr = repr.field("name", &self.name)?.field("code", self.code)?;
        Ok(repr.field("message", &self.message)?.finish())
    }
}

/// The exception that says why `text` was not repaired.
pub(crate) fn unhealed(py: Python<'_>, text: &str, reason: Reason) -> PyErr {
    let refusal = callwright::Refusal::of_text(text, reason);
    let span = code_points(text).pair(refusal.span);
    // What is repaired is no call in a text: the model is told as of a native one.
    let feedback = refusal.feedback().tool_result();
    let refusal = Refusal::told(&refusal, span, feedback);
    raise(py, &refusal).unwrap_or_else(|error| error)
}

/// The exception for what has no position and no fix.
pub(crate) fn refused(py: Python<'_>, code: &str, message: &str) -> PyErr {
    let make = || {
        let feedback = format!("{{\"error\": {}}}", callwright_json::quote(message));
        Ok(PyErr::from_value(class(py)?.call1((message, code, feedback))?))
    };
    make().unwrap_or_else(|error| error)
}

fn raise(py: Python<'_>, refusal: &Refusal) -> PyResult<PyErr> {
    let error = class(py)?.call1((
        &refusal.message,
        refusal.code,
        &refusal.feedback,
        refusal.position.clone(),
        refusal.hints(py)?,
        &refusal.fix,
        refusal.fix_is_certain,
        refusal.readings(py)?,
        refusal.violations(py)?,
    ))?;
    Ok(PyErr::from_value(error))
}

/// `callwright.Refused`, which stands in Python: the stable interface has no exceptions with fields of their own.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static REFUSED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || py.import("callwright._refused")?.getattr("Refused").map(Bound::unbind);
    Ok(REFUSED.get_or_try_init(py, import)?.bind(py))
}
