//! Wraps a right call, and one that the text only shows.

use callwright::{BesideProse, Places, ShownBy};
use callwright_json::{is_object, strict};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::repair::{Coercion, Repair, class_of};
use crate::repr::Repr;
use crate::text::code_points;
use crate::value::{dumps, object};

/// A right call: of a declared tool, with arguments that fit its schema and have one reading.
///
/// `arguments` is the value, `arguments_json` its strict JSON text, byte for byte the model's where that was valid. A
/// native call's repairs are places in its own arguments; `start` and `end` are places in the answer's text, markup
/// included. `tool_call_id` is the `id`, or for a call without one an id that is made of the text up to its end.
///
/// Ask before it runs where `unsure`, `open_end` or `unchecked` is true: it may be shown rather than made, the answer
/// may end before the call does, or a full check against its schema would take too much work.
///
/// A call can be made for tests too: `arguments` are a dict or their JSON text. Raises `ValueError` for arguments that
/// are not an object, and for an unknown `beside_prose`.
#[pyclass(frozen, eq, hash, module = "callwright")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Call {
    /// The upstream's id of the call.
    #[pyo3(get)]
    id: Option<String>,
    /// The id in a conversation: the upstream's, or one that is made of the text.
    #[pyo3(get)]
    pub(crate) tool_call_id: String,
    /// The declared name.
    #[pyo3(get)]
    pub(crate) name: String,
    /// The arguments as strict JSON text.
    #[pyo3(get)]
    pub(crate) arguments_json: String,
    /// The name of the call's dialect.
    #[pyo3(get)]
    dialect: String,
    /// The start of the call in the text, in code points.
    #[pyo3(get)]
    start: usize,
    /// The end of the call.
    #[pyo3(get)]
    end: usize,
    /// The name that the model wrote, if that was another one.
    #[pyo3(get)]
    renamed_from: Option<String>,
    /// The call's place beside the words: `above`, `below`, `line`, `between`, `sentence`.
    #[pyo3(get)]
    beside_prose: Option<&'static str>,
    /// The model may show the call rather than make it.
    #[pyo3(get)]
    unsure: bool,
    /// The answer ends before the call does, so more could have followed.
    #[pyo3(get)]
    open_end: bool,
    /// A full check against the schema would take more work than a check may do.
    #[pyo3(get)]
    unchecked: bool,
    repairs: Vec<Repair>,
    coercions: Vec<Coercion>,
}

impl Call {
    /// Wraps a call; `text` has the places of the answer. A native call was read from its own arguments, which `source`
    /// has with their number.
    pub(crate) fn of(
        call: &callwright::Acceptance,
        text: &mut Places<'_>,
        source: Option<(usize, &str)>,
    ) -> Call {
        let (start, end) = text.pair(call.span);
        let repairs = match source {
            Some((_, source)) => Repair::all(&call.repairs, &mut code_points(source)),
            None => Repair::all(&call.repairs, text),
        };
        let tool_call_id = call.id.clone().unwrap_or_else(|| {
            let number = source.map_or(0, |(number, _)| number);
            let place = format!("{start} {end} {number}");
            let before = before(text.text(), call.span.end as usize);
            made_id(&[before, place.as_bytes(), call.name.as_bytes(), call.arguments.as_bytes()])
        });
        Call {
            id: call.id.clone(),
            tool_call_id,
            name: call.name.clone(),
            arguments_json: call.arguments.clone(),
            dialect: call.dialect.to_string(),
            start,
            end,
            renamed_from: call.renamed_from.clone(),
            beside_prose: call.beside_prose.map(BesideProse::name),
            unsure: call.unsure,
            open_end: call.open_end,
            unchecked: call.unchecked,
            repairs,
            coercions: Coercion::all(&call.coercions),
        }
    }
}

