//! What is told about a value that does not fit: one sentence for the model, with the place it is about.

use callwright_json::{Kind, Kinds, Value};
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};

use super::check::{Fault, Sort};
use super::guide::{Entry, NEVER, Rule};
use crate::nearest::nearest;
use crate::verdict::Violation;

/// The most names or values that one sentence lists.
const MAX_LISTED: usize = 24;
/// The most characters of a name or value that are shown.
const MAX_SHOWN: usize = 80;

/// The violation for a fault in `root`.
pub(super) fn of_fault(root: Value<'_>, fault: &Fault<'_, '_>) -> Violation {
    let pointer = pointer_to(root, fault.value);
    let subject = subject(root, &pointer);
    let (keyword, message) = match &fault.sort {
        Sort::Type if fault.entry.kinds.0 == 0 => ("not", format!("{subject} must not be given")),
        Sort::Type => ("type", format!("{subject} must be {}", types(fault.entry.kinds))),
        Sort::Rule(rule) => rule_message(&subject, rule),
        Sort::Missing(missing) => {
            let names = names(fault.entry).enumerate().filter(|(i, _)| *i < 128 && missing >> i & 1 == 1);
            ("required", missing_message(&pointer, names.map(|(_, name)| name)))
        }
        Sort::Unknown(name) => {
            let known: Vec<&str> = declared(fault.entry).collect();
            ("additionalProperties", unknown_message(parent(&pointer), name, &known))
        }
        Sort::Duplicate(name) => (
            "duplicate",
            format!("{} stands twice with different values{}", show(name), inside(parent(&pointer))),
        ),
        Sort::Surrogate => {
            ("surrogate", format!("{subject} holds half a surrogate pair, which is no character"))
        }
    };
    Violation { pointer, keyword, message }
}

