//! Values from what Rust has: conversions, comparisons, and [`json!`](crate::json).

use std::borrow::Cow;

use super::{Map, Number, Value};

/// Makes a [`Value`](crate::Value) from JSON with expressions in it, as `serde_json::json!` does; members stay in
/// this order.
///
/// ```
/// use callwright_value::json;
///
/// let name = "get_weather";
/// let tool = json!({"name": name, "parameters": {"type": "object", "required": ["city"]}});
/// assert_eq!(tool["parameters"]["required"][0], "city");
/// ```
#[macro_export]
macro_rules! json {
    ($($json:tt)+) => { $crate::json_internal!($($json)+) };
}

// What stands in brackets is taken apart from the left: first the elements or members that are done, then the rest.
#[doc(hidden)]
#[macro_export]
macro_rules! json_internal {
    (@array [$($done:expr,)*]) => { vec![$($done,)*] };
    (@array [$($done:expr),*]) => { vec![$($done),*] };
    (@array [$($done:expr,)*] null $($rest:tt)*) => {
        $crate::json_internal!(@array [$($done,)* $crate::json_internal!(null)] $($rest)*)
    };
    (@array [$($done:expr,)*] [$($array:tt)*] $($rest:tt)*) => {
        $crate::json_internal!(@array [$($done,)* $crate::json_internal!([$($array)*])] $($rest)*)
    };
    (@array [$($done:expr,)*] {$($map:tt)*} $($rest:tt)*) => {
        $crate::json_internal!(@array [$($done,)* $crate::json_internal!({$($map)*})] $($rest)*)
    };
    (@array [$($done:expr,)*] $next:expr, $($rest:tt)*) => {
        $crate::json_internal!(@array [$($done,)* $crate::json_internal!($next),] $($rest)*)
    };
    (@array [$($done:expr,)*] $last:expr) => {
        $crate::json_internal!(@array [$($done,)* $crate::json_internal!($last)])
    };
    (@array [$($done:expr),*] , $($rest:tt)*) => {
        $crate::json_internal!(@array [$($done,)*] $($rest)*)
    };
    (@object $object:ident () () ()) => {};
    (@object $object:ident [$($key:tt)+] ($value:expr) , $($rest:tt)*) => {
        let _ = $object.insert(($($key)+).into(), $value);
        $crate::json_internal!(@object $object () ($($rest)*) ($($rest)*));
    };
    (@object $object:ident [$($key:tt)+] ($value:expr)) => {
        let _ = $object.insert(($($key)+).into(), $value);
    };
    (@object $object:ident ($($key:tt)+) (: null $($rest:tt)*) $copy:tt) => {
        $crate::json_internal!(@object $object [$($key)+] ($crate::json_internal!(null)) $($rest)*);
    };
    (@object $object:ident ($($key:tt)+) (: [$($array:tt)*] $($rest:tt)*) $copy:tt) => {
        $crate::json_internal!(@object $object [$($key)+] ($crate::json_internal!([$($array)*])) $($rest)*);
    };
    (@object $object:ident ($($key:tt)+) (: {$($map:tt)*} $($rest:tt)*) $copy:tt) => {
        $crate::json_internal!(@object $object [$($key)+] ($crate::json_internal!({$($map)*})) $($rest)*);
    };
    (@object $object:ident ($($key:tt)+) (: $value:expr , $($rest:tt)*) $copy:tt) => {
        $crate::json_internal!(@object $object [$($key)+] ($crate::json_internal!($value)) , $($rest)*);
    };
    (@object $object:ident ($($key:tt)+) (: $value:expr) $copy:tt) => {
        $crate::json_internal!(@object $object [$($key)+] ($crate::json_internal!($value)));
    };
    (@object $object:ident () (($key:expr) : $($rest:tt)*) $copy:tt) => {
        $crate::json_internal!(@object $object ($key) (: $($rest)*) (: $($rest)*));
    };
    (@object $object:ident ($($key:tt)*) ($tt:tt $($rest:tt)*) $copy:tt) => {
        $crate::json_internal!(@object $object ($($key)* $tt) ($($rest)*) ($($rest)*));
    };
    (null) => { $crate::Value::Null };
    ([]) => { $crate::Value::Array(vec![]) };
    ([ $($tt:tt)+ ]) => { $crate::Value::Array($crate::json_internal!(@array [] $($tt)+)) };
    ({}) => { $crate::Value::Object($crate::Map::new()) };
    ({ $($tt:tt)+ }) => {
        $crate::Value::Object({
            let mut object = $crate::Map::new();
            $crate::json_internal!(@object object () ($($tt)+) ($($tt)+));
            object
        })
    };
    ($other:expr) => { $crate::ToValue::to_value(&$other) };
}