#[pymethods]
impl Call {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str) {
        ("name", "arguments")
    }

    #[new]
    #[pyo3(signature = (
        name, arguments, *, id = None, tool_call_id = None, dialect = "native", start = 0, end = 0,
        renamed_from = None, beside_prose = None, unsure = false, open_end = false, unchecked = false,
        repairs = Vec::new(), coercions = Vec::new()
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are Python's keywords")]
    fn new(
        py: Python<'_>,
        name: String,
        arguments: &Bound<'_, PyAny>,
        id: Option<String>,
        tool_call_id: Option<String>,
        dialect: &str,
        start: usize,
        end: usize,
        renamed_from: Option<String>,
        beside_prose: Option<&str>,
        unsure: bool,
        open_end: bool,
        unchecked: bool,
        repairs: Vec<Repair>,
        coercions: Vec<Coercion>,
    ) -> PyResult<Call> {
        let arguments_json = match arguments.is_instance_of::<PyString>() {
            true => arguments.extract()?,
            false => dumps(py, arguments)?,
        };
        if !is_object(&arguments_json) {
            return Err(PyValueError::new_err("`arguments` are not an object of strict JSON"));
        }
        let place = format!("{start} {end}");
        let made = || made_id(&[place.as_bytes(), name.as_bytes(), arguments_json.as_bytes()]);
        let tool_call_id = tool_call_id.or_else(|| id.clone()).unwrap_or_else(made);
        let dialect = dialect.to_owned();
        let beside_prose = beside_prose.map(place_named).transpose()?;
        Ok(Call {
            id,
            tool_call_id,
            name,
            arguments_json,
            dialect,
            start,
            end,
            renamed_from,
            beside_prose,
            unsure,
            open_end,
            unchecked,
            repairs,
            coercions,
        })
    }

    /// Returns the arguments as a new dict.
    ///
    /// Raises `Refused` where Python lacks the number, as for `1e400`; `arguments_json` has it.
    #[getter]
    fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let text = &self.arguments_json;
        // INVARIANT: a call has strict JSON.
        let tree = strict(text).unwrap_or_default();
        object(py, tree.root(text))
    }

    /// Returns the worst class of its repairs: `R0`, `R1` or `R2`.
    #[getter]
    fn repair_class(&self) -> &'static str {
        class_of(&self.repairs, self.renamed_from.is_some() || !self.coercions.is_empty())
    }

    /// Returns the repairs, in order.
    #[getter]
    fn repairs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.repairs.iter().cloned())
    }

    /// Returns the values that were converted to the schema's type.
    #[getter]
    fn coercions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.coercions.iter().cloned())
    }

    /// Returns the call as OpenAI's API has it, `{"id", "type", "function": {"name", "arguments"}}`, under `id` or its
    /// `tool_call_id`.
    ///
    /// >>> Call("ping", {"host": "a"}, id="call_1").to_openai()
    /// {'id': 'call_1', 'type': 'function', 'function': {'name': 'ping', 'arguments': '{"host": "a"}'}}
    #[pyo3(signature = (id = None))]
    pub(crate) fn to_openai<'py>(&self, py: Python<'py>, id: Option<&str>) -> PyResult<Bound<'py, PyDict>> {
        let id = id.unwrap_or(&self.tool_call_id);
        function_call(py, id, &self.name, &self.arguments_json)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Call").field_if(self.id.is_some(), "id", &self.id)?;
        let repr = repr.field("name", &self.name)?;
        let repr = match self.arguments(py) {
            Ok(arguments) => repr.field("arguments", arguments)?,
            Err(_) => repr.field("arguments_json", &self.arguments_json)?,
        };
        let class = self.repair_class();
        let repr = repr.field_if(class != "R0", "repair_class", class)?;
        let repr = repr.field_if(self.unsure, "unsure", true)?;
        let repr = repr.field_if(self.open_end, "open_end", true)?;
        Ok(repr.field_if(self.unchecked, "unchecked", true)?.finish())
    }

    fn __getnewargs_ex__<'py>(
        &'py self,
        py: Python<'py>,
    ) -> PyResult<((&'py str, &'py str), Bound<'py, PyDict>)> {
        let named = PyDict::new(py);
        named.set_item("id", self.id.as_deref())?;
        named.set_item("tool_call_id", &self.tool_call_id)?;
        named.set_item("dialect", &self.dialect)?;
        named.set_item("start", self.start)?;
        named.set_item("end", self.end)?;
        named.set_item("renamed_from", self.renamed_from.as_deref())?;
        named.set_item("beside_prose", self.beside_prose)?;
        named.set_item("unsure", self.unsure)?;
        named.set_item("open_end", self.open_end)?;
        named.set_item("unchecked", self.unchecked)?;
        named.set_item("repairs", self.repairs(py)?)?;
        named.set_item("coercions", self.coercions(py)?)?;
        Ok(((&self.name, &self.arguments_json), named))
    }
}

