//! The judge of what tables cannot say: another crate's validator, which looks at values as they were read.
//!
//! It would know numbers as doubles. What the tables have a rule for is therefore not its part: the keyword gets another name,
//! under which our own rule stands, so that thirty digits and `1e400` are compared by value also inside of `not` and `oneOf`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use callwright_json::{Kind, Kinds, Value as View, quote, strict};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::json::{Array, Json, JsonNumber, Node, NodeIdentity, Object};
use jsonschema::{JsonType, Keyword, PatternOptions, ReferencingError, ValidationError, ValidationOptions};
use serde_json::Value as Lossy;

use super::check::{bits, is_unique, keeps};
use super::compile::{Ruling, kinds_named, rule};
use super::guide::{LIMITS, Rule};
use super::keywords::{Draft, Holds, holds, inside};
use super::limits::MAX_EXPANDED;
use super::message::{demand, missing_message, must, show, subject, types, unknown_message};
use super::number::is_whole;
use super::references::{children, identity, reached, to_elsewhere};
use super::unchecked::{Unchecked, pointer_step};
use super::{SchemaError, Violation};
use crate::value::{Map, Value};

/// The size, in bytes, that one compiled `pattern` may take.
const MAX_PATTERN_SIZE: usize = 1 << 18;
/// The deepest nesting of subschemas once every `$ref` is replaced by what it names.
const MAX_EXPANDED_DEPTH: usize = 128;
/// The steps back that a `pattern` with look-around may take on one string.
const MAX_BACKTRACKING: usize = 20_000;

/// What stands before the name of a keyword that is ours to judge.
const OURS: &str = "callwright:";
/// The keywords that may be a rule of ours.
fn our_keywords() -> impl Iterator<Item = &'static str> {
    LIMITS.iter().map(|limit| limit.name).chain(["multipleOf", "uniqueItems", "enum", "const"])
}

type Options<'r> = ValidationOptions<'r, std::sync::Arc<dyn jsonschema::Retrieve>, Written>;

/// A compiled schema that decides on all that JSON Schema can say.
#[derive(Debug)]
pub(super) struct Validator(jsonschema::Validator<Written>);

impl Validator {
    /// Compiles `schema`, which may refer to `resources`, each with its URI; the inner error says what of it cannot be.
    ///
    /// # Errors
    /// When one of `resources` has no valid URI.
    pub(super) fn new(
        schema: &Value,
        resources: &[(String, Value)],
    ) -> Result<Result<Validator, Fault>, SchemaError> {
        let fault = |reason: String| Ok(Err(Fault { reason, at: At::Part(String::new()) }));
        if !is_bounded(schema) {
            return fault(format!(
                "its references expand to more than {MAX_EXPANDED} schemas, or too deep ones"
            ));
        }
        if let Some(id) = shared_id(schema) {
            return fault(format!("two parts of it are called `{}`", id.escape_debug()));
        }
        let resources: Vec<(&str, Lossy)> =
            resources.iter().map(|(uri, resource)| (uri.as_str(), ours(resource))).collect();
        let no_uri = |error: ReferencingError| SchemaError::Resource(error.to_string());
        let mut registry = jsonschema::Registry::new();
        for (uri, resource) in &resources {
            registry = registry.add(*uri, resource).map_err(no_uri)?;
        }
        let registry = registry.prepare().map_err(no_uri)?;
        let options = || {
            let options: Options<'_> = jsonschema::options_for::<Written>().should_validate_formats(false);
            our_keywords().fold(options.with_registry(&registry), |options, keyword| {
                options.with_keyword(format!("{OURS}{keyword}"), |_, text, _| {
                    Ok(Box::new(Ours::of(keyword, text)))
                })
            })
        };
        let schema = ours(schema);
        Ok(build_with_patterns(options, &schema))
    }

    /// The ways in which `value` does not fit, at most `most` of them.
    pub(super) fn violations(&self, value: View<'_>, most: usize) -> Vec<Violation> {
        if self.0.is_valid(value) {
            return Vec::new();
        }
        self.0.iter_errors(value).take(most).map(|error| violation(value, &error)).collect()
    }
}

/// What of a schema no validator can be made of.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) reason: String,
    at: At,
}

/// Where a fault is.
#[derive(Debug)]
enum At {
    /// In the part with this JSON pointer.
    Part(String),
    /// In a reference that leads nowhere.
    Reference,
    /// In a pattern: the first of those that no engine here takes.
    Pattern,
}

impl Fault {
    /// The parts of `schema` to be left out.
    pub(super) fn parts(self, schema: &Value, resources: &[(String, Value)]) -> Vec<Unchecked> {
        match self.at {
            At::Reference => to_elsewhere(schema, resources),
            At::Pattern => strange_patterns(schema),
            At::Part(pointer) if pointer.is_empty() => Vec::new(),
            At::Part(pointer) => vec![Unchecked { pointer, reason: self.reason }],
        }
    }
}

