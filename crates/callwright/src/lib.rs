//! Finds the tool calls in whatever a model wrote: each one right, or refused with a reason.
//!
//! The modules stand in reading order.

mod check;
mod dialect;
mod engine;
mod envelope;
mod feedback;
mod policy;
mod report;
mod guard;
mod name;
mod payload;
mod scan;
pub mod lint;
pub mod prompt;
mod schema;
mod shape;
mod tools;
mod verdict;

pub use engine::{Context, Healed, NativeCall, heal, parse};
pub use feedback::{
    Diagnosis, Feedback, Fix, JsonLoadsError, Position, PromptError, Trouble, calls_or_error, diagnose,
    json_loads_error, prompt_tool_calls,
};
pub use policy::Policy;
pub use scan::{Delta, Event, Scanner};
pub use schema::{Coerced, MAX_DEPTH, MAX_EXPANDED, MAX_NODES, Schema, SchemaError, SchemaGuide};
pub use report::{
    CallReport, CoercionReport, DiagnosticReport, FixReport, HealReport, HealedReport, PositionReport,
    RefusalReport, RepairReport, Report, UnhealedReport, VERSION as REPORT_VERSION, ViolationReport,
    WhyReport,
};
pub use tools::{MAX_BYTES, MAX_TOOLS, Tool, ToolProblem, ToolSet, ToolSetError};
pub use verdict::{Acceptance, Coercion, Outcome, Reason, Refusal, ShapeError, Verdict, Violation};
