//! Gives access to the members of a call's arguments.

use callwright::value::{Map, Value};

use crate::tool::ToolError;

/// The arguments of one call: an object and its source text.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    text: String,
    object: Map,
}

impl Arguments {
    /// Reads `text`, the strict JSON text of an object.
    ///
    /// # Errors
    /// Fails when `text` is something else.
    pub fn read(text: &str) -> Result<Arguments, ToolError> {
        let object =
            serde_json::from_str(text).map_err(|error| ToolError::new(format!("Invalid JSON: {error}")))?;
        Ok(Arguments { text: text.to_owned(), object })
    }

    /// Returns the text, byte for byte.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the members.
    pub fn object(&self) -> &Map {
        &self.object
    }

    /// Returns the string `name`.
    ///
    /// # Errors
    /// Fails with `path must be a string` for any other value.
    pub fn string(&self, name: &str) -> Result<&str, ToolError> {
        self.optional_string(name)?.ok_or_else(|| ToolError::new(format!("{name} must be a string")))
    }

    /// Returns the string `name`, if it is given and not null.
    ///
    /// # Errors
    /// Fails for any other value.
    pub fn optional_string(&self, name: &str) -> Result<Option<&str>, ToolError> {
        match self.object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(ToolError::new(format!("{name} must be a string"))),
        }
    }

    /// Returns the whole number `name`, if it is given and not null.
    ///
    /// # Errors
    /// Fails for any other value, and below zero.
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

    /// Returns whether `name` is given and true.
    ///
    /// # Errors
    /// Fails for any value other than true, false and null.
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

    /// S0-58: an error names a value of the wrong type.
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
