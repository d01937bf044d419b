//! The caller's knowledge of an answer besides its text: the request, and the end of the answer.

use crate::dialect::Dialects;
use crate::policy::{CallsInReasoning, Policy};
use crate::tools::ToolChoice;

/// The caller's knowledge of an answer besides its text.
///
/// ```
/// use callwright::{Context, ToolSet, parse};
///
/// let tools = ToolSet::from_json(r#"[{"name": "f", "parameters": {"type": "object"}}]"#)?;
/// let context = Context { finish_reason: Some("length"), ..Context::default() };
/// // The answer was cut off: the engine does not invent the rest.
/// let outcome = parse(&tools, r#"<tool_call>{"name": "f", "arguments": {"a": [1"#, &[], &context);
/// assert_eq!(outcome.refusals().next().map(|refusal| refusal.reason.code()), Some("truncated"));
/// # Ok::<(), callwright::ToolSetError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Context<'a> {
    /// The upstream's `finish_reason`. Without one, the engine adds a bracket at the end only if nothing else could
    /// have stood there. Give `stop` for a text that is whole.
    pub finish_reason: Option<&'a str>,
    /// The prompt already opened the reasoning block: the text begins inside it.
    pub starts_in_reasoning: bool,
    /// The upstream got the tools natively. In the text only explicit forms are calls: a dialect's own marks, or a call
    /// that is the whole answer. None is a call if there are native calls. Any other stays in the text, and
    /// [`Outcome::shown`](crate::Outcome::shown) lists it.
    pub native: bool,
    /// The name of the dialect that the model was asked to call in. A call in another one between words is
    /// [unsure](crate::Acceptance::unsure).
    pub asked: Option<&'a str>,
    /// The choice of tools in the request. JSON without a tool's name is a call only if the choice leaves one tool:
    /// [`ToolChoice::Named`], or [`ToolChoice::Required`] with one declared tool.
    pub tool_choice: ToolChoice,
    /// An [unsure](crate::Acceptance::unsure) call stays in the text, and [`Outcome::shown`](crate::Outcome::shown)
    /// lists it: the model was asked whether it means the call, and does not. With `native`, and under
    /// [`Policy::Strict`], it always stays.
    pub unsure_is_text: bool,
    /// The dialects to read. [`Dialects::only`] pins one.
    pub dialects: Dialects,
    /// The repairs that a call may need if it is not right as it was written. Only the caller asks the model again; under a
    /// policy that does not repair, [`Policy::admits`] decides which calls are refused.
    pub policy: Policy,
    /// The treatment of calls in the model's reasoning.
    pub calls_in_reasoning: CallsInReasoning,
    /// Refuses a call that ends too early and could have gone on, even if it can be repaired
    /// ([`Reason::OpenEnd`](crate::Reason::OpenEnd)). For callers that can ask the model again.
    pub doubt_open_ends: bool,
    /// Hands on a stream as it comes: the certain part of a native call goes out before its verdict, as
    /// [`Event::CallStarted`](crate::Event::CallStarted) and [`Event::CallArguments`](crate::Event::CallArguments). A
    /// call in the text waits for its verdict.
    pub live: bool,
}

/// The end of an answer, as its upstream reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The answer was cut off.
    Cut,
    /// The upstream does not say. The end of a call is not added, but broken marks are repaired.
    Unsaid,
    /// The model ended the answer.
    Ended,
    /// The model ended the answer, and a number at its end is whole or is asked for again: `{"a": 30`.
    Sure,
}

impl Stop {
    pub(crate) fn of(finish_reason: Option<&str>) -> Stop {
        match finish_reason {
            Some(reason) if is_cut(reason) => Stop::Cut,
            Some(reason) if is_end(reason) => Stop::Ended,
            Some(_) | None => Stop::Unsaid,
        }
    }

    pub(crate) fn is_cut(self) -> bool {
        self == Stop::Cut
    }

    pub(crate) fn is_ended(self) -> bool {
        matches!(self, Stop::Ended | Stop::Sure)
    }
}

/// Returns whether this `finish_reason` says that the answer was cut off.
///
/// `length` and `content_filter` say so, and the words that some servers write instead of them.
///
/// ```
/// assert!(callwright::is_cut("length") && !callwright::is_cut("stop"));
/// ```
pub fn is_cut(finish_reason: &str) -> bool {
    matches!(
        finish_reason,
        "length"
            | "max_tokens"
            | "model_length"
            | "content_filter"
            | "insufficient_system_resource"
            | "abort"
            | "error"
    )
}

/// Returns whether this `finish_reason` says that the model ended the answer by itself. `stop` and `tool_calls` say so,
/// and the words of other servers' APIs. An unknown word says nothing.
fn is_end(finish_reason: &str) -> bool {
    const ENDS: [&str; 11] = [
        "stop",
        "tool_calls",
        "tool_call",
        "function_call",
        "end_turn",
        "tool_use",
        "stop_sequence",
        "eos",
        "eos_token",
        "complete",
        "completed",
    ];
    ENDS.iter().any(|end| end.eq_ignore_ascii_case(finish_reason))
}
