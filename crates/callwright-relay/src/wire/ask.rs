//! The wishes of a chat request, as far as they concern tools.

use callwright::{Policy, ToolChoice, ToolSet};
use callwright_json::{Kind, Value};

use super::document::{Document, count_of, string_of};
use super::error::WireError;
use super::hosted::{Hosted, undeclared};

/// A chat request, seen once.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The request as it came.
    pub(crate) document: Document,
    /// The model that it names.
    pub(crate) model: String,
    pub(crate) answer: AnswerAsked,
    pub(crate) calls: CallsAsked,
    /// The most tokens that the answer may have.
    pub(crate) max_tokens: Option<u64>,
    /// The content is to be JSON.
    pub(crate) json_content: bool,
    /// The policy that the request asks for, with its `callwright` member or the plugin that repairs.
    pub(crate) policy: Option<Policy>,
    /// The client speaks another API than chat completions.
    pub(crate) is_translated: bool,
}

/// The form in which a client wants its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerAsked {
    /// The answer is to be a stream.
    pub(crate) stream: bool,
    /// The stream is to end in a chunk that counts the tokens.
    pub(crate) usage: bool,
    /// The answer is to have the member `callwright`.
    pub(crate) report: bool,
}

/// The calls that an answer may make.
#[derive(Debug)]
pub(crate) struct CallsAsked {
    /// The tools that may be called.
    pub(crate) choice: ToolChoice,
    /// Says whether one answer may make several calls; none if the request leaves it open.
    pub(crate) parallel: Option<bool>,
    /// The tools stand in `functions`, and a call is a `function_call`.
    pub(crate) is_legacy: bool,
    /// The ids of calls in the history that no call of the answer may have.
    pub(crate) taken_ids: Vec<String>,
    /// Tools whose arguments may be the bare text of their only member, `input`.
    pub(crate) bare_inputs: Vec<String>,
}

/// The most choices that OpenAI's API takes. A server that exceeds the number asked for stays below it.
const MOST_CHOICES: usize = 128;

/// The form of the content that a request asks for with `response_format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentForm<'a> {
    /// `json_object`: any object.
    Object,
    /// `json_schema`: content that fits this schema, strict or not; any JSON without a schema.
    Schema(Option<&'a str>),
}

impl<'a> ContentForm<'a> {
    /// Reads the form from a chat request; none if the content may be anything.
    pub(crate) fn of(request: Value<'a>) -> Option<ContentForm<'a>> {
        let format = request.get("response_format")?;
        let is_json = matches!(&*string_of(format, "type")?, "json_object" | "json_schema");
        is_json.then(|| match format.get("json_schema") {
            Some(named) => ContentForm::Schema(named.get("schema").map(Value::raw)),
            None => ContentForm::Object,
        })
    }

    /// Returns the number of bytes in its schema.
    pub(crate) fn len(self) -> usize {
        match self {
            ContentForm::Object => 0,
            ContentForm::Schema(text) => text.map_or(0, str::len),
        }
    }
}

/// The fault of a request that is not for chats, in words for the client.
pub(crate) type NotAChat = WireError;

impl Ask {
    /// Reads a request.
    ///
    /// # Errors
    /// The request lacks a member, or has a wrong one.
    pub(crate) fn of(document: Document) -> Result<Ask, NotAChat> {
        let root = document.root();
        if root.kind() != Kind::Object {
            return Err(WireError::bad_request(None, "invalid_body", "the request must be a JSON object"));
        }
        let Some(model) = string_of(root, "model").filter(|model| !model.is_empty()) else {
            let message = "name a model in `model`: the request has none, and no default model is configured";
            return Err(WireError::bad_request(Some("model"), "missing_model", message));
        };
        if root.get("messages").is_none_or(|messages| messages.kind() != Kind::Array) {
            return Err(WireError::bad_request(
                Some("messages"),
                "missing_messages",
                "messages must be an array",
            ));
        }
        for list in ["tools", "functions"] {
            let is_list = |value: &Value<'_>| matches!(value.kind(), Kind::Array | Kind::Null);
            if root.get(list).is_some_and(|value| !is_list(&value)) {
                let message = format!("{list} must be an array of definitions");
                return Err(WireError::bad_request(Some(list), "invalid_tools", message));
            }
        }
        let own = root.get("callwright");
        let options = root.get("stream_options");
        let is_true = |value: Option<Value<'_>>| value.and_then(Value::as_bool) == Some(true);
        let has = |key: &str| root.get(key).is_some_and(|list| list.elements().next().is_some());
        let is_legacy = !has("tools") && has("functions");
        let choice = match is_legacy {
            true => choice(root.get("function_call"), true)?,
            false => choice(root.get("tool_choice"), has("tools"))?,
        };
        let max_tokens = count_of(root, "max_completion_tokens").or_else(|| count_of(root, "max_tokens"));
        let json_content = ContentForm::of(root).is_some();
        Ok(Ask {
            model: model.into_owned(),
            answer: AnswerAsked {
                stream: is_true(root.get("stream")),
                usage: is_true(options.and_then(|options| options.get("include_usage"))),
                report: is_true(own.and_then(|own| own.get("report"))),
            },
            calls: CallsAsked {
                choice,
                parallel: root.get("parallel_tool_calls").and_then(Value::as_bool),
                is_legacy,
                taken_ids: Vec::new(),
                bare_inputs: Vec::new(),
            },
            max_tokens,
            json_content,
            policy: policy_of(root)?,
            document,
            is_translated: false,
        })
    }

