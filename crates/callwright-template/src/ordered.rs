//! Maps that keep the order in which they were written, as Python's do: those of a conversation, and those that a template
//! writes itself.

use std::collections::HashMap;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object, Rest};

/// The function that a map in a template's source becomes: `{'a': b}` → `ordered('a', b)`. See
/// [`weighed`](crate::names::weighed).
pub(crate) const ORDERED: &str = "ordered";

/// A map from what stands in `members`; of equal keys, the last one counts, at the place of the first.
pub(crate) fn map(members: impl Iterator<Item = (Value, Value)>) -> Value {
    let mut map = Ordered::default();
    for (key, value) in members {
        let next = map.members.len();
        match map.places.get(&key).and_then(|at| map.members.get_mut(*at)) {
            Some(member) => member.1 = value,
            None => {
                map.places.insert(key.clone(), next);
                map.members.push((key, value));
            }
        }
    }
    Value::from_object(map)
}

/// A map from keys and values in turn.
pub(crate) fn written(parts: Rest<Value>) -> Value {
    map(parts.chunks_exact(2).map(|member| (member[0].clone(), member[1].clone())))
}

#[derive(Debug, Default)]
struct Ordered {
    members: Vec<(Value, Value)>,
    places: HashMap<Value, usize>,
}

impl Object for Ordered {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.members.get(*self.places.get(key)?).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.members.iter().map(|(key, _)| key.clone()).collect())
    }
}
