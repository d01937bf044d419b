//! Schemas in the dialect of OpenAPI, as Gemini's API has them, and their JSON Schemas.
//!
//! `{"type": "STRING", "nullable": true}` → `{"type":["string","null"]}`

use std::borrow::Cow;

use callwright_json::{Kind, Value, quote};

use crate::wire::{array, object};

/// The content of a schema's member.
#[derive(Clone, Copy)]
enum Holds {
    Type,
    Schema,
    /// Schemas, in an array.
    Schemas,
    /// Schemas, by name.
    Named,
    /// A number, which this dialect may write as a text: `"3"`.
    Count,
    Enum,
    /// A note that constrains nothing.
    Nothing,
}

/// The members that are written otherwise than in a JSON Schema, or hold schemas.
const MEMBERS: [(&str, Holds); 19] = [
    ("type", Holds::Type),
    ("nullable", Holds::Nothing),
    ("propertyOrdering", Holds::Nothing),
    ("enum", Holds::Enum),
    ("items", Holds::Schema),
    ("additionalProperties", Holds::Schema),
    ("not", Holds::Schema),
    ("anyOf", Holds::Schemas),
    ("oneOf", Holds::Schemas),
    ("allOf", Holds::Schemas),
    ("prefixItems", Holds::Schemas),
    ("properties", Holds::Named),
    ("defs", Holds::Named),
    ("minItems", Holds::Count),
    ("maxItems", Holds::Count),
    ("minLength", Holds::Count),
    ("maxLength", Holds::Count),
    ("minProperties", Holds::Count),
    ("maxProperties", Holds::Count),
];

/// Returns the JSON Schema of a schema in this dialect.
pub(super) fn json_schema(schema: Value<'_>) -> String {
    if schema.kind() != Kind::Object {
        return schema.raw().to_owned();
    }
    let is_nullable = schema.get("nullable").and_then(Value::as_bool) == Some(true);
    let kind = schema.get("type").and_then(Value::as_str).map(|kind| kind.to_ascii_lowercase());
    let mut members: Vec<(String, String)> = Vec::new();
    for (key, value) in schema.members() {
        let key = key.as_str().unwrap_or_default();
        let camel = camel(&key);
        let Some((name, holds)) = MEMBERS.into_iter().find(|(name, _)| *name == camel) else {
            // It points to another schema, as `$ref` does elsewhere.
            let key = if key == "ref" { "$ref" } else { &*key };
            members.push((key.to_owned(), value.raw().to_owned()));
            continue;
        };
        let written = match holds {
            Holds::Nothing => None,
            Holds::Type => types(value, is_nullable),
            Holds::Schema => Some(json_schema(value)),
            Holds::Schemas => Some(array(
                value.elements().map(json_schema).chain(
                    (name == "anyOf" && is_nullable && kind.is_none())
                        .then(|| String::from(r#"{"type":"null"}"#)),
                ),
            )),
            Holds::Named => Some(braced(value.members().map(|(key, value)| (key.raw(), json_schema(value))))),
            Holds::Count => Some(number(value).map_or_else(|| value.raw().to_owned(), Cow::into_owned)),
            Holds::Enum => Some(listed(value, kind.as_deref(), is_nullable)),
        };
        members.extend(written.map(|written| (name.to_owned(), written)));
    }
    object(members.iter().map(|(key, value)| (key.as_str(), value.clone())))
}

/// `any_of` → `anyOf`
fn camel(key: &str) -> Cow<'_, str> {
    if !key.contains('_') {
        return Cow::Borrowed(key);
    }
    let mut words = key.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    Cow::Owned(camel)
}

/// Converts a type: `"STRING"` → `"string"`; none if the type is not specified.
fn types(value: Value<'_>, is_nullable: bool) -> Option<String> {
    let lower = |kind: Value<'_>| kind.as_str().map(|kind| kind.to_ascii_lowercase());
    let Some(kind) = lower(value) else {
        // A list of types is none of this dialect.
        return Some(array(value.elements().filter_map(lower).map(|kind| quote(&kind))));
    };
    match (kind.as_str(), is_nullable) {
        ("type_unspecified" | "", _) => None,
        (kind, false) => Some(quote(kind)),
        (kind, true) => Some(array([quote(kind), quote("null")])),
    }
}

/// Returns a number, even if it is written as a text.
fn number(value: Value<'_>) -> Option<Cow<'_, str>> {
    let text = value.as_str()?;
    let is_number = callwright_json::strict(&text).is_ok_and(|tree| tree.root(&text).kind() == Kind::Number);
    is_number.then_some(text)
}

/// Returns the allowed values. This dialect writes all of them as texts: `{"type": "INTEGER", "enum": ["1", "2"]}`.
fn listed(value: Value<'_>, kind: Option<&str>, is_nullable: bool) -> String {
    let is_of_numbers = matches!(kind, Some("integer" | "number"));
    let one = |value: Value<'_>| match number(value).filter(|_| is_of_numbers) {
        Some(number) => number.into_owned(),
        None => value.raw().to_owned(),
    };
    array(value.elements().map(one).chain(is_nullable.then(|| String::from("null"))))
}

/// Writes an object whose keys are JSON texts.
fn braced<'k>(members: impl Iterator<Item = (&'k str, String)>) -> String {
    let members: Vec<String> = members.map(|(key, value)| format!("{key}:{value}")).collect();
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests {
    use callwright_json::strict;

    use super::*;

    #[test]
    fn the_dialect_of_openapi_becomes_a_json_schema() {
        for (schema, expected) in [
            (
                r#"{"type": "OBJECT", "properties": {"a_b": {"type": "STRING"}, "type": {"type": "INTEGER", "nullable": true}}, "required": ["a_b"], "propertyOrdering": ["type", "a_b"]}"#,
                r#"{"type":"object","properties":{"a_b":{"type":"string"},"type":{"type":["integer","null"]}},"required":["a_b"]}"#,
            ),
            (
                r#"{"type": "ARRAY", "items": {"any_of": [{"type": "NUMBER"}, {"type": "BOOLEAN"}], "nullable": true}, "min_items": "1", "maxItems": 3}"#,
                r#"{"type":"array","items":{"anyOf":[{"type":"number"},{"type":"boolean"},{"type":"null"}]},"minItems":1,"maxItems":3}"#,
            ),
            (r#"{"type": "INTEGER", "enum": ["1", "2"]}"#, r#"{"type":"integer","enum":[1,2]}"#),
            (
                r#"{"type": "STRING", "format": "enum", "enum": ["1"], "nullable": true}"#,
                r#"{"type":["string","null"],"format":"enum","enum":["1",null]}"#,
            ),
            (r##"{"ref": "#/defs/A", "type": "TYPE_UNSPECIFIED"}"##, r##"{"$ref":"#/defs/A"}"##),
            ("true", "true"),
        ] {
            assert_eq!(json_schema(strict(schema).unwrap().root(schema)), expected);
        }
    }
}
