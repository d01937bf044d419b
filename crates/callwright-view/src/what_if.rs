//! Reads an answer that was kept, or pasted, under other conditions, without asking the model.

use std::fmt;

use callwright::value::Value;
use callwright::{Context, Dialects, NativeCall, Outcome, Policy, Report, ToolSet, ToolSetError, parse};
use serde::Deserialize;
use serde_json::value::RawValue;

/// An answer, and how it is to be read this time.
///
/// ```
/// use callwright_view::WhatIf;
///
/// let what_if = WhatIf {
///     request: r#"{"tools": [{"name": "run_code", "parameters": {"type": "object"}}]}"#,
///     text: r#"<tool_call>{"name": "run_code", "arguments": {"code": "1"}}}</tool_call>"#,
///     ..WhatIf::default()
/// };
/// assert_eq!(what_if.report().unwrap()["repair_counts"]["drop-closer"], 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WhatIf<'a> {
    /// The request that declared the tools, or the one that was made of it: a JSON object with `tools` or `functions`. Or the
    /// definitions themselves, a JSON array.
    pub request: &'a str,
    /// The text of the model.
    pub text: &'a str,
    /// Its native calls, name and argument text.
    pub native: Vec<(&'a str, &'a str)>,
    /// The upstream got the tools natively.
    pub is_native: bool,
    /// The dialect that its prompt asked for; nobody says where there is none, or none of this name.
    pub asked: Option<&'a str>,
    /// The policy for calls that are not right.
    pub policy: Policy,
    /// Why the model is taken to have stopped.
    pub finish_reason: Option<&'a str>,
    /// The only dialect that counts; all where there is none.
    pub dialect: Option<&'a str>,
}

/// Why an answer cannot be read.
#[derive(Debug)]
pub enum WhatIfError {
    /// The request is not JSON.
    NotJson(serde_json::Error),
    /// It declares no tools.
    NoTools,
    /// The tools cannot be used.
    Tools(ToolSetError),
    /// There is no such dialect.
    UnknownDialect,
}

#[derive(Deserialize)]
struct Declared<'a> {
    #[serde(borrow, default)]
    tools: Option<&'a RawValue>,
    #[serde(borrow, default)]
    functions: Option<&'a RawValue>,
}

impl WhatIf<'_> {
    /// Reads the answer.
    ///
    /// # Errors
    /// There are no tools that could be called, or no such dialect.
    pub fn outcome(&self) -> Result<Outcome, WhatIfError> {
        let tool_set = ToolSet::from_json(self.definitions()?).map_err(WhatIfError::Tools)?;
        let dialects = match self.dialect {
            Some(name) => Dialects::default().only(name).ok_or(WhatIfError::UnknownDialect)?,
            None => Dialects::default(),
        };
        let context = Context {
            finish_reason: self.finish_reason,
            native: self.is_native,
            asked: self.asked,
            dialects,
            policy: self.policy,
            ..Context::default()
        };
        Ok(parse(&tool_set, self.text, &self.calls(), &context))
    }

    /// The outcome as a [`Report`].
    ///
    /// # Errors
    /// As [`WhatIf::outcome`].
    pub fn report(&self) -> Result<Value, WhatIfError> {
        Ok(self.report_of(&self.outcome()?))
    }

    /// The report of what became of it.
    pub(crate) fn report_of(&self, outcome: &Outcome) -> Value {
        // A report has no keys that are no texts, which is all that could fail.
        Value::of(&Report::of(outcome, self.text, &self.calls())).unwrap_or_default()
    }

    fn calls(&self) -> Vec<NativeCall<'_>> {
        let native = self.native.iter();
        native.map(|&(name, arguments)| NativeCall { id: None, name, arguments }).collect()
    }

    fn definitions(&self) -> Result<&str, WhatIfError> {
        let text: &RawValue = serde_json::from_str(self.request).map_err(WhatIfError::NotJson)?;
        if text.get().starts_with('[') {
            return Ok(text.get());
        }
        let declared: Declared<'_> = serde_json::from_str(text.get()).map_err(|_| WhatIfError::NoTools)?;
        Ok(declared.tools.or(declared.functions).ok_or(WhatIfError::NoTools)?.get())
    }

    /// The names of all dialects that can be asked for.
    pub fn dialects() -> Vec<String> {
        Dialects::default().iter().map(|dialect| dialect.name.to_string()).collect()
    }
}

impl fmt::Display for WhatIfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhatIfError::NotJson(error) => write!(f, "the tools are not JSON: {error}"),
            WhatIfError::NoTools => f.write_str("the request declares no tools"),
            WhatIfError::Tools(error) => write!(f, "{error}"),
            WhatIfError::UnknownDialect => f.write_str("there is no such dialect"),
        }
    }
}

impl std::error::Error for WhatIfError {}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"{"model": "m", "tools": [{"type": "function", "function": {"name": "run_code",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}]}"#;

    fn what_if() -> WhatIf<'static> {
        let text = r#"<tool_call>{"name": "run_code", "arguments": {"code": "1"}}}</tool_call>"#;
        WhatIf { request: REQUEST, text, ..WhatIf::default() }
    }

    fn n(report: &Value, member: &str) -> usize {
        report[member].as_array().map_or(0, Vec::len)
    }

    #[test]
    fn the_same_text_comes_to_something_else_under_other_conditions() {
        let report = what_if().report().unwrap();
        assert_eq!((n(&report, "calls"), n(&report, "refusals")), (1, 0));
        let report = WhatIf { policy: Policy::Strict, ..what_if() }.report().unwrap();
        assert_eq!((n(&report, "calls"), n(&report, "refusals")), (0, 1));
        let report = WhatIf { dialect: Some("json_fence"), ..what_if() }.report().unwrap();
        assert_eq!(n(&report, "calls"), 0);
        let cut = WhatIf {
            text: r#"<tool_call>{"name": "run_code", "arguments": {"code": "1"#,
            finish_reason: Some("length"),
            ..what_if()
        };
        assert_eq!(cut.report().unwrap()["refusals"][0]["code"], "truncated");
        let native = WhatIf { native: vec![("run_code", r#"{"code": "1",}"#)], text: "", ..what_if() };
        assert_eq!(n(&native.report().unwrap(), "calls"), 1);
    }

    #[test]
    fn tools_may_stand_in_a_request_or_alone() {
        let alone = r#"[{"name": "run_code", "parameters": {"type": "object"}}]"#;
        let in_a_request = format!("{{\"tools\": {alone}}}");
        for request in [alone, &in_a_request, &format!(" {alone}")] {
            assert_eq!(n(&WhatIf { request, ..what_if() }.report().unwrap(), "calls"), 1, "{request}");
        }
    }

    #[test]
    fn what_cannot_be_read_again_says_why() {
        for (what_if, part) in [
            (WhatIf { request: "{}", ..what_if() }, "declares no tools"),
            (WhatIf { request: "1", ..what_if() }, "declares no tools"),
            (WhatIf { request: "", ..what_if() }, "not JSON"),
            (WhatIf { request: r#"{"tools": 1}"#, ..what_if() }, "list"),
            (WhatIf { dialect: Some("klingon"), ..what_if() }, "no such dialect"),
        ] {
            let error = what_if.report().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        assert!(WhatIf::dialects().iter().any(|name| name == "hermes"));
    }
}