/// A type that can stand as an expression in [`json!`](crate::json). Other types go in by [`Value::of`].
pub trait ToValue {
    /// Returns it as JSON.
    fn to_value(&self) -> Value;
}

impl ToValue for Value {
    fn to_value(&self) -> Value {
        self.clone()
    }
}

impl ToValue for Map {
    fn to_value(&self) -> Value {
        Value::Object(self.clone())
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value {
        Value::String(self.to_owned())
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

/// A number that JSON does not have is `null`.
impl ToValue for f64 {
    fn to_value(&self) -> Value {
        Number::from_f64(*self).map_or(Value::Null, Value::Number)
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

impl<T: ToValue> ToValue for [T] {
    fn to_value(&self) -> Value {
        Value::Array(self.iter().map(T::to_value).collect())
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }
}

impl<T: ToValue, const N: usize> ToValue for [T; N] {
    fn to_value(&self) -> Value {
        self.as_slice().to_value()
    }
}

impl<T: ToValue + ToOwned + ?Sized> ToValue for Cow<'_, T> {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value {
        (**self).to_value()
    }
}

macro_rules! whole {
    ($($whole:ty)*) => {$(
        impl ToValue for $whole {
            fn to_value(&self) -> Value {
                Value::Number(Number::from(*self))
            }
        }

        impl From<$whole> for Value {
            fn from(number: $whole) -> Value {
                number.to_value()
            }
        }

        impl PartialEq<$whole> for Value {
            fn eq(&self, other: &$whole) -> bool {
                self.as_number().is_some_and(|number| *number == Number::from(*other))
            }
        }

        impl PartialEq<$whole> for &Value {
            fn eq(&self, other: &$whole) -> bool {
                **self == *other
            }
        }
    )*};
}

whole!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

impl From<bool> for Value {
    fn from(is: bool) -> Value {
        Value::Bool(is)
    }
}

/// A number that JSON does not have is `null`.
impl From<f64> for Value {
    fn from(float: f64) -> Value {
        float.to_value()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        text.to_value()
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Value {
        Value::String(text.into_owned())
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        Value::Number(number)
    }
}

impl From<Map> for Value {
    fn from(members: Map) -> Value {
        Value::Object(members)
    }
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Value {
        elements.into_iter().collect()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Value {
        value.map_or(Value::Null, Into::into)
    }
}

/// A copy, so that what takes a value takes a reference to one as well.
impl From<&Value> for Value {
    fn from(value: &Value) -> Value {
        value.clone()
    }
}

/// Members are in the order, and numbers in the spelling, that `serde_json` kept.
impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(is) => Value::Bool(*is),
            serde_json::Value::Number(number) => Value::Number(Number::spelt(&number.to_string())),
            serde_json::Value::String(text) => Value::String(text.clone()),
            serde_json::Value::Array(elements) => elements.iter().map(Value::from).collect(),
            serde_json::Value::Object(members) => {
                members.iter().map(|(key, member)| (key.clone(), Value::from(member))).collect()
            }
        }
    }
}

impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Value {
        Value::from(&value)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Value {
        Value::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Value {
        Value::Object(members.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == Some(other)
    }
}

impl PartialEq<bool> for Value {
    fn eq(&self, other: &bool) -> bool {
        self.as_bool() == Some(*other)
    }
}

impl PartialEq<bool> for &Value {
    fn eq(&self, other: &bool) -> bool {
        **self == *other
    }
}
