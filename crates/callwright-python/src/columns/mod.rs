//! Reads and writes columns over the Arrow PyCapsule interface: `parse` and `heal` for each row of an archive.
//!
//! No row is ever lost: a null stays a null, and a row with unusable tools or an unusable schema says so in `error`.

mod strings;
mod table;

use std::sync::Arc;

use callwright::{Places, Verdict};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use self::strings::{Column, Rows};
use self::table::{Batches, Healed, Parsed, Row, Table};
use crate::definitions::{Dialects, schema, schema_of, tool_set, tools_of};
use crate::options::{self, Options};

/// The answer to columns: a table for other libraries over the Arrow PyCapsule interface, `pyarrow.table(columns)`,
/// `polars.DataFrame(columns)`.
#[pyclass(frozen, module = "callwright.arrow")]
pub(crate) struct Columns {
    table: Table,
}

#[pymethods]
impl Columns {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.table.field().as_ref())?)
    }

    /// Returns the stream. It ignores the requested schema: a cast is the caller's own work.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.table.batches().into_iter().map(Ok);
        let reader = Box::new(ArrayIterator::new(batches, self.table.field()));
        Ok(to_stream_pycapsule(py, reader, None)?)
    }

    /// Returns the names of the columns, in order.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.table.names()
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    fn __repr__(&self) -> String {
        format!("Columns({} rows of {})", self.table.len(), self.table.names().join(", "))
    }
}

/// An argument beside the texts: one value for all rows, or a column.
enum Beside<T> {
    One(T),
    Each(Column),
}

impl<T> Beside<T> {
    fn of(
        given: &Bound<'_, PyAny>,
        one: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> PyResult<Beside<T>> {
        let is_column = given.hasattr("__arrow_c_array__")? || given.hasattr("__arrow_c_stream__")?;
        if is_column { Ok(Beside::Each(column(given)?)) } else { Ok(Beside::One(one(given)?)) }
    }

    /// Checks that a column has a row for each text.
    fn check(&self, name: &str, n_texts: usize) -> PyResult<()> {
        match self {
            Beside::Each(column) if column.len() != n_texts => {
                let n_rows = column.len();
                Err(PyValueError::new_err(format!("`{name}` has {n_rows} rows for {n_texts} texts")))
            }
            Beside::One(_) | Beside::Each(_) => Ok(()),
        }
    }

    /// Returns the one for all rows, or the rows of the column.
    fn rows(given: Option<&Beside<T>>) -> (Option<&T>, Rows<'_>) {
        match given {
            None => (None, Rows::none()),
            Some(Beside::One(one)) => (Some(one), Rows::none()),
            Some(Beside::Each(column)) => (None, column.rows()),
        }
    }
}

fn finish_reasons_of(given: Option<&Bound<'_, PyAny>>, n_texts: usize) -> PyResult<Option<Beside<String>>> {
    let reasons = given.map(|given| Beside::of(given, |one| one.extract::<String>())).transpose()?;
    if let Some(reasons) = &reasons {
        reasons.check("finish_reasons", n_texts)?;
    }
    Ok(reasons)
}

fn column(given: &Bound<'_, PyAny>) -> PyResult<Column> {
    let reader = given.extract::<AnyArray>()?.into_reader()?;
    // A stream may be another library's Python, which needs the interpreter that we hold.
    let column = given.py().detach(|| Column::read(reader));
    column.map_err(|why| PyTypeError::new_err(format!("a column must be strings: {why}")))
}

/// The compiled definition of the last row, as the next row often has the same one.
struct Last<'a, T> {
    compile: fn(&str) -> Result<Arc<T>, String>,
    one: Option<&'a Arc<T>>,
    last: Option<(&'a str, Result<Arc<T>, String>)>,
}

impl<'a, T> Last<'a, T> {
    fn new(one: Option<&'a Arc<T>>, compile: fn(&str) -> Result<Arc<T>, String>) -> Self {
        Last { compile, one, last: None }
    }

