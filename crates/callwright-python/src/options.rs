//! Holds a caller's knowledge of an answer besides its text: the keywords of `parse` and `Scanner`.

use callwright::{CallsInReasoning, Context, Policy, ToolChoice};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::definitions::{Dialects, no_dialect};
use crate::value::dumps;

/// The checked keywords.
pub(crate) struct Options {
    pub(crate) finish_reason: Option<String>,
    pub(crate) native_mode: bool,
    pub(crate) asked: Option<String>,
    pub(crate) tool_choice: ToolChoice,
    pub(crate) starts_in_reasoning: bool,
    pub(crate) unsure_is_text: bool,
    pub(crate) doubt_open_ends: bool,
    pub(crate) policy: Policy,
    pub(crate) calls_in_reasoning: CallsInReasoning,
    pub(crate) dialects: callwright::Dialects,
}

impl Options {
    /// Looks up the keywords that name something or hold a record; the caller sets the others.
    ///
    /// # Errors
    /// Raises a `ValueError` for an unknown name.
    pub(crate) fn new(
        policy: &str,
        calls_in_reasoning: &str,
        dialects: Option<&Dialects>,
        asked: Option<String>,
    ) -> PyResult<Options> {
        let dialects = dialects.map_or_else(callwright::Dialects::default, |own| own.dialects.clone());
        if let Some(name) = asked.as_deref().filter(|name| dialects.get(name).is_none()) {
            return Err(no_dialect(&dialects, name));
        }
        let no_policy = || format!("no policy `{policy}`: there are auto, heal, feedback and strict");
        let no_word =
            || format!("`calls_in_reasoning` is ignore, unclosed or accept, not `{calls_in_reasoning}`");
        Ok(Options {
            finish_reason: None,
            native_mode: false,
            asked,
            tool_choice: ToolChoice::Auto,
            starts_in_reasoning: false,
            unsure_is_text: false,
            doubt_open_ends: false,
            policy: Policy::named(policy).ok_or_else(|| PyValueError::new_err(no_policy()))?,
            calls_in_reasoning: CallsInReasoning::named(calls_in_reasoning)
                .ok_or_else(|| PyValueError::new_err(no_word()))?,
            dialects,
        })
    }

    /// Returns the keywords in the engine's form.
    pub(crate) fn context(&self) -> Context<'_> {
        Context {
            finish_reason: self.finish_reason.as_deref(),
            starts_in_reasoning: self.starts_in_reasoning,
            native: self.native_mode,
            asked: self.asked.as_deref(),
            tool_choice: self.tool_choice.clone(),
            unsure_is_text: self.unsure_is_text,
            dialects: self.dialects.clone(),
            policy: self.policy,
            calls_in_reasoning: self.calls_in_reasoning,
            doubt_open_ends: self.doubt_open_ends,
            ..Context::default()
        }
    }
}

/// Reads a request's `tool_choice`, the tools that the model may call; `None` means any.
///
/// # Errors
/// Raises a `ValueError` for a value that no request may have.
pub(crate) fn tool_choice(choice: Option<&Bound<'_, PyAny>>) -> PyResult<ToolChoice> {
    let Some(choice) = choice else { return Ok(ToolChoice::Auto) };
    let value: callwright::value::Value = dumps(choice.py(), choice)?.parse().unwrap_or_default();
    let unknown =
        || PyValueError::new_err(format!("`tool_choice` is not one that a request may have: {value}"));
    ToolChoice::from_value(&value).ok_or_else(unknown)
}

/// Returns whether this `finish_reason` says that the answer ended before the model had said all.
///
/// >>> is_cut("length"), is_cut("stop"), is_cut(None)
/// (True, False, False)
#[pyfunction]
#[pyo3(signature = (finish_reason, /))]
pub(crate) fn is_cut(finish_reason: Option<&str>) -> bool {
    finish_reason.is_some_and(callwright::is_cut)
}
