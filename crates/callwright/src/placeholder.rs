//! Placeholders in the arguments of example calls: `your_city`, `<city>`, `city="city"`, `weight=float`.

use callwright_json::Value;

use crate::shape::is_type_word;
use crate::syntax;
use crate::tools::Tool;

/// The beginnings of texts that ask for the reader's own value.
const YOURS: [&str; 3] = ["your_", "<your", "[your"];
/// The characters that a name between angle brackets does not have: `</b>`, `<a href="x">`, `<|call|>`,
/// `<![CDATA[x]]>`.
const NO_NAME: [char; 7] = ['/', '=', '"', '|', '!', '[', '<'];
/// Texts that are placeholders by themselves.
const WORDS: &[&str] = &["...", "…", "missing", "placeholder", "tbd", "unknown_value"];

/// Returns whether an argument is a placeholder: `your_city`, `<city>`, `city="city"`, `weight=float`. A schema that says
/// more of it than its type admits any text: an `enum` may hold any word.
pub(crate) fn has_placeholder(tool: &Tool, arguments: Value<'_>) -> bool {
    arguments.members().any(|(key, value)| {
        let (Some(key), Some(text)) = (key.as_str(), value.as_str()) else { return false };
        is_placeholder(&key, text.trim()) && !is_described(tool, &key)
    })
}

/// Returns whether the schema names values for `key`, or a form of them.
fn is_described(tool: &Tool, key: &str) -> bool {
    let property = tool.schema().value().get("properties").and_then(|properties| properties.get(key));
    let names =
        ["enum", "const", "pattern", "format", "examples", "default", "$ref", "anyOf", "oneOf", "allOf"];
    property.is_some_and(|property| names.iter().any(|name| property.get(*name).is_some()))
}

fn is_placeholder(key: &str, text: &str) -> bool {
    // `<city>` and `<name of recipe>` are placeholders, `<b>text</b>` and `<a href="x">` are not.
    let named = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    let bracketed = named.is_some_and(|name| !name.is_empty() && !name.contains(NO_NAME));
    let joined = |byte: u8| if matches!(byte, b' ' | b'-') { b'_' } else { byte.to_ascii_lowercase() };
    let same_word =
        text.len() > 3 && text.bytes().map(joined).eq(key.bytes().map(|b| b.to_ascii_lowercase()));
    bracketed
        || same_word
        || YOURS.iter().any(|yours| syntax::starts_with_any_case(text.as_bytes(), yours))
        || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
        || is_type_word(text) && text != "any"
}
