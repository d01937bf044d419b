#![doc = include_str!("../README.md")]
//!
//! ---
//!
//! The way in is [`parse`], [`Scanner`] or [`heal`]. The way out is an [`Outcome`] of [`Verdict`]s: each is a call that
//! is right, or a refusal with its [`Reason`]. Spans are bytes of the text. The modules stand in reading order.

mod tools;
mod syntax;
mod grammar;
mod dialect;
mod payload;
mod scan;
mod shape;
mod marks;

mod check;
mod verdict;
mod policy;
mod context;
mod feedback;
mod report;
mod heal;
mod partial;
mod placeholder;
mod engine;
mod candidates;
mod compiled;
mod places;
pub mod lint;
pub mod prompt;
pub mod constrain;

pub use callwright_json::{Growing, Partial};
pub use callwright_schema::{
    Checked, Coerced, Coercion, MAX_DEPTH, MAX_NESTING, MAX_NODES, Schema, SchemaError, SchemaGuide,
    Unchecked, Violation,
};
pub use callwright_value as value;
pub use callwright_value::json;
pub use candidates::{Candidate, candidates};
pub use compiled::{Compiled, Entry};
pub use context::{Context, is_cut};
pub use dialect::{
    Anchor, Argument, Block, Dialect, DialectError, DialectProblem, Dialects, Grammar, Marks, NameAt, Trim,
    fits,
};
pub use engine::{NativeCall, parse};
pub use feedback::{
    Diagnosis, Feedback, Fix, JsonLoadsError, Position, PromptError, Trouble, calls_or_error, diagnose,
    json_loads_error, prompt_tool_calls,
};
pub use heal::{Healed, heal};
pub use partial::partial;
pub use places::{Places, Unit};
pub use policy::{CallsInReasoning, Policy};
pub use report::{
    CallRepairReport, CallReport, CoercionReport, DiagnosticReport, FixReport, HealReport, HealedReport,
    PositionReport, RefusalReport, RepairReport, Report, ShownReport, UnhealedReport,
    VERSION as REPORT_VERSION, ViolationReport, WhyReport,
};
pub use scan::{CallDelta, Delta, Event, PartialCall, Scanner};
pub use syntax::{Text, Typing};
pub use tools::{Declared, MAX_BYTES, MAX_TOOLS, Tool, ToolChoice, ToolProblem, ToolSet, ToolSetError};
pub use verdict::{
    Acceptance, BesideProse, Outcome, Reason, Refusal, ShapeError, ShownBy, ShownCall, Verdict,
};