/// The patterns in `root` that no engine here takes: all at once, as each costs the schema another compilation.
fn strange_patterns(root: &Value) -> Vec<Unchecked> {
    let mut strange = Vec::new();
    for (at, schema) in reached(root) {
        let own = schema.get("pattern").and_then(Value::as_str).map(|own| (format!("{at}/pattern"), own));
        let names =
            schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let names = names.map(|name| (format!("{at}/patternProperties/{}", pointer_step(name)), &**name));
        for (pointer, pattern) in own.into_iter().chain(names) {
            if build_with_patterns(Options::default, &serde_json::json!({ "pattern": pattern })).is_err() {
                let reason = format!("{} is no regular expression that can be tried here", quote(pattern));
                strange.push(Unchecked { pointer, reason });
            }
        }
    }
    strange
}

fn build_with_patterns<'r>(options: impl Fn() -> Options<'r>, schema: &Lossy) -> Result<Validator, Fault> {
    let linear = PatternOptions::regex().size_limit(MAX_PATTERN_SIZE).dfa_size_limit(MAX_PATTERN_SIZE);
    build(options().with_pattern_options(linear), schema).or_else(|fault| match fault.at {
        // Look-around and back references need the other engine, which is kept on a short leash.
        At::Pattern => {
            let leashed = PatternOptions::fancy_regex()
                .backtrack_limit(MAX_BACKTRACKING)
                .size_limit(MAX_PATTERN_SIZE)
                .dfa_size_limit(MAX_PATTERN_SIZE);
            build(options().with_pattern_options(leashed), schema)
        }
        At::Part(_) | At::Reference => Err(fault),
    })
}

fn build(options: Options<'_>, schema: &Lossy) -> Result<Validator, Fault> {
    options.build(schema).map(Validator).map_err(|error| {
        let reason = error.masked().to_string();
        match error.kind() {
            ValidationErrorKind::Referencing(error) => Fault { reason: error.to_string(), at: At::Reference },
            // Not by the schema of schemas, but by the engine that it is given to.
            ValidationErrorKind::Format { .. } => Fault { reason, at: At::Pattern },
            _ => Fault { reason, at: At::Part(error.instance_path().as_str().to_owned()) },
        }
    })
}

/// The schema as the validator takes it, with our names for what speaks of numbers.
fn ours(schema: &Value) -> Lossy {
    // In a language of one's own, a keyword may mean nothing.
    lossy(schema, Draft::known(schema))
}

/// The value with doubles for what 64 bits cannot hold, `null` where there is none; a schema of `draft` with our names.
fn lossy(value: &Value, draft: Option<Draft>) -> Lossy {
    match (value, draft) {
        (Value::Null, _) => Lossy::Null,
        (Value::Bool(is), _) => Lossy::Bool(*is),
        (Value::Number(number), _) => lossy_number(number.as_str()).map_or(Lossy::Null, Lossy::Number),
        (Value::String(text), _) => Lossy::String(text.clone()),
        (Value::Array(elements), _) => elements.iter().map(|element| lossy(element, draft)).collect(),
        (Value::Object(keywords), Some(draft)) => renamed(keywords, draft),
        (Value::Object(members), None) => {
            members.iter().map(|(key, member)| (key.clone(), lossy(member, None))).collect()
        }
    }
}

fn lossy_number(text: &str) -> Option<serde_json::Number> {
    serde_json::from_str(text).ok()
}

fn renamed(keywords: &Map, draft: Draft) -> Lossy {
    let is_true = |keyword: &str| keywords.get(keyword).and_then(Value::as_bool) == Some(true);
    let mut out = serde_json::Map::new();
    for (keyword, held) in keywords {
        let name = match (keyword.as_str(), held) {
            // In draft 4, a second keyword makes a bound exclusive.
            ("minimum", Value::Number(_)) if is_true("exclusiveMinimum") => Some("exclusiveMinimum"),
            ("maximum", Value::Number(_)) if is_true("exclusiveMaximum") => Some("exclusiveMaximum"),
            ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(_)) => continue,
            ("const", _) if draft == Draft::D4 => None,
            // What is no rule, as a divisor of zero, is refused by the schema of schemas.
            _ => matches!(rule(keyword, held), Ruling::Rule(..)).then_some(keyword.as_str()),
        };
        let (name, said) = match (name, holds(keyword), held) {
            (Some(name), ..) => (format!("{OURS}{name}"), Lossy::String(held.to_string())),
            // Its members are names, and no keywords.
            (None, Holds::Map, Value::Object(named)) => {
                let named = named.iter().map(|(name, schema)| (name.clone(), lossy(schema, Some(draft))));
                (keyword.clone(), named.collect())
            }
            // A reference may lead to a schema under any keyword.
            (None, ..) => (keyword.clone(), lossy(held, Some(draft))),
        };
        out.insert(name, said);
    }
    Lossy::Object(out)
}

