//! Values in through serde.

use std::fmt;

use callwright_json::{Kind, strict};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::{Map, Number, Value};

/// The name under which `serde_json` hands out the text of a value instead of the value. Who does not know it, such as
/// another format, hands out the value.
const RAW: &str = "$serde_json::private::RawValue";
/// The key of a number's text, where a build has `serde_json` keep that.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_newtype_struct(RAW, Reader)
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Object(members) => Ok(members),
            other => Err(D::Error::invalid_type(unexpected(&other), &"a map")),
        }
    }
}

fn unexpected(value: &Value) -> Unexpected<'_> {
    match value {
        Value::Null => Unexpected::Unit,
        Value::Bool(is) => Unexpected::Bool(*is),
        Value::Number(_) => Unexpected::Other("number"),
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, is: bool) -> Result<Value, E> {
        Ok(Value::Bool(is))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(number.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(element) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            match key.as_str() {
                RAW if object.is_empty() => return read(&members.next_value::<Text>()?.0),
                NUMBER if object.is_empty() => {
                    let text = members.next_value::<String>()?;
                    return match Number::new(&text) {
                        Some(number) => Ok(Value::Number(number)),
                        None => Err(A::Error::custom(format!("`{text}` is not a number"))),
                    };
                }
                _ => drop(object.insert(key, members.next_value()?)),
            }
        }
        Ok(Value::Object(object))
    }
}

/// A text that is handed out as it is, without a copy where it stands in the source.
struct Text<'de>(std::borrow::Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'de>, D::Error> {
        struct Taken;

        impl<'de> Visitor<'de> for Taken {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the text of a value")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(text.into()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                self.visit_string(text.to_owned())
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(text.into()))
            }
        }

        deserializer.deserialize_str(Taken)
    }
}

/// The value of a text that `serde_json` has seen to be JSON.
fn read<E: Error>(text: &str) -> Result<Value, E> {
    let tree =
        strict(text).map_err(|at| E::custom(format!("it is nested too deeply, or no JSON, at byte {at}")))?;
    built(tree.root(text))
}

// The reader has bounded the depth.
fn built<E: Error>(value: callwright_json::Value<'_>) -> Result<Value, E> {
    Ok(match value.kind() {
        Kind::Null => Value::Null,
        Kind::Bool => Value::Bool(value.as_bool() == Some(true)),
        Kind::Number => Value::Number(Number::spelt(value.raw())),
        Kind::String => Value::String(string(value)?),
        Kind::Array => Value::Array(value.elements().map(built).collect::<Result<_, E>>()?),
        Kind::Object => {
            let members = value.members().map(|(key, member)| Ok((string(key)?, built(member)?)));
            Value::Object(members.collect::<Result<Map, E>>()?)
        }
    })
}

fn string<E: Error>(value: callwright_json::Value<'_>) -> Result<String, E> {
    if value.has_lone_surrogate() {
        return Err(E::custom("a string holds half a surrogate pair, which is not a character"));
    }
    Ok(value.as_str().unwrap_or_default().into_owned())
}
