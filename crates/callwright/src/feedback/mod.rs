//! What the model should do next.
mod json_loads;
pub use json_loads::{JsonLoadsError, json_loads_error};
