//! What each JSON Schema keyword holds: the one table that all walks over a schema share.

use super::unchecked::pointer_step;
use crate::value::{Map, Value};

/// The drafts of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    D4,
    D6,
    D7,
    D2019,
    D2020,
}

impl Draft {
    /// The draft that `$schema` names; `None` where it names another language.
    pub(crate) fn named(uri: &str) -> Option<Draft> {
        let uri = uri.trim_end_matches('#').trim_end_matches('/');
        let path = uri.strip_prefix("http://").or_else(|| uri.strip_prefix("https://"))?;
        match path {
            "json-schema.org/draft-04/schema" => Some(Draft::D4),
            "json-schema.org/draft-06/schema" => Some(Draft::D6),
            "json-schema.org/draft-07/schema" => Some(Draft::D7),
            "json-schema.org/draft/2019-09/schema" => Some(Draft::D2019),
            "json-schema.org/draft/2020-12/schema" => Some(Draft::D2020),
            _ => None,
        }
    }

    /// The draft of a whole schema document, the newest one where it does not say; `None` where it is in another language.
    pub(crate) fn known(schema: &Value) -> Option<Draft> {
        schema.get("$schema").and_then(Value::as_str).map_or(Some(Draft::D2020), Draft::named)
    }

    /// The draft by which a whole schema document is read.
    pub(crate) fn of(schema: &Value) -> Draft {
        Draft::known(schema).unwrap_or(Draft::D2020)
    }
}

/// Where a keyword's value holds schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    Schema,
    List,
    Map,
    /// `items`: one schema, or a list of them.
    SchemaOrList,
}

/// What `keyword` holds.
pub(crate) fn holds(keyword: &str) -> Holds {
    match keyword {
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "items" => Holds::SchemaOrList,
        "not"
        | "if"
        | "then"
        | "else"
        | "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        // The value of a member of `dependencies` may also be a list of names, which holds nothing.
        "dependentSchemas" | "dependencies" | "properties" | "patternProperties" | "$defs"
        | "definitions" => Holds::Map,
        _ => Holds::Nothing,
    }
}

/// Do the schemas that `keyword` holds speak about the same value as the one that it stands in?
pub(crate) fn speaks_of_same(keyword: &str) -> bool {
    const APPLICATORS: [&str; 9] =
        ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
    APPLICATORS.contains(&keyword)
}

/// The schemas directly inside `schema`, each with the keyword that holds it.
pub(crate) fn inside(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema.as_object().into_iter().flatten().flat_map(|(keyword, held)| {
        let found: Vec<&Value> = match (holds(keyword), held) {
            (Holds::Schema | Holds::SchemaOrList, Value::Object(_) | Value::Bool(_)) => vec![held],
            (Holds::List | Holds::SchemaOrList, Value::Array(list)) => list.iter().collect(),
            (Holds::Map, Value::Object(map)) => map.values().collect(),
            _ => Vec::new(),
        };
        found.into_iter().map(move |held| (keyword.as_str(), held))
    })
}

/// `root`, and all schemas inside it that are objects.
pub(crate) fn schemas(root: &Value) -> impl Iterator<Item = &Value> {
    let mut todo = vec![root];
    let all = std::iter::from_fn(move || {
        let schema = todo.pop()?;
        todo.extend(inside(schema).map(|(_, held)| held));
        Some(schema)
    });
    all.filter(|schema| schema.is_object())
}

/// The schemas directly inside `schema`, to be changed, each with its place as a JSON pointer.
pub(crate) fn inside_mut(schema: &mut Map) -> impl Iterator<Item = (String, &mut Value)> {
    schema.iter_mut().flat_map(|(keyword, held)| {
        let at = format!("/{}", pointer_step(keyword));
        match (holds(keyword), held) {
            (Holds::Schema | Holds::SchemaOrList, held @ (Value::Object(_) | Value::Bool(_))) => {
                vec![(at, held)]
            }
            (Holds::List | Holds::SchemaOrList, Value::Array(list)) => {
                list.iter_mut().enumerate().map(|(n, held)| (format!("{at}/{n}"), held)).collect()
            }
            (Holds::Map, Value::Object(map)) => {
                map.iter_mut().map(|(name, held)| (format!("{at}/{}", pointer_step(name)), held)).collect()
            }
            _ => Vec::new(),
        }
    })
}

/// The names that the keyword `required` of `schema` lists.
pub(crate) fn required(schema: &Map) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// The fragment of a reference into the same document: `#/$defs/a` → `/$defs/a`. `None` for other references.
pub(crate) fn local_pointer(reference: &str) -> Option<String> {
    let pointer = reference.strip_prefix('#')?;
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let Some((&b, tail)) = rest.split_first() {
        let digit = |n: usize| tail.get(n).and_then(|digit| char::from(*digit).to_digit(16));
        let encoded = digit(0).zip(digit(1)).filter(|_| b == b'%');
        let decoded = encoded.and_then(|(high, low)| u8::try_from(16 * high + low).ok());
        bytes.push(decoded.unwrap_or(b));
        rest = if decoded.is_some() { tail.get(2..).unwrap_or(&[]) } else { tail };
    }
    String::from_utf8(bytes).ok()
}