/// One of our rules, for the values that it is about.
struct Ours(Option<(Kinds, Rule)>);

impl Ours {
    fn of(keyword: &str, text: &Lossy) -> Ours {
        let value: Option<Value> = text.as_str().and_then(|text| text.parse().ok());
        Ours(value.and_then(|value| match rule(keyword, &value) {
            Ruling::Rule(about, rule) => Some((about, rule)),
            Ruling::Tables | Ruling::Beyond => None,
        }))
    }
}

impl<'i> Keyword<'i, Written> for Ours {
    fn validate(&self, value: View<'i>) -> Result<(), ValidationError<'i>> {
        match &self.0 {
            Some((_, rule)) if !self.is_valid(value) => Err(ValidationError::custom(demand(rule).1)),
            _ => Ok(()),
        }
    }

    fn is_valid(&self, value: View<'i>) -> bool {
        self.0.as_ref().is_none_or(|(about, rule)| !about.meets(bits(value.kind())) || keeps(value, rule))
    }
}

/// Values as they were read, with the text of their numbers.
struct Written;

struct Digits<'a>(&'a str);

impl Json for Written {
    type Node<'a> = View<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // Members are found one after the other, so that one pass over them is never slower.
    const KEYS_PER_LOOKUP: usize = 64;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(View<'_>) -> T) -> T {
        let text = quote(string);
        f(strict(&text).unwrap_or_default().root(&text))
    }
}

impl<'a> Node<'a, Written> for View<'a> {
    type Object = View<'a>;
    type Array = View<'a>;
    type Number = Digits<'a>;

    fn as_object(&self) -> Option<View<'a>> {
        (self.kind() == Kind::Object).then_some(*self)
    }

    fn as_array(&self) -> Option<View<'a>> {
        (self.kind() == Kind::Array).then_some(*self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.as_str()
    }

    fn as_number(&self) -> Option<Digits<'a>> {
        (self.kind() == Kind::Number).then(|| Digits(self.raw()))
    }

    fn as_boolean(&self) -> Option<bool> {
        self.as_bool()
    }

    fn is_null(&self) -> bool {
        self.kind() == Kind::Null
    }

    fn json_type(&self) -> JsonType {
        match self.kind() {
            Kind::Null => JsonType::Null,
            Kind::Bool => JsonType::Boolean,
            Kind::Number => JsonType::Number,
            Kind::String => JsonType::String,
            Kind::Array => JsonType::Array,
            Kind::Object => JsonType::Object,
        }
    }

    fn to_value(&self) -> Cow<'a, Lossy> {
        Cow::Owned(self.raw().parse::<Value>().map_or(Lossy::Null, |value| lossy(&value, None)))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        // No two values begin at one byte.
        Some(NodeIdentity::new(self.raw().as_ptr().addr()))
    }
}

impl<'a> Object<'a, Written> for View<'a> {
    type Node = View<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = Box<dyn Iterator<Item = (Cow<'a, str>, View<'a>)> + 'a>;

    fn len(&self) -> usize {
        View::members(*self).count()
    }

    fn get(&self, key: &String) -> Option<View<'a>> {
        View::get(*self, key)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(View::members(*self).map(|(key, member)| (key.as_str().unwrap_or_default(), member)))
    }
}

impl<'a> Array<'a, Written> for View<'a> {
    type Node = View<'a>;
    type ElementsIter = Box<dyn Iterator<Item = View<'a>> + 'a>;

    fn len(&self) -> usize {
        View::elements(*self).count()
    }

    fn elements(&self) -> Self::ElementsIter {
        Box::new(View::elements(*self))
    }

    fn is_unique(&self) -> bool {
        is_unique(*self)
    }
}

impl JsonNumber for Digits<'_> {
    fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    fn as_f64(&self) -> Option<f64> {
        self.0.parse().ok()
    }

    fn as_str(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.0)
    }

    fn to_number(&self) -> Cow<'_, serde_json::Number> {
        Cow::Owned(lossy_number(self.0).unwrap_or_else(|| 0.into()))
    }

    fn is_integer(&self) -> bool {
        is_whole(self.0)
    }
}

