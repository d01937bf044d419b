//! Holds a model to right calls while it writes: tools become a JSON schema or a grammar for the server's decoding.
//!
//! The tools and the request's choice go in; a text for the server comes out. A rule that a grammar cannot express is
//! left wider, never narrower, so the answer is read and checked like any other. This module sends nothing; the caller
//! must learn whether a server knows schemas or grammars.

mod schema;
mod grammar;
mod answer;

use crate::json;
use crate::value::Value;

use crate::prompt::PromptDialect;
use crate::tools::{ToolChoice, ToolSet};

pub use answer::{Answer, parse};
pub use grammar::grammar;
pub use schema::schema;

/// The key of prose in an answer that is all JSON: `{"no_tool_helps": "…"}`. A small model that may write
/// `{"answer": "…"}` answers far too often.
pub(crate) const PROSE_KEY: &str = "no_tool_helps";

/// The form to which a server can hold an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Constraint {
    /// A JSON schema: `response_format: {"type": "json_schema", …}`. The whole answer is JSON then.
    Schema,
    /// A grammar in the GBNF of llama.cpp: its `grammar` field. Prose may come before calls, except in
    /// [`PromptDialect::json`].
    Grammar,
}

impl Constraint {
    /// Returns whether the constraint can hold a model to calls in `dialect`.
    pub fn is_for(self, dialect: &PromptDialect) -> bool {
        match (self, dialect) {
            (Constraint::Schema, dialect) => dialect.is_json(),
            (Constraint::Grammar, dialect) => grammar::spelling(dialect).is_some(),
        }
    }
}

/// Returns the member of a request that holds its answer to calls in `dialect`: `response_format` or `grammar`, and its
/// value. `None` if there is no tool to call, or the constraint does not suit this dialect.
pub fn field(
    constraint: Constraint,
    dialect: &PromptDialect,
    tool_set: &ToolSet,
    choice: &ToolChoice,
    parallel: bool,
) -> Option<(&'static str, Value)> {
    if !constraint.is_for(dialect) {
        return None;
    }
    match constraint {
        Constraint::Schema => {
            let schema = schema(tool_set, choice, parallel)?;
            let format = json!({"name": "answer", "strict": true, "schema": schema});
            Some(("response_format", json!({"type": "json_schema", "json_schema": format})))
        }
        Constraint::Grammar => Some(("grammar", grammar(dialect, tool_set, choice, parallel)?.into())),
    }
}
