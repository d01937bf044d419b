//! Compiles a schema from its written form: bounded, in normal form, without the parts that cannot be checked.

use std::iter;

use callwright_value::Value;

#[cfg(not(feature = "full-schemas"))]
use super::compile;
use super::compile::{Document, compile};
use super::guide::SchemaGuide;
use super::keywords::Draft;
use super::limits::{self, MAX_DEPTH, MAX_NODES, SchemaError, measure};
use super::normal::Wrong;
use super::unchecked::{Unchecked, leave_out};
#[cfg(feature = "full-schemas")]
use super::validator::Validator;
use super::{normal, references};

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    pub(super) guide: SchemaGuide,
    /// The tables know its language, one of the drafts.
    pub(super) is_known: bool,
    /// The tables express all of it.
    pub(super) is_exact: bool,
    /// The judge of all that the tables cannot express; `None` if they express all, or nothing else can.
    #[cfg(feature = "full-schemas")]
    pub(super) validator: Option<Validator>,
    unchecked: Vec<Unchecked>,
    /// The first parts of `unchecked` are faults, as many as this.
    n_faults: usize,
}

/// Most rounds in which one schema loses parts that a validator refuses: each compiles all of it again. The first round
/// finds all faults; only a part that goes with a fault may leave another one.
#[cfg(feature = "full-schemas")]
const MAX_ROUNDS: usize = 4;

/// The results of compiling a schema.
struct Parts {
    guide: SchemaGuide,
    is_exact: bool,
    #[cfg(feature = "full-schemas")]
    validator: Option<Validator>,
}

impl Parts {
    /// Compiles the tables and, if they do not express all of `schema`, the validator. Parts that it refuses are left
    /// out.
    #[cfg(feature = "full-schemas")]
    fn compile(
        schema: &mut Value,
        is_known: bool,
        resources: &[(String, Value)],
        unchecked: &mut Vec<Unchecked>,
    ) -> Result<Parts, SchemaError> {
        let mut round = 0;
        loop {
            let (guide, is_exact) = tables(schema, is_known);
            if is_exact {
                return Ok(Parts { guide, is_exact, validator: None });
            }
            let refused = match Validator::new(schema, resources)? {
                Ok(validator) => return Ok(Parts { guide, is_exact, validator: Some(validator) }),
                Err(refused) => refused,
            };
            round += 1;
            // A fault without a place in the schema cannot be left out of it: the tables guide by the rest.
            let whole = refused.iter().find(|part| part.pointer.is_empty()).cloned();
            let refused = if whole.is_some() { Vec::new() } else { refused };
            let reason = refused.first().map_or(String::new(), |part| part.reason.clone());
            if MAX_ROUNDS < round || !leave_out(schema, refused, unchecked) {
                unchecked.push(whole.unwrap_or(Unchecked { pointer: String::new(), reason }));
                return Ok(Parts { guide, is_exact, validator: None });
            }
        }
    }

    #[cfg(not(feature = "full-schemas"))]
    fn compile(
        schema: &mut Value,
        is_known: bool,
        resources: &[(String, Value)],
        unchecked: &mut Vec<Unchecked>,
    ) -> Result<Parts, SchemaError> {
        let foreign = references::to_elsewhere(schema, resources);
        leave_out(schema, foreign, unchecked);
        let (guide, is_exact) = tables(schema, is_known);
        Ok(Parts { guide, is_exact })
    }
}

/// Returns the tables of a schema, and whether they express all of it.
fn tables(schema: &Value, is_known: bool) -> (SchemaGuide, bool) {
    let (guide, is_exact) = compile(&[Document::new(schema)]);
    (guide, is_exact && is_known)
}

impl Schema {
    /// Compiles `schema`, a JSON object or boolean.
    ///
    /// Schemas of real tool lists have forms that are understood: `"type": "dict"` is `object`, `"float"` is `number`,
    /// `"tuple"` is `array`, `"any"` constrains nothing, `"required": true` inside a member is left out. `format` is a note,
    /// not a demand.
    ///
    /// A part that cannot be compiled or resolved is not checked, but the rest is; [`Schema::unchecked`] lists such
    /// parts. They are:
    ///
    /// - a value that its keyword cannot have: see [`Schema::faults`];
    /// - a word that is a keyword but for one letter: `requried`;
    /// - a `$ref` to another document;
    /// - a `$ref` that names nothing in the schema (`#/$defs/Missing`), or leads back to itself without going into the
    ///   value;
    /// - a `pattern` that is not a regular expression here;
    /// - a schema deeper than [`MAX_DEPTH`].
    ///
    /// # Errors
    /// An error means that `schema` is neither object nor boolean, or exceeds [`MAX_NESTING`](crate::MAX_NESTING) or
    /// [`MAX_NODES`].
    pub fn compile<V: ?Sized>(schema: &V) -> Result<Schema, SchemaError>
    where
        for<'v> Value: From<&'v V>,
    {
        Schema::compile_with(schema, &[])
    }

