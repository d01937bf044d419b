//! Asks servers to hold native calls to their schemas, `strict: true`, and learns from the answers whether they do.
//!
//! Clients hardly ever say it, and servers that take any schema then make no call that breaks one. Vendors refuse a schema that
//! is not in their subset: for them, `strict` is said of tools that fit it as they are. Every answer is checked all the same.

use std::borrow::Cow;

use callwright::value::Value as Json;
use callwright::{Reason, Tool, ToolSet, Verdict};
use callwright_json::{Kind, Value};

use crate::api::Surface;
use crate::tokens::ends_by_itself;
use crate::wire::{Change, array, rewritten, string_of};

/// The tools for which `strict: true` is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strict {
    /// No tools.
    #[default]
    None,
    /// The tools whose schema is in the subset that all vendors take.
    Fitting,
    /// All tools.
    All,
}

/// The evidence of an answer about the tools for which `strict` was said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StrictShown {
    /// The number of calls that keep to their schemas.
    pub(crate) kept: u32,
    /// The number of calls that do not, as they were written.
    pub(crate) broken: u32,
}

/// The most tools of one request that Anthropic takes with `strict`.
const MOST_FITTING: usize = 20;

/// The deepest schema, and the most members of one, that all vendors take.
const MOST_DEPTH: usize = 5;
const MOST_MEMBERS: usize = 100;

/// The keywords that all vendors take. OpenAI takes more, but Azure and Anthropic refuse most of those.
const KEYWORDS: [&str; 10] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "description",
    "title",
];

/// The keywords that each grammar enforces. Servers leave out others, such as `pattern` and `minimum`: a call that breaks those
/// shows nothing.
const HELD: [&str; 5] = ["type", "required", "additionalProperties", "enum", "const"];

impl Strict {
    /// Returns its name: `none`, `fitting`, `all`.
    pub fn name(self) -> &'static str {
        match self {
            Strict::None => "none",
            Strict::Fitting => "fitting",
            Strict::All => "all",
        }
    }

    /// Marks the tools of a request with `strict: true`; none if no tool gets it.
    pub(crate) fn marked(self, tools: Value<'_>, surface: Surface, tool_set: &ToolSet) -> Option<String> {
        let mut left = match self {
            Strict::None => return None,
            Strict::Fitting => MOST_FITTING,
            Strict::All => usize::MAX,
        };
        let is_said = |tool: Value<'_>| {
            let name = function(tool, surface).and_then(|function| string_of(function, "name"));
            name.and_then(|name| tool_set.get(&name)).is_some_and(|tool| self.is_said_of(tool))
        };
        let mut is_changed = false;
        let texts: Vec<Cow<'_, str>> = tools
            .elements()
            .map(|tool| match 0 < left && is_said(tool) {
                true => {
                    (left, is_changed) = (left - 1, true);
                    Cow::Owned(with_strict(tool, surface))
                }
                false => Cow::Borrowed(tool.raw()),
            })
            .collect();
        is_changed.then(|| array(texts))
    }

    /// Returns whether it is said of this tool. The client's own word about a tool stays.
    fn is_said_of(self, tool: &Tool) -> bool {
        let definition = tool.definition();
        let function = definition.get("function").unwrap_or(definition);
        let schema = function.get("parameters").filter(|schema| schema.is_object());
        let is_open = function.get("strict").is_none_or(Json::is_null);
        schema.filter(|_| is_open).is_some_and(|schema| match self {
            Strict::None => false,
            Strict::Fitting => {
                let is_object = schema.get("type").is_some_and(|kind| *kind == "object");
                is_object && schema.get("anyOf").is_none() && fits(schema, MOST_DEPTH, &mut { MOST_MEMBERS })
            }
            Strict::All => true,
        })
    }

    /// Returns the evidence of an answer with these verdicts, if this was said of the tools in `tool_set`.
    pub(crate) fn shown(
        self,
        verdicts: &[Verdict],
        finish_reason: Option<&str>,
        tool_set: &ToolSet,
    ) -> StrictShown {
        let mut shown = StrictShown::default();
        // What was cut keeps to nothing.
        if self == Strict::None || !ends_by_itself(finish_reason) {
            return shown;
        }
        for verdict in verdicts.iter().filter(|verdict| verdict.is_native()) {
            let name = match verdict {
                Verdict::Accepted(call) => Some(&call.name),
                Verdict::Refused(refusal) => refusal.name.as_ref(),
            };
            let tool = name.and_then(|name| tool_set.get(name));
            match keeps(verdict).filter(|_| tool.is_some_and(|tool| self.is_said_of(tool))) {
                Some(true) => shown.kept += 1,
                Some(false) => shown.broken += 1,
                None => {}
            }
        }
        shown
    }
}

