//! Reads the members of reports and payloads as they are kept: what is not there, or of another form, is empty.

use std::ops::Range;

use callwright::value::Value;

/// A member that is a text.
pub fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value.get(member).and_then(Value::as_str).unwrap_or_default()
}

/// The elements of a member that is a list.
pub fn list<'v>(value: &'v Value, member: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    value.get(member).and_then(Value::as_array).into_iter().flatten()
}

/// A member that is a number.
pub fn number(value: &Value, member: &str) -> u64 {
    value.get(member).and_then(Value::as_u64).unwrap_or_default()
}

/// `[3, 7]` → `3..7`
pub fn span(value: Option<&Value>) -> Option<Range<usize>> {
    let [start, end] = value?.as_array()?.as_slice() else { return None };
    let (start, end) = (start.as_u64()? as usize, end.as_u64()? as usize);
    (start <= end).then_some(start..end)
}

/// A value as people read it, one member per line; numbers keep their digits.
pub fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A JSON text as people read it; a text that is not JSON stays as it is.
pub fn pretty_text(json: &str) -> String {
    serde_json::from_str::<Value>(json).map_or_else(|_| json.to_owned(), |value| pretty(&value))
}

/// The definition of the tool `name` in a request.
pub fn definition(request: &Value, name: &str) -> Option<Value> {
    let tools = list(request, "tools").chain(list(request, "functions"));
    let mut functions = tools.map(|tool| tool.get("function").unwrap_or(tool));
    functions.find(|function| text(function, "name") == name).cloned()
}

/// Returns whether a request declares tools.
pub fn declares_tools(request: &str) -> bool {
    let parsed: Result<Value, _> = serde_json::from_str(request);
    parsed.is_ok_and(|request| list(&request, "tools").chain(list(&request, "functions")).next().is_some())
}
