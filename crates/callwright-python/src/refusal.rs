//! Wraps a call that may not run, and makes the exception for a text that was not repaired.

use callwright::{Places, Reason, WhyReport};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use crate::repr::Repr;
use crate::text::code_points;

/// A place in a text: `offset` counts code points from 0, `line` and `column` from 1.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "callwright")]
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

/// One mismatch of a value and its schema: `pointer` is the place, `keyword` the rule, and `message` the explanation.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "callwright")]
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

/// The names of the reasons for a refusal.
const CODES: [&str; 9] = [
    "unknown-tool",
    "not-offered",
    "unreadable",
    "too-long",
    "truncated",
    "open-end",
    "ambiguous",
    "shape",
    "invalid",
];

/// A call that may not run, with the reason.
///
/// `code` is for programs: `unknown-tool`, `not-offered`, `unreadable`, `too-long`, `truncated`, `open-end`,
/// `ambiguous`, `shape`, `invalid`; `message` is for people. `feedback` is for the model: the content of the message
/// that answers a native call's id, or of a message of role `user`. `position` is a place in `block`, the payload as
/// the model wrote it.
///
/// A refusal can be made for tests too. Raises `ValueError` for an unknown `code`.
#[pyclass(frozen, eq, hash, module = "callwright")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Refusal {
    /// The number of the call in the answer, counted from 1.
    #[pyo3(get)]
    pub(crate) number: usize,
    /// The upstream's id of the call.
    #[pyo3(get)]
    pub(crate) id: Option<String>,
    /// The tool that it names, as far as the name is readable.
    #[pyo3(get)]
    pub(crate) name: Option<String>,
    /// The name of the call's dialect.
    #[pyo3(get)]
    pub(crate) dialect: String,
    /// The start of the call in the text, in code points.
    #[pyo3(get)]
    start: usize,
    /// The end of the call.
    #[pyo3(get)]
    end: usize,
    /// The payload as the model wrote it.
    #[pyo3(get)]
    pub(crate) block: String,
    /// The stable name of the reason.
    #[pyo3(get)]
    code: &'static str,
    /// The error, in one line.
    #[pyo3(get)]
    message: String,
    /// The words for the model.
    #[pyo3(get)]
    pub(crate) feedback: String,
    /// The suspect place in `block`.
    position: Option<Position>,
    /// Advice, one sentence each.
    hints: Vec<String>,
    /// The repaired block, if there is a repair.
    #[pyo3(get)]
    fix: Option<String>,
    /// `fix` is the only reading of the block.
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

    /// Wraps a refusal for a caller of `heal`.
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

    #[new]
    #[pyo3(signature = (
        code, message, feedback, *, name = None, id = None, number = 1, dialect = "native", start = 0, end = 0,
        block = String::new(), position = None, hints = Vec::new(), fix = None, fix_is_certain = false,
        readings = Vec::new(), violations = Vec::new(), nearest = Vec::new()
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn new(
        code: &str,
        message: String,
        feedback: String,
        name: Option<String>,
        id: Option<String>,
        number: usize,
        dialect: &str,
        start: usize,
        end: usize,
        block: String,
        position: Option<Position>,
        hints: Vec<String>,
        fix: Option<String>,
        fix_is_certain: bool,
        readings: Vec<String>,
        violations: Vec<Violation>,
        nearest: Vec<String>,
    ) -> PyResult<Refusal> {
        let known = CODES.into_iter().find(|known| *known == code);
        let code = known.ok_or_else(|| {
            PyValueError::new_err(format!("`code` is one of {}, not `{code}`", CODES.join(", ")))
        })?;
        let dialect = dialect.to_owned();
        Ok(Refusal {
            number,
            id,
            name,
            dialect,
            start,
            end,
            block,
            code,
            message,
            feedback,
            position,
            hints,
            fix,
            fix_is_certain,
            readings,
            violations,
            nearest,
        })
    }

    /// Returns the suspect place in `block`.
    #[getter]
    fn position(&self) -> Option<Position> {
        self.position.clone()
    }

    /// Returns advice, one sentence each.
    #[getter]
    fn hints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.hints)
    }

    /// Returns the readings of an ambiguous payload, as strict JSON texts.
    #[getter]
    fn readings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.readings)
    }

    /// Returns the mismatches with the schema.
    #[getter]
    fn violations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.violations.iter().cloned())
    }

    /// Returns the declared names that come closest to an unknown one, best first.
    #[getter]
    fn nearest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.nearest)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Refusal").field_if(self.id.is_some(), "id", &self.id)?;
        let repr = repr.field("name", &self.name)?.field("code", self.code)?;
        Ok(repr.field("message", &self.message)?.finish())
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("name", self.name.as_deref())?;
        named.set_item("id", self.id.as_deref())?;
        named.set_item("number", self.number)?;
        named.set_item("dialect", &self.dialect)?;
        named.set_item("start", self.start)?;
        named.set_item("end", self.end)?;
        named.set_item("block", &self.block)?;
        named.set_item("position", self.position.clone())?;
        named.set_item("hints", self.hints(py)?)?;
        named.set_item("fix", self.fix.as_deref())?;
        named.set_item("fix_is_certain", self.fix_is_certain)?;
        named.set_item("readings", self.readings(py)?)?;
        named.set_item("violations", self.violations(py)?)?;
        named.set_item("nearest", self.nearest(py)?)?;
        Ok(((self.code, &self.message, &self.feedback).into_pyobject(py)?, named))
    }
}

/// Makes the exception with the reason why `text` was not repaired.
pub(crate) fn unhealed(py: Python<'_>, text: &str, reason: Reason) -> PyErr {
    let refusal = callwright::Refusal::of_text(text, reason);
    let span = code_points(text).pair(refusal.span);
    // The text is not a call in an answer, so its feedback is that of a native call.
    let feedback = refusal.feedback().tool_result();
    let refusal = Refusal::told(&refusal, span, feedback);
    raise(py, &refusal).unwrap_or_else(|error| error)
}

/// Makes the exception for an error without a position and a fix.
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

/// Returns `callwright.Refused`, which is defined in Python: the stable interface has no exceptions with fields of
/// their own.
fn class(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static REFUSED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let import = || py.import("callwright._refused")?.getattr("Refused").map(Bound::unbind);
    Ok(REFUSED.get_or_try_init(py, import)?.bind(py))
}
