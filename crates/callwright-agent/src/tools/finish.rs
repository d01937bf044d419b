//! Implements `finish`: the model declares that it is done.

use std::fmt;
use std::sync::Arc;

use callwright::json;
use callwright::value::Value;

use super::ask::Host;
use super::work::{define, object};
use crate::arguments::Arguments;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolResult};

/// The tool.
pub struct Finish(Arc<dyn Host>);

impl Finish {
    /// Creates the tool; the model's closing summary goes to `host`.
    pub fn new(host: Arc<dyn Host>) -> Finish {
        Finish(host)
    }
}

impl fmt::Debug for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Finish")
    }
}

pub(super) fn definition() -> Value {
    let properties =
        json!({"summary": {"type": "string", "description": "What was done, in one or two sentences"}});
    define(
        "finish",
        "End the run. Use this when the task is done or cannot be done.",
        properties,
        &["summary"],
    )
}

impl Tool for Finish {
    fn definition(&self) -> Value {
        definition()
    }

    fn kind(&self) -> Kind {
        Kind::READ
    }

    fn ends_run(&self) -> bool {
        true
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move {
            match arguments.string("summary") {
                Ok(summary) => {
                    self.0.finished(summary);
                    ToolResult::Object(object([("finished", json!(true))]))
                }
                Err(error) => error.into(),
            }
        })
    }
}
