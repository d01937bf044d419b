//! The keys under which models write the parts of a call. The reader, the shapes and the scanner all use them.

use crate::marks::edit::is_one_slip;

/// Keys that may name the tool.
#[rustfmt::skip]
pub(crate) const NAME: &[&str] = &[
    "name", "tool", "function", "tool_name", "function_name", "action", "func", "functionName", "toolName",
    "api", "api_name", "method", "recipient_name", "tool_call", "function_call",
];

/// Keys that may hold the arguments.
#[rustfmt::skip]
pub(crate) const ARGUMENTS: &[&str] = &[
    "arguments", "parameters", "params", "args", "input", "tool_input", "action_input", "kwargs", "arg",
    "param", "function_args", "tool_args", "properties", "tool_parameters", "function_parameters",
    "parameter", "inputs", "toolInput", "toolArgs", "functionArgs", "actionInput",
];

/// The method of MCP's requests that call a tool: <https://modelcontextprotocol.io/specification>, *tools*.
pub(crate) const MCP_CALL: &str = "tools/call";

/// The key under which LangChain's agents write one text for the only argument of a tool.
pub(crate) const ONE_TEXT: &str = "action_input";

/// The key of a message's text.
pub(crate) const CONTENT: &[&str] = &["content"];

/// Keys that may wrap a list of calls, or one call.
#[rustfmt::skip]
pub(crate) const WRAPPERS: &[&str] = &[
    "tool_calls", "function_calls", "calls", "tool_call", "function_call", "functions", "tools", "function",
    "tool", "call", "tool_uses", "actions", "action", "tool_use", "functionCall", "functionCalls",
    "toolUse", "toolCall", "toolCalls",
];

/// Keys that may stand beside a name and arguments without being an argument.
#[rustfmt::skip]
pub(crate) const COMPANIONS: &[&str] = &[
    "id", "type", "tool_call_id", "call_id", "toolCallId", "toolUseId", "tool_use_id", "index", "thought",
    "thoughts", "reasoning",
];

/// The keys of all parts of a call.
pub(crate) const PARTS: [&[&str]; 4] = [NAME, ARGUMENTS, WRAPPERS, COMPANIONS];

/// Keys that hold the result in the record of a call that was made; a call has none of them.
pub(crate) const RESULTS: &[&str] =
    &["output", "outputs", "result", "results", "observation", "tool_output", "tool_result", "tool_response"];

/// Returns whether a member of this key says nothing about the arguments.
pub(crate) fn is_companion(key: &str) -> bool {
    COMPANIONS.contains(&key)
}

/// Returns whether `word` is one of `keys`, in any case. Models write the words of tags in any: `<Arguments>`.
pub(crate) fn is_one_of(keys: &[&str], word: &str) -> bool {
    keys.iter().any(|key| key.eq_ignore_ascii_case(word))
}

/// Returns whether this is the key of a part of a call.
pub(crate) fn is_of_call(key: &str) -> bool {
    PARTS.iter().any(|keys| keys.contains(&key))
}

/// Returns whether `written` is such a key but for quotes, blanks or one slip: `name`, `“name”`, `" name"`, `n"ame"`.
pub(crate) fn is_torn(written: &str) -> bool {
    let written: String = written.chars().filter(|c| !c.is_whitespace()).collect();
    let bare = written.trim_matches(['"', '\'', '“', '”', '`', '\\']);
    let is_slip = |key: &str| written.contains('"') && is_one_slip(&format!("\"{key}\""), &written);
    [NAME, ARGUMENTS, WRAPPERS].into_iter().flatten().any(|key| *key == bare || is_slip(key))
}

/// Returns whether `written` is one of `keys` but for one slip, `argumets`. Short words resemble too many others.
pub(crate) fn is_slip(keys: &[&str], written: &str) -> bool {
    const LEAST: usize = 6;
    keys.iter().any(|key| LEAST <= key.len() && is_one_slip(key, written))
}
