//! Limits that hold before a schema is compiled: nothing here does more work than the schema is long, times a
//! constant, and nothing recurses.

#[cfg(feature = "full-schemas")]
use std::collections::{HashMap, HashSet};

use crate::value::Value;

use super::SchemaError;
use super::keywords::inside;
#[cfg(feature = "full-schemas")]
use super::references::children;
use super::references::reached;
use super::unchecked::{Unchecked, pointer_step};

/// The deepest nesting of a schema, in JSON values; what is nested deeper is not checked.
pub const MAX_DEPTH: usize = 64;
/// The deepest nesting of a schema that is taken at all: what reads JSON takes no more.
pub const MAX_NESTING: usize = 128;
/// The most JSON values in one schema.
pub const MAX_NODES: usize = 10_000;
/// The most subschemas of one schema once every `$ref` is replaced by what it names.
pub const MAX_EXPANDED: usize = 100_000;
/// The deepest nesting of those.
#[cfg(feature = "full-schemas")]
const MAX_EXPANDED_DEPTH: usize = 128;

/// What a value takes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The bytes of its strings and keys, plus one per value.
    pub(crate) bytes: usize,
    /// How many values stand in each other.
    pub(crate) depth: usize,
}

/// What `value` takes up.
///
/// # Errors
/// When `value` is nested too deeply or has too many values.
pub(crate) fn measure(value: &Value, max_nodes: usize) -> Result<Measure, SchemaError> {
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

/// The parts of `root` that reach beyond [`MAX_DEPTH`]: schemas, and keywords that hold no schema.
pub(super) fn too_deep(root: &Value) -> Vec<Unchecked> {
    let mut found = Vec::new();
    for (pointer, schema) in reached(root) {
        let depth = 1 + pointer.matches('/').count();
        // Of a schema, at least one keyword must have room.
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

/// Is `root` small enough for a validator that follows every `$ref` when it compiles? No reference leads back to itself
/// without going into the value.
#[cfg(feature = "full-schemas")]
pub(super) fn is_bounded(root: &Value) -> bool {
    // How many schemas each one becomes, and how deep they are.
    let mut done: HashMap<*const Value, (usize, usize)> = HashMap::new();
    let mut seen: HashSet<*const Value> = HashSet::new();
    // Each step is taken twice: on the way down to find what is inside, on the way up to add it.
    let mut steps = vec![(root, false)];
    while let Some((schema, inside_done)) = steps.pop() {
        let inside = children(root, schema);
        if inside_done {
            // A reference back to a schema that is not done is not expanded again.
            let sizes = inside.map(|child| done.get(&std::ptr::from_ref(child)).unwrap_or(&(1, 1)));
            let sum = sizes.fold((1, 1), |(size, depth): (usize, usize), (inner, levels)| {
                (size.saturating_add(*inner), depth.max(levels + 1))
            });
            done.insert(schema, sum);
        } else if seen.insert(schema) {
            steps.push((schema, true));
            steps.extend(inside.map(|child| (child, false)));
        }
    }
    let whole = done.get(&std::ptr::from_ref(root));
    whole.is_none_or(|(size, depth)| *size <= MAX_EXPANDED && *depth <= MAX_EXPANDED_DEPTH)
}
