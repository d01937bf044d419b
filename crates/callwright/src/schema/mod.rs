//! JSON Schemas: bounded, brought into normal form, and compiled into the tables that reading and checking use.
//!
//! In goes a schema of draft 4 to 2020-12 (the newest where `$schema` does not say), or what tool lists carry in its
//! place (see [`Schema::compile`]). Nothing is ever fetched: a `$ref` to another document is an error.

mod check;
mod coerce;
mod compile;
mod guide;
mod keywords;
mod limits;
mod member;
mod message;
mod normal;
mod number;
mod references;
#[cfg(feature = "full-schemas")]
mod validator;
mod violation;

use std::fmt;

use crate::value::Value;

pub use coerce::Coerced;
pub(crate) use compile::{Document, compile as compile_documents};
pub(crate) use guide::Rooted;
pub use guide::SchemaGuide;
pub(crate) use keywords::{Draft, Holds, holds, inside, local_pointer};
pub(crate) use limits::measure;
pub use limits::{MAX_DEPTH, MAX_EXPANDED, MAX_NODES};
pub(crate) use normal::standard_type;
pub(crate) use references::has_inner_id;
#[cfg(feature = "full-schemas")]
use validator::Validator;
pub use violation::{Coercion, Violation};

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    guide: SchemaGuide,
    /// Is its language one of the drafts?
    is_known: bool,
    /// Do the tables say all of it?
    is_exact: bool,
    /// The judge of all that the tables cannot say; `None` where they say all.
    #[cfg(feature = "full-schemas")]
    validator: Option<Validator>,
    broken_references: Vec<String>,
}

impl Schema {
    /// Compiles `schema`, a JSON object or boolean.
    ///
    /// What real tool lists write in place of a right schema is understood: `"type": "dict"` is `object`, `"float"` is
    /// `number`, `"tuple"` is `array`, `"any"` and unknown words are no constraint, and values that their keyword
    /// cannot have (`"required": true` inside a member) are left out. So is a `$ref` that names nothing in the schema
    /// (`#/$defs/Missing`) or that leads back to itself without going into the value; [`Schema::broken_references`] says
    /// which. `format` is a note, not a demand.
    ///
    /// # Errors
    /// When `schema` is neither object nor boolean, exceeds [`MAX_DEPTH`], [`MAX_NODES`] or [`MAX_EXPANDED`], refers to
    /// another document, or is not valid in its draft. The last two are seen with the feature `full-schemas` only.
    pub fn compile<V: ?Sized>(schema: &V) -> Result<Schema, SchemaError>
    where
        for<'v> Value: From<&'v V>,
    {
        Schema::compile_with(schema, &[])
    }

    /// Like [`Schema::compile`], with other documents that `schema` may refer to, each with its URI.
    ///
    /// # Errors
    /// Those of [`Schema::compile`]; also when one of `resources` has no valid URI.
    pub fn compile_with<V: ?Sized>(schema: &V, resources: &[(String, Value)]) -> Result<Schema, SchemaError>
    where
        for<'v> Value: From<&'v V>,
    {
        let mut value = Value::from(schema);
        measure(&value, MAX_NODES)?;
        if !value.is_object() && !value.is_boolean() {
            return Err(SchemaError::NotASchema);
        }
        let draft = Draft::of(&value);
        normal::normalise(&mut value, draft);
        normal::without_unused(&mut value);
        drop_unknown_language(&mut value, resources);
        let broken_references = references::without_broken(&mut value);
        if !broken_references.is_empty() {
            // Only they referred to some.
            normal::without_unused(&mut value);
        }
        #[cfg(feature = "full-schemas")]
        if let Some(id) = validator::shared_id(&value) {
            return Err(SchemaError::Invalid(format!("two parts of it are called `{}`", id.escape_debug())));
        }
        let (guide, is_exact) = compile_documents(&[Document::new(&value)]);
        // The tables know the vocabulary of the drafts only, not that of another language.
        let is_known =
            value.get("$schema").and_then(Value::as_str).is_none_or(|uri| Draft::named(uri).is_some());
        let is_exact = is_exact && is_known;
        if !is_exact && !limits::expand(&value).is_bounded() {
            return Err(SchemaError::TooLarge);
        }
        #[cfg(feature = "full-schemas")]
        let validator = if is_exact { None } else { Some(Validator::new(&value, resources)?) };
        Ok(Schema {
            value,
            guide,
            is_known,
            is_exact,
            #[cfg(feature = "full-schemas")]
            validator,
            broken_references,
        })
    }