    /// Compiles `schema` as [`Schema::compile`] does, with other documents that it may refer to, each with its URI.
    ///
    /// # Errors
    /// An error is one of [`Schema::compile`], or means that one of `resources` has no valid URI.
    pub fn compile_with<V: ?Sized>(schema: &V, resources: &[(String, Value)]) -> Result<Schema, SchemaError>
    where
        for<'v> Value: From<&'v V>,
    {
        let mut value = Value::from(schema);
        let measure = measure(&value, MAX_NODES)?;
        if !value.is_object() && !value.is_boolean() {
            return Err(SchemaError::NotASchema);
        }
        let mut deep = Vec::new();
        if MAX_DEPTH < measure.depth {
            let parts = limits::too_deep(&value);
            leave_out(&mut value, parts, &mut deep);
        }
        let draft = Draft::of(&value);
        let Wrong { faults: mut unchecked, slips } = normal::normalise(&mut value, draft);
        let n_faults = unchecked.len();
        unchecked.extend(slips.into_iter().chain(deep));
        normal::without_unused(&mut value);
        let language = value.get("$schema").and_then(Value::as_str);
        let is_given = language.is_some_and(|language| resources.iter().any(|(uri, _)| uri == language));
        if let (false, None, Some(schema)) = (is_given, Draft::known(&value), value.as_object_mut()) {
            // The validator would search for that language: the schema is read as the newest draft.
            schema.remove("$schema");
        }
        let broken = references::without_target(&value);
        if leave_out(&mut value, broken, &mut unchecked) {
            // Only the removed parts referred to some definitions.
            normal::without_unused(&mut value);
        }
        // The tables know the vocabulary of the drafts only, not that of another language.
        let is_known = Draft::known(&value).is_some();
        let parts = Parts::compile(&mut value, is_known, resources, &mut unchecked)?;
        #[cfg(not(feature = "full-schemas"))]
        if !parts.is_exact {
            unchecked.extend(compile::beyond(&value));
        }
        Ok(Schema {
            value,
            guide: parts.guide,
            is_known,
            is_exact: parts.is_exact,
            #[cfg(feature = "full-schemas")]
            validator: parts.validator,
            unchecked,
            n_faults,
        })
    }

    /// Returns whether the check covers all demands of the schema.
    ///
    /// It covers all but the parts in [`Schema::unchecked`]; with the feature `full-schemas`, [`Schema::check_whole`] says
    /// if the work of one check did not suffice. Without it, the check does not cover `pattern`,
    /// `patternProperties`, `propertyNames`, `contains`, `not`, `if`, `dependentRequired`, `dependentSchemas`,
    /// `dependencies`, `unevaluatedItems`, `unevaluatedProperties` or `$dynamicRef`. Nor does it cover references to
    /// other documents, choices between forms of one type (`anyOf` of two objects), several schemas together (`allOf`),
    /// draft 4, or schemas that are too large for tables. Such a part lets through what only those demands would keep
    /// out. No value that fits is ever kept out.
    pub fn is_fully_checked(&self) -> bool {
        self.unchecked.is_empty()
    }

    /// Returns the guide for readers of a value for this schema.
    pub fn guide(&self) -> &SchemaGuide {
        &self.guide
    }

    /// Returns the parts of the schema that are not checked, each with its reason.
    pub fn unchecked(&self) -> &[Unchecked] {
        &self.unchecked
    }

    /// Returns the parts of the schema that mean nothing: a type that does not exist (`"objekt"`), a value that its
    /// keyword cannot have (`"properties": 5`). They are [`Schema::unchecked`] too.
    pub fn faults(&self) -> &[Unchecked] {
        self.unchecked.get(..self.n_faults).unwrap_or(&[])
    }

    /// Returns the schema in its normal form, as JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl SchemaGuide {
    /// Compiles `root`, in which the reference `schema:3` means `schemas[3]`: one guide for values that hold values of
    /// several schemas.
    ///
    /// `root` is read as it is written, without the repairs of [`Schema::compile`].
    ///
    /// ```
    /// use callwright_json::{Guide, Kinds};
    /// use callwright_schema::{Schema, SchemaError, SchemaGuide};
    /// use callwright_value::json;
    ///
    /// let (number, text) = (json!({"type": "number"}), json!({"type": "string"}));
    /// let schemas = [&Schema::compile(&number)?, &Schema::compile(&text)?];
    /// let root = json!({"anyOf": [{"$ref": "schema:0"}, {"$ref": "schema:1"}]});
    /// let guide = SchemaGuide::compile(&root, &schemas);
    /// assert_eq!(guide.kinds(guide.root()), Kinds::NUMBER.or(Kinds::STRING));
    /// # Ok::<(), SchemaError>(())
    /// ```
    pub fn compile(root: &Value, schemas: &[&Schema]) -> SchemaGuide {
        let schemas = schemas.iter().map(|schema| Document::new(schema.value()));
        compile(&iter::once(Document::new(root)).chain(schemas).collect::<Vec<_>>()).0
    }
}
