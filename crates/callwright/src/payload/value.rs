//! Turns the raw text of an argument into its JSON, by the schema or by the type in the markup.

use std::borrow::Cow;

use callwright_json::{
    AnyValue, Fuel, Guide, Kind, Kinds, Member, Options, Place, Repair, RepairKind, Value, quote, read_with,
    strict,
};

use super::elements;
use crate::syntax::tag::MINIMAX;
use crate::syntax::{Trim, Typing};
use crate::tools::Expected;

/// The opener of a section of literal text.
const CDATA: &str = "<![CDATA[";

/// Returns the place of the value of `key` in an object at `place`; `None` if the schema forbids the key.
pub(crate) fn place_of(guide: &dyn Guide, place: Place, key: &str) -> Option<Place> {
    match guide.member(place, key) {
        Member::Declared(_, place) | Member::Open(place) => Some(place),
        Member::Forbidden => None,
    }
}

/// Returns the raw `text` of an argument without the markup's white space. `indent` is the text before its tag, see
/// [`indent_at`].
pub(crate) fn content<'t>(text: &'t str, trim: Trim, indent: Option<&str>) -> Cow<'t, str> {
    if let Some(body) = indent.and_then(|indent| without_layout(text, indent)) {
        return Cow::Owned(body);
    }
    let body = without_breaks(text);
    Cow::Borrowed(match trim {
        Trim::LineBreak => body,
        Trim::OwnLines if is_own_line(text) && without_first_break(text).ends_with('\n') => body,
        Trim::OwnLines => text,
        Trim::All => text.trim(),
    })
}

/// Returns whether `text` begins on a line of its own.
fn is_own_line(text: &str) -> bool {
    without_first_break(text).len() < text.len()
}

/// Returns the strict JSON text of the raw `text` of an argument at `place`, without the markup's white space.
///
/// A value of a type that may not stand there becomes a string; the check then decides about it.
pub(crate) fn json_of(
    text: &str,
    typing: Typing,
    guide: &dyn Guide,
    place: Option<Place>,
    fuel: Option<&Fuel>,
) -> String {
    let raw = without_cdata(text);
    let plain = text.trim();
    let kinds = place.map_or(Kinds::ANY, |place| guide.kinds(place));
    match typing {
        Typing::Text => return quote(raw),
        Typing::Json => return json(plain, guide, place, fuel).unwrap_or_else(|| quote(raw)),
        Typing::Schema => {}
    }
    if let Some(empty) = empty_of(kinds).filter(|_| plain.is_empty()) {
        return empty.to_owned();
    }
    let nested = || {
        let may_hold = kinds.meets(Kinds::OBJECT.or(Kinds::ARRAY));
        may_hold.then(|| elements::json_of(plain, guide, place, fuel)).flatten()
    };
    if !kinds.meets(Kinds::STRING) {
        return nested().or_else(|| json(plain, guide, place, fuel)).unwrap_or_else(|| quote(plain));
    }
    // Tags with a mark of their own are not text.
    if plain.starts_with(MINIMAX)
        && let Some(nested) = nested()
    {
        return nested;
    }
    let is_named =
        |text: &str| place.is_some_and(|place| guide.longest(place).is_some() && guide.admits(place, text));
    let is_other = |value: Value<'_>| value.kind() != Kind::String && kinds.meets(kinds_of(value));
    // The value is `"null"` where null may stand, too: the quotes show that it is the text.
    let is_quoted_other = |value: Value<'_>| {
        let text = value.as_str();
        text.is_some_and(|text| strict(&text).is_ok_and(|tree| is_other(tree.root(&text))))
    };
    match strict(plain) {
        _ if is_named(raw) => quote(raw),
        Ok(tree) if is_other(tree.root(plain)) || is_quoted_other(tree.root(plain)) => plain.to_owned(),
        // The words of an enum have no line breaks around them.
        _ if is_named(plain) => quote(plain),
        Err(_) if kinds == Kinds::ANY => of_python(plain, fuel).unwrap_or_else(|| quote(raw)),
        _ => quote(raw),
    }
}

/// Returns the JSON of an empty element that may not be text: an object without members, or a list without elements.
pub(super) fn empty_of(kinds: Kinds) -> Option<&'static str> {
    match (kinds.meets(Kinds::OBJECT), kinds.meets(Kinds::ARRAY)) {
        _ if kinds.meets(Kinds::STRING) => None,
        (true, false) => Some("{}"),
        (false, true) => Some("[]"),
        (true, true) | (false, false) => None,
    }
}

/// Returns the JSON of an object with these members, whose values are JSON.
pub(crate) fn object_of<'m>(members: impl Iterator<Item = (&'m str, impl AsRef<str>)>) -> String {
    let mut object = String::from("{");
    for (key, json) in members {
        if 1 < object.len() {
            object.push_str(", ");
        }
        object.extend([&*quote(key), ": ", json.as_ref()]);
    }
    object.push('}');
    object
}

/// Returns the JSON of a list of these elements, which are JSON.
pub(crate) fn list_of(elements: impl Iterator<Item = impl AsRef<str>>) -> String {
    format!("[{}]", elements.map(|json| json.as_ref().to_owned()).collect::<Vec<_>>().join(", "))
}

