//! The members of an object, in the order in which they were written.

use std::fmt;

use indexmap::IndexMap;

use super::Value;

/// The members of a JSON object, in order, each key once.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Map(IndexMap<String, Value>);

/// A place for a member, taken or free.
pub struct Entry<'m>(indexmap::map::Entry<'m, String, Value>);

impl Map {
    /// No members.
    pub fn new() -> Map {
        Map::default()
    }

    /// No members yet, with room for so many.
    pub fn with_capacity(members: usize) -> Map {
        Map(IndexMap::with_capacity(members))
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a member.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// The value of a member, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.get_mut(key)
    }

    /// Returns whether there is a member of this name.
    pub fn contains_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Sets a member, and gives its former value: in its place if there is one already, else as the last one.
    pub fn insert(&mut self, key: String, value: Value) -> Option<Value> {
        self.0.insert(key, value)
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key)
    }

    /// The place of a member, to be filled if it is free.
    pub fn entry(&mut self, key: impl Into<String>) -> Entry<'_> {
        Entry(self.0.entry(key.into()))
    }

    /// Keeps only those members that `is_kept` wants.
    pub fn retain(&mut self, is_kept: impl FnMut(&String, &mut Value) -> bool) {
        self.0.retain(is_kept);
    }

    /// The members.
    pub fn iter(&self) -> Iter<'_> {
        self.0.iter()
    }

    /// The members, their values to be changed.
    pub fn iter_mut(&mut self) -> indexmap::map::IterMut<'_, String, Value> {
        self.0.iter_mut()
    }

    /// The names.
    pub fn keys(&self) -> indexmap::map::Keys<'_, String, Value> {
        self.0.keys()
    }

    /// The values.
    pub fn values(&self) -> indexmap::map::Values<'_, String, Value> {
        self.0.values()
    }

    /// The values, to be changed.
    pub fn values_mut(&mut self) -> indexmap::map::ValuesMut<'_, String, Value> {
        self.0.values_mut()
    }
}

impl<'m> Entry<'m> {
    /// The value of the member, which is `default` if there was none.
    pub fn or_insert(self, default: Value) -> &'m mut Value {
        self.0.or_insert(default)
    }

    /// The value of the member, which `default` makes if there was none.
    pub fn or_insert_with(self, default: impl FnOnce() -> Value) -> &'m mut Value {
        self.0.or_insert_with(default)
    }
}

type Iter<'m> = indexmap::map::Iter<'m, String, Value>;

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'m> IntoIterator for &'m Map {
    type Item = (&'m String, &'m Value);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Iter<'m> {
        self.0.iter()
    }
}

impl<'m> IntoIterator for &'m mut Map {
    type Item = (&'m String, &'m mut Value);
    type IntoIter = indexmap::map::IterMut<'m, String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }
}

impl IntoIterator for Map {
    type Item = (String, Value);
    type IntoIter = indexmap::map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<(String, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Map {
        Map(members.into_iter().collect())
    }
}

impl Extend<(String, Value)> for Map {
    fn extend<I: IntoIterator<Item = (String, Value)>>(&mut self, members: I) {
        self.0.extend(members);
    }
}
