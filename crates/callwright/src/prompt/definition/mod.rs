//! Writes one tool's definition for a model, in each of the forms that dialects know.

mod declaration;
mod python;
pub(super) mod schema;
mod signature;
mod typescript;
mod xml;

use std::borrow::Cow;

use crate::dialect::speech::{Definition, Listing};
use crate::json;
use crate::value::Value;

use super::marks::in_json;
use super::own_marks::OwnMarks;
use crate::grammar::template::fill;
use crate::tools::Tool;

/// Writes the tools in the form of `listing`, without the marks of the caller's own dialects.
pub(super) fn listed(listing: &Listing, tools: &[&Tool], own_marks: &OwnMarks) -> String {
    let each: Vec<String> = tools
        .iter()
        .map(|tool| {
            let told = told(&listing.form, tool);
            let told = match listing.form {
                Definition::Json | Definition::Function | Definition::Indented => own_marks.in_json(told),
                // Its own mark stands around each string.
                Definition::Declaration(_) => told,
                _ => own_marks.part(told.into()).into_owned(),
            };
            fill(&listing.each, |slot| (slot == "tool").then_some(Cow::Borrowed(told.as_str())))
        })
        .collect();
    each.join(&listing.between)
}

fn told(form: &Definition, tool: &Tool) -> String {
    match form {
        Definition::Json => in_json(&wrapped(tool).to_string()),
        Definition::Function => in_json(&function(tool).to_string()),
        Definition::Indented => {
            let indented = serde_json::to_string_pretty(&wrapped(tool));
            in_json(&indented.unwrap_or_else(|_| wrapped(tool).to_string()).replace("\n  ", "\n    "))
        }
        Definition::Signature => signature::told(tool),
        Definition::Python => python::told(tool),
        Definition::TypeScript => typescript::told(tool),
        Definition::Xml => xml::told(tool),
        Definition::Declaration(mark) => declaration::told(tool, mark),
    }
}

fn function(tool: &Tool) -> Value {
    json!({"name": tool.name(), "description": tool.description(), "parameters": tool.schema().value()})
}

fn wrapped(tool: &Tool) -> Value {
    json!({"type": "function", "function": function(tool)})
}
