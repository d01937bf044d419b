//! Writes the `repr` of a result: `Call(name='f', arguments={'a': 1})`.

use pyo3::BoundObject;
use pyo3::prelude::*;

/// The `repr` of an object, built field by field.
pub(crate) struct Repr<'py> {
    py: Python<'py>,
    text: String,
    is_first: bool,
}

impl<'py> Repr<'py> {
    pub(crate) fn new(py: Python<'py>, class: &str) -> Repr<'py> {
        Repr { py, text: format!("{class}("), is_first: true }
    }

    /// Adds `name=` and the value as Python shows it.
    pub(crate) fn field(mut self, name: &str, value: impl IntoPyObject<'py>) -> PyResult<Repr<'py>> {
        let value = value.into_pyobject(self.py).map_err(Into::into)?.into_any();
        let shown = value.into_bound().repr()?;
        if !std::mem::replace(&mut self.is_first, false) {
            self.text.push_str(", ");
        }
        self.text.push_str(name);
        self.text.push('=');
        self.text.push_str(&shown.to_string_lossy());
        Ok(self)
    }

    /// Adds a field if `is_told`; a caller leaves empty fields out.
    pub(crate) fn field_if(
        self,
        is_told: bool,
        name: &str,
        value: impl IntoPyObject<'py>,
    ) -> PyResult<Repr<'py>> {
        if is_told { self.field(name, value) } else { Ok(self) }
    }

    pub(crate) fn finish(self) -> String {
        self.text + ")"
    }
}