/// Writes a call as OpenAI's API has it.
pub(crate) fn function_call<'py>(
    py: Python<'py>,
    id: &str,
    name: &str,
    arguments: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let function = PyDict::new(py);
    function.set_item("name", name)?;
    function.set_item("arguments", arguments)?;
    let call = PyDict::new(py);
    call.set_item("id", id)?;
    call.set_item("type", "function")?;
    call.set_item("function", function)?;
    Ok(call)
}

/// Returns the bytes before `end`, as many as tell two turns apart: an answer of many calls is not read once for each.
fn before(text: &str, end: usize) -> &[u8] {
    const ENOUGH: usize = 2000;
    text.as_bytes().get(end.saturating_sub(ENOUGH)..end).unwrap_or_default()
}

/// Makes an id of texts, the same one in each process and version.
pub(crate) fn made_id(texts: &[&[u8]]) -> String {
    // FNV-1a. The length behind each one keeps `a`, `bc` and `ab`, `c` apart.
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = START;
    for text in texts {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes();
        for byte in text.iter().chain(&length) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(PRIME);
        }
    }
    format!("call_{hash:016x}")
}

fn place_named(name: &str) -> PyResult<&'static str> {
    use BesideProse::{Above, Below, Between, Line, Sentence};
    let names = [Above, Below, Line, Between, Sentence].map(BesideProse::name);
    let known = names.into_iter().find(|known| *known == name);
    known.ok_or_else(|| {
        PyValueError::new_err(format!("`beside_prose` is one of {}, not `{name}`", names.join(", ")))
    })
}

/// A call that the text only shows: it stays in the text, at `start:end`.
///
/// Raises `ValueError` for an unknown `by`.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Shown {
    /// The tool that it names, as far as the name is readable.
    name: Option<String>,
    /// The name of its dialect.
    dialect: String,
    /// The start in the text, in code points.
    start: usize,
    /// The end.
    end: usize,
    /// The reason why it counts as shown: `fence`, `indent`, `prefix`, `element`, `pair`, `line`, `sentence`,
    /// `between`, `other_form`, `repeat`, `unsure`.
    by: &'static str,
    /// The reason, as the end of a sentence.
    message: String,
}

impl Shown {
    pub(crate) fn of(shown: &callwright::ShownCall, text: &mut Places<'_>) -> Shown {
        let (start, end) = text.pair(shown.span);
        Shown {
            name: shown.name.clone(),
            dialect: shown.dialect.to_string(),
            start,
            end,
            by: shown.by.name(),
            message: shown.by.to_string(),
        }
    }
}

#[pymethods]
impl Shown {
    #[new]
    fn new(name: Option<String>, dialect: String, start: usize, end: usize, by: &str) -> PyResult<Shown> {
        use ShownBy::{
            Between, Element, Fence, Indent, Line, OtherForm, Pair, Prefix, Repeat, Sentence, Unsure,
        };
        let all = [Fence, Indent, Prefix, Element, Pair, Line, Sentence, Between, OtherForm, Repeat, Unsure];
        let known = all.into_iter().find(|known| known.name() == by);
        let by = known.ok_or_else(|| {
            let names = all.map(ShownBy::name).join(", ");
            PyValueError::new_err(format!("`by` is one of {names}, not `{by}`"))
        })?;
        Ok(Shown { name, dialect, start, end, by: by.name(), message: by.to_string() })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let repr = Repr::new(py, "Shown").field("name", &self.name)?.field("by", self.by)?;
        Ok(repr.field("start", self.start)?.field("end", self.end)?.finish())
    }

    fn __getnewargs__(&self) -> (Option<&str>, &str, usize, usize, &str) {
        (self.name.as_deref(), &self.dialect, self.start, self.end, self.by)
    }
}
