//! The caller's choice of tools: the request's `tool_choice`, read once.

use crate::value::Value;

use crate::tools::{Tool, ToolSet};

/// The tools that the model may call, and whether it must.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model may call any tool, or answer in words.
    #[default]
    Auto,
    /// The model must call one of the tools.
    Required,
    /// The model must call this tool.
    Named(String),
    /// The model may call no tool.
    None,
    /// The model may call only some of the tools.
    Allowed {
        /// The names of the allowed tools.
        names: Vec<String>,
        /// The model must call one of them.
        required: bool,
    },
}

impl ToolChoice {
    /// Reads the value of a request's `tool_choice`: `"auto"`, `"required"` (also `"any"`), `"none"`,
    /// `{"type": "function", "function": {"name": …}}` or
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
                    // A tool that a server runs has a type in the place of a name.
                    let is_ours = |tool: &&Value| {
                        tool.get("type").and_then(Value::as_str).is_none_or(|word| word == "function")
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

    /// Returns whether the model must call a tool.
    pub fn is_required(&self) -> bool {
        match self {
            ToolChoice::Required | ToolChoice::Named(_) => true,
            ToolChoice::Allowed { required, .. } => *required,
            ToolChoice::Auto | ToolChoice::None => false,
        }
    }

    /// Returns the one tool that the model must call, if it may call no other.
    ///
    /// ```
    /// use callwright::{ToolChoice, ToolSet};
    ///
    /// let tools = ToolSet::from_json(r#"[{"name": "now"}, {"name": "ping"}]"#)?;
    /// let named = ToolChoice::Named(String::from("ping"));
    /// assert_eq!(named.only(&tools).map(|tool| tool.name()), Some("ping"));
    /// assert!(ToolChoice::Required.only(&tools).is_none());
    /// # Ok::<(), callwright::ToolSetError>(())
    /// ```
    pub fn only<'t>(&self, tool_set: &'t ToolSet) -> Option<&'t Tool> {
        let mut allowed = tool_set.iter().filter(|tool| self.is_required() && self.allows(tool.name()));
        allowed.next().filter(|_| allowed.next().is_none())
    }

    /// Returns whether the model may call the tool of this name.
    pub fn allows(&self, name: &str) -> bool {
        match self {
            ToolChoice::Auto | ToolChoice::Required => true,
            ToolChoice::Named(only) => only == name,
            ToolChoice::None => false,
            ToolChoice::Allowed { names, .. } => names.iter().any(|allowed| allowed == name),
        }
    }

    /// Returns the tools of `tool_set` that the model may call, in the order of their declaration.
    pub fn tools<'t>(&self, tool_set: &'t ToolSet) -> Vec<&'t Tool> {
        tool_set.iter().filter(|tool| self.allows(tool.name())).collect()
    }
}