    /// Returns the text of the tool definitions; none if the request declares no tools.
    pub(crate) fn tools(&self) -> Option<&str> {
        let key = if self.calls.is_legacy { "functions" } else { "tools" };
        let tools = self.document.root().get(key)?;
        tools.elements().next().map(|_| tools.raw())
    }

    /// Returns the fault of an answer with this foreign call; none if the request declares a tool of its type.
    pub(crate) fn objection(&self, call: Value<'_>) -> Option<String> {
        let is_undeclared = Hosted::of(self.document.root()).is_undeclared(call);
        is_undeclared.then(|| undeclared(&string_of(call, "type").unwrap_or_default()))
    }

    /// Returns the most answers that it may get.
    pub(crate) fn most_choices(&self) -> usize {
        let n = count_of(self.document.root(), "n").and_then(|n| usize::try_from(n).ok());
        n.unwrap_or(1).max(MOST_CHOICES)
    }

    /// Keeps the ids of the history from the calls of the answer: some servers number the calls of each turn anew.
    pub(crate) fn take_ids(&mut self) {
        let calls = self.messages().filter_map(|message| message.get("tool_calls")).flat_map(Value::elements);
        let ids = calls.filter_map(|call| string_of(call, "id")).map(|id| id.into_owned());
        self.calls.taken_ids = ids.collect();
    }

    /// Returns the messages.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Value<'_>> + Clone {
        self.document.root().get("messages").into_iter().flat_map(Value::elements)
    }

    /// Returns whether its messages hold old calls or results.
    pub(crate) fn tells_of_tools(&self) -> bool {
        self.messages().any(|message| {
            message.get("tool_calls").is_some() || string_of(message, "role").as_deref() == Some("tool")
        })
    }

    /// Returns the form of the content; none if it may be anything.
    pub(crate) fn content_form(&self) -> Option<ContentForm<'_>> {
        ContentForm::of(self.document.root())
    }

    /// Checks that the choice names a declared tool.
    ///
    /// # Errors
    /// The tool is not declared.
    pub(crate) fn check_choice(&self, tool_set: &ToolSet) -> Result<(), NotAChat> {
        match &self.calls.choice {
            ToolChoice::Named(name) if tool_set.get(name).is_none() => {
                let message = format!("tool_choice names {name}, which is not among the tools");
                Err(WireError::bad_request(Some("tool_choice"), "unknown_tool", message))
            }
            _ => Ok(()),
        }
    }
}

