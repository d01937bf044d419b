//! Guards: what looks like a call but is none: placeholders, examples, turns that the model made up.

use callwright_json::{Kind, Value};

use crate::dialect::{self, TURNS};
use crate::shape::is_type_word;
use crate::verdict::Violation;

/// Words that announce an example when they stand right before it.
const EXAMPLE_WORDS: &[&str] = &[
    "do not run",
    "don't run",
    "not executed",
    "for illustration",
    "just an example",
    "here's an example",
    "here is an example",
    "example usage",
    "usage example",
    "how you can",
    "can be called as follows",
    "can be called like this",
    "if you want",
    "if you would like",
    "if you'd like",
    "if you're looking",
    "if you are looking",
    "if you need",
    "if you were",
];

/// How a text begins that asks for the reader's own.
const YOURS: [&str; 3] = ["your_", "<your", "[your"];
/// What stands in markup, but in no name between angle brackets.
const NO_NAME: [char; 3] = ['/', '=', '"'];
/// The length of the longest word that is a placeholder by itself: `unknown_value`.
const LONGEST_WORD: usize = 13;
/// How far a text in angle brackets is looked at to tell markup from a name.
const MAX_PLACEHOLDER: usize = 256;

/// The first argument that only stands for one: `your_city`, `<city>`, `city="city"`, `weight=float`.
pub(crate) fn placeholder(arguments: Value<'_>) -> Option<Violation> {
    arguments.members().find_map(|(key, value)| member_placeholder(&key.as_str()?, value))
}

/// Does the argument `key` only stand for one?
pub(crate) fn member_placeholder(key: &str, value: Value<'_>) -> Option<Violation> {
    if value.kind() != Kind::String {
        return None;
    }
    let text = value.as_str()?;
    is_placeholder(key, text.trim()).then(|| Violation {
        pointer: format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        keyword: "placeholder",
        message: format!("{key} must be a real value, not the placeholder {text:?}"),
    })
}

/// Could a string that begins like `raw`, its JSON text so far, still become a placeholder for `key`?
///
/// Once the answer is no, it stays no for all that may follow.
pub(crate) fn may_be_placeholder(key: &str, raw: &str) -> bool {
    let mut rest = raw;
    while let Some(shorter) = [" ", "\\n", "\\t", "\\r"].iter().find_map(|blank| rest.strip_prefix(blank)) {
        rest = shorter;
    }
    let head = &rest.as_bytes()[..rest.len().min(MAX_PLACEHOLDER)];
    match head.first() {
        Some(b'<') => !head.iter().any(|byte| NO_NAME.contains(&char::from(*byte))),
        _ if YOURS.iter().any(|yours| dialect::starts_with_any_case(head, yours)) => true,
        _ => rest.len() <= LONGEST_WORD.max(key.len()),
    }
}

fn is_placeholder(key: &str, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    // `<city>`, `<name of recipe>`, but not `<b>text</b>` or `<a href="x">`.
    let bracketed = |open: char, close: char| {
        lower.len() > 2 && lower.starts_with(open) && lower.ends_with(close) && !lower.contains(NO_NAME)
    };
    let same_word = lower.len() > 3 && lower.replace([' ', '-'], "_") == key.to_ascii_lowercase();
    bracketed('<', '>')
        || same_word
        || YOURS.iter().any(|yours| lower.starts_with(yours))
        || matches!(&*lower, "..." | "…" | "missing" | "placeholder" | "tbd" | "value" | "unknown_value")
        || is_type_word(text) && text != "any"
}

/// Is the text before a call such that the call is only shown?
pub(crate) fn is_example(before: &str) -> bool {
    let tail = last_paragraph(before, 400).to_ascii_lowercase();
    EXAMPLE_WORDS.iter().any(|words| tail.contains(words))
}

fn last_paragraph(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let tail = text[from..].trim_end();
    tail.rsplit("\n\n").next().unwrap_or(tail)
}

/// Does a turn that is not the model's own begin at `at`, the start of a line?
pub(crate) fn turn_begins(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    TURNS.iter().any(|mark| dialect::starts_with_any_case(rest, mark))
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_json::strict;

    #[test]
    fn placeholders_stand_for_no_value() {
        let found =
            |text: &str| placeholder(strict(text).unwrap().root(text)).map(|violation| violation.pointer);
        for (text, pointer) in [
            (r#"{"a": 1, "city": "your_city"}"#, "/city"),
            (r#"{"city": "<city>"}"#, "/city"),
            (r#"{"city": "<name of the city>"}"#, "/city"),
            (r#"{"file_name": "file_name"}"#, "/file_name"),
            (r#"{"x": "int"}"#, "/x"),
        ] {
            assert_eq!(found(text).as_deref(), Some(pointer), "{text}");
        }
        for text in
            [r#"{"city": "Paris"}"#, r#"{"html": "<b>x</b>"}"#, r#"{"code": "a < b"}"#, r#"{"n": 5}"#, "{}"]
        {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn an_example_is_announced_right_before() {
        assert!(is_example("Example of the format (do not run):\n"));
        assert!(is_example("If you want to know the weather, you can use:\n\n"));
        assert!(!is_example("Do not run away.\n\nHere is the call:\n"));
    }
}