/// Returns the JSON of a Python value of any type: `True`, `None`, `{'a': 1}`.
fn of_python(text: &str, fuel: Option<&Fuel>) -> Option<String> {
    match text {
        "True" => return Some("true".to_owned()),
        "False" => return Some("false".to_owned()),
        "None" => return Some("null".to_owned()),
        _ => {}
    }
    if !(text.starts_with(['{', '[']) && text.ends_with(['}', ']'])) {
        return None;
    }
    let parse = read_with(text, &AnyValue, &Options { fuel, ..Options::default() });
    let reading = parse.settled().filter(|reading| reading.is_whole(text))?;
    let is_spelling =
        |repair: &Repair| matches!(repair.kind, RepairKind::SwapQuote | RepairKind::SwapLiteral);
    reading.repairs.iter().all(is_spelling).then(|| reading.value().raw().to_owned())
}

/// Most bytes in the search of a line's beginning.
const MAX_LINE: usize = 4096;

/// Returns the text before the tag of an argument, if it is an indent. The key begins at `key`. Arguments that are laid
/// out like a document have values that are.
pub(crate) fn indent_at(text: &str, key: usize) -> Option<&str> {
    let near = key.saturating_sub(MAX_LINE);
    let line_start = memchr::memrchr(b'\n', text.as_bytes().get(near..key)?).map(|len| near + len + 1);
    // A long line of another argument is not layout.
    let line = text.get(line_start.or((near == 0).then_some(0))?..key)?;
    let indent = line.get(..line.find(['<', ']'])?)?;
    (!indent.is_empty() && indent.bytes().all(|byte| matches!(byte, b' ' | b'\t'))).then_some(indent)
}

/// Returns the value of an argument whose tags stand on lines of their own, both behind `indent`. It drops the indent
/// that all its lines have beyond that. `None` if the layout is another one.
fn without_layout(text: &str, indent: &str) -> Option<String> {
    let body = without_first_break(text);
    let body = body.strip_suffix(indent).filter(|_| is_own_line(text))?;
    if body.is_empty() {
        return Some(String::new());
    }
    let body = body.strip_suffix("\r\n").or_else(|| body.strip_suffix('\n'))?;
    let lines = || body.split('\n').filter(|line| !line.trim().is_empty());
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = lines().next().map_or("", |line| line.get(..depth(line)).unwrap_or(""));
    let common = lines().fold(common, |common, line| {
        let same = common.bytes().zip(line.bytes()).take_while(|(a, b)| a == b).count();
        common.get(..same).unwrap_or("")
    });
    if lines().next().is_some() && (common.len() <= indent.len() || !common.starts_with(indent)) {
        return Some(body.to_owned());
    }
    let lines: Vec<&str> = body.split('\n').map(|line| line.get(common.len()..).unwrap_or("")).collect();
    Some(if lines.iter().all(|line| line.trim().is_empty()) { String::new() } else { lines.join("\n") })
}

/// Returns the JSON-like `text` as JSON, if it has one reading.
pub(super) fn json(
    text: &str,
    guide: &dyn Guide,
    place: Option<Place>,
    fuel: Option<&Fuel>,
) -> Option<String> {
    if strict(text).is_ok() {
        return Some(text.to_owned());
    }
    let at = Expected::At(guide, place.unwrap_or_else(|| guide.root()));
    let parse = read_with(text, &at, &Options { fuel, ..Options::default() });
    // The text around the value is a part of the argument, too.
    parse.settled().filter(|reading| reading.is_whole(text)).map(|reading| reading.value().raw().to_owned())
}

/// Returns the type of `value`.
fn kinds_of(value: Value<'_>) -> Kinds {
    match value.kind() {
        Kind::Null => Kinds::NULL,
        Kind::Bool => Kinds::BOOL,
        Kind::Number if value.raw().contains(['.', 'e', 'E']) => Kinds::FRACTION,
        Kind::Number => Kinds::INTEGER,
        Kind::String => Kinds::STRING,
        Kind::Array => Kinds::ARRAY,
        Kind::Object => Kinds::OBJECT,
    }
}

/// Drops one line break at each end, which belongs to the markup, as do blanks in front of a closer on a line of its own.
fn without_breaks(text: &str) -> &str {
    let own = text.trim_end_matches([' ', '\t']);
    let is_layout = is_own_line(text) && own.ends_with('\n') && 1 < own.trim_end_matches('\r').len();
    let text = without_first_break(if is_layout { own } else { text });
    text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text)
}

fn without_first_break(text: &str) -> &str {
    text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text)
}

/// Returns the text of a literal section: `<![CDATA[x]]>` → `x`
fn without_cdata(text: &str) -> &str {
    let inside = text.trim().strip_prefix(CDATA).and_then(|rest| rest.strip_suffix("]]>"));
    inside.filter(|inside| !inside.contains("]]>")).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_is_told_from_text() {
        for (text, value) in [
            ("\n    x\n  ", Some("x")),
            ("\n    def f():\n      pass\n\n    f()\n  ", Some("def f():\n  pass\n\nf()")),
            ("\ndef f():\n  pass\n  ", Some("def f():\n  pass")),
            ("\n  x\n  ", Some("  x")),
            ("\n  ", Some("")),
            ("\n      \n  ", Some("")),
            ("\n    x\n", None),
            ("x\n  ", None),
            ("  x  ", None),
        ] {
            assert_eq!(without_layout(text, "  ").as_deref(), value, "{text:?}");
        }
        assert_eq!(indent_at("<f>\n\t <parameter=a>", 17), Some("\t "));
        assert_eq!(indent_at("<f> <parameter=a>", 15), None);
        assert_eq!(indent_at("<parameter=a>", 11), None);
    }
}
