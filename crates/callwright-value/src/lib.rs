//! JSON as it was written: the order of members stays, and so does the text of each number.
//!
//! `serde_json` keeps neither unless two of its features are on, and those change it for every crate of the build. What
//! models are told and what they write must not change by a reader, so that definitions, schemas and arguments are held
//! in a [`Value`] of our own. It goes in and out through serde: `serde_json::from_str::<Value>` and
//! `serde_json::to_string` keep order and numbers, whatever features of `serde_json` the build has.

mod build;
mod de;
mod index;
mod map;
mod number;
mod ser;

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use build::ToValue;
pub use index::Index;
pub use map::{Entry, Map};
pub use number::Number;

/// One JSON value, owned.
///
/// ```
/// use callwright_value::Value;
///
/// let text = r#"{"b":0.10,"a":123456789012345678901234567890}"#;
/// let value: Value = text.parse()?;
/// assert_eq!(value.to_string(), text);
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// Numbers are equal if they are spelt alike, objects whatever the order of their members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was spelt.
    Number(Number),
    /// A string, its escapes resolved.
    String(String),
    /// `[…]`
    Array(Vec<Value>),
    /// `{…}`
    Object(Map),
}

impl Value {
    /// Returns `value` as JSON.
    ///
    /// # Errors
    /// When `value` cannot be JSON, such as a map whose keys are lists.
    pub fn of(value: &(impl Serialize + ?Sized)) -> Result<Value, serde_json::Error> {
        serde_json::from_str(&serde_json::to_string(value)?)
    }

    /// Reads a `T` from this value.
    ///
    /// # Errors
    /// When it is not a `T`.
    pub fn to<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&serde_json::to_string(self)?)
    }

    /// The member of an object or the element of an array; `None` where there is none.
    pub fn get(&self, index: impl Index) -> Option<&Value> {
        index.of(self)
    }

    /// Like [`Value::get`], to be changed.
    pub fn get_mut(&mut self, index: impl Index) -> Option<&mut Value> {
        index.of_mut(self)
    }

    /// Returns the part that the JSON pointer `pointer` names: `""` the whole, `/a/0` the first element of the member `a`.
    pub fn pointer(&self, pointer: &str) -> Option<&Value> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Value::Object(members) => members.get(&step),
            Value::Array(elements) => elements.get(place(&step)?),
            _ => None,
        })
    }

    /// Like [`Value::pointer`], to be changed.
    pub fn pointer_mut(&mut self, pointer: &str) -> Option<&mut Value> {
        steps(pointer)?.try_fold(self, |value, step| match value {
            Value::Object(members) => members.get_mut(&step),
            Value::Array(elements) => elements.get_mut(place(&step)?),
            _ => None,
        })
    }

    /// Takes the value and leaves `null`.
    pub fn take(&mut self) -> Value {
        std::mem::take(self)
    }

    /// Returns whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns whether it is `true` or `false`.
    pub fn is_boolean(&self) -> bool {
        matches!(self, Value::Bool(_))
    }

    /// Returns whether it is a number.
    pub fn is_number(&self) -> bool {
        matches!(self, Value::Number(_))
    }

    /// Returns whether it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Value::String(_))
    }

    /// Returns whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self, Value::Array(_))
    }

    /// Returns whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Value::Object(_))
    }

    /// Returns whether it is a number that [`Value::as_u64`] gives.
    pub fn is_u64(&self) -> bool {
        self.as_u64().is_some()
    }

    /// Returns whether it is a number that [`Value::as_i64`] gives.
    pub fn is_i64(&self) -> bool {
        self.as_i64().is_some()
    }

    /// `true` or `false`; `None` for other types.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(is) => Some(*is),
            _ => None,
        }
    }

    /// The number, if it is spelt as a whole one of 64 bits with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number, if it is spelt as a whole one of 64 bits without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The nearest number of double precision; `None` for other types, and beyond what that can hold.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// The number; `None` for other types.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The string; `None` for other types.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements; `None` for other types.
    pub fn as_array(&self) -> Option<&Vec<Value>> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The elements, to be changed; `None` for other types.
    pub fn as_array_mut(&mut self) -> Option<&mut Vec<Value>> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The members; `None` for other types.
    pub fn as_object(&self) -> Option<&Map> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The members, to be changed; `None` for other types.
    pub fn as_object_mut(&mut self) -> Option<&mut Map> {
        match self {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }
}

/// The names in a JSON pointer; `None` for any other text.
fn steps(pointer: &str) -> Option<impl Iterator<Item = String>> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    Some(pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")))
}

/// The place of an element as a pointer spells it: `0`, and neither `00` nor `+0`.
fn place(step: &str) -> Option<usize> {
    let is_spelt = step.bytes().all(|b| b.is_ascii_digit()) && (step == "0" || !step.starts_with('0'));
    step.parse().ok().filter(|_| is_spelt)
}

/// Compact JSON; with `{:#}`, indented by two blanks.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let written =
            if f.alternate() { serde_json::to_string_pretty(self) } else { serde_json::to_string(self) };
        f.write_str(&written.map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Value {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Value, serde_json::Error> {
        serde_json::from_str(text)
    }
}
