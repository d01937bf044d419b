//! Limits that hold before a schema is compiled: nothing here does more work than the schema is long, times a
//! constant, and nothing recurses.

use std::collections::{HashMap, HashSet};

use crate::value::Value;

use super::SchemaError;
use super::references::children;

/// The deepest nesting of a schema, in JSON values.
pub const MAX_DEPTH: usize = 64;
/// The most JSON values in one schema.
pub const MAX_NODES: usize = 10_000;
/// The most subschemas of one schema once every `$ref` is replaced by what it names.
pub const MAX_EXPANDED: usize = 100_000;
/// The deepest nesting of subschemas once every `$ref` is replaced by what it names.
const MAX_EXPANDED_DEPTH: usize = 128;

/// The number of bytes that the strings and keys of `value` take, plus one per value.
///
/// # Errors
/// When `value` is nested too deeply or has too many values.
pub(crate) fn measure(value: &Value, max_nodes: usize) -> Result<usize, SchemaError> {
    let mut todo = vec![(value, 1)];
    let (mut nodes, mut bytes) = (0, 0);
    while let Some((value, depth)) = todo.pop() {
        nodes += 1;
        if MAX_DEPTH < depth {
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
    Ok(bytes)
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
        for _ in 0..MAX_DEPTH {
            deep = json!([deep]);
        }
        assert_eq!(measure(&deep, MAX_NODES), Err(SchemaError::TooDeep));
        assert_eq!(measure(&json!(vec![0; MAX_NODES]), MAX_NODES), Err(SchemaError::TooLarge));
        assert_eq!(measure(&json!({"ab": "cde"}), MAX_NODES), Ok(7));
    }
}
