//! A tokenizer's description of its model's calls: Hugging Face's `response_template`, and `response_schema`, which came before
//! it.
//!
//! Both describe by regular expressions what an answer looks like (<https://huggingface.co/docs/transformers/main/chat_response_parsing>).
//! None of them sees a model's text here: they are taken apart into marks, once, and what does not come to marks is said.
//! The record counts only if texts that the expressions describe are read in it as what they are.

mod pattern;
mod region;
mod schema;
mod written;

use std::fmt;

use callwright::value::Value;
use callwright::{Block, Context, Dialect, Dialects};

use crate::findings::{Proved, Unknown};
use crate::proof::prove_written;
use crate::record;
use written::Calls;

/// The longest file, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// A `response_template` or `response_schema`, taken apart.
///
/// ```
/// use callwright::Dialects;
/// use callwright_template::ResponseTemplate;
///
/// let template = ResponseTemplate::new(
///     r#"{"start_anchor": "<|assistant|>", "fields": {"tool_calls": {
///         "open_pattern": "⟦do\\s+(?P<name>\\w+)⟧", "close": "⟦done⟧", "repeats": true, "content": "json",
///         "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}}}"#,
/// )?;
/// let dialect = template.dialect(&Dialects::default(), "acme")?.own.unwrap();
/// assert_eq!(dialect.call.open, ["⟦do {name}⟧"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ResponseTemplate {
    calls: Calls,
    reasoning: Option<Block>,
}

/// A part of the file that does not come to marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseError {
    /// The part: `tool_calls.open_pattern`.
    pub part: String,
    /// The fault.
    pub why: String,
}

impl fmt::Display for ResponseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part.as_str() {
            "" => write!(f, "{}", self.why),
            part => write!(f, "{part}: {}", self.why),
        }
    }
}

impl std::error::Error for ResponseError {}

/// `why` of `part`.
fn error(part: &str, why: impl Into<String>) -> ResponseError {
    ResponseError { part: part.to_owned(), why: why.into() }
}

impl ResponseTemplate {
    /// Takes apart `json`: a `tokenizer_config.json`, or what stands in it as `response_template` or `response_schema`.
    ///
    /// # Errors
    /// It is something else, or a part of it does not come to marks.
    pub fn new(json: &str) -> Result<ResponseTemplate, ResponseError> {
        if MAX_BYTES < json.len() {
            return Err(error("", "the file is longer than 4 MB"));
        }
        let value: Value =
            serde_json::from_str(json).map_err(|why| error("", format!("it is not JSON: {why}")))?;
        if let Some(template) = value.get("response_template").filter(|value| value.is_object()) {
            return region::template(template);
        }
        if let Some(schema) = value.get("response_schema").filter(|value| value.is_object()) {
            return schema::template(schema);
        }
        if value.get("fields").is_some() {
            return region::template(&value);
        }
        if value.get("properties").is_some() {
            return schema::template(&value);
        }
        Err(error("", "it has neither a `response_template` nor a `response_schema`"))
    }

    /// The dialect of its calls: one of `dialects`, or else a new one, which is called `name`.
    ///
    /// # Errors
    /// No record reads what it describes.
    pub fn dialect(&self, dialects: &Dialects, name: &str) -> Result<Proved, Unknown> {
        let prove = |dialects: Dialects| {
            let context = Context { dialects, ..Context::default() };
            prove_written(&|said, made| self.calls.written(said, made), &context)
        };
        if let Ok(proof) = prove(dialects.clone()) {
            return Ok(Proved::new(proof, None));
        }
        let dialect = self.record(name).map_err(|why| Unknown::Unclear(why.to_owned()))?;
        let all = dialects.own().cloned().chain([dialect.clone()]);
        let with_it = Dialects::new(all).map_err(|error| Unknown::Unproved(error.to_string()))?;
        let proof = prove(with_it).map_err(Unknown::Unproved)?;
        match (proof.dialect == name, proof.misread) {
            (false, _) => Err(Unknown::Unproved(format!("its calls are read as {}", proof.dialect))),
            (true, 0) => Ok(Proved::new(proof, Some(dialect))),
            (true, n) => Err(Unknown::Unproved(format!("{n} answers are read as something else"))),
        }
    }

    fn record(&self, name: &str) -> Result<Dialect, &'static str> {
        let mut dialect = record::of(&self.calls.form(), name)?;
        let more = |spelled: Vec<String>| spelled.into_iter().map(|text| record::mark(&text).into());
        for open in more(self.calls.openers()) {
            if !dialect.call.open.contains(&open) {
                dialect.call.open.push(open);
            }
        }
        for close in more(self.calls.closers()) {
            if !dialect.call.close.contains(&close) {
                dialect.call.close.push(close);
            }
        }
        dialect.call.close.retain(|close| !close.is_empty());
        let known = ["<think>", "<thinking>", "<|channel|>", "<reasoning>", "[THINK]"];
        dialect.reasoning =
            self.reasoning.iter().filter(|block| !known.contains(&&*block.open)).cloned().collect();
        Ok(dialect)
    }
}
