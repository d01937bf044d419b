//! Writes one tool's definition for a model, in each of the forms that dialects know.

mod declaration;
mod python;
mod signature;
mod typescript;
mod xml;

use std::borrow::Cow;

use callwright_schema::keywords::required;

use crate::dialect::speech::{Definition, Listing};
use crate::json;
use crate::value::Value;

use super::marks::{in_json, neutralise, one_line, quoted, tag_name};
use super::own_marks::OwnMarks;
use crate::grammar::template::fill;
use crate::tools::Tool;

/// Most levels of a schema that are written.
const MAX_DEPTH: usize = 6;

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

/// Returns the schema that `schema` refers to, through at most a few references.
fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let target = |schema: &&'s Value| referred(root, schema);
    std::iter::successors(Some(schema), target).take(MAX_DEPTH + 1).last().unwrap_or(schema)
}

/// Returns the schema that `schema` refers to.
pub(super) fn referred<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Returns the members of an object's schema: name, schema, and whether it is required.
pub(super) fn members(schema: &Value) -> impl Iterator<Item = (&str, &Value, bool)> {
    let is_required = |name: &str| schema.as_object().is_some_and(|own| required(own).any(|n| n == name));
    let members = schema.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().map(move |(name, member)| (name.as_str(), member, is_required(name)))
}

/// The rules by which a form writes the types of values.
struct Types {
    /// Most levels of a type.
    depth: usize,
    /// The type of all deeper values.
    any: &'static str,
    /// Writes the values that a schema lists.
    values: fn(&[Value]) -> String,
    /// Writes a schema, at its depth, that lists neither values nor other schemas.
    plain: fn(&Value, &Value, usize) -> String,
}

impl Types {
    /// Returns the type of the values that fit `schema`, which stands at this depth in `root`.
    fn of(&self, root: &Value, schema: &Value, depth: usize) -> String {
        let schema = resolve(root, schema);
        if self.depth < depth {
            return self.any.to_owned();
        }
        let listed = schema.get("enum").and_then(Value::as_array).map(Vec::as_slice);
        if let Some(values) = listed.or_else(|| schema.get("const").map(std::slice::from_ref)) {
            return (self.values)(values);
        }
        match ["anyOf", "oneOf"].iter().find_map(|keyword| schema.get(keyword)?.as_array()) {
            Some(choices) => {
                let mut kinds: Vec<_> = choices.iter().map(|one| self.of(root, one, depth + 1)).collect();
                kinds.dedup();
                kinds.join(" | ")
            }
            None => (self.plain)(root, schema, depth),
        }
    }
}

/// Writes alternatives: `"a" | "b"`
fn alternatives(values: &[Value]) -> String {
    values.iter().map(|value| in_json(&value.to_string())).collect::<Vec<_>>().join(" | ")
}

/// Returns the type that a schema names, or several, each in the words of `one`.
fn of_type(schema: &Value, one: impl Fn(&str) -> String) -> String {
    match schema.get("type") {
        Some(Value::String(word)) => one(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | ")
        }
        _ if schema.get("properties").is_some() => one("object"),
        _ => one("any"),
    }
}

fn description_of(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or("")
}

/// Returns other people's words on one line, without marks.
fn clean(text: &str) -> String {
    neutralise(&one_line(text)).into_owned()
}

/// Returns a name as it stands in code: itself, or a JSON string if it is not a word.
fn name_in_code(name: &str) -> String {
    if !name.is_empty() && tag_name(name) == name { name.to_owned() } else { quoted(name) }
}
