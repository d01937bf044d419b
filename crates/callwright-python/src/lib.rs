//! The door for Python: the module `callwright._callwright`, which the package `callwright` in `python/` re-exports.
//!
//! Python's texts and tools come in, frozen classes go out. This crate decides nothing: the engine reads, and this
//! crate translates. It releases the interpreter's lock while the engine works, builds values straight from the
//! engine's tree, and converts places from bytes to Python's code points. The modules stand in reading order.

use pyo3::prelude::*;

mod text;
mod value;
mod definitions;
mod options;
mod repr;
mod repair;
mod call;
mod refusal;
mod heal;
mod partial;
mod messages;
mod outcome;
mod scanner;
#[cfg(feature = "arrow")]
mod columns;

/// The contents of `import callwright`; each class documents itself.
#[pymodule(gil_used = false)]
mod _callwright {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::call::{Call, Shown};
    #[cfg(feature = "arrow")]
    #[pymodule_export]
    use super::columns::{Columns, heal_columns, parse_columns};
    #[pymodule_export]
    use super::definitions::{Dialects, Schema, ToolSet};
    #[pymodule_export]
    use super::heal::{Healed, heal, loads};
    #[pymodule_export]
    use super::options::is_cut;
    #[pymodule_export]
    use super::outcome::{Outcome, parse};
    #[pymodule_export]
    use super::partial::{Partial, PartialCall, partial};
    #[pymodule_export]
    use super::refusal::{Position, Refusal, Violation};
    #[pymodule_export]
    use super::repair::{Coercion, Repair};
    #[pymodule_export]
    use super::scanner::{ArgumentsDelta, CallStarted, ReasoningDelta, Scanner, TextDelta};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
