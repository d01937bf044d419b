//! The door for loops that take calls out of a text and return errors as the next user turn.

use std::fmt;

use super::Feedback;
use crate::context::Context;
use crate::engine::parse;
use crate::policy::Policy;
use crate::tools::ToolSet;
use crate::verdict::{Acceptance, Outcome, Verdict};

/// Finds the tool calls in `text`, and tests each before any is run. A call that is not well formed is an error that
/// teaches the model, never a guess.
///
/// - `(calls, None)`: all calls are right.
/// - `([], Some(error))`: there are calls, and none is right.
/// - `([], None)`: no calls; the model is just talking.
/// - `(calls, Some(error))`: some are right and some are not. A good call does not hide a bad one.
pub fn prompt_tool_calls(tools: &ToolSet, text: &str) -> (Vec<Acceptance>, Option<PromptError>) {
    let context = Context { policy: Policy::Feedback, ..Context::default() };
    calls_or_error(parse(tools, text, &[], &context))
}

/// Returns the calls of an outcome, and the error for the model, as [`prompt_tool_calls`] does.
pub fn calls_or_error(outcome: Outcome) -> (Vec<Acceptance>, Option<PromptError>) {
    let (mut calls, mut feedback) = (Vec::new(), Vec::new());
    for verdict in outcome.verdicts {
        match verdict {
            Verdict::Accepted(call) => calls.push(call),
            Verdict::Refused(refusal) => feedback.push(refusal.feedback()),
        }
    }
    let none_right = calls.is_empty();
    let error = (!feedback.is_empty()).then_some(PromptError { feedback, none_right });
    (calls, error)
}

/// The faults of the calls of one answer. Its `Display` is the error that the model sees.
#[derive(Clone, Debug)]
pub struct PromptError {
    /// The refused calls, in their order.
    pub feedback: Vec<Feedback>,
    /// No call beside them is right.
    none_right: bool,
}

impl PromptError {
    /// Returns the message of role `user` that carries the error to the model.
    pub fn user_message(&self) -> String {
        framed(&self.to_string(), &self.feedback)
    }

    fn is_about_json(&self) -> bool {
        self.feedback.iter().any(Feedback::is_about_json)
    }
}

/// The errors of all refused calls, with an empty line between them. The headline stands only if it is true: there is
/// JSON, and nothing of it could be parsed into a call.
impl fmt::Display for PromptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.none_right && self.is_about_json() {
            f.write_str("Found JSON block(s) but failed to parse:\n\n")?;
        }
        let errors: Vec<String> = self.feedback.iter().map(Feedback::error).collect();
        f.write_str(&errors.join("\n\n"))
    }
}

/// Returns the error of all of `feedback` in the frame that advises the model. The advice about braces stands only with
/// broken JSON, and a call of an unknown tool is not one to fix.
pub(super) fn framed(error: &str, feedback: &[Feedback]) -> String {
    let (kind, advice) = if feedback.iter().any(Feedback::is_about_json) {
        (" JSON", "Please fix the JSON and try again. Ensure proper brace matching: { and }")
    } else if feedback.iter().all(|feedback| feedback.code == "unknown-tool") {
        ("", "Please call a tool that there is, or answer in words.")
    } else {
        ("", "Please fix the call and try again.")
    };
    format!("⚠️ Tool Call{kind} Error:\n{error}\n\n{advice}")
}
