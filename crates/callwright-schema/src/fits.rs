//! Tells whether one value has a type and keeps a rule, without the values within it.

use std::collections::HashSet;

use callwright_json::{Kind, Kinds, Value};

use super::guide::Rule;
use super::number::{compare, is_multiple_of, is_whole};

/// Returns the types as which a kind of value may count.
pub(super) fn bits(kind: Kind) -> Kinds {
    match kind {
        Kind::Null => Kinds::NULL,
        Kind::Bool => Kinds::BOOL,
        Kind::Number => Kinds::NUMBER,
        Kind::String => Kinds::STRING,
        Kind::Array => Kinds::ARRAY,
        Kind::Object => Kinds::OBJECT,
    }
}

/// Returns whether `value` is of one of these types.
pub(super) fn has_type(value: Value<'_>, kinds: Kinds) -> bool {
    match value.kind() {
        Kind::Number if kinds.has(Kinds::NUMBER) => true,
        Kind::Number if kinds.has(Kinds::INTEGER) => is_whole(value.raw()),
        Kind::Number => false,
        kind => kinds.meets(bits(kind)),
    }
}

/// Returns whether `value` keeps `rule`, which concerns it.
pub(super) fn keeps(value: Value<'_>, rule: &Rule) -> bool {
    match rule {
        Rule::OneOf { canonical, .. } => {
            // A list in the place of a word need not be put into its normal form.
            let begins = |one: &str| one.as_bytes().first() == value.raw().as_bytes().first();
            let is_scalar = !matches!(value.kind(), Kind::Array | Kind::Object);
            (is_scalar || canonical.iter().any(|one| begins(one))) && {
                let own = value.canonical();
                canonical.iter().any(|one| **one == *own)
            }
        }
        Rule::Size(limit, n) => (limit.keeps)(size(value).cmp(n)),
        Rule::Bound(limit, bound) => (limit.keeps)(compare(value.raw(), bound)),
        Rule::UniqueItems => is_unique(value),
        Rule::MultipleOf(divisor) => is_multiple_of(value.raw(), divisor),
    }
}

/// Returns whether no element stands twice.
pub(super) fn is_unique(array: Value<'_>) -> bool {
    let mut seen = HashSet::new();
    array.elements().all(|element| seen.insert(element.canonical()))
}

/// Returns the number of characters, elements or members of `value`.
fn size(value: Value<'_>) -> u64 {
    let size = match value.kind() {
        Kind::String => value.as_str().map_or(0, |text| text.chars().count()),
        Kind::Array => value.elements().count(),
        Kind::Object => value.members().count(),
        Kind::Null | Kind::Bool | Kind::Number => 0,
    };
    size as u64
}
