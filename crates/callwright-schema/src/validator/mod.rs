//! The judge of demands that tables cannot express: all of JSON Schema, with bounded work.
//!
//! A schema is compiled to a program (`program`), with the addresses that it refers to (`resources`, `uri`) and its
//! patterns (`pattern`). Values are checked as they were read (`evaluate`, `demands`); the rules of the tables compare
//! numbers and strings. The cost of a check is counted (`fuel`): if that does not suffice, the check says so.

mod demands;
mod evaluate;
mod form;
mod fuel;
mod pattern;
mod program;
mod resources;
mod scopes;
mod uri;
mod values;
mod violations;

use std::collections::HashMap;

use callwright_json::Value as View;

use self::evaluate::Check;
use self::fuel::Fuel;
use self::program::{Fault, Program};
use self::resources::{Resources, shared_id};
use super::limits::SchemaError;
use super::references::with_pointers;
use super::unchecked::Unchecked;
use super::violation::Violation;
use callwright_value::Value;

/// A compiled schema that decides on all demands of JSON Schema.
#[derive(Debug)]
pub(super) struct Validator(Program);

/// The judgement of a validator about a value.
pub(super) enum Judgement {
    Fits,
    /// The value does not fit, in these ways.
    Not(Vec<Violation>),
    /// The check would take more work than it may do.
    TooDear,
}

impl Validator {
    /// Compiles `schema`, which may refer to `resources`, each with its URI. The inner error lists the parts that
    /// cannot be compiled: a part without pointer is all of it.
    ///
    /// # Errors
    /// An error means that one of `resources` has no valid URI.
    pub(super) fn new(
        schema: &Value,
        resources: &[(String, Value)],
    ) -> Result<Result<Validator, Vec<Unchecked>>, SchemaError> {
        if let Some(id) = shared_id(schema) {
            let reason = format!("two parts of it are called `{}`", id.escape_debug());
            return Ok(Err(vec![Unchecked { pointer: String::new(), reason }]));
        }
        let resources =
            Resources::new(schema, resources).map_err(|uri| SchemaError::Resource(uri.to_owned()))?;
        Ok(program::compile(resources).map(Validator).map_err(|faults| located(schema, faults)))
    }

    /// Judges `value`, with at most `most` violations.
    pub(super) fn judge(&self, value: View<'_>, most: usize) -> Judgement {
        let mut check = Check::new(&self.0, value);
        match check.fits(check.root()) {
            Some(true) => Judgement::Fits,
            Some(false) => {
                // Known answers are remembered; naming the faults may cost as much again.
                check.fuel = Fuel::of(value.raw().len());
                Judgement::Not(violations::list(&mut check, most))
            }
            None => Judgement::TooDear,
        }
    }
}

/// Returns the places of `faults` in `root`, in the order of the document. A fault elsewhere, in a document that it
/// refers to, cannot be left out.
fn located(root: &Value, faults: Vec<Fault>) -> Vec<Unchecked> {
    let places: HashMap<*const Value, (usize, String)> = (0..)
        .zip(with_pointers(root))
        .map(|(n, (pointer, value))| (std::ptr::from_ref(value), (n, pointer)))
        .collect();
    let mut located: Vec<(usize, Unchecked)> = Vec::new();
    for Fault { schema, pointer, reason } in faults {
        located.push(match places.get(&schema) {
            Some((n, around)) => (*n, Unchecked { pointer: format!("{around}{pointer}"), reason }),
            None => (usize::MAX, Unchecked { pointer: String::new(), reason }),
        });
    }
    located.sort_by_key(|(n, _)| *n);
    located.into_iter().map(|(_, part)| part).collect()
}