/// The violation for an error of the validator about `root`.
pub(super) fn of_error(root: Value<'_>, error: &ValidationError<'_>) -> Violation {
    let pointer = error.instance_path().as_str().to_owned();
    let subject = subject(root, &pointer);
    let must = |demand: String| format!("{subject} must {demand}");
    let (keyword, message) = match error.kind() {
        ValidationErrorKind::Type { kind } => ("type", must(format!("be {}", types(kinds(kind))))),
        ValidationErrorKind::Required { property } => {
            ("required", missing_message(&pointer, property.as_str().into_iter()))
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            ("additionalProperties", unknown_message(&pointer, &unexpected.join(", "), &[]))
        }
        ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            ("unevaluatedProperties", unknown_message(&pointer, &unexpected.join(", "), &[]))
        }
        ValidationErrorKind::Enum { options } => {
            let options: Vec<String> =
                options.as_array().into_iter().flatten().map(ToString::to_string).collect();
            ("enum", must(format!("be {}", one_of(options.iter().map(String::as_str)))))
        }
        ValidationErrorKind::Constant { expected_value } => {
            ("const", must(format!("be {}", show(&expected_value.to_string()))))
        }
        ValidationErrorKind::Pattern { pattern } => {
            ("pattern", must(format!("match the pattern {}", show(pattern))))
        }
        ValidationErrorKind::BacktrackLimitExceeded { .. }
        | ValidationErrorKind::RegexEngineFailure { .. } => {
            ("pattern", must("match a pattern that is too costly to try on it".to_owned()))
        }
        ValidationErrorKind::Minimum { limit } => ("minimum", must(format!("be at least {limit}"))),
        ValidationErrorKind::Maximum { limit } => ("maximum", must(format!("be at most {limit}"))),
        ValidationErrorKind::ExclusiveMinimum { limit } => {
            ("exclusiveMinimum", must(format!("be more than {limit}")))
        }
        ValidationErrorKind::ExclusiveMaximum { limit } => {
            ("exclusiveMaximum", must(format!("be less than {limit}")))
        }
        ValidationErrorKind::MultipleOf { multiple_of } => {
            ("multipleOf", must(format!("be a multiple of {multiple_of}")))
        }
        ValidationErrorKind::MinLength { limit } => rule_message(&subject, &Rule::MinLength(*limit)),
        ValidationErrorKind::MaxLength { limit } => rule_message(&subject, &Rule::MaxLength(*limit)),
        ValidationErrorKind::MinItems { limit } => rule_message(&subject, &Rule::MinItems(*limit)),
        ValidationErrorKind::MaxItems { limit } => rule_message(&subject, &Rule::MaxItems(*limit)),
        ValidationErrorKind::MinProperties { limit } => rule_message(&subject, &Rule::MinProperties(*limit)),
        ValidationErrorKind::MaxProperties { limit } => rule_message(&subject, &Rule::MaxProperties(*limit)),
        ValidationErrorKind::UniqueItems => rule_message(&subject, &Rule::UniqueItems),
        ValidationErrorKind::AdditionalItems { limit } => {
            ("items", must(format!("have at most {limit} elements")))
        }
        ValidationErrorKind::UnevaluatedItems { .. } => {
            ("unevaluatedItems", must("have fewer elements".to_owned()))
        }
        ValidationErrorKind::Contains => {
            ("contains", must("contain an element that its schema asks for".to_owned()))
        }
        ValidationErrorKind::AnyOf { .. } => {
            ("anyOf", must("fit one of the forms that its schema allows".to_owned()))
        }
        ValidationErrorKind::OneOfNotValid { .. } => {
            ("oneOf", must("fit one of the forms that its schema allows".to_owned()))
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            ("oneOf", must("fit only one of the forms that its schema allows".to_owned()))
        }
        ValidationErrorKind::Not { .. } => {
            ("not", must("not have the form that its schema forbids".to_owned()))
        }
        ValidationErrorKind::FalseSchema => ("not", format!("{subject} must not be given")),
        ValidationErrorKind::PropertyNames { .. } => {
            ("propertyNames", format!("{subject} has a key that its schema forbids"))
        }
        ValidationErrorKind::Format { .. }
        | ValidationErrorKind::Custom { .. }
        | ValidationErrorKind::ContentEncoding { .. }
        | ValidationErrorKind::ContentMediaType { .. }
        | ValidationErrorKind::FromUtf8 { .. }
        | ValidationErrorKind::Referencing(_) => ("schema", error.masked_with(subject).to_string()),
    };
    Violation { pointer, keyword, message }
}

fn rule_message(subject: &str, rule: &Rule) -> (&'static str, String) {
    let (keyword, demand) = match rule {
        Rule::OneOf { shown, .. } => ("enum", format!("be {}", one_of(shown.iter().map(|s| &**s)))),
        Rule::MinLength(n) => ("minLength", format!("have at least {}", count(*n, "character"))),
        Rule::MaxLength(n) => ("maxLength", format!("have at most {}", count(*n, "character"))),
        Rule::MinItems(n) => ("minItems", format!("have at least {}", count(*n, "element"))),
        Rule::MaxItems(n) => ("maxItems", format!("have at most {}", count(*n, "element"))),
        Rule::MinProperties(n) => ("minProperties", format!("have at least {}", count(*n, "member"))),
        Rule::MaxProperties(n) => ("maxProperties", format!("have at most {}", count(*n, "member"))),
        Rule::UniqueItems => ("uniqueItems", "not hold the same element twice".to_owned()),
        Rule::Minimum(bound) => ("minimum", format!("be at least {bound}")),
        Rule::ExclusiveMinimum(bound) => ("exclusiveMinimum", format!("be more than {bound}")),
        Rule::Maximum(bound) => ("maximum", format!("be at most {bound}")),
        Rule::ExclusiveMaximum(bound) => ("exclusiveMaximum", format!("be less than {bound}")),
    };
    (keyword, format!("{subject} must {demand}"))
}

fn count(n: u64, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

fn missing_message<'a>(pointer: &str, names: impl Iterator<Item = &'a str>) -> String {
    format!("missing required: {}{}", listed(names), inside(pointer))
}

