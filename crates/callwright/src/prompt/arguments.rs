//! Writes a call's arguments in each of the grammars that dialects have for them.

use std::borrow::Cow;

use crate::value::{Map, Value};

use super::literal::{Style, WORDS, is_identifier, python};
use super::marks::{in_json, neutralise, quoted};
use crate::grammar::Arguments;
use crate::grammar::template::fill;

/// Most levels of nested elements.
const MAX_LEVELS: usize = 32;

/// Writes `arguments`, the strict JSON text of an object, in `grammar`; `None` if it cannot hold them.
pub(super) fn written(grammar: &Arguments, arguments: &str) -> Option<String> {
    match grammar {
        Arguments::Json => Some(in_json(arguments)),
        grammar => of_members(grammar, &serde_json::from_str(arguments).ok()?),
    }
}

/// Writes only the form of arguments: keys, each with dots for its value.
pub(super) fn shown(grammar: &Arguments, form: &[(String, &'static str)]) -> String {
    let each = |between: &str, write: &dyn Fn(&str, &str) -> String| {
        form.iter().map(|(key, dots)| write(key, dots)).collect::<Vec<_>>().join(between)
    };
    match grammar {
        Arguments::Json if form.is_empty() => "{...}".to_owned(),
        _ if form.is_empty() => "...".to_owned(),
        Arguments::Json => format!("{{{}}}", each(", ", &|key, dots| format!("{}: {dots}", quoted(key)))),
        Arguments::Tags(template) => each("", &|key, dots| tagged(template, key, dots, &Value::Null)),
        Arguments::Elements(mark) => each("", &|key, dots| format!("{mark}<{key}>{dots}{mark}</{key}>\n")),
        Arguments::Python(_) => each(", ", &|key, dots| format!("{key}={dots}")),
        Arguments::Relaxed(_) => format!("{{{}}}", each(",", &|key, dots| format!("{key}:{dots}"))),
    }
}

fn of_members(grammar: &Arguments, members: &Map) -> Option<String> {
    match grammar {
        Arguments::Json => Some(in_json(&Value::Object(members.clone()).to_string())),
        Arguments::Tags(template) => all(members, |key, value| {
            raw(value).filter(|_| is_plain(key)).map(|raw| tagged(template, key, &raw, value))
        }),
        Arguments::Elements(mark) => {
            let end = if mark.is_empty() { "\n" } else { "" };
            all(members, |key, value| Some(element(mark, key, value, 0)? + end))
        }
        Arguments::Python(quote) => Some(keywords(members, *quote)),
        Arguments::Relaxed(mark) => Some(relaxed(members, mark)),
    }
}

/// Writes arguments in tags or elements, with one more line break at each end of a text that has one at an end: readers
/// drop one there. `None` if that changes nothing.
pub(super) fn with_breaks(grammar: &Arguments, arguments: &str) -> Option<String> {
    let (Arguments::Tags(_) | Arguments::Elements(_)) = grammar else { return None };
    let mut members: Map = serde_json::from_str(arguments).ok()?;
    let mut is_edged = false;
    for value in members.values_mut() {
        let text = value.as_str().filter(|text| text.starts_with(['\n', '\r']) || text.ends_with('\n'));
        if let Some(text) = text {
            *value = Value::from(format!("\n{text}\n"));
            is_edged = true;
        }
    }
    is_edged.then(|| of_members(grammar, &members)).flatten()
}

fn all(members: &Map, write: impl Fn(&str, &Value) -> Option<String>) -> Option<String> {
    members.iter().map(|(key, value)| write(key, value)).collect()
}

/// Writes one argument by its template.
fn tagged(template: &str, key: &str, raw: &str, value: &Value) -> String {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    fill(template, |slot| {
        Some(Cow::Borrowed(match slot {
            "key" => key,
            "value" => raw,
            "type" => kind,
            "is_text" if value.is_string() => "true",
            "is_text" => "false",
            _ => return None,
        }))
    })
}

/// Returns a value as raw text: a string without marks as it is, and anything but a string as JSON.
fn raw(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) if matches!(neutralise(text), Cow::Borrowed(_)) => Some(Cow::Borrowed(text)),
        Value::String(_) => None,
        other => Some(Cow::Owned(in_json(&other.to_string()))),
    }
}

/// Writes an element, `<a>x</a>`, with objects and lists as nested elements.
fn element(mark: &str, key: &str, value: &Value, level: usize) -> Option<String> {
    let is_tag = is_plain(key) && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !is_tag || MAX_LEVELS <= level {
        return None;
    }
    let inner = |key: &str, value: &Value| element(mark, key, value, level + 1);
    let content = match value {
        Value::Object(members) if !members.is_empty() => all(members, inner)?,
        Value::Array(elements) if !elements.is_empty() => {
            elements.iter().map(|value| inner("item", value)).collect::<Option<_>>()?
        }
        other => raw(other)?.into_owned(),
    };
    Some(format!("{mark}<{key}>{content}{mark}</{key}>"))
}

/// Writes keyword arguments, `a=1, b="x"`, or `**{"a-b": 1}` if a key is not a name of Python.
fn keywords(members: &Map, quote: char) -> String {
    if !members.keys().all(|key| is_identifier(key)) {
        return format!("**{}", python(&Value::Object(members.clone()), quote));
    }
    let keyword = |(key, value): (&String, &Value)| format!("{key}={}", python(value, quote));
    members.iter().map(keyword).collect::<Vec<_>>().join(", ")
}

/// Writes a relaxed object, `{a:<|"|>x<|"|>,b:1}`; a string with a mark in it is one of JSON.
fn relaxed(members: &Map, mark: &str) -> String {
    let key = |key: &str| if is_identifier(key) { key.to_owned() } else { quoted(key) };
    let string = |text: &str| match neutralise(text) {
        Cow::Borrowed(_) => format!("{mark}{text}{mark}"),
        Cow::Owned(_) => quoted(text),
    };
    Style { comma: ",", colon: ":", words: WORDS, key: &key, string: &string }.object(members)
}

/// Returns whether `key` may stand in a tag as it is.
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
