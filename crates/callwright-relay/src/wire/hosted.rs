//! Calls of tools that are not functions, and the ones that a request has asked for.
//!
//! An answer names them by types of their own. Nobody here knows their arguments, and foreign parts go on as they came. But a
//! client may run them, so that a call without a declared tool of its kind makes the answer unusable.

use callwright_json::{Kind, Value};

use super::document::string_of;

/// The types of items and blocks that are calls, and the beginnings of the types of their tools. A client would run no item of
/// another type.
const KINDS: [(&str, &[&str]); 9] = [
    ("custom_tool_call", &["custom"]),
    ("local_shell_call", &["local_shell", "shell"]),
    ("shell_call", &["local_shell", "shell"]),
    ("apply_patch_call", &["apply_patch"]),
    ("computer_call", &["computer"]),
    ("mcp_call", &["mcp"]),
    ("mcp_approval_request", &["mcp"]),
    ("mcp_tool_use", &["mcp"]),
    // The types of tools that Anthropic's server runs end in a date: `web_search_20250305`.
    ("server_tool_use", &["web_", "code_execution", "tool_search", "advisor", "mcp"]),
];

/// The types of the tools that a request declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosted {
    types: Vec<String>,
    /// The request declares a tool of any other kind than functions.
    has_others: bool,
    /// A prompt that the upstream keeps may declare tools that nobody here sees.
    has_prompt: bool,
}

impl Hosted {
    /// Reads a request in any API. A conversation may declare tools as well, in the result of a search for some.
    pub(crate) fn of(request: Value<'_>) -> Hosted {
        let has_prompt = request.get("prompt").is_some_and(|prompt| prompt.kind() == Kind::Object);
        let mut hosted = Hosted { has_prompt, ..Hosted::default() };
        let servers = request.get("mcp_servers").into_iter().flat_map(Value::elements);
        hosted.types.extend(servers.map(|_| String::from("mcp")));
        let items = request.get("input").into_iter().flat_map(Value::elements);
        items.chain([request]).for_each(|holder| hosted.take(holder, NESTED));
        hosted
    }

    fn take(&mut self, holder: Value<'_>, depth: usize) {
        for tool in holder.get("tools").into_iter().flat_map(Value::elements) {
            let kind = string_of(tool, "type");
            self.has_others |= match kind.as_deref() {
                Some(kind) => kind != "function",
                // `{"google_search": {}}`
                None => tool.get("name").is_none(),
            };
            self.types.extend(kind.map(|kind| kind.into_owned()));
            if 0 < depth {
                self.take(tool, depth - 1);
            }
        }
    }

    /// Returns the type of an item's or a block's call, if the request declares no tool of it.
    pub(crate) fn undeclared(&self, item: Value<'_>) -> Option<&'static str> {
        let kind = string_of(item, "type")?;
        let (kind, begins) = KINDS.iter().find(|(known, _)| *known == kind)?;
        let is_it = |declared: &String| begins.iter().any(|begin| declared.starts_with(begin));
        (!self.has_prompt && !self.types.iter().any(is_it)).then_some(*kind)
    }

    /// Returns whether the request declares no tool for this foreign call of a chat. Servers that run tools themselves call them
    /// by types of their own.
    pub(crate) fn is_undeclared(&self, call: Value<'_>) -> bool {
        let is_custom = string_of(call, "type").is_some_and(|kind| kind == "custom");
        let has_custom = || self.types.iter().any(|declared| declared == "custom");
        if is_custom { !has_custom() } else { !self.has_others }
    }
}

/// Tools stand in namespaces, one in another.
const NESTED: usize = 4;

/// Returns the reason for which an answer with such a call is refused.
pub(crate) fn undeclared(kind: &str) -> String {
    format!("it holds a call of the type `{kind}`, and the request declares no tool of that kind")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Document;

    #[test]
    fn a_call_is_of_a_tool_that_was_declared() {
        let item = |kind: &str| Document::of(format!(r#"{{"type":"{kind}"}}"#)).unwrap();
        for (request, kind, is_declared) in [
            (r#"{"tools":[{"type":"local_shell"}]}"#, "local_shell_call", true),
            (r#"{"tools":[{"type":"function","name":"f"}]}"#, "local_shell_call", false),
            (r#"{}"#, "custom_tool_call", false),
            (r#"{"tools":[{"type":"namespace","tools":[{"type":"custom"}]}]}"#, "custom_tool_call", true),
            (
                r#"{"input":[{"type":"tool_search_output","tools":[{"type":"custom"}]}]}"#,
                "custom_tool_call",
                true,
            ),
            (r#"{"prompt":{"id":"p"}}"#, "mcp_call", true),
            (r#"{"mcp_servers":[{"type":"url"}]}"#, "mcp_tool_use", true),
            (r#"{"tools":[{"type":"web_search_20250305","name":"web_search"}]}"#, "server_tool_use", true),
            (r#"{"tools":[{"name":"f"}]}"#, "server_tool_use", false),
            // What nobody here knows may be anything.
            (r#"{}"#, "reasoning", true),
            (r#"{}"#, "web_search_call", true),
        ] {
            let hosted = Hosted::of(Document::of(request.to_owned()).unwrap().root());
            assert_eq!(hosted.undeclared(item(kind).root()).is_none(), is_declared, "{request} {kind}");
        }
    }
}
