//! The last step before a verdict: do the arguments fit the tool's schema, as they are or coerced?

use callwright_json::strict;

use crate::tools::Tool;
use crate::verdict::{Coercion, Violation};

/// Arguments that fit.
pub(crate) struct Fit {
    /// Their strict JSON text.
    pub(crate) arguments: String,
    /// What was done to make them fit.
    pub(crate) coercions: Vec<Coercion>,
}

/// Fits `arguments`, the strict JSON text of an object, to the schema of `tool`.
///
/// # Errors
/// The ways in which they do not fit, where coercion that loses nothing does not help.
pub(crate) fn fit(tool: &Tool, arguments: &str) -> Result<Fit, Vec<Violation>> {
    let Ok(tree) = strict(arguments) else { return Err(Vec::new()) };
    let violations = tool.schema().check(tree.root(arguments));
    if violations.is_empty() {
        return Ok(Fit { arguments: arguments.to_owned(), coercions: Vec::new() });
    }
    match tool.schema().coerce(arguments, &tree) {
        Some(coerced) => Ok(Fit { arguments: coerced.text, coercions: coerced.coercions }),
        None => Err(violations),
    }
}
