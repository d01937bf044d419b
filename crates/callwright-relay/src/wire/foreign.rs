//! The foreign parts of a call. These are members of a vendor's own, such as a signature that the next request must bring back,
//! and calls of other tools than functions. Both go on as they came.

use std::fmt::Write;

use callwright_json::{Kind, Value};

use super::document::string_of;

/// The foreign members of a call, or of a piece of one, as JSON text: each with a comma before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The members of the call.
    pub(crate) call: String,
    /// The members of its function.
    pub(crate) function: String,
}

impl Foreign {
    /// Reads those of a call in `tool_calls`.
    pub(crate) fn of(call: Value<'_>) -> Foreign {
        let is_ours = |key: &str| matches!(key, "index" | "id" | "type" | "function" | "name" | "arguments");
        let function = call.get("function").map(Foreign::in_function).unwrap_or_default();
        Foreign { call: members(call, is_ours), function }
    }

    /// Reads those of a `function_call`.
    pub(crate) fn of_function(function: Value<'_>) -> Foreign {
        Foreign { call: String::new(), function: Foreign::in_function(function) }
    }

    fn in_function(function: Value<'_>) -> String {
        members(function, |key| matches!(key, "name" | "arguments"))
    }

    /// Adds the members of another piece of the same call. Repeated ones stand there once.
    pub(crate) fn add(&mut self, more: &Foreign) {
        for (members, more) in [(&mut self.call, &more.call), (&mut self.function, &more.function)] {
            if !members.contains(more.as_str()) {
                members.push_str(more);
            }
        }
    }

    /// Returns whether there are no such members.
    pub(crate) fn is_empty(&self) -> bool {
        self.call.is_empty() && self.function.is_empty()
    }
}

fn members(object: Value<'_>, is_ours: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    for (key, value) in object.members() {
        if !key.as_str().is_some_and(|key| is_ours(&key)) {
            // Writing to a string does not fail.
            let _ = write!(out, ",{}:{}", key.raw(), value.raw());
        }
    }
    out
}

/// Returns whether a call, or the first piece of one, is not the call of a function. Custom tools have such calls, and so do
/// tools that the server runs.
pub(crate) fn is_foreign(call: Value<'_>) -> bool {
    let kind = string_of(call, "type");
    kind.is_some_and(|kind| !matches!(&*kind, "" | "function")) && call.get("function").is_none_or(is_null)
}

/// Returns whether this piece itself names a function.
pub(crate) fn is_of_function(call: Value<'_>) -> bool {
    call.get("function").is_some_and(|function| !is_null(function))
}

fn is_null(value: Value<'_>) -> bool {
    value.kind() == Kind::Null
}
