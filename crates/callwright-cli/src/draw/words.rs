//! What a person reads about each repair and class.

use std::fmt::Display;

use callwright_json::{Class, RepairKind};

use crate::harmless::harmless;

pub(crate) fn class(class: Class) -> &'static str {
    match class {
        Class::Exact => "R0: exact; nothing was changed",
        Class::Lossless => "R1: spelling; keys and values are the model's own",
        Class::Inferred => "R2: inferred, in the only way there is",
    }
}

/// What is said of a call that may be shown as well as made.
pub(crate) const UNSURE: &str = "it is unsure: it may be shown rather than made, so ask before it runs";

/// Why a call stayed text. `by` is the end of a sentence.
pub(crate) fn shown(name: Option<&str>, by: &dyn Display) -> String {
    match name {
        Some(name) => format!("a call to `{name}` is shown, not made: {by}"),
        None => format!("a call is shown, not made: {by}"),
    }
}

/// The reason for a repair that puts `put`.
pub(crate) fn repair(kind: RepairKind, put: &str) -> String {
    let put = harmless(put);
    let reason = match kind {
        RepairKind::DropProse => "prose is left out",
        RepairKind::DropFence => "the fence is left out",
        RepairKind::DropThink => "the reasoning is left out",
        RepairKind::DropTag => "the tag is left out",
        RepairKind::DropComment => "the comment is left out",
        RepairKind::DropComma => "a comma too many",
        RepairKind::DropRepeat => "the same value once more",
        RepairKind::DropOpener => "an opening bracket too many",
        RepairKind::DropCloser => "a closing bracket too many",
        RepairKind::DropUndefined => "a member without a value",
        RepairKind::DropBackslash => "a backslash that JSON does not want",
        RepairKind::DropEscape => "white space that was written as an escape",
        RepairKind::AddComma => "a comma is missing",
        RepairKind::AddColon => "a colon is missing",
        RepairKind::AddOpener => "an opening bracket is missing",
        RepairKind::AddCloser => "a closing bracket is missing",
        RepairKind::AddQuote => "a quote is missing",
        RepairKind::AddKey => "the parameter's name is missing",
        RepairKind::SwapBracket => "a bracket of the wrong sort",
        RepairKind::SwapQuote => "another sort of quote",
        RepairKind::SwapPunctuation => "another sort of punctuation",
        RepairKind::SwapLiteral => "the spelling of another language",
        RepairKind::SwapSyntax => "the syntax of another language",
        RepairKind::MendMark => "a mark that is broken",
        RepairKind::SwapEscape => "an escape of another language",
        RepairKind::QuoteKey => "a key without quotes",
        RepairKind::QuoteValue => "a text without quotes",
        RepairKind::EscapeQuote => "a quote inside a string",
        RepairKind::EscapeControl => "a control character inside a string",
        RepairKind::EscapeBackslash => "a backslash that begins no escape",
        RepairKind::JoinStrings => "strings that are one",
        RepairKind::Unwrap => "JSON inside a string",
        other => other.code(),
    };
    // A long replacement stands in the result, where it can be read.
    if put.is_empty() || 40 < put.len() { String::from(reason) } else { format!("{reason}: now `{put}`") }
}
