//! The measured run: single-tool questions to a model that knows no tools, and how many calls come out valid.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::client::{Client, Report};
use steps::step::Tally;

/// The name of the measured run.
pub(crate) const QUESTIONS: &str = "questions";

/// So many of a hundred calls must be valid.
const FLOOR: usize = 90;
const PATIENCE: Duration = Duration::from_secs(300);

/// The file `questions.toml` of `callwright bench`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Questions {
    question: Vec<Question>,
}

/// What came of all questions.
pub(crate) struct Asked {
    /// How many were asked.
    pub(crate) asked: usize,
    /// How many brought a valid call.
    pub(crate) valid: usize,
    /// How many brought no call at all.
    pub(crate) silent: usize,
}

/// One question and the only tool that there is for it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    ask: String,
    tool: String,
    description: String,
    /// The JSON Schema of the arguments, as JSON text.
    #[serde(deserialize_with = "json_text")]
    parameters: Value,
}

fn json_text<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
}

#[derive(Serialize)]
struct Task<'q> {
    #[serde(flatten)]
    asking: Asking<'q>,
    #[serde(flatten)]
    question: &'q Question,
}

/// How all of them are asked.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Asking<'a> {
    pub(crate) base_url: &'a str,
    pub(crate) model: &'a str,
    pub(crate) tool_choice: &'a str,
    pub(crate) max_tokens: u32,
    /// What the model's server holds each answer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) grammar: Option<&'a str>,
}

impl Question {
    /// What is asked.
    pub(crate) fn ask(&self) -> &str {
        &self.ask
    }

    /// The tool as requests declare it.
    pub(crate) fn tools(&self) -> Value {
        let Question { tool, description, parameters, .. } = self;
        let function = json!({"name": tool, "description": description, "parameters": parameters});
        json!([{"type": "function", "function": function}])
    }
}

impl Questions {
    /// All of them.
    pub(crate) fn all(&self) -> &[Question] {
        &self.question
    }

    /// # Errors
    /// When the file cannot be read, or holds no questions.
    pub(crate) fn read(file: &Path) -> Result<Questions> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} holds no questions", file.display()))
    }

    /// Only `count` of them, from all parts of the file.
    pub(crate) fn spread(mut self, count: usize) -> Questions {
        let all = self.question.len().max(1);
        let mut n = 0;
        self.question.retain(|_| {
            let is_kept = n * count / all != (n + 1) * count / all;
            n += 1;
            is_kept
        });
        self
    }

    /// Asks all of them, and prints each that brought no valid call. Passes as one test.
    pub(crate) fn ask(
        &self,
        base_url: &str,
        model: &str,
        tool_choice: &str,
        client: &mut Client,
    ) -> Result<Tally> {
        let asking = Asking { base_url, model, tool_choice, max_tokens: 128, grammar: None };
        let Asked { asked, valid, .. } = self.ask_all(asking, client)?;
        let ok = FLOOR * asked <= 100 * valid;
        println!("    tool_choice {tool_choice}: {valid} of {asked} calls are valid, the floor is {FLOOR} %");
        Ok(Tally { passed: usize::from(ok), failed: usize::from(!ok), ok, ..Tally::default() })
    }

    /// Asks all of them, and prints each that brought no valid call.
    pub(crate) fn ask_all(&self, asking: Asking<'_>, client: &mut Client) -> Result<Asked> {
        let mut asked = Asked { asked: self.question.len(), valid: 0, silent: 0 };
        for question in &self.question {
            let task = Task { asking, question };
            let report = client.run(&task, PATIENCE)?;
            asked.silent += usize::from(report.errors.is_empty() && report.calls.is_empty());
            match defect(question, &report) {
                None => asked.valid += 1,
                Some(defect) => println!("    no valid call: {}: {defect}", question.ask),
            }
        }
        Ok(asked)
    }
}

/// Why an answer is no valid call. The client has held the arguments against the schema already.
fn defect(question: &Question, report: &Report) -> Option<String> {
    if let Some(error) = report.errors.first() {
        return Some(error.clone());
    }
    match report.calls.as_slice() {
        [] => Some(format!("no call, but {:?}", report.text)),
        calls => {
            calls.iter().find(|call| call.name != question.tool).map(|call| format!("calls {}", call.name))
        }
    }
}
