//! How large a schema becomes where every reference is followed.

use std::collections::{HashMap, HashSet};

use super::limits::MAX_EXPANDED;
use super::references::children;
use crate::value::Value;

/// The deepest nesting of subschemas once every `$ref` is replaced by what it names.
const MAX_EXPANDED_DEPTH: usize = 128;

/// Is `root` small enough for a validator that follows every `$ref` when it compiles? No reference leads back to itself
/// without going into the value.
pub(crate) fn is_bounded(root: &Value) -> bool {
    // How many schemas each one becomes, and how deep they are.
    let mut done: HashMap<*const Value, (usize, usize)> = HashMap::new();
    let mut seen: HashSet<*const Value> = HashSet::new();
    // Each step is taken twice: on the way down to find what is inside, on the way up to add it.
    let mut steps = vec![(root, false)];
    while let Some((schema, inside_done)) = steps.pop() {
        let inside = children(root, schema);
        if inside_done {
            // A reference back to a schema that is not done is not expanded again.
            let sizes =
                inside.into_iter().map(|child| done.get(&std::ptr::from_ref(child)).unwrap_or(&(1, 1)));
            let sum = sizes.fold((1, 1), |(size, depth): (usize, usize), (inner, levels)| {
                (size.saturating_add(*inner), depth.max(levels + 1))
            });
            done.insert(schema, sum);
        } else if seen.insert(schema) {
            steps.push((schema, true));
            steps.extend(inside.into_iter().map(|child| (child, false)));
        }
    }
    let whole = done.get(&std::ptr::from_ref(root));
    whole.is_none_or(|(size, depth)| *size <= MAX_EXPANDED && *depth <= MAX_EXPANDED_DEPTH)
}
