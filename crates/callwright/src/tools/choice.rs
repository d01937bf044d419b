//! What the caller wants of the tools: the request's `tool_choice`, read once.

use crate::value::Value;

use crate::tools::{Tool, ToolSet};

/// Which tools the model may call, and whether it must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// It may call any of them, or answer in words.
    #[default]
    Auto,
    /// It must call one of them.
    Required,
    /// It must call this one.
    Named(String),
    /// It may call none.
    None,
    /// It may call some of them only.
    Allowed {
        /// Their names.
        names: Vec<String>,
        /// Must it call one of these?
        required: bool,
    },
}

impl ToolChoice {
    /// Reads the value of a request's `tool_choice`:
    /// `"auto"`, `"required"` (also `"any"`), `"none"`, `{"type": "function", "function": {"name": …}}` or
    /// `{"type": "allowed_tools", "allowed_tools": {"mode": …, "tools": […]}}`, the latter two also flat. `null` is
    /// [`ToolChoice::Auto`]; anything else is `None`.
    pub fn from_value(value: &Value) -> Option<ToolChoice> {
        match value {
            Value::Null => Some(ToolChoice::Auto),
            Value::String(word) => match word.as_str() {
                "auto" => Some(ToolChoice::Auto),
                "required" | "any" => Some(ToolChoice::Required),
                "none" => Some(ToolChoice::None),
                _ => None,
            },
            Value::Object(choice) => match choice.get("type").and_then(Value::as_str) {
                Some("allowed_tools") => {
                    let allowed = choice.get("allowed_tools").unwrap_or(value);
                    // What a server runs has a type in the place of a name.
                    let is_ours = |tool: &&Value| match tool.get("type").and_then(Value::as_str) {
                        None | Some("function") => true,
                        Some(_) => false,
                    };
                    let names = allowed.get("tools")?.as_array()?.iter().filter(is_ours).map(|tool| {
                        let function = tool.get("function").unwrap_or(tool);
                        function.get("name").and_then(Value::as_str).map(str::to_owned)
                    });
                    let required = match allowed.get("mode").and_then(Value::as_str) {
                        None | Some("auto") => false,
                        Some("required") => true,
                        Some(_) => return None,
                    };
                    Some(ToolChoice::Allowed { names: names.collect::<Option<_>>()?, required })
                }
                Some("function" | "tool") | None => {
                    let function = choice.get("function").unwrap_or(value);
                    function.get("name")?.as_str().map(|name| ToolChoice::Named(name.to_owned()))
                }
                Some(_) => None,
            },
            Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }
    }

    /// Must the model call a tool?
    pub fn is_required(&self) -> bool {
        match self {
            ToolChoice::Required | ToolChoice::Named(_) => true,
            ToolChoice::Allowed { required, .. } => *required,
            ToolChoice::Auto | ToolChoice::None => false,
        }
    }

    /// May the model call the tool of this name?
    pub fn allows(&self, name: &str) -> bool {
        match self {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::Named(only) => only == name,
            ToolChoice::None => false,
            ToolChoice::Allowed { names, .. } => names.iter().any(|allowed| allowed == name),
        }
    }

    /// The tools of `tool_set` that the model may call, in the order of their declaration.
    pub fn tools<'t>(&self, tool_set: &'t ToolSet) -> Vec<&'t Tool> {
        tool_set.iter().filter(|tool| self.allows(tool.name())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn every_form_on_the_wire_is_read() {
        let named = || Some(ToolChoice::Named("f".to_owned()));
        let allowed = |required| Some(ToolChoice::Allowed { names: vec!["f".to_owned()], required });
        for (value, choice) in [
            (json!(null), Some(ToolChoice::Auto)),
            (json!("auto"), Some(ToolChoice::Auto)),
            (json!("required"), Some(ToolChoice::Required)),
            (json!("any"), Some(ToolChoice::Required)),
            (json!("none"), Some(ToolChoice::None)),
            (json!({"type": "function", "function": {"name": "f"}}), named()),
            (json!({"type": "function", "name": "f"}), named()),
            (
                json!({"type": "allowed_tools", "allowed_tools": {"mode": "required",
                       "tools": [{"type": "function", "function": {"name": "f"}}]}}),
                allowed(true),
            ),
            (
                json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]}),
                allowed(false),
            ),
            (json!("f"), None),
            (json!({"type": "function"}), None),
            (json!({"type": "allowed_tools", "tools": [1]}), None),
            (json!({"type": "custom", "name": "f"}), None),
            (json!(1), None),
        ] {
            assert_eq!(ToolChoice::from_value(&value), choice, "{value}");
        }
    }

    #[test]
    fn a_choice_narrows_the_tools() {
        let tool_set = ToolSet::from_value(&json!([{"name": "f"}, {"name": "g"}])).unwrap();
        let named = |choice: &Value| {
            let choice = ToolChoice::from_value(choice).unwrap();
            choice.tools(&tool_set).into_iter().map(Tool::name).collect::<Vec<_>>()
        };
        assert_eq!(named(&json!("required")), ["f", "g"]);
        assert_eq!(named(&json!({"name": "g"})), ["g"]);
        assert_eq!(named(&json!("none")), Vec::<&str>::new());
        assert_eq!(named(&json!({"type": "allowed_tools", "tools": [{"name": "f"}, {"name": "x"}]})), ["f"]);
    }
}
