//! Words for a person instead of stable names: of a repair, a class, the reason of a refusal.

use callwright::value::Value;
use callwright_json::RepairKind;

use crate::report::{span, text};

/// Why this is repaired: `a comma too many`.
pub fn repair(kind: RepairKind) -> &'static str {
    match kind {
        RepairKind::DropProse => "prose is left out",
        RepairKind::DropFence => "the fence is left out",
        RepairKind::DropThink => "the reasoning is left out",
        RepairKind::DropTag => "the tag is left out",
        RepairKind::DropComment => "the comment is left out",
        RepairKind::DropComma => "a comma too many",
        RepairKind::DropNoise => "signs that belong to nothing",
        RepairKind::DropRepeat => "the same value once more",
        RepairKind::DropOpener => "an opening bracket too many",
        RepairKind::DropCloser => "a closing bracket too many",
        RepairKind::DropUndefined => "a member without a value",
        RepairKind::DropBackslash => "a backslash that JSON does not want",
        RepairKind::DropEscape => "white space that JSON does not have",
        RepairKind::AddComma => "a comma is missing",
        RepairKind::AddColon => "a colon is missing",
        RepairKind::AddOpener => "an opening bracket is missing",
        RepairKind::AddCloser => "a closing bracket is missing",
        RepairKind::AddEnd => "the end of the call is missing",
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
    }
}

/// The words for the stable name of a repair or of the reason of a refusal; a name that is not known stands for itself.
pub fn kind(name: &str) -> &str {
    if let Some(kind) = RepairKind::ALL.iter().find(|kind| kind.code() == name) {
        return repair(*kind);
    }
    match name {
        "unknown-tool" => "unknown tool",
        "not-offered" => "tool not offered",
        "unreadable" => "cannot be read",
        "too-long" => "too long to be read",
        "truncated" => "cut off",
        "open-end" => "its end is open",
        "shape" => "not the shape of a call",
        "invalid" => "does not fit the schema",
        "coerce" => "a value of another type",
        "rename" => "another spelling of the tool's name",
        other => other,
    }
}

/// Says how a request ended, by the stable name of its outcome.
pub fn outcome(name: &str) -> &str {
    match name {
        "gave-up" => "gave up",
        "upstream-error" => "upstream failed",
        "hung-up" => "client left",
        other => other,
    }
}

/// Says how much the class of a call, or of a repair, changed.
pub fn class(code: &str) -> &str {
    match code {
        "R0" => "exact",
        "R1" => "spelling",
        "R2" => "inferred",
        other => other,
    }
}

/// All that is known of a repair of a report: `a comma too many: drop-comma, R1, bytes 13..14`.
pub fn because(repair: &Value) -> String {
    let name = text(repair, "kind");
    let mut because = format!("{}: {name}, {}", kind(name), text(repair, "class"));
    if let Some(at) = span(repair.get("at")) {
        because += &format!(", bytes {}..{}", at.start, at.end);
    }
    because
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    #[test]
    fn each_repair_has_words_and_a_name_nobody_knows_stands_for_itself() {
        for repaired in RepairKind::ALL {
            assert_ne!(repair(*repaired), repaired.code(), "a person reads a sentence, not a name");
            assert_eq!(kind(repaired.code()), repair(*repaired));
        }
        assert_eq!((kind("truncated"), kind("later"), class("R9")), ("cut off", "later", "R9"));
        let repair = json!({"kind": "drop-comma", "class": "R1", "at": [13, 14]});
        assert_eq!(because(&repair), "a comma too many: drop-comma, R1, bytes 13..14");
    }
}
