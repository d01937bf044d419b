//! A schema in the words of a form: its members, its types, its description.

use callwright_schema::keywords::required;

use super::super::marks::{in_json, neutralise, one_line, quoted, tag_name};
use crate::value::Value;

/// Most levels of a schema that are written.
pub(super) const MAX_DEPTH: usize = 6;

/// Returns the schema that `schema` refers to, through at most a few references.
pub(super) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let target = |schema: &&'s Value| referred(root, schema);
    std::iter::successors(Some(schema), target).take(MAX_DEPTH + 1).last().unwrap_or(schema)
}

/// Returns the schema that `schema` refers to.
pub(in crate::prompt) fn referred<'s>(root: &'s Value, schema: &Value) -> Option<&'s Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

/// Returns the members of an object's schema: name, schema, and whether it is required.
pub(in crate::prompt) fn members(schema: &Value) -> impl Iterator<Item = (&str, &Value, bool)> {
    let is_required = |name: &str| schema.as_object().is_some_and(|own| required(own).any(|n| n == name));
    let members = schema.get("properties").and_then(Value::as_object);
    members.into_iter().flatten().map(move |(name, member)| (name.as_str(), member, is_required(name)))
}

/// The rules by which a form writes the types of values.
pub(super) struct Types {
    /// Most levels of a type.
    pub(super) depth: usize,
    /// The type of all deeper values.
    pub(super) any: &'static str,
    /// Writes the values that a schema lists.
    pub(super) values: fn(&[Value]) -> String,
    /// Writes a schema, at its depth, that lists neither values nor other schemas.
    pub(super) plain: fn(&Value, &Value, usize) -> String,
}

impl Types {
    /// Returns the type of the values that fit `schema`, which stands at this depth in `root`.
    pub(super) fn of(&self, root: &Value, schema: &Value, depth: usize) -> String {
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
pub(super) fn alternatives(values: &[Value]) -> String {
    values.iter().map(|value| in_json(&value.to_string())).collect::<Vec<_>>().join(" | ")
}

/// Returns the type that a schema names, or several, each in the words of `one`.
pub(super) fn of_type(schema: &Value, one: impl Fn(&str) -> String) -> String {
    match schema.get("type") {
        Some(Value::String(word)) => one(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | ")
        }
        _ if schema.get("properties").is_some() => one("object"),
        _ => one("any"),
    }
}

pub(super) fn description_of(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or("")
}

/// Returns other people's words on one line, without marks.
pub(super) fn clean(text: &str) -> String {
    neutralise(&one_line(text)).into_owned()
}

/// Returns a name as it stands in code: itself, or a JSON string if it is not a word.
pub(super) fn name_in_code(name: &str) -> String {
    if !name.is_empty() && tag_name(name) == name { name.to_owned() } else { quoted(name) }
}
