//! Words for a person about each repair and class.

use std::fmt::Display;

use callwright_json::{Class, RepairKind};
use callwright_view::words;

use crate::harmless::harmless;

pub(crate) fn class(class: Class) -> &'static str {
    match class {
        Class::Exact => "R0: exact; nothing was changed",
        Class::Lossless => "R1: spelling; keys and values are the model's own",
        Class::Inferred => "R2: inferred, in the only way there is",
    }
}

/// The sentence about a call that may be quoted rather than made.
pub(crate) const UNSURE: &str = "it is unsure: it may be quoted rather than made, so ask before it runs";

/// The sentence about a call if nobody knows that it fits.
pub(crate) const UNCHECKED: &str =
    "it is not held against all of its schema: that takes more work than a check may do";

/// Why a call stayed text. `by` is the end of a sentence.
pub(crate) fn shown(name: Option<&str>, by: &dyn Display) -> String {
    match name {
        Some(name) => format!("a call to `{name}` is quoted, not made: {by}"),
        None => format!("a call is quoted, not made: {by}"),
    }
}

/// The reason for a repair that puts `put`.
pub(crate) fn repair(kind: RepairKind, put: &str) -> String {
    let (put, reason) = (harmless(put), words::repair(kind));
    // A long replacement stands in the result, where it can be read.
    if put.is_empty() || 40 < put.len() { String::from(reason) } else { format!("{reason}: now `{put}`") }
}
