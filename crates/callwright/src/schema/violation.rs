//! What holding a value against its schema comes to: where it does not fit, and what was given the type that is asked for.

/// One way in which arguments do not fit a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer into the arguments; empty for the whole object.
    pub pointer: String,
    /// The schema keyword that is violated: `required`, `type`, `enum`, ….
    pub keyword: &'static str,
    /// One sentence for the model, without full stop: `path must be a string`.
    pub message: String,
}

/// A value that got the type its schema asks for, without loss: `"5"` → `5`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coercion {
    /// A JSON pointer into the arguments: `/limit`.
    pub pointer: String,
    /// The JSON text before.
    pub from: String,
    /// The JSON text after.
    pub to: String,
}
