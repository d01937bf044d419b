//! Wraps the changes of a text: its edits, and the values that were converted to their schema's type.

use callwright::Places;
use callwright_json::RepairKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::repr::Repr;

/// One edit of the source: `put` replaced `before`, the text at `start:end`.
///
/// `kind` is its stable name, such as `add-closer`; `repair_class` is `R1` where only wrapping or spelling changed and `R2`
/// where something was inferred. The places are code points of the text, or of a native call's own arguments.
///
/// Raises `ValueError` for an unknown `kind`, which says the class.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Repair {
    kind: &'static str,
    repair_class: &'static str,
    start: usize,
    end: usize,
    before: String,
    put: String,
}

impl Repair {
    pub(crate) fn all(repairs: &[callwright_json::Repair], places: &mut Places<'_>) -> Vec<Repair> {
        let one = |repair: &callwright_json::Repair| {
            let (start, end) = places.pair(repair.at);
            Repair {
                kind: repair.kind.code(),
                repair_class: repair.kind.class().code(),
                start,
                end,
                before: repair.at.of(places.text()).to_owned(),
                put: repair.put.to_string(),
            }
        };
        repairs.iter().map(one).collect()
    }
}

#[pymethods]
impl Repair {
    #[new]
    fn new(kind: &str, start: usize, end: usize, before: String, put: String) -> PyResult<Repair> {
        let known = RepairKind::ALL.iter().find(|known| known.code() == kind);
        let known =
            known.ok_or_else(|| PyValueError::new_err(format!("no repair is of the kind `{kind}`")))?;
        Ok(Repair { kind: known.code(), repair_class: known.class().code(), start, end, before, put })
    }

    fn __getnewargs__(&self) -> (&str, usize, usize, &str, &str) {
        (self.kind, self.start, self.end, &self.before, &self.put)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Repair { kind, repair_class, start, end, before, put } = self;
        let repr = Repr::new(py, "Repair").field("kind", *kind)?.field("repair_class", *repair_class)?;
        let repr = repr.field("start", *start)?.field("end", *end)?;
        Ok(repr.field("before", before)?.field("put", put)?.finish())
    }
}

/// A value that was converted to its schema's type: at `pointer` in the value, the JSON `before` became `after`.
#[pyclass(frozen, get_all, eq, hash, from_py_object, module = "callwright")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Coercion {
    pointer: String,
    before: String,
    after: String,
}

impl Coercion {
    pub(crate) fn all(coercions: &[callwright::Coercion]) -> Vec<Coercion> {
        let one = |coercion: &callwright::Coercion| Coercion {
            pointer: coercion.pointer.clone(),
            before: coercion.from.clone(),
            after: coercion.to.clone(),
        };
        coercions.iter().map(one).collect()
    }
}

#[pymethods]
impl Coercion {
    #[new]
    fn new(pointer: String, before: String, after: String) -> Coercion {
        Coercion { pointer, before, after }
    }

    fn __getnewargs__(&self) -> (&str, &str, &str) {
        (&self.pointer, &self.before, &self.after)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let Coercion { pointer, before, after } = self;
        let repr = Repr::new(py, "Coercion").field("pointer", pointer)?;
        Ok(repr.field("before", before)?.field("after", after)?.finish())
    }
}

/// Returns the worst class of these changes: a conversion counts as inferred.
pub(crate) fn class_of(repairs: &[Repair], is_converted: bool) -> &'static str {
    let converted = is_converted.then_some("R2");
    // Their names are in the order of their weight.
    repairs.iter().map(|repair| repair.repair_class).chain(converted).max().unwrap_or("R0")
}
