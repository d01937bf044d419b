//! The arguments of a call, ready to be taken apart.

use callwright::value::{Map, Value};

use crate::tool::ToolError;

/// The arguments of one call: an object, and the text that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    text: String,
    object: Map,
}

impl Arguments {
    /// Reads `text`, the strict JSON text of an object.
    ///
    /// # Errors
    /// When it is something else.
    pub fn read(text: &str) -> Result<Arguments, ToolError> {
        let object =
            serde_json::from_str(text).map_err(|error| ToolError::new(format!("Invalid JSON: {error}")))?;
        Ok(Arguments { text: text.to_owned(), object })
    }

    /// The text, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The members.
    pub fn object(&self) -> &Map {
        &self.object
    }

    /// The string `name`.
    ///
    /// # Errors
    /// `path must be a string`, where it is none.
    pub fn string(&self, name: &str) -> Result<&str, ToolError> {
        self.optional_string(name)?.ok_or_else(|| ToolError::new(format!("{name} must be a string")))
    }

    /// The string `name`, if it is given and not null.
    ///
    /// # Errors
    /// Where it is another value.
    pub fn optional_string(&self, name: &str) -> Result<Option<&str>, ToolError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ToolError::new(format!("{name} must be a string"))),
        }
    }

    /// The whole number `name`, if it is given and not null.
    ///
    /// # Errors
    /// Where it is another value, or below zero.
    pub fn optional_number(&self, name: &str) -> Result<Option<u64>, ToolError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let whole = value.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n));
                let number = value.as_u64().or(whole.map(|n| n as u64));
                number.map(Some).ok_or_else(|| ToolError::new(format!("{name} must be a whole number")))
            }
        }
    }

    /// Is `name` given, and true?
    ///
    /// # Errors
    /// Where it is another value than true, false or null.
    pub fn flag(&self, name: &str) -> Result<bool, ToolError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(ToolError::new(format!("{name} must be true or false"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_object_is_read() {
        let why = |text: &str| Arguments::read(text).unwrap_err().message;
        assert!(why(r#"{"path": "a""#).starts_with("Invalid JSON"));
        assert!(why("[]").starts_with("Invalid JSON"));
        assert_eq!(Arguments::read(r#"{"a": 1.0}"#).unwrap().optional_number("a"), Ok(Some(1)));
    }

    /// S0-58
    #[test]
    fn a_value_of_another_type_is_named() {
        let arguments = Arguments::read(r#"{"path": 5, "content": [], "lines": "x", "all": 1}"#).unwrap();
        assert_eq!(arguments.string("path").unwrap_err().message, "path must be a string");
        assert_eq!(arguments.string("content").unwrap_err().message, "content must be a string");
        assert_eq!(arguments.optional_number("lines").unwrap_err().message, "lines must be a whole number");
        assert_eq!(arguments.flag("all").unwrap_err().message, "all must be true or false");
        assert_eq!(arguments.flag("none"), Ok(false));
    }
}
