//! Holding a model to right calls while it writes: tools become a JSON schema or a grammar for the server's decoding.
//!
//! In go the tools and what the request wants of them; out comes a text for the server. What a grammar cannot say
//! is left wider, never narrower, so what comes back is read and checked like any other answer. Pure: nothing is
//! sent, and whether a server knows schemas or grammars is for the caller to learn.

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

/// The key of prose where the whole answer is JSON: `{"no_tool_helps": "…"}`. A small model that may write
/// `{"answer": "…"}` answers far too often.
pub(crate) const PROSE_KEY: &str = "no_tool_helps";

/// What a server can hold an answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Constraint {
    /// A JSON schema: `response_format: {"type": "json_schema", …}`. The whole answer is JSON then.
    Schema,
    /// A grammar in the GBNF of llama.cpp: its `grammar` field. Prose may come before calls, but in
    /// [`PromptDialect::json`].
    Grammar,
}

impl Constraint {
    /// Can it hold a model to calls in `dialect`?
    pub fn is_for(self, dialect: &PromptDialect) -> bool {
        match (self, dialect) {
            (Constraint::Schema, dialect) => dialect.is_json(),
            (Constraint::Grammar, dialect) => grammar::spelling(dialect).is_some(),
        }
    }
}

/// The member of a request that holds its answer to calls in `dialect`: `response_format` or `grammar`, and its value.
/// `None` where there is no tool to call, or the constraint is not for this dialect.
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