    /// Is all that the schema demands held against values?
    ///
    /// With the feature `full-schemas`, always. Without it, not where the schema says `pattern`, `patternProperties`,
    /// `propertyNames`, `contains`, `not`, `if`, `dependentRequired`, `dependentSchemas`, `dependencies`,
    /// `unevaluatedItems`, `unevaluatedProperties` or `$dynamicRef`, refers to another document, leaves a choice between
    /// forms of one type (`anyOf` of two objects), puts several schemas together (`allOf`), is of draft 4, or is too large
    /// for tables: such a part lets through what only those would keep out. Nothing that fits is ever kept out.
    pub fn is_fully_checked(&self) -> bool {
        self.is_exact || cfg!(feature = "full-schemas")
    }

    /// What readers ask while they read a value for this schema.
    pub fn guide(&self) -> &SchemaGuide {
        &self.guide
    }

    /// Each `$ref` that was left out, as it was written: where it stood, it says nothing.
    pub fn broken_references(&self) -> &[String] {
        &self.broken_references
    }

    /// The schema in its normal form, as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

/// A `$schema` that nobody knows would make the validator look for it: the newest draft is taken instead.
fn drop_unknown_language(value: &mut Value, resources: &[(String, Value)]) {
    let Some(schema) = value.as_object_mut() else { return };
    let Some(uri) = schema.get("$schema").and_then(Value::as_str) else { return };
    let is_known = Draft::named(uri).is_some() || resources.iter().any(|(known, _)| known == uri);
    if !is_known {
        schema.remove("$schema");
    }
}

/// Why a schema cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is neither an object nor a boolean.
    NotASchema,
    /// It is nested deeper than [`MAX_DEPTH`].
    TooDeep,
    /// It has more than [`MAX_NODES`] values, or its references expand to more than [`MAX_EXPANDED`] schemas.
    TooLarge,
    /// A `$ref` names something outside of it; what is said about it. Nothing is fetched.
    Reference(String),
    /// It is not valid in its draft, and why.
    Invalid(String),
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaError::NotASchema => f.write_str("the schema is neither an object nor a boolean"),
            SchemaError::TooDeep => write!(f, "the schema is nested deeper than {MAX_DEPTH} levels"),
            SchemaError::TooLarge => {
                write!(
                    f,
                    "the schema has more than {MAX_NODES} values, or expands to more than {MAX_EXPANDED} schemas"
                )
            }
            SchemaError::Reference(reference) => {
                write!(f, "a reference leads out of the schema, and nothing is fetched: {reference}")
            }
            SchemaError::Invalid(why) => write!(f, "the schema is not valid: {why}"),
        }
    }
}

