//! Names that earlier versions gave to outcomes and kinds of nodes. They are read in filters and in dumps; nothing writes them.

use serde::{Deserialize, Deserializer};

const OUTCOMES: [(&str, &str); 3] =
    [("healed", "repaired"), ("corrected", "retried"), ("breaker", "gave-up")];

const KINDS: [(&str, &str); 2] = [("healed", "repaired"), ("breaker", "gave_up")];

/// The outcome that a name stands for: `healed` → `repaired`. A name that is current stands for itself.
pub(crate) fn outcome(name: &str) -> &str {
    current(&OUTCOMES, name)
}

/// The kind of node that a name stands for: `breaker` → `gave_up`.
pub(crate) fn kind(name: &str) -> &str {
    current(&KINDS, name)
}

/// Reads the outcome of a dump.
///
/// # Errors
/// The value is not a string.
pub(crate) fn read_outcome<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(outcome(&String::deserialize(from)?).to_owned())
}

/// Reads the outcome that a filter asks for.
///
/// # Errors
/// The value is not a string.
pub(crate) fn read_asked<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(|name| outcome(&name).to_owned()))
}

fn current<'n>(former: &[(&str, &'static str)], name: &'n str) -> &'n str {
    former.iter().find(|(old, _)| *old == name).map_or(name, |(_, current)| current)
}