    /// Returns the row's definition; `None` for an empty row.
    fn of(&mut self, row: Option<&'a str>) -> Option<Result<Arc<T>, String>> {
        if let Some(one) = self.one {
            return Some(Ok(Arc::clone(one)));
        }
        let text = row?;
        match &self.last {
            Some((before, compiled)) if *before == text => Some(compiled.clone()),
            _ => {
                let compiled = (self.compile)(text);
                self.last = Some((text, compiled.clone()));
                Some(compiled)
            }
        }
    }
}

/// Implements `callwright.arrow.parse`, which has the documentation.
#[pyfunction]
#[pyo3(signature = (
    texts, tools, *, finish_reasons = None, native_mode = false, asked = None, tool_choice = None,
    starts_in_reasoning = false, policy = "auto", calls_in_reasoning = "unclosed", dialects = None,
    unsure_is_text = false, doubt_open_ends = false
))]
#[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn parse_columns(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    tools: &Bound<'_, PyAny>,
    finish_reasons: Option<&Bound<'_, PyAny>>,
    native_mode: bool,
    asked: Option<String>,
    tool_choice: Option<&Bound<'_, PyAny>>,
    starts_in_reasoning: bool,
    policy: &str,
    calls_in_reasoning: &str,
    dialects: Option<&Dialects>,
    unsure_is_text: bool,
    doubt_open_ends: bool,
) -> PyResult<Columns> {
    let options = Options {
        native_mode,
        tool_choice: options::tool_choice(tool_choice)?,
        starts_in_reasoning,
        unsure_is_text,
        doubt_open_ends,
        ..Options::new(policy, calls_in_reasoning, dialects, asked)?
    };
    let texts = column(texts)?;
    let tools = Beside::of(tools, tools_of)?;
    tools.check("tools", texts.len())?;
    let finish_reasons = finish_reasons_of(finish_reasons, texts.len())?;
    let table = py.detach(|| {
        let mut batches = Batches::new(Parsed::default());
        let (one, mut each) = Beside::rows(Some(&tools));
        let mut last = Last::new(one, tool_set);
        let (one_reason, mut reasons) = Beside::rows(finish_reasons.as_ref());
        for text in texts.rows() {
            let (row, reason) =
                (each.next().flatten(), reasons.next().flatten().or(one_reason.map(String::as_str)));
            let context = callwright::Context { finish_reason: reason, ..options.context() };
            let Some(text) = text else {
                batches.push(Row::Null);
                continue;
            };
            match last.of(row) {
                None => batches.push(Row::Unusable("no tools stand beside the text")),
                Some(Err(why)) => batches.push(Row::Unusable(&format!("cannot use the tools: {why}"))),
                Some(Ok(tools)) => {
                    let outcome = callwright::parse(&tools, text, &[], &context);
                    batches.push(Row::Read(&outcome, text));
                }
            }
        }
        batches.finish()
    });
    Ok(Columns { table: table.map_err(|error| PyValueError::new_err(error.to_string()))? })
}

/// Implements `callwright.arrow.heal`, which has the documentation.
#[pyfunction]
#[pyo3(signature = (texts, schemas = None, *, finish_reasons = None))]
pub(crate) fn heal_columns(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    schemas: Option<&Bound<'_, PyAny>>,
    finish_reasons: Option<&Bound<'_, PyAny>>,
) -> PyResult<Columns> {
    let texts = column(texts)?;
    let schemas = schemas.map(|given| Beside::of(given, schema_of)).transpose()?;
    if let Some(schemas) = &schemas {
        schemas.check("schemas", texts.len())?;
    }
    let finish_reasons = finish_reasons_of(finish_reasons, texts.len())?;
    let table = py.detach(|| {
        let mut batches = Batches::new(Healed::default());
        let (one, mut each) = Beside::rows(schemas.as_ref());
        let mut last = Last::new(one, schema);
        let (one_reason, mut reasons) = Beside::rows(finish_reasons.as_ref());
        for text in texts.rows() {
            let (row, reason) =
                (each.next().flatten(), reasons.next().flatten().or(one_reason.map(String::as_str)));
            let Some(text) = text else {
                batches.push(Row::Null);
                continue;
            };
            // A row without a schema is repaired without one.
            match last.of(row).transpose() {
                Err(why) => batches.push(Row::Unusable(&format!("cannot use the schema: {why}"))),
                Ok(schema) => {
                    let healed = callwright::heal(text, schema.as_deref(), reason);
                    batches.push(Row::Read(&healed, text));
                }
            }
        }
        batches.finish()
    });
    Ok(Columns { table: table.map_err(|error| PyValueError::new_err(error.to_string()))? })
}

/// Returns the place of `verdict` for the columns: in code points, as everywhere in Python.
fn place(verdict: &Verdict, places: &mut Places<'_>) -> (usize, usize) {
    match verdict {
        Verdict::Accepted(call) => places.pair(call.span),
        Verdict::Refused(refusal) => places.pair(refusal.span),
    }
}
