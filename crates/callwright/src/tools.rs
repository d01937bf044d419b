//! Compiled tool definitions and schemas.

use callwright_json::{AnyValue, Guide};

/// The tools that a model may call.
#[derive(Debug, Default)]
pub struct ToolSet {}

/// One tool.
#[derive(Debug)]
pub struct Tool {}

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Schema {}

impl Schema {
    /// The guide for readers.
    pub fn guide(&self) -> &dyn Guide {
        &AnyValue
    }
}
