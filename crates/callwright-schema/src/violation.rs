//! The violations of a schema, in the form of the tables and in the form of sentences.

use std::borrow::Cow;

use callwright_json::{Place, Value};

use super::guide::{Entry, Rule};

/// One way in which arguments do not fit a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer into the arguments; empty for the whole object.
    pub pointer: String,
    /// The schema keyword that is violated: `required`, `type`, `enum`, ….
    pub keyword: &'static str,
    /// One sentence for the model, without full stop: `path must be a string`.
    pub message: String,
}

/// The answer of a schema about a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The ways in which the value does not fit; none if it fits, as far as the check found out.
    pub violations: Vec<Violation>,
    /// The check covered all of the schema. If not, that would have taken more work than a check may do, and there may
    /// be faults that are not listed. [`Schema::unchecked`](crate::Schema::unchecked) does not count: it is known
    /// beforehand.
    pub is_whole: bool,
}

/// One fault of one value.
pub(super) struct Fault<'v, 'g> {
    pub(super) value: Value<'v>,
    /// The place of the value; for a member that may not be there, or stands twice, the place of the object around it.
    pub(super) place: Place,
    /// The knowledge about that place.
    pub(super) entry: &'g Entry,
    pub(super) sort: Sort<'v, 'g>,
}

pub(super) enum Sort<'v, 'g> {
    /// The value does not have a type of the entry.
    Type,
    Rule(&'g Rule),
    /// Members that are declared and required are missing, one bit per number.
    Missing(u128),
    /// The value is a member of this name, and no such member may be there.
    Unknown(Cow<'v, str>),
    /// The value is a member of this name, and another one with another value stands before it.
    Duplicate(Cow<'v, str>),
    /// The value is a string, or has a key, with half a surrogate pair.
    Surrogate,
}
