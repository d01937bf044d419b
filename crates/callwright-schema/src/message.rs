//! The message about a value that does not fit: one sentence for the model, with the place of the value.

use callwright_json::{Kind, Kinds, MAX_SLOTS, Value};

use super::guide::{NEVER, Rule};
use super::keywords::{pointer_key, pointer_step};
use super::names::nearest_keys;
use super::violation::{Fault, Sort, Violation};

/// Most names or values in one sentence.
const MAX_LISTED: usize = 24;
/// Most characters of a name or value in a message.
const MAX_SHOWN: usize = 80;

/// Makes the violation for a fault in `root`.
pub(super) fn of_fault(root: Value<'_>, fault: &Fault<'_, '_>) -> Violation {
    let pointer = pointer_to(root, fault.value);
    let subject = subject(root, &pointer);
    let (keyword, message) = match &fault.sort {
        Sort::Type if fault.entry.kinds.0 == 0 => ("not", format!("{subject} must not be given")),
        Sort::Type => ("type", format!("{subject} must be {}", types(fault.entry.kinds))),
        Sort::Rule(rule) => {
            let (keyword, demand) = demand(rule);
            (keyword, must(&subject, &demand))
        }
        Sort::Missing(missing) => {
            let names = fault.entry.members.keys().take(MAX_SLOTS).enumerate();
            let names = names.filter(|(i, _)| missing >> i & 1 == 1);
            ("required", missing_message(&pointer, names.map(|(_, name)| &**name)))
        }
        Sort::Unknown(name) => {
            let known = fault.entry.members.iter().filter(|(_, at)| **at != NEVER);
            let known: Vec<&str> = known.map(|(name, _)| &**name).collect();
            ("additionalProperties", unknown_message(parent(&pointer), name, &known))
        }
        Sort::Duplicate(name) => (
            "duplicate",
            format!("{} stands twice with different values{}", show(name), inside(parent(&pointer))),
        ),
        Sort::Surrogate => {
            ("surrogate", format!("{subject} holds half a surrogate pair, which is not a character"))
        }
    };
    Violation { pointer, keyword, message }
}

/// Returns a demand as a sentence: `x must be at least 1`
pub(super) fn must(subject: &str, demand: &str) -> String {
    format!("{subject} must {demand}")
}

/// Returns the keyword of a rule and its demand: `be at least 1`.
pub(super) fn demand(rule: &Rule) -> (&'static str, String) {
    match rule {
        Rule::OneOf { shown, .. } => ("enum", format!("be {}", one_of(shown.iter().map(|s| &**s)))),
        Rule::Size(limit, n) => (limit.name, format!("{} {n} {}", limit.demand, parts(limit.about, *n))),
        Rule::Bound(limit, bound) => (limit.name, format!("{} {bound}", limit.demand)),
        Rule::UniqueItems => ("uniqueItems", "not hold the same element twice".to_owned()),
        Rule::MultipleOf(divisor) => ("multipleOf", format!("be a multiple of {divisor}")),
    }
}

/// Returns the name of the parts of a value of one of `kinds` that has `n`.
fn parts(kinds: Kinds, n: u64) -> String {
    let one = match kinds {
        Kinds::STRING => "character",
        Kinds::ARRAY => "element",
        _ => "member",
    };
    if n == 1 { one.to_owned() } else { format!("{one}s") }
}

pub(super) fn missing_message<'a>(pointer: &str, names: impl Iterator<Item = &'a str>) -> String {
    format!("missing required: {}{}", listed(names), inside(pointer))
}

pub(super) fn unknown_message(around: &str, name: &str, known: &[&str]) -> String {
    let unknown = format!("unknown: {}{}", show(name), inside(around));
    if known.is_empty() {
        return unknown;
    }
    let nearest = nearest_keys(name, &mut known.iter().copied(), 1);
    let nearest: String = nearest.into_iter().map(|name| format!("nearest: {}; ", show(name))).collect();
    format!("{unknown} ({nearest}declared: {})", listed(known.iter().copied()))
}

/// Returns ` in /items/0`; nothing for the whole value.
fn inside(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" in {}", show(pointer)) }
}

/// Returns the pointer to the value around: `/items/0/name` → `/items/0`.
fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn listed<'a>(items: impl Iterator<Item = &'a str>) -> String {
    let mut items: Vec<String> = items.take(MAX_LISTED + 1).map(show).collect();
    if MAX_LISTED < items.len() {
        items.truncate(MAX_LISTED);
        items.push("…".to_owned());
    }
    items.join(", ")
}

pub(super) fn one_of<'a>(values: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = listed(values.clone());
    if values.take(2).count() == 1 { all } else { format!("one of {all}") }
}

/// Returns a name or value of the model's or the schema's, cut, without line breaks.
pub(super) fn show(text: &str) -> String {
    let mut shown: String =
        text.chars().take(MAX_SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the name of the value at `pointer` in a sentence: a member of the whole object has its own name.
pub(super) fn subject(root: Value<'_>, pointer: &str) -> String {
    match pointer.strip_prefix('/') {
        None => "the value".to_owned(),
        Some(name) if root.kind() == Kind::Object && !name.contains('/') => show(&pointer_key(name)),
        Some(_) => show(pointer),
    }
}

pub(super) fn types(kinds: Kinds) -> String {
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

/// A value inside another one.
pub(super) struct Held<'v> {
    pub(super) around: Value<'v>,
    /// The key in an object.
    pub(super) key: Option<Value<'v>>,
    /// The number of values before it.
    pub(super) number: usize,
    pub(super) value: Value<'v>,
}

/// Returns the way from `root` to `target`, a value inside it.
pub(super) fn way<'v>(root: Value<'v>, target: Value<'v>) -> Vec<Held<'v>> {
    let holds = |value: Value<'_>| {
        let (outer, inner) = (value.span(), target.span());
        outer.start <= inner.start && inner.end <= outer.end
    };
    let (mut way, mut around) = (Vec::new(), root);
    while around.span() != target.span() {
        let members = around.members().map(|(key, value)| (Some(key), value));
        let mut held = members.chain(around.elements().map(|value| (None, value))).enumerate();
        let Some((number, (key, value))) = held.find(|(_, (_, value))| holds(*value)) else { break };
        way.push(Held { around, key, number, value });
        around = value;
    }
    way
}

/// Returns the JSON pointer from `root` to `target`, a value inside it.
pub(super) fn pointer_to(root: Value<'_>, target: Value<'_>) -> String {
    let step = |held: Held<'_>| match held.key {
        Some(key) => format!("/{}", pointer_step(&key.as_str().unwrap_or_default())),
        None => format!("/{}", held.number),
    };
    way(root, target).into_iter().map(step).collect()
}