/// Returns whether a native call keeps to its schema as it was written; none if that does not show.
fn keeps(verdict: &Verdict) -> Option<bool> {
    match verdict {
        Verdict::Accepted(call) if call.open_end => None,
        Verdict::Accepted(call) => Some(call.repairs.is_empty() && call.coercions.is_empty()),
        Verdict::Refused(refusal) => match &refusal.reason {
            Reason::Unreadable(_) | Reason::Ambiguous { .. } | Reason::Shape(_) => Some(false),
            Reason::Invalid(violations) => {
                violations.iter().any(|violation| HELD.contains(&violation.keyword)).then_some(false)
            }
            _ => None,
        },
    }
}

/// Returns the part of a tool that names its function and schema; none for other tools.
fn function(tool: Value<'_>, surface: Surface) -> Option<Value<'_>> {
    let kind = string_of(tool, "type");
    match surface {
        Surface::Chat | Surface::Ollama | Surface::Gemini => {
            tool.get("function").filter(|it| it.kind() == Kind::Object)
        }
        Surface::Responses => (kind.as_deref() == Some("function")).then_some(tool),
        // One that programs call may not be strict.
        Surface::Messages => (matches!(kind.as_deref(), None | Some("custom"))
            && tool.get("allowed_callers").is_none())
        .then_some(tool),
    }
}

fn with_strict(tool: Value<'_>, surface: Surface) -> String {
    let strict = [("strict", Change::Set(String::from("true")))];
    match function(tool, surface).filter(|_| surface == Surface::Chat) {
        Some(function) => rewritten(tool, &[("function", Change::Set(rewritten(function, &strict)))]),
        None => rewritten(tool, &strict),
    }
}

/// Returns whether all vendors take this schema: each object is closed and demands all its members, and no other keyword is
/// there. `members` are left for all of it.
fn fits(schema: &Json, depth: usize, members: &mut usize) -> bool {
    let Json::Object(keywords) = schema else { return false };
    if !keywords.keys().all(|keyword| KEYWORDS.contains(&keyword.as_str())) {
        return false;
    }
    let mut is_inside = |inner: &Json| depth != 0 && fits(inner, depth - 1, members);
    let properties = match keywords.get("properties") {
        Some(Json::Object(properties)) => Some(properties),
        Some(_) => return false,
        None => None,
    };
    let is_object = match keywords.get("type") {
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| *kind == "object"),
        kind => kind.is_some_and(|kind| *kind == "object"),
    };
    if is_object || properties.is_some() {
        let required =
            keywords.get("required").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_required = |name: &String| required.iter().any(|one| *one == name.as_str());
        let is_whole = properties.is_none_or(|properties| properties.keys().all(is_required));
        // OpenAI wants the list, though it be empty.
        let has_list = keywords.contains_key("required");
        let is_closed = keywords.get("additionalProperties") == Some(&Json::Bool(false));
        if !(is_object && is_closed && is_whole && has_list && properties.is_some()) {
            return false;
        }
    }
    let are_taken = properties.is_none_or(|properties| properties.values().all(&mut is_inside));
    let items = keywords.get("items").is_none_or(&mut is_inside);
    let any = match keywords.get("anyOf") {
        Some(Json::Array(any)) => any.iter().all(&mut is_inside),
        Some(_) => false,
        None => true,
    };
    let count = properties.map_or(0, |properties| properties.len());
    let is_few = count <= *members;
    *members = members.saturating_sub(count);
    are_taken && items && any && is_few
}

#[cfg(test)]
mod tests {
    use callwright::json;
    use callwright_json::strict;

    use super::*;

    fn marked(how: Strict, surface: Surface, tools: &str) -> Option<String> {
        let tool_set = ToolSet::from_json(tools).unwrap();
        how.marked(strict(tools).unwrap().root(tools), surface, &tool_set)
    }

