//! Numbers as they are spelt.

use std::fmt;

use callwright_json::{Kind, strict};

/// A JSON number with its spelling: `0.10`, `1e400`, thirty digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Box<str>);

impl Number {
    /// The number that `text` spells; `None` where it spells none of JSON.
    pub fn new(text: &str) -> Option<Number> {
        let tree = strict(text).ok()?;
        let value = tree.root(text);
        (value.kind() == Kind::Number).then(|| Number::spelt(value.raw()))
    }

    /// The number of these digits, which a reader has seen to be one.
    pub(super) fn spelt(raw: &str) -> Number {
        Number(raw.into())
    }

    /// The shortest spelling of `float`; `None` for what JSON has no number for.
    pub fn from_f64(float: f64) -> Option<Number> {
        let number = serde_json::Number::from_f64(float)?;
        Some(Number(number.to_string().into()))
    }

    /// Its spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The number, if it is spelt as a whole one of 64 bits with a sign.
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The number, if it is spelt as a whole one of 64 bits without a sign.
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// The nearest number of double precision; `None` beyond what that can hold.
    pub fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok().filter(|float: &f64| float.is_finite())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

macro_rules! whole {
    ($($whole:ty)*) => {$(
        impl From<$whole> for Number {
            fn from(number: $whole) -> Number {
                Number(number.to_string().into())
            }
        }
    )*};
}

whole!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
