//! The schemas in each JSON Schema keyword: the one table that all walks over a schema share. It is public for programs
//! that make one schema from others.

use callwright_value::{Map, Value};

use super::names::{MAX_COMPARED, edits};

/// The drafts of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// Draft 4.
    D4,
    /// Draft 6.
    D6,
    /// Draft 7.
    D7,
    /// Draft 2019-09.
    D2019,
    /// Draft 2020-12.
    D2020,
}

impl Draft {
    /// Returns the draft that `$schema` names; `None` if it names another language.
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

    /// Returns the draft of a whole schema document, by default the newest one; `None` if it is in another language.
    pub(crate) fn known(schema: &Value) -> Option<Draft> {
        schema.get("$schema").and_then(Value::as_str).map_or(Some(Draft::D2020), Draft::named)
    }

    /// Returns the draft by which a whole schema document is read.
    pub fn of(schema: &Value) -> Draft {
        Draft::known(schema).unwrap_or(Draft::D2020)
    }
}

/// The place of the schemas in a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    Schema,
    List,
    Map,
    /// `items`: one schema, or a list of them.
    SchemaOrList,
}

/// Returns the place of the schemas in the value of `keyword`.
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

/// Returns whether the schemas in `keyword` speak about the same value as the schema around it.
pub(crate) fn speaks_of_same(keyword: &str) -> bool {
    const APPLICATORS: [&str; 9] =
        ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];
    APPLICATORS.contains(&keyword)
}

/// Returns the schemas directly inside `schema`, each with the keyword that holds it.
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

/// Walks over `root` and all schemas inside it that are objects.
pub fn schemas(root: &Value) -> impl Iterator<Item = &Value> {
    let mut todo = vec![root];
    let all = std::iter::from_fn(move || {
        let schema = todo.pop()?;
        todo.extend(inside(schema).map(|(_, held)| held));
        Some(schema)
    });
    all.filter(|schema| schema.is_object())
}

/// Returns the schemas directly inside `schema`, to be changed, each with its place as a JSON pointer.
pub fn inside_mut(schema: &mut Map) -> impl Iterator<Item = (String, &mut Value)> {
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

/// Returns the names that the keyword `required` of `schema` lists.
pub fn required(schema: &Map) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the fragment of a reference into the same document: `#/$defs/a` → `/$defs/a`. `None` for other references.
pub fn local_pointer(reference: &str) -> Option<String> {
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

/// Returns whether a part of the document, other than the whole, has an identity of its own: `$id`.
pub fn has_inner_id(root: &Value) -> bool {
    with_own_id(root).next().is_some()
}

/// Returns the parts of the document, other than the whole, that have an identity of their own.
pub(crate) fn with_own_id(root: &Value) -> impl Iterator<Item = &Value> {
    schemas(root).skip(1).filter(|schema| identity(schema).is_some())
}

/// Returns the identity that `schema` gives itself.
pub(crate) fn identity(schema: &Value) -> Option<&str> {
    schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str)
}

/// Returns the standard word for the type that `word` names; `None` if it names none, so that anything fits.
pub fn standard_type(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().as_str() {
        "object" | "dict" | "map" | "struct" => "object",
        "number" | "float" | "double" | "decimal" => "number",
        "integer" | "int" | "long" => "integer",
        "string" | "str" | "text" => "string",
        "boolean" | "bool" => "boolean",
        "array" | "list" | "tuple" | "set" => "array",
        "null" | "none" | "nil" => "null",
        _ => return None,
    })
}

/// The keywords of all drafts, and those of OpenAPI.
const KEYWORDS: [&str; 68] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "discriminator",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
    "xml",
];

/// Returns the keyword that `written`, which is another word, is with one letter wrong, or two of them exchanged:
/// `requried`. Words of less than five letters may be other words.
pub(crate) fn keyword_meant(written: &str) -> Option<&'static str> {
    const SHORTEST: usize = 5;
    let letters = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    let is_slip = |known: &&&str| match edits(written, known) {
        1 => true,
        2 => written.len() == known.len() && letters(written) == letters(known),
        _ => false,
    };
    let may_slip = (SHORTEST..=MAX_COMPARED).contains(&written.len()) && !KEYWORDS.contains(&written);
    KEYWORDS.iter().filter(|_| may_slip).find(is_slip).copied()
}

/// Returns a key as it stands in a JSON pointer: `a/b` → `a~1b`.
pub fn pointer_step(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key that a step of a JSON pointer names.
pub(crate) fn pointer_key(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