/// Reads the value of `tool_choice`, or of `function_call` in old requests.
fn choice(value: Option<Value<'_>>, has_tools: bool) -> Result<ToolChoice, NotAChat> {
    let Some(value) = value.filter(|value| value.kind() != Kind::Null) else {
        return Ok(if has_tools { ToolChoice::Auto } else { ToolChoice::None });
    };
    // The choice of a custom tool, or of one that the server runs, is the upstream's matter.
    let kind = string_of(value, "type");
    if kind.is_some_and(|kind| !matches!(&*kind, "function" | "tool" | "allowed_tools")) {
        return Ok(ToolChoice::Auto);
    }
    let read = serde_json::from_str(value.raw()).ok().and_then(|value| ToolChoice::from_value(&value));
    let message = "tool_choice must be none, auto, required, or name a function";
    read.ok_or_else(|| WireError::bad_request(Some("tool_choice"), "invalid_tool_choice", message))
}

/// Reads the policy that a request of any API names for itself.
pub(crate) fn policy_of(root: Value<'_>) -> Result<Option<Policy>, WireError> {
    let Some(name) = root.get("callwright").and_then(|own| own.get("policy")) else {
        return Ok(has_healing_plugin(root).then_some(Policy::Auto));
    };
    match name.as_str().and_then(|name| Policy::named(&name)) {
        Some(policy) => Ok(Some(policy)),
        None => {
            let message = "callwright.policy must be one of auto, heal, feedback, strict";
            Err(WireError::bad_request(Some("callwright"), "invalid_policy", message.to_owned()))
        }
    }
}

/// Returns whether the request has `"plugins": [{"id": "response-healing"}]`.
pub(crate) fn has_healing_plugin(root: Value<'_>) -> bool {
    root.get("plugins").into_iter().flat_map(Value::elements).any(is_healing_plugin)
}

/// Returns whether the work of this plugin is done here.
pub(crate) fn is_healing_plugin(plugin: Value<'_>) -> bool {
    let is_off = plugin.get("enabled").and_then(Value::as_bool) == Some(false);
    string_of(plugin, "id").as_deref() == Some("response-healing") && !is_off
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> Result<Ask, NotAChat> {
        Ask::of(Document::of(String::from(text)).unwrap())
    }

    #[test]
    fn tools_may_be_called_unless_the_request_says_otherwise() {
        let choice =
            |rest: &str| ask(&format!(r#"{{"model": "m", "messages": []{rest}}}"#)).unwrap().calls.choice;
        let tools = r#", "tools": [{"type": "function", "function": {"name": "f"}}]"#;
        let named = ToolChoice::Named(String::from("f"));
        assert_eq!(choice(""), ToolChoice::None);
        assert_eq!(choice(tools), ToolChoice::Auto);
        assert_eq!(choice(&format!("{tools}, \"tool_choice\": \"required\"")), ToolChoice::Required);
        assert_eq!(choice(r#", "functions": [{"name": "f"}], "function_call": {"name": "f"}"#), named);
    }

    #[test]
    fn a_request_that_cannot_be_used_is_told_why() {
        for (text, code) in [
            ("[]", "invalid_body"),
            (r#"{"messages": []}"#, "missing_model"),
            (r#"{"model": "m", "messages": "hi"}"#, "missing_messages"),
            (r#"{"model": "m", "messages": [], "tool_choice": "maybe"}"#, "invalid_tool_choice"),
            (r#"{"model": "m", "messages": [], "callwright": {"policy": "lax"}}"#, "invalid_policy"),
            (r#"{"model": "m", "messages": [], "tools": {"name": "f"}}"#, "invalid_tools"),
            (r#"{"model": "m", "messages": [], "functions": "f"}"#, "invalid_tools"),
        ] {
            assert_eq!(ask(text).unwrap_err().code, code, "{text}");
        }
    }
}
