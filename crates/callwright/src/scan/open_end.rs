//! Calls whose last brackets nobody wrote: did the model forget them, or was more to follow?

use callwright_json::{Guide as _, Kind, Member, Repair, RepairKind, Value, strict};

use crate::schema::SchemaGuide;
use crate::tools::Tool;

/// Were brackets of `arguments` mended at the end of `source`, and could something have stood before them?
///
/// `source` is the payload as the model wrote it, up to where the answer ends, and begins at `base` of the text that
/// `repairs` are places in. `{"city": "Paris"` is whole where the tool takes a city alone; where it takes a number of
/// days as well, the text may have been cut there.
pub(super) fn is_open(tool: &Tool, arguments: &str, source: &str, base: usize, repairs: &[Repair]) -> bool {
    let written = source.trim_end();
    let behind = |repair: &Repair| base + written.len() <= repair.at.start as usize;
    if !repairs.iter().any(|repair| repair.kind == RepairKind::AddCloser && behind(repair)) {
        return false;
    }
    let Ok(tree) = strict(arguments) else { return false };
    let value = tree.root(arguments);
    let is_closer = |byte: &u8| matches!(byte, b'}' | b']' | b')') || byte.is_ascii_whitespace();
    let closed = written.bytes().rev().take_while(is_closer).filter(|b| !b.is_ascii_whitespace()).count();
    // The model closes from the inside out: what it left open are the outermost.
    takes_more(tool.schema().guide(), value, depth_at_end(value).saturating_sub(closed))
}

/// Could `arguments`, an object that nothing closes, have more members?
pub(super) fn is_open_object(tool: &Tool, arguments: &str) -> bool {
    strict(arguments).is_ok_and(|tree| takes_more(tool.schema().guide(), tree.root(arguments), 1))
}

/// Could the outermost `open` containers at the end of `value` hold more than they do?
fn takes_more(guide: &SchemaGuide, value: Value<'_>, open: usize) -> bool {
    let (mut value, mut place) = (value, guide.root());
    for _ in 0..open {
        let last = match value.kind() {
            Kind::Object => {
                let members: Vec<_> =
                    value.members().filter_map(|(key, v)| Some((key.as_str()?, v))).collect();
                let is_used = |name: &str| members.iter().any(|(key, _)| *key == *name);
                if guide.takes_more_members(place, is_used) {
                    return true;
                }
                members.last().map(|(key, value)| match guide.member(place, key) {
                    Member::Declared(_, at) | Member::Open(at) => (*value, at),
                    Member::Forbidden => (*value, place),
                })
            }
            Kind::Array => {
                let count = value.elements().count();
                if guide.takes_more_elements(place, count) {
                    return true;
                }
                value.elements().last().map(|last| (last, guide.element(place, count - 1)))
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => None,
        };
        let Some(inner) = last else { return false };
        (value, place) = inner;
    }
    false
}

/// How many containers end where `value` does: 2 for `{"a": 1, "b": [2]}`.
fn depth_at_end(value: Value<'_>) -> usize {
    let mut depth = 0;
    let mut innermost = Some(value);
    while let Some(value) = innermost {
        innermost = match value.kind() {
            Kind::Object => value.members().last().map(|(_, value)| value),
            Kind::Array => value.elements().last(),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => break,
        };
        depth += 1;
    }
    depth
}

#[cfg(test)]
mod tests {
    use crate::{Context, NativeCall, ToolSet, parse};

    /// Is the call that comes of these native arguments accepted with an open end? `None` where it is refused.
    fn open_end(schema: &str, arguments: &str) -> Option<bool> {
        let tools = format!(r#"[{{"name": "f", "parameters": {schema}}}]"#);
        let tools = ToolSet::from_json(&tools).unwrap();
        let context = Context { native: true, ..Context::default() };
        let outcome = parse(&tools, "", &[NativeCall { id: None, name: "f", arguments }], &context);
        outcome.calls().next().map(|call| call.open_end)
    }

    #[test]
    fn an_end_is_open_where_the_schema_takes_more() {
        let one = r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#;
        let two = r#"{"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}"#;
        let list = r#"{"properties": {"to": {"type": "array", "items": {"type": "string"}}}}"#;
        let pair = r#"{"properties": {"at": {"type": "array", "items": {"type": "string"}, "maxItems": 2}}}"#;
        let nested = r#"{"properties": {"at": {"properties": {"x": {}, "y": {}}}}}"#;
        for (schema, arguments, expected) in [
            (one, r#"{"city": "Paris""#, Some(false)),
            (one, r#"{"city": "Paris"}"#, Some(false)),
            (two, r#"{"city": "Paris""#, Some(true)),
            (two, r#"{"city": "Paris",}"#, Some(false)),
            (two, r#"{"days": 2, "city": "Paris""#, Some(false)),
            ("{}", r#"{"city": "Paris""#, Some(true)),
            (list, r#"{"to": ["Paris""#, Some(true)),
            // The list is closed, and nothing else is declared.
            (list, r#"{"to": ["Paris"]"#, Some(false)),
            (list, r#"{"to": ["Paris"}"#, Some(false)),
            (pair, r#"{"at": ["a""#, Some(true)),
            (pair, r#"{"at": ["a", "b""#, Some(false)),
            (nested, r#"{"at": {"x": "1", "y": "2""#, Some(false)),
            (nested, r#"{"at": {"y": "2""#, Some(true)),
            (nested, r#"{"at": {"y": "2"}"#, Some(false)),
        ] {
            assert_eq!(open_end(schema, arguments), expected, "{arguments}");
        }
    }
}
