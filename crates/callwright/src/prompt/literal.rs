//! Writes values as literals of JSON, Python and the like.

use crate::value::{Map, Value};

use callwright_json::quote;

use super::marks::in_python;

/// The way in which a language writes values that are built like those of JSON.
pub(super) struct Style<'s> {
    /// The text between two members or elements.
    pub(super) comma: &'static str,
    /// The text behind a key.
    pub(super) colon: &'static str,
    /// The words for `null`, `true` and `false`.
    pub(super) words: [&'static str; 3],
    pub(super) key: &'s dyn Fn(&str) -> String,
    pub(super) string: &'s dyn Fn(&str) -> String,
}

/// The words of JSON.
pub(super) const WORDS: [&str; 3] = ["null", "true", "false"];

impl Style<'_> {
    /// Writes a value. It is at most as deep as its readers admit: 128 levels.
    pub(super) fn value(&self, value: &Value) -> String {
        let [null, yes, no] = self.words;
        match value {
            Value::Null => null.to_owned(),
            Value::Bool(is) => if *is { yes } else { no }.to_owned(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => (self.string)(text),
            Value::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(|element| self.value(element)).collect();
                format!("[{}]", elements.join(self.comma))
            }
            Value::Object(members) => self.object(members),
        }
    }

    pub(super) fn object(&self, members: &Map) -> String {
        let member = |(key, value): (&String, &Value)| {
            format!("{}{}{}", (self.key)(key), self.colon, self.value(value))
        };
        format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(self.comma))
    }
}

/// Writes JSON with a space after each comma and colon, as people write it.
pub(crate) fn spaced(value: &Value) -> String {
    Style { comma: ", ", colon: ": ", words: WORDS, key: &quote, string: &quote }.value(value)
}

/// Writes `value` in Python, with `mark` around strings. It holds no mark, nor a backtick that could end a fence.
pub(super) fn python(value: &Value, mark: char) -> String {
    let string = |text: &str| string(text, mark);
    let words = ["None", "True", "False"];
    Style { comma: ", ", colon: ": ", words, key: &string, string: &string }.value(value)
}

/// Writes a string with the escapes of JSON, which Python reads the same way.
fn string(text: &str, mark: char) -> String {
    let json = quote(text).replace('`', "\\u0060");
    // Each quote of JSON has a backslash of its own; each mark then gets one.
    let inner = json.get(1..json.len().saturating_sub(1)).unwrap_or("").replace("\\\"", "\"");
    in_python(&format!("{mark}{}{mark}", inner.replace(mark, &format!("\\{mark}"))))
}

/// Returns whether Python may have a parameter of this name.
pub(super) fn is_identifier(name: &str) -> bool {
    const KEYWORDS: &[&str] = &[
        "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
        "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in",
        "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
    ];
    let mut chars = name.chars();
    let starts_well = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
    starts_well && chars.all(|c| c.is_alphanumeric() || c == '_') && !KEYWORDS.contains(&name)
}
