//! Compiles a caller's declarations: tools, a schema, dialects. Each text is compiled once per process, for all doors.

use std::sync::{Arc, LazyLock};

use callwright::Compiled;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::value::{Kind, definition};

static TOOL_SETS: LazyLock<Compiled<Arc<callwright::ToolSet>>> = LazyLock::new(|| {
    Compiled::new(|text| {
        callwright::ToolSet::from_json(text).map(Arc::new).map_err(|error| error.to_string())
    })
});

static SCHEMAS: LazyLock<Compiled<Arc<callwright::Schema>>> = LazyLock::new(|| {
    Compiled::new(|text| {
        let schema: callwright::value::Value =
            text.parse().map_err(|error| format!("the schema is not JSON: {error}"))?;
        let schema = callwright::Schema::compile(&schema).map_err(|error| error.to_string())?;
        match schema.faults() {
            [] => Ok(Arc::new(schema)),
            faults => Err(format!("the schema is not one: {}", sentences(faults).join("; "))),
        }
    })
});

/// Says of each part of a schema where it stands and why it says nothing.
fn sentences(parts: &[callwright::Unchecked]) -> Vec<String> {
    parts.iter().map(ToString::to_string).collect()
}

/// Returns the tools that the JSON `text` declares; known ones come from the process's cache.
///
/// # Errors
/// Fails with the reason why they are unusable.
pub(crate) fn tool_set(text: &str) -> Result<Arc<callwright::ToolSet>, String> {
    Result::clone(&TOOL_SETS.get(text))
}

/// Returns the schema of the JSON `text`; a known one comes from the process's cache.
///
/// # Errors
/// Fails with the reason why it is unusable.
pub(crate) fn schema(text: &str) -> Result<Arc<callwright::Schema>, String> {
    Result::clone(&SCHEMAS.get(text))
}

/// The tools that a model may call, compiled once: from a list of definitions of OpenAI, Anthropic, Gemini or MCP, or
/// from its JSON text. Functions with hints, classes of pydantic and the tools of LangChain are definitions too.
///
/// All functions with tools also accept definitions. A bounded cache keeps sets by their text, so that repeated
/// definitions are not compiled again. A `ToolSet` saves the conversion to that text.
///
/// Raises `ValueError` for an unusable definition, with its name and the reason.
///
/// >>> tools = ToolSet([{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}])
/// >>> tools.names
/// ('get_weather',)
#[pyclass(frozen, module = "callwright")]
pub(crate) struct ToolSet {
    pub(crate) tools: Arc<callwright::ToolSet>,
    text: String,
}

#[pymethods]
impl ToolSet {
    #[new]
    #[pyo3(signature = (definitions, /))]
    fn new(py: Python<'_>, definitions: &Bound<'_, PyAny>) -> PyResult<ToolSet> {
        if let Ok(tool_set) = definitions.cast::<ToolSet>() {
            let ToolSet { tools, text } = tool_set.get();
            return Ok(ToolSet { tools: Arc::clone(tools), text: text.clone() });
        }
        let text = definition(definitions, Kind::Tools)?;
        let tools = py.detach(|| tool_set(&text)).map_err(PyValueError::new_err)?;
        Ok(ToolSet { tools, text })
    }

    /// Returns the names, in the order of declaration.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tools.iter().map(callwright::Tool::name))
    }

    /// Returns the parts of the definitions that no call is checked against, one sentence each.
    #[getter]
    fn unchecked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sentences: Vec<String> =
            self.tools.unchecked().map(|(tool, part)| format!("{tool}: {part}")).collect();
        PyTuple::new(py, sentences)
    }

    fn __len__(&self) -> usize {
        self.tools.len()
    }

    fn __contains__(&self, name: &str) -> bool {
        self.tools.get(name).is_some()
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.tools.iter().map(callwright::Tool::name).collect();
        format!("ToolSet({names:?})")
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }
}

/// Returns the tools of a caller's `tools`: a [`ToolSet`], or definitions.
///
/// # Errors
/// Raises a `ValueError` for an unusable definition.
pub(crate) fn tools_of(tools: &Bound<'_, PyAny>) -> PyResult<Arc<callwright::ToolSet>> {
    if let Ok(tool_set) = tools.cast::<ToolSet>() {
        return Ok(Arc::clone(&tool_set.get().tools));
    }
    tool_set(&definition(tools, Kind::Tools)?).map_err(PyValueError::new_err)
}

