//! Values out through serde.

use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Map, Number, Value};

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(is) => serializer.serialize_bool(*is),
            Value::Number(number) => number.serialize(serializer),
            Value::String(text) => serializer.serialize_str(text),
            Value::Array(elements) => serializer.collect_seq(elements),
            Value::Object(members) => members.serialize(serializer),
        }
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// As a number where that is spelt alike, else as raw JSON, which `serde_json` alone knows.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.as_str();
        if let Some(whole) = self.as_i64().filter(|_| text != "-0") {
            return serializer.serialize_i64(whole);
        }
        if let Some(whole) = self.as_u64() {
            return serializer.serialize_u64(whole);
        }
        let float = self.as_f64().and_then(|float| Some((float, Number::from_f64(float)?)));
        if let Some((float, _)) = float.filter(|(_, spelt)| spelt == self) {
            return serializer.serialize_f64(float);
        }
        RawValue::from_string(text.to_owned()).map_err(S::Error::custom)?.serialize(serializer)
    }
}
