//! Limits that hold before a schema is compiled: this module does work in proportion to the length of the schema, and
//! does not recurse.

use std::fmt;

use callwright_value::Value;

use super::keywords::{inside, pointer_step};
use super::references::reached;
use super::unchecked::Unchecked;

/// Deepest nesting of a schema, in JSON values; deeper parts are not checked.
pub const MAX_DEPTH: usize = 64;
/// Deepest nesting of a schema that is accepted at all: readers of JSON take no more.
pub const MAX_NESTING: usize = 128;
/// Most JSON values in one schema.
pub const MAX_NODES: usize = 10_000;

/// The reason for which a schema cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema is neither an object nor a boolean.
    NotASchema,
    /// The schema is nested deeper than [`MAX_NESTING`].
    TooDeep,
    /// The schema has more than [`MAX_NODES`] values.
    TooLarge,
    /// A document to refer to has no valid URI; the reason.
    Resource(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use SchemaError::{NotASchema, Resource, TooDeep, TooLarge};
        match self {
            NotASchema => f.write_str("the schema is neither an object nor a boolean"),
            TooDeep => write!(f, "the schema is nested deeper than {MAX_NESTING} levels of JSON"),
            TooLarge => write!(f, "the schema has more than {MAX_NODES} values"),
            Resource(why) => write!(f, "what the schema may refer to has no valid address: {why}"),
        }
    }
}

impl std::error::Error for SchemaError {}

/// The room that a value takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The bytes of its strings and keys, plus one per value.
    pub bytes: usize,
    /// The number of values that stand in each other.
    pub depth: usize,
}

/// Returns the room that `value` takes up. Counting ends above the bounds.
///
/// # Errors
/// An error means that `value` is nested too deeply or has too many values.
pub fn measure(value: &Value, max_nodes: usize) -> Result<Measure, SchemaError> {
    let mut todo = vec![(value, 1)];
    let (mut nodes, mut bytes, mut deepest) = (0, 0, 0);
    while let Some((value, depth)) = todo.pop() {
        nodes += 1;
        deepest = deepest.max(depth);
        if MAX_NESTING < depth {
            return Err(SchemaError::TooDeep);
        }
        if max_nodes < nodes {
            return Err(SchemaError::TooLarge);
        }
        bytes += 1;
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => todo.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                bytes += members.keys().map(String::len).sum::<usize>();
                todo.extend(members.values().map(|member| (member, depth + 1)));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    Ok(Measure { bytes, depth: deepest })
}

/// Returns the parts of `root` that reach beyond [`MAX_DEPTH`]: schemas, and keywords that hold no schema.
pub(super) fn too_deep(root: &Value) -> Vec<Unchecked> {
    let mut found = Vec::new();
    for (pointer, schema) in reached(root) {
        let depth = 1 + pointer.matches('/').count();
        // At least one keyword of a schema must have room.
        if MAX_DEPTH <= depth {
            found.push(pointer);
            continue;
        }
        let holds_schemas = |keyword: &str| inside(schema).any(|(by, _)| by == keyword);
        let is_deep = |held| measure(held, MAX_NODES).is_ok_and(|inner| MAX_DEPTH < depth + inner.depth);
        let keywords = schema.as_object().into_iter().flatten();
        let deep = keywords.filter(|(keyword, held)| is_deep(held) && !holds_schemas(keyword));
        found.extend(deep.map(|(keyword, _)| format!("{pointer}/{}", pointer_step(keyword))));
    }
    let reason = format!("it is nested deeper than {MAX_DEPTH} levels of JSON");
    found.into_iter().map(|pointer| Unchecked { pointer, reason: reason.clone() }).collect()
}