    #[test]
    fn each_api_has_a_place_for_it() {
        let schema = r#"{"type":"object","properties":{"a":{"type":"string"}}}"#;
        let chat = format!(r#"[{{"type":"function","function":{{"name":"f","parameters":{schema}}}}}]"#);
        assert_eq!(
            marked(Strict::All, Surface::Chat, &chat).unwrap(),
            format!(
                r#"[{{"type":"function","function":{{"name":"f","parameters":{schema},"strict":true}}}}]"#
            )
        );
        let flat = format!(r#"[{{"type":"function","name":"f","parameters":{schema}}}]"#);
        assert_eq!(
            marked(Strict::All, Surface::Responses, &flat).unwrap(),
            format!(r#"[{{"type":"function","name":"f","parameters":{schema},"strict":true}}]"#)
        );
        for how in [Strict::None, Strict::Fitting] {
            assert_eq!(marked(how, Surface::Chat, &chat), None, "{how:?}");
        }
    }

    #[test]
    fn a_client_keeps_its_word_and_what_is_no_function_passes() {
        for function in [
            r#""strict":false,"parameters":{"type":"object"}"#,
            r#""strict":true,"parameters":{"type":"object"}"#,
            r#""description":"takes nothing""#,
        ] {
            let tools = format!(r#"[{{"type":"function","function":{{"name":"f",{function}}}}}]"#);
            assert_eq!(marked(Strict::All, Surface::Chat, &tools), None, "{function}");
        }
        let hosted = r#"[{"type":"web_search_20250305","name":"f","parameters":{"type":"object"}}]"#;
        assert_eq!(marked(Strict::All, Surface::Messages, hosted), None);
    }

    #[test]
    fn vendors_take_no_more_than_so_many() {
        let tool = |n| {
            format!(
                r#"{{"type":"function","function":{{"name":"f{n}","parameters":{{"type":"object","properties":{{}},"required":[],"additionalProperties":false}}}}}}"#
            )
        };
        let tools: Vec<String> = (0..30).map(tool).collect();
        let tools = format!("[{}]", tools.join(","));
        let count = |how| marked(how, Surface::Chat, &tools).unwrap().matches("\"strict\":true").count();
        assert_eq!((count(Strict::Fitting), count(Strict::All)), (20, 30));
    }

    #[test]
    fn the_subset_is_that_of_all_vendors() {
        let object = |properties: Json, required: Json| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let deep =
            (0..6).fold(json!({"type": "string"}), |inner, _| object(json!({"a": inner}), json!(["a"])));
        for (schema, is) in [
            (object(json!({}), json!([])), true),
            (object(json!({"a": {"type": ["string", "null"], "description": "A."}}), json!(["a"])), true),
            (object(json!({"a": {"type": "array", "items": {"enum": ["x"]}}}), json!(["a"])), true),
            (object(json!({"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}), json!(["a"])), true),
            (
                object(json!({"a": object(json!({"b": {"type": "integer"}}), json!(["b"]))}), json!(["a"])),
                true,
            ),
            // A member that may be left out, an open object, at the top or inside.
            (object(json!({"a": {"type": "string"}}), json!([])), false),
            (json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}), false),
            (object(json!({"a": {"type": "object"}}), json!(["a"])), false),
            (object(json!({"a": {"properties": {}}}), json!(["a"])), false),
            // Keywords that one of them refuses.
            (object(json!({"a": {"type": "string", "minLength": 1}}), json!(["a"])), false),
            (object(json!({"a": {"type": "integer", "default": 1}}), json!(["a"])), false),
            (object(json!({"a": {"$ref": "#/$defs/a"}}), json!(["a"])), false),
            (object(json!({"a": {"oneOf": []}}), json!(["a"])), false),
            (object(json!({"a": true}), json!(["a"])), false),
            (json!({"anyOf": [object(json!({}), json!([]))]}), false),
            (deep, false),
        ] {
            let definition = json!({"type": "function", "function": {"name": "f", "parameters": schema}});
            let tools = ToolSet::from_value(&json!([definition])).unwrap();
            assert_eq!(Strict::Fitting.is_said_of(tools.get("f").unwrap()), is, "{definition}");
        }
    }
}
