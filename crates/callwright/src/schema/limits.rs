//! Limits that hold before a schema is compiled: nothing here does more work than the schema is long, times a
//! constant, and nothing recurses.

use std::collections::{HashMap, HashSet};

use crate::value::Value;

use super::SchemaError;
use super::keywords::{Holds, holds};
use super::references::children;
use super::unchecked::{Unchecked, pointer_step};

/// The deepest nesting of a schema, in JSON values; what is nested deeper is not checked.
pub const MAX_DEPTH: usize = 64;
/// The deepest nesting of a schema that is taken at all: what reads JSON takes no more.
pub const MAX_NESTING: usize = 128;
/// The most JSON values in one schema.
pub const MAX_NODES: usize = 10_000;
/// The most subschemas of one schema once every `$ref` is replaced by what it names.
pub const MAX_EXPANDED: usize = 100_000;
/// The deepest nesting of subschemas once every `$ref` is replaced by what it names.
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
    let mut tell = |pointer: String| {
        let reason = format!("it is nested deeper than {MAX_DEPTH} levels of JSON");
        found.push(Unchecked { pointer, reason });
    };
    let mut todo = vec![(String::new(), root, 1)];
    while let Some((pointer, schema, depth)) = todo.pop() {
        let Value::Object(keywords) = schema else { continue };
        // Of a schema, at least one keyword must have room.
        if MAX_DEPTH <= depth {
            tell(pointer);
            continue;
        }
        for (keyword, held) in keywords {
            let at = format!("{pointer}/{}", pointer_step(keyword));
            match (holds(keyword).0, held) {
                (Holds::Schema | Holds::SchemaOrList, held @ Value::Object(_)) => {
                    todo.push((at, held, depth + 1));
                }
                (Holds::List | Holds::SchemaOrList, Value::Array(list)) => {
                    todo.extend(
                        list.iter().enumerate().map(|(n, held)| (format!("{at}/{n}"), held, depth + 2)),
                    );
                }
                (Holds::Map, Value::Object(map)) => todo.extend(
                    map.iter().map(|(name, held)| (format!("{at}/{}", pointer_step(name)), held, depth + 2)),
                ),
                (_, held) => {
                    if measure(held, MAX_NODES).is_ok_and(|inner| MAX_DEPTH < depth + inner.depth) {
                        tell(at);
                    }
                }
            }
        }
    }
    found
}

/// How large a schema becomes once every `$ref` is replaced by what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expanded {
    size: usize,
    depth: usize,
}

impl Expanded {
    /// Is it small enough for a validator that follows every reference when it compiles?
    pub(crate) fn is_bounded(self) -> bool {
        self.size <= MAX_EXPANDED && self.depth <= MAX_EXPANDED_DEPTH
    }
}

/// Follows every `$ref` of `root` once. No reference leads back to itself without going into the value.
pub(crate) fn expand(root: &Value) -> Expanded {
    let mut done: HashMap<*const Value, Expanded> = HashMap::new();
    let mut open: HashSet<*const Value> = HashSet::new();
    // Each step is taken twice: on the way down to find what is inside, on the way up to add it.
    let mut steps = vec![(root, false)];
    while let Some((schema, inside_done)) = steps.pop() {
        let key: *const Value = schema;
        if inside_done {
            open.remove(&key);
            let mut sum = Expanded { size: 1, depth: 1 };
            for (_, child) in children(root, schema) {
                // A reference back to an open schema is not expanded again.
                let child = done.get(&std::ptr::from_ref(child)).copied();
                let child = child.unwrap_or(Expanded { size: 1, depth: 1 });
                sum.size = sum.size.saturating_add(child.size);
                sum.depth = sum.depth.max(child.depth.saturating_add(1));
            }
            done.insert(key, sum);
        } else if !done.contains_key(&key) && open.insert(key) {
            steps.push((schema, true));
            steps.extend(children(root, schema).into_iter().map(|(_, child)| (child, false)));
        }
    }
    done.get(&std::ptr::from_ref(root)).copied().unwrap_or(Expanded { size: 1, depth: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn doubling_definitions_are_counted_not_expanded() {
        let mut defs = crate::value::Map::new();
        for n in 0..24 {
            let next = format!("#/$defs/d{}", n + 1);
            defs.insert(format!("d{n}"), json!({"properties": {"a": {"$ref": next}, "b": {"$ref": next}}}));
        }
        defs.insert("d24".into(), json!({"type": "string"}));
        let bomb = json!({"$ref": "#/$defs/d0", "$defs": defs});
        let expanded = expand(&bomb);
        assert!(1 << 24 < expanded.size);
        assert!(!expanded.is_bounded());
    }

    #[test]
    fn a_schema_inside_itself_is_bounded() {
        assert!(expand(&json!({"properties": {"child": {"$ref": "#"}}})).is_bounded());
    }

    #[test]
    fn deep_and_large_values_are_refused() {
        let mut deep = json!(1);
        for _ in 0..MAX_NESTING {
            deep = json!([deep]);
        }
        assert_eq!(measure(&deep, MAX_NODES), Err(SchemaError::TooDeep));
        assert_eq!(measure(&json!(vec![0; MAX_NODES]), MAX_NODES), Err(SchemaError::TooLarge));
        assert_eq!(measure(&json!({"ab": "cde"}), MAX_NODES), Ok(Measure { bytes: 7, depth: 2 }));
    }
}
