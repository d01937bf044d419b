//! Finds the tool calls in whatever a model wrote: each one right, or refused with a reason.
//!
//! The modules stand in reading order.

mod engine;
mod tools;
mod verdict;

pub use engine::{Context, Healed, NativeCall, heal, parse};
pub use tools::{Schema, Tool, ToolSet};
pub use verdict::{Acceptance, Coercion, Outcome, Reason, Refusal, ShapeError, Verdict, Violation};