/// A JSON Schema, compiled once: from a dict or a bool, its JSON text, or a type with hints, such as a class of pydantic,
/// a dataclass, a `TypedDict`, `list[Model]` or a `TypeAdapter`.
///
/// Raises `ValueError` for anything that is not a schema, and `TypeError` for an object without one.
///
/// >>> from callwright import loads
/// >>> loads('{"days": "3"}', Schema({"properties": {"days": {"type": "integer"}}}))
/// {'days': 3}
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Schema {
    schema: Arc<callwright::Schema>,
    text: String,
}

#[pymethods]
impl Schema {
    #[new]
    #[pyo3(signature = (schema, /))]
    fn new(schema: &Bound<'_, PyAny>) -> PyResult<Schema> {
        let text = definition(schema, Kind::Schema)?;
        let schema = self::schema(&text).map_err(PyValueError::new_err)?;
        Ok(Schema { schema, text })
    }

    /// Returns the parts of the schema that no value is checked against, one sentence each.
    #[getter]
    fn unchecked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, sentences(self.schema.unchecked()))
    }

    fn __repr__(&self) -> String {
        format!("Schema({})", self.text)
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }
}

/// Returns the schema of a caller's `schema`: a [`Schema`], or its source.
///
/// # Errors
/// Raises a `ValueError` for anything that is not a schema.
pub(crate) fn schema_of(schema: &Bound<'_, PyAny>) -> PyResult<Arc<callwright::Schema>> {
    if let Ok(schema) = schema.cast::<Schema>() {
        return Ok(Arc::clone(&schema.get().schema));
    }
    self::schema(&definition(schema, Kind::Schema)?).map_err(PyValueError::new_err)
}

/// The dialects of a search: the built-in ones, and the caller's records, which have the members of `[[dialect]]` in a
/// configuration. `only` selects one by its name.
///
/// Raises `ValueError` for an unusable record, or an unknown name.
///
/// >>> Dialects(only="hermes")
/// Dialects(own=[], only='hermes')
#[pyclass(frozen, module = "callwright")]
pub(crate) struct Dialects {
    pub(crate) dialects: callwright::Dialects,
    own: String,
    only: Option<String>,
}

#[pymethods]
impl Dialects {
    #[new]
    #[pyo3(signature = (own = None, *, only = None))]
    fn new(own: Option<&Bound<'_, PyAny>>, only: Option<String>) -> PyResult<Dialects> {
        let own = own.map_or_else(|| Ok(String::from("[]")), |own| definition(own, Kind::Records))?;
        let records = callwright::Dialect::list_from_json(&own)
            .map_err(|error| PyValueError::new_err(format!("`own` is not a list of dialects: {error}")))?;
        let dialects =
            callwright::Dialects::new(records).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let dialects = match &only {
            None => dialects,
            Some(name) => dialects.only(name).ok_or_else(|| no_dialect(&dialects, name))?,
        };
        Ok(Dialects { dialects, own, only })
    }

    /// Returns the names of all dialects.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let names: Vec<&str> = self.dialects.iter().map(|dialect| &*dialect.name).collect();
        PyTuple::new(py, names)
    }

    fn __repr__(&self) -> String {
        match &self.only {
            None => format!("Dialects(own={})", self.own),
            Some(only) => format!("Dialects(own={}, only='{only}')", self.own),
        }
    }

    fn __getnewargs_ex__<'py>(
        &'py self,
        py: Python<'py>,
    ) -> PyResult<((&'py str,), Bound<'py, pyo3::types::PyDict>)> {
        let named = pyo3::types::PyDict::new(py);
        named.set_item("only", self.only.as_deref())?;
        Ok(((&self.own,), named))
    }
}

/// Makes the error for an unknown dialect.
pub(crate) fn no_dialect(dialects: &callwright::Dialects, name: &str) -> PyErr {
    let names: Vec<&str> = dialects.iter().map(|dialect| &*dialect.name).collect();
    PyValueError::new_err(format!("there is no dialect `{name}`; there are {}", names.join(", ")))
}