/// The violation for an error about `root`.
fn violation(root: View<'_>, error: &ValidationError<'_>) -> Violation {
    use ValidationErrorKind::{
        AdditionalItems, AdditionalProperties, AnyOf, BacktrackLimitExceeded, Contains, Custom, FalseSchema,
        Not, OneOfMultipleValid, OneOfNotValid, Pattern, PropertyNames, RegexEngineFailure, Required, Type,
        UnevaluatedItems, UnevaluatedProperties,
    };
    let pointer = error.instance_path().as_str().to_owned();
    let subject = subject(root, &pointer);
    let must = |demand: &str| must(&subject, demand);
    let unknown = |names: &[String]| unknown_message(&pointer, &names.join(", "), &[]);
    let must_fit = |one: &str| must(&format!("fit {one} of the forms that its schema allows"));
    let (keyword, message) = match error.kind() {
        Type { kind } => ("type", must(&format!("be {}", types(kinds(kind))))),
        Required { property } => ("required", missing_message(&pointer, property.as_str().into_iter())),
        AdditionalProperties { unexpected } => ("additionalProperties", unknown(unexpected)),
        UnevaluatedProperties { unexpected } => ("unevaluatedProperties", unknown(unexpected)),
        Custom { keyword, message } => {
            let keyword = keyword.strip_prefix(OURS).unwrap_or(keyword);
            let known = our_keywords().find(|known| *known == keyword);
            (known.unwrap_or("schema"), must(message))
        }
        Pattern { pattern } => ("pattern", must(&format!("match the pattern {}", show(pattern)))),
        BacktrackLimitExceeded { .. } | RegexEngineFailure { .. } => {
            ("pattern", must("match a pattern that is too costly to try on it"))
        }
        AdditionalItems { limit } => ("items", must(&format!("have at most {limit} elements"))),
        UnevaluatedItems { .. } => ("unevaluatedItems", must("have fewer elements")),
        Contains => ("contains", must("contain an element that its schema asks for")),
        AnyOf { .. } => ("anyOf", must_fit("one")),
        OneOfNotValid { .. } => ("oneOf", must_fit("one")),
        OneOfMultipleValid { .. } => ("oneOf", must_fit("only one")),
        Not { .. } => ("not", must("not have the form that its schema forbids")),
        FalseSchema => ("not", format!("{subject} must not be given")),
        PropertyNames { .. } => ("propertyNames", format!("{subject} has a key that its schema forbids")),
        _ => ("schema", error.masked_with(&subject).to_string()),
    };
    Violation { pointer, keyword, message }
}

fn kinds(kind: &TypeKind) -> Kinds {
    match kind {
        TypeKind::Single(kind) => kinds_named(kind.as_str()),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kinds_named(kind.as_str())).fold(Kinds(0), Kinds::or)
        }
    }
}

/// An identity that two parts of the document have, however each spells it, as one of them does: what refers to it names
/// neither.
fn shared_id(root: &Value) -> Option<&str> {
    use jsonschema::{Uri, uri};
    use std::sync::Arc;

    let mut seen: HashSet<Uri<String>> = HashSet::new();
    let mut todo = vec![(root, Arc::new(uri::from_str("").ok()?))];
    while let Some((schema, base)) = todo.pop() {
        let id = identity(schema);
        // What is no address is the validator's to refuse.
        let own = id.and_then(|id| uri::resolve_against(&base.borrow(), id.trim_end_matches('#')).ok());
        if own.as_ref().is_some_and(|own| !seen.insert(own.clone())) {
            return id;
        }
        // A name alone, as the older drafts have it, is no base.
        let own = own.filter(|_| id.is_some_and(|id| !id.starts_with('#')));
        let base = own.map_or(base, Arc::new);
        todo.extend(inside(schema).map(|(_, child)| (child, Arc::clone(&base))));
    }
    None
}

/// Is `root` small enough for a validator that follows every `$ref` when it compiles? No reference leads back to itself
/// without going into the value.
fn is_bounded(root: &Value) -> bool {
    // How many schemas each one becomes, and how deep they are.
    let mut done: HashMap<*const Value, (usize, usize)> = HashMap::new();
    let mut seen: HashSet<*const Value> = HashSet::new();
    // Each step is taken twice: on the way down to find what is inside, on the way up to add it.
    let mut steps = vec![(root, false)];
    while let Some((schema, inside_done)) = steps.pop() {
        let inside = children(root, schema);
        if inside_done {
            // A reference back to a schema that is not done is not expanded again.
            let sizes = inside.map(|child| done.get(&std::ptr::from_ref(child)).unwrap_or(&(1, 1)));
            let sum = sizes.fold((1, 1), |(size, depth): (usize, usize), (inner, levels)| {
                (size.saturating_add(*inner), depth.max(levels + 1))
            });
            done.insert(schema, sum);
        } else if seen.insert(schema) {
            steps.push((schema, true));
            steps.extend(inside.map(|child| (child, false)));
        }
    }
    let whole = done.get(&std::ptr::from_ref(root));
    whole.is_none_or(|(size, depth)| *size <= MAX_EXPANDED && *depth <= MAX_EXPANDED_DEPTH)
}
