//! Members and elements by `[…]`.

use std::ops;

use super::{Map, Value};

/// A name of a member of an object, a text, or of an element of an array, a number.
pub trait Index {
    #[doc(hidden)]
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value>;
    #[doc(hidden)]
    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value>;
    #[doc(hidden)]
    fn made<'v>(&self, value: &'v mut Value) -> &'v mut Value;
}

impl Index for usize {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_array()?.get(*self)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_array_mut()?.get_mut(*self)
    }

    fn made<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        match value {
            Value::Array(elements) => &mut elements[*self],
            other => panic!("element {self} of a value that is not an array: {other}"),
        }
    }
}

impl Index for str {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        value.as_object()?.get(self)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        value.as_object_mut()?.get_mut(self)
    }

    fn made<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        match value {
            Value::Object(members) => members.entry(self).or_insert(Value::Null),
            other => panic!("member {self} of a value that is not an object: {other}"),
        }
    }
}

impl Index for String {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.as_str().of(value)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        self.as_str().of_mut(value)
    }

    fn made<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        self.as_str().made(value)
    }
}

impl<T: Index + ?Sized> Index for &T {
    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        (**self).of(value)
    }

    fn of_mut<'v>(&self, value: &'v mut Value) -> Option<&'v mut Value> {
        (**self).of_mut(value)
    }

    fn made<'v>(&self, value: &'v mut Value) -> &'v mut Value {
        (**self).made(value)
    }
}

/// `null` for what is not there.
impl<I: Index> ops::Index<I> for Value {
    type Output = Value;

    fn index(&self, index: I) -> &Value {
        const NOTHING: &Value = &Value::Null;
        index.of(self).unwrap_or(NOTHING)
    }
}

/// A member that is not there is made, also of `null`.
///
/// # Panics
/// For a member of anything but an object, and an element that is not there.
impl<I: Index> ops::IndexMut<I> for Value {
    fn index_mut(&mut self, index: I) -> &mut Value {
        index.made(self)
    }
}

impl ops::Index<&str> for Map {
    type Output = Value;

    fn index(&self, key: &str) -> &Value {
        const NOTHING: &Value = &Value::Null;
        self.get(key).unwrap_or(NOTHING)
    }
}

/// A member that is not there is made.
impl ops::IndexMut<&str> for Map {
    fn index_mut(&mut self, key: &str) -> &mut Value {
        self.entry(key).or_insert(Value::Null)
    }
}
