//! The door: an answer and the tools go in, an [`Outcome`] comes out.

use crate::context::Context;
use crate::scan::{CallDelta, Delta, Scanner};
use crate::tools::ToolSet;
use crate::verdict::Outcome;

/// A call that an upstream made natively.
#[derive(Clone, Debug)]
pub struct NativeCall<'a> {
    /// The upstream's id.
    pub id: Option<&'a str>,
    /// The name as the upstream gave it.
    pub name: &'a str,
    /// The JSON text of the arguments, also if the upstream gave an object.
    pub arguments: &'a str,
}

/// Finds the calls in one whole answer: in `native` calls first, then in `text`.
///
/// ```
/// use callwright::{Context, NativeCall, ToolSet, parse};
///
/// let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#)?;
/// let outcome = parse(&tools, "Yes.\n<tool_call>{'name': 'f', 'arguments': {'a': 1}}</tool_call>", &[], &Context::default());
/// assert_eq!(outcome.text, "Yes.");
/// assert_eq!(outcome.calls().next().unwrap().arguments, r#"{"a": 1}"#);
/// // A server that knows tools gave the call apart, with a bracket too many.
/// let native = [NativeCall { id: Some("1"), name: "f", arguments: r#"{"a": 1}}"# }];
/// let outcome = parse(&tools, "", &native, &Context::default());
/// assert_eq!(outcome.calls().next().unwrap().arguments, r#"{"a": 1}"#);
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
pub fn parse(tools: &ToolSet, text: &str, native: &[NativeCall<'_>], context: &Context<'_>) -> Outcome {
    let mut events = Vec::new();
    let mut scanner = Scanner::new(tools, context);
    for (index, call) in native.iter().enumerate() {
        let (name, arguments) = (Some(call.name), Some(call.arguments));
        let delta = CallDelta { index: Some(index), id: call.id, name, arguments };
        scanner.feed(Delta::ToolCall(delta), &mut events);
    }
    scanner.read(text)
}