fn unknown_message(around: &str, name: &str, known: &[&str]) -> String {
    let place = inside(around);
    let name_shown = show(name);
    if known.is_empty() {
        return format!("unknown: {name_shown}{place}");
    }
    let all = listed(known.iter().copied());
    match nearest(name, known.iter().copied(), 1).first() {
        Some(nearest) => {
            format!("unknown: {name_shown}{place} (nearest: {}; declared: {all})", show(nearest))
        }
        None => format!("unknown: {name_shown}{place} (declared: {all})"),
    }
}

/// ` in /items/0`; nothing for the whole value.
fn inside(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" in {}", show(pointer)) }
}

/// `/items/0/name` → `/items/0`.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn names(entry: &Entry) -> impl Iterator<Item = &str> {
    entry.members.iter().map(|(name, _)| &**name)
}

fn declared(entry: &Entry) -> impl Iterator<Item = &str> {
    entry.members.iter().filter(|(_, at)| *at != NEVER).map(|(name, _)| &**name)
}

fn listed<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let mut items: Vec<String> = items.take(MAX_LISTED + 1).map(show).collect();
    if MAX_LISTED < items.len() {
        items.truncate(MAX_LISTED);
        items.push("…".to_owned());
    }
    items.join(", ")
}

fn one_of<'a>(values: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = listed(values.clone());
    if values.take(2).count() == 1 { all } else { format!("one of {all}") }
}

/// A name or value of the model's or the schema's, cut, without line breaks.
fn show(text: &str) -> String {
    let mut shown: String =
        text.chars().take(MAX_SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// How a sentence calls the value at `pointer`: the members of the whole object by their name.
fn subject(root: Value<'_>, pointer: &str) -> String {
    match pointer.strip_prefix('/') {
        None => "the value".to_owned(),
        Some(name) if root.kind() == Kind::Object && !name.contains('/') => {
            show(&name.replace("~1", "/").replace("~0", "~"))
        }
        Some(_) => show(pointer),
    }
}

fn types(kinds: Kinds) -> String {
    let number = if kinds.has(Kinds::NUMBER) { "a number" } else { "an integer" };
    let words = [
        (Kinds::STRING, "a string"),
        (Kinds::INTEGER, number),
        (Kinds::BOOL, "a boolean"),
        (Kinds::ARRAY, "an array"),
        (Kinds::OBJECT, "an object"),
        (Kinds::NULL, "null"),
    ];
    let words: Vec<&str> =
        words.iter().filter(|(kind, _)| kinds.meets(*kind)).map(|(_, word)| *word).collect();
    words.join(" or ")
}

fn kinds(kind: &TypeKind) -> Kinds {
    let one = |kind: JsonType| match kind {
        JsonType::Null => Kinds::NULL,
        JsonType::Boolean => Kinds::BOOL,
        JsonType::Integer => Kinds::INTEGER,
        JsonType::Number => Kinds::NUMBER,
        JsonType::String => Kinds::STRING,
        JsonType::Array => Kinds::ARRAY,
        JsonType::Object => Kinds::OBJECT,
    };
    match kind {
        TypeKind::Single(kind) => one(*kind),
        TypeKind::Multiple(kinds) => kinds.iter().fold(Kinds(0), |all, kind| all.or(one(kind))),
    }
}

/// The JSON pointer from `root` to `target`, a value inside it.
pub(super) fn pointer_to(root: Value<'_>, target: Value<'_>) -> String {
    let holds = |value: Value<'_>| {
        let (outer, inner) = (value.span(), target.span());
        outer.start <= inner.start && inner.end <= outer.end
    };
    let mut pointer = String::new();
    let mut at = root;
    while at.span() != target.span() {
        if let Some((key, member)) = at.members().find(|(_, member)| holds(*member)) {
            let key = key.as_str().unwrap_or_default();
            pointer.push('/');
            pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
            at = member;
        } else if let Some((i, element)) = at.elements().enumerate().find(|(_, element)| holds(*element)) {
            pointer.push_str(&format!("/{i}"));
            at = element;
        } else {
            break;
        }
    }
    pointer
}