impl std::error::Error for SchemaError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;
    use callwright_json::{Guide, Kinds, Member, Place};

    fn schema(value: Value) -> Schema {
        Schema::compile(&value).unwrap()
    }

    fn declared(schema: &Schema, at: Place, name: &str) -> Place {
        match schema.guide().member(at, name) {
            Member::Declared(_, place) => place,
            other => panic!("{name}: {other:?}"),
        }
    }

    #[test]
    fn the_guide_knows_members_in_order() {
        let schema = schema(json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "mode": {"enum": ["r", "w"]}, "n": {"type": ["integer", "null"]}},
            "required": ["mode"], "additionalProperties": false,
        }));
        let guide = schema.guide();
        let root = guide.root();
        assert_eq!(guide.kinds(root), Kinds::OBJECT);
        assert_eq!(guide.names(root).collect::<Vec<_>>(), ["path", "mode", "n"]);
        assert_eq!(guide.name(root, 1), Some("mode"));
        assert_eq!(guide.required(root), 0b010);
        assert_eq!(guide.member(root, "other"), Member::Forbidden);
        let mode = declared(&schema, root, "mode");
        assert_eq!(guide.kinds(mode), Kinds::STRING);
        assert!(guide.admits(mode, "w") && !guide.admits(mode, "x"));
        assert_eq!(guide.kinds(declared(&schema, root, "n")), Kinds::NUMBER.or(Kinds::NULL));
        assert!(schema.is_exact);
    }

    #[test]
    fn choices_and_references_are_folded() {
        let schema = schema(json!({
            "type": "object",
            "properties": {
                "limit": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "default": null},
                "child": {"$ref": "#"},
                "shape": {"oneOf": [{"$ref": "#/$defs/circle"}, {"$ref": "#/$defs/square"}]},
                "all": {"allOf": [{"$ref": "#/$defs/circle"}], "description": "one"},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "number"}},
            },
            "$defs": {
                "circle": {"type": "object", "properties": {"r": {"type": "number"}, "name": {"type": "string"}},
                           "required": ["r", "name"]},
                "square": {"type": "object", "properties": {"side": {"type": "number"}, "name": {"type": "null"}},
                           "required": ["side", "name"]},
            },
        }));
        let guide = schema.guide();
        let root = guide.root();
        assert_eq!(guide.kinds(declared(&schema, root, "limit")), Kinds::NUMBER.or(Kinds::NULL));
        assert_eq!(declared(&schema, root, "child"), root);
        let shape = declared(&schema, root, "shape");
        assert_eq!(guide.names(shape).collect::<Vec<_>>(), ["r", "name", "side"]);
        assert_eq!(guide.required(shape), 0b010);
        assert_eq!(guide.kinds(declared(&schema, shape, "name")), Kinds::STRING.or(Kinds::NULL));
        assert_eq!(guide.names(declared(&schema, root, "all")).collect::<Vec<_>>(), ["r", "name"]);
        let pair = declared(&schema, root, "pair");
        assert_eq!(guide.kinds(guide.element(pair, 0)), Kinds::STRING);
        assert_eq!(guide.kinds(guide.element(pair, 1)), Kinds::NUMBER);
        // Two objects may both fit, so only the validator can tell.
        assert!(!schema.is_exact);
    }

    #[test]
    fn doubling_definitions_cost_little() {
        let mut defs = crate::value::Map::new();
        for n in 0..24 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            defs.insert(
                format!("d{n}"),
                json!({"properties": {"a": next, "b": next}, "allOf": [next, next]}),
            );
        }
        defs.insert("d24".into(), json!({"type": "object"}));
        let bomb = json!({"$ref": "#/$defs/d0", "$defs": defs.clone()});
        assert_eq!(Schema::compile(&bomb).unwrap_err(), SchemaError::TooLarge);
        for n in 0..24 {
            defs.get_mut(&format!("d{n}")).and_then(Value::as_object_mut).unwrap().remove("allOf");
        }
        let compiled = schema(json!({"$ref": "#/$defs/d0", "$defs": defs}));
        assert!(compiled.guide().entries.len() < 50);
        for n in 0..24 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            defs.insert(
                format!("d{n}"),
                json!({"anyOf": [{"allOf": [next, {"minLength": n}]}, next, {"maxLength": n}]}),
            );
        }
        let choices = json!({"$ref": "#/$defs/d0", "$defs": defs});
        assert_eq!(Schema::compile(&choices).unwrap_err(), SchemaError::TooLarge);
    }

    #[cfg(feature = "full-schemas")]
    #[test]
    fn nothing_is_fetched() {
        for uri in ["http://127.0.0.1:9/x.json", "file:///etc/passwd", "other.json#/a"] {
            let error = Schema::compile(&json!({"properties": {"a": {"$ref": uri}}})).unwrap_err();
            assert!(matches!(error, SchemaError::Reference(_)), "{uri}: {error:?}");
        }
    }

    /// The validator panics where two parts of a schema have one identity and one of them a name that both refer to.
    #[cfg(feature = "full-schemas")]
    #[test]
    fn an_identity_that_two_parts_have_is_refused() {
        for id in ["http://example.com/a", "http://example.com/b/../a", "HTTP://example.com:80/%61"] {
            let named = json!({"$id": "http://example.com/a", "$ref": "#b", "items": {"$anchor": "b"}});
            let schema = json!({"properties": {"x": named, "y": {"$id": id, "$ref": "#b"}}});
            assert!(matches!(Schema::compile(&schema), Err(SchemaError::Invalid(_))), "{id}");
        }
    }

    #[cfg(feature = "full-schemas")]
    #[test]
    fn patterns_are_bounded() {
        let large = json!({"pattern": "((a{1000}){1000}){1000}"});
        assert!(matches!(Schema::compile(&large), Err(SchemaError::Invalid(_))));
        // Look-ahead is not in the linear engine.
        schema(json!({"pattern": "^(?!x).*$"}));
    }

    #[test]
    fn unknown_languages_are_read_as_the_newest_draft() {
        schema(json!({"$schema": "https://example.com/own", "type": "string", "pattern": "a"}));
        assert_eq!(Schema::compile(&json!([])).unwrap_err(), SchemaError::NotASchema);
    }

    #[test]
    fn compiled_schemas_can_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<Schema>();
    }
}
