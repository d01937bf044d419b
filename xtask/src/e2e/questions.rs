//! The measured run: single-tool questions to a model that knows no tools, and how many calls come out valid.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::client::{Client, Report};
use crate::step::Tally;

/// So many of a hundred calls must be valid.
const FLOOR: usize = 90;
const PATIENCE: Duration = Duration::from_secs(300);

/// The file `e2e/questions.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Questions {
    question: Vec<Question>,
}

/// One question and the only tool that there is for it.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Question {
    ask: String,
    tool: String,
    description: String,
    /// The JSON Schema of the arguments, as JSON text.
    #[serde(deserialize_with = "json")]
    parameters: Value,
}

fn json<'de, D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
}

#[derive(Serialize)]
struct Task<'q> {
    base_url: &'q str,
    model: &'q str,
    tool_choice: &'q str,
    max_tokens: u32,
    #[serde(flatten)]
    question: &'q Question,
}

impl Questions {
    /// # Errors
    /// When the file cannot be read, or holds no questions.
    pub(crate) fn read(file: &Path) -> Result<Questions> {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} holds no questions", file.display()))
    }

    /// Asks all of them, and prints each that brought no valid call. Passes as one test.
    pub(crate) fn ask(
        &self,
        base_url: &str,
        model: &str,
        tool_choice: &str,
        client: &mut Client,
    ) -> Result<Tally> {
        let mut valid = 0;
        for question in &self.question {
            let task = Task { base_url, model, tool_choice, max_tokens: 128, question };
            let report = client.run(&task, PATIENCE)?;
            match defect(question, &report) {
                None => valid += 1,
                Some(defect) => println!("    no valid call: {}: {defect}", question.ask),
            }
        }
        let asked = self.question.len();
        let ok = FLOOR * asked <= 100 * valid;
        println!("    tool_choice {tool_choice}: {valid} of {asked} calls are valid, the floor is {FLOOR} %");
        Ok(Tally { passed: usize::from(ok), failed: usize::from(!ok), skipped: 0, ok })
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
