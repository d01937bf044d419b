//! How large a schema becomes where every reference is followed.

use std::collections::{HashMap, HashSet};

use super::limits::MAX_EXPANDED;
use super::references::children;
use crate::value::Value;

/// The deepest nesting of subschemas once every `$ref` is replaced by what it names.
const MAX_EXPANDED_DEPTH: usize = 128;

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
            for child in children(root, schema) {
                // A reference back to an open schema is not expanded again.
                let child = done.get(&std::ptr::from_ref(child)).copied();
                let child = child.unwrap_or(Expanded { size: 1, depth: 1 });
                sum.size = sum.size.saturating_add(child.size);
                sum.depth = sum.depth.max(child.depth.saturating_add(1));
            }
            done.insert(key, sum);
        } else if !done.contains_key(&key) && open.insert(key) {
            steps.push((schema, true));
            steps.extend(children(root, schema).into_iter().map(|child| (child, false)));
        }
    }
    done.get(&std::ptr::from_ref(root)).copied().unwrap_or(Expanded { size: 1, depth: 1 })
}
