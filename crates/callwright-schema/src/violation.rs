//! The ways in which a value does not fit: as tables find them, and as they are told.

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
    /// The ways in which the value does not fit; none where it fits, as far as that was found out.
    pub violations: Vec<Violation>,
    /// All of the schema was held against the value. If not, that would have taken more work than a check may do, and there may
    /// be faults that are not listed. [`Schema::unchecked`](crate::Schema::unchecked) is not counted: it is known beforehand.
    pub is_whole: bool,
}

/// One thing wrong with one value.
pub(super) struct Fault<'v, 'g> {
    pub(super) value: Value<'v>,
    /// Its place; for a member that must not be there, or stands twice, the place of the object around it.
    pub(super) place: Place,
    /// The knowledge about that place.
    pub(super) entry: &'g Entry,
    pub(super) sort: Sort<'v, 'g>,
}

pub(super) enum Sort<'v, 'g> {
    /// The entry does not have its type.
    Type,
    Rule(&'g Rule),
    /// Members that are declared and required, but not there, one bit per number.
    Missing(u128),
    /// It is a member of this name, and no such member may be there.
    Unknown(Cow<'v, str>),
    /// It is a member of this name, and another one with another value stands before it.
    Duplicate(Cow<'v, str>),
    /// It is a string, or has a key, with half a surrogate pair.
    Surrogate,
}
