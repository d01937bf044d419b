//! What a caller declares: tools, a schema, dialects. Compiled once for each text in the process, whichever door asks.

use std::sync::{Arc, LazyLock};

use callwright::Compiled;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::value::definition;

static TOOL_SETS: LazyLock<Compiled<Arc<callwright::ToolSet>>> = LazyLock::new(|| {
    Compiled::new(|text| {
        callwright::ToolSet::from_json(text).map(Arc::new).map_err(|error| error.to_string())
    })
});

static SCHEMAS: LazyLock<Compiled<Arc<callwright::Schema>>> = LazyLock::new(|| {
    Compiled::new(|text| {
        let schema: callwright::value::Value =
            text.parse().map_err(|error| format!("the schema is not JSON: {error}"))?;
        callwright::Schema::compile(&schema).map(Arc::new).map_err(|error| error.to_string())
    })
});

/// The tools that `text`, JSON, declares; from the process's cache where they were there before.
///
/// # Errors
/// Why they cannot be used.
pub(crate) fn tool_set(text: &str) -> Result<Arc<callwright::ToolSet>, String> {
    Result::clone(&TOOL_SETS.get(text))
}

/// The schema that `text`, JSON, is; from the process's cache where it was there before.
///
/// # Errors
/// Why it cannot be used.
pub(crate) fn schema(text: &str) -> Result<Arc<callwright::Schema>, String> {
    Result::clone(&SCHEMAS.get(text))
}

/// The tools that a model may call, compiled once: from a list of definitions of OpenAI, Anthropic, Gemini or MCP, or from
/// the JSON text of one.
///
/// Wherever tools are asked for, the definitions may stand as well; sets are kept by their text, up to a bound, so that
/// what comes again is not compiled again. A `ToolSet` saves turning the definitions into that text.
///
/// Raises `ValueError` where a definition cannot be used; it says which one and why.
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
        let text = definition(definitions)?;
        let tools = py.detach(|| tool_set(&text)).map_err(PyValueError::new_err)?;
        Ok(ToolSet { tools, text })
    }

    /// The names, in the order of declaration.
    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tools.iter().map(callwright::Tool::name))
    }

    /// What of the definitions calls are not held against, one sentence each.
    #[getter]
    fn unchecked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sentences: Vec<String> = self
            .tools
            .unchecked()
            .map(|(tool, part)| format!("{tool}: {}: {}", part.pointer, part.reason))
            .collect();
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

/// The tools that a caller means by `tools`: a [`ToolSet`], or definitions.
///
/// # Errors
/// A `ValueError` where a definition cannot be used.
pub(crate) fn tools_of(tools: &Bound<'_, PyAny>) -> PyResult<Arc<callwright::ToolSet>> {
    if let Ok(tool_set) = tools.cast::<ToolSet>() {
        return Ok(Arc::clone(&tool_set.get().tools));
    }
    tool_set(&definition(tools)?).map_err(PyValueError::new_err)
}

/// A JSON Schema, compiled once: from a dict or a bool, its JSON text, or a class with `model_json_schema`.
///
/// Raises `ValueError` where it is no schema.
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
        let text = definition(schema)?;
        let schema = self::schema(&text).map_err(PyValueError::new_err)?;
        Ok(Schema { schema, text })
    }

    /// What of the schema values are not held against, one sentence each.
    #[getter]
    fn unchecked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let sentences: Vec<String> =
            self.schema.unchecked().iter().map(|part| format!("{}: {}", part.pointer, part.reason)).collect();
        PyTuple::new(py, sentences)
    }

    fn __repr__(&self) -> String {
        format!("Schema({})", self.text)
    }

    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }
}

/// The schema that a caller means by `schema`: a [`Schema`], or what one is made from.
///
/// # Errors
/// A `ValueError` where it is no schema.
pub(crate) fn schema_of(schema: &Bound<'_, PyAny>) -> PyResult<Arc<callwright::Schema>> {
    if let Ok(schema) = schema.cast::<Schema>() {
        return Ok(Arc::clone(&schema.get().schema));
    }
    self::schema(&definition(schema)?).map_err(PyValueError::new_err)
}

/// The dialects to look for: the built-in ones, and records of one's own, which have the members of `[[dialect]]` in a
/// configuration. `only` pins one by its name.
///
/// Raises `ValueError` where a record cannot be used, or none has the name.
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
        let own = own.map_or_else(|| Ok(String::from("[]")), definition)?;
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

    /// The names of all of them.
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

/// The error where no dialect has this name.
pub(crate) fn no_dialect(dialects: &callwright::Dialects, name: &str) -> PyErr {
    let names: Vec<&str> = dialects.iter().map(|dialect| &*dialect.name).collect();
    PyValueError::new_err(format!("there is no dialect `{name}`; there are {}", names.join(", ")))
}
