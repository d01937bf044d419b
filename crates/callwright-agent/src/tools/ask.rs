//! Implements `askUser`: questions that only a person can answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use callwright::json;
use callwright::value::Value;

use super::names;
use super::work::{define, object};
use crate::arguments::Arguments;
use crate::known_as::KnownAs;
use crate::tool::{CallContext, Calling, Kind, Tool, ToolError, ToolResult};

/// The party behind a run: it gets the model's questions, and its closing words.
pub trait Host: Send + Sync {
    /// Puts a question of the model to the user.
    fn ask<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>>;

    /// Receives the model's closing summary.
    fn finished(&self, summary: &str);
}

/// A question of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answers that the model suggests; the user may give another.
    pub options: Vec<String>,
}

/// The result of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The user's words.
    Said(String),
    /// The user does not want to answer.
    Declined,
    /// There is nobody to ask.
    Nobody,
}

/// The tool.
pub struct AskUser(Arc<dyn Host>);

impl AskUser {
    /// Creates the tool; questions go to `host`.
    pub fn new(host: Arc<dyn Host>) -> AskUser {
        AskUser(host)
    }
}

impl fmt::Debug for AskUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AskUser")
    }
}

pub(super) fn definition() -> Value {
    let properties = json!({
        "question": {"type": "string", "description": "One question, as short as can be"},
        "options": {"type": "array", "items": {"type": "string"}, "description": "Likely answers to choose from"},
    });
    let description = "Ask the user a question. Use this when only the user can know or decide.";
    define("askUser", description, properties, &["question"])
}

impl Tool for AskUser {
    fn definition(&self) -> Value {
        definition()
    }

    fn known_as(&self) -> KnownAs {
        names::known_as("askUser")
    }

    fn kind(&self) -> Kind {
        Kind::READ
    }

    fn timeout(&self, _arguments: &Arguments) -> Option<Duration> {
        None
    }

    fn call<'a>(&'a self, arguments: &'a Arguments, _context: &'a CallContext) -> Calling<'a> {
        Box::pin(async move {
            let question = match question(arguments) {
                Ok(question) => question,
                Err(error) => return error.into(),
            };
            match self.0.ask(&question).await {
                Answer::Said(text) => ToolResult::Object(object([("answer", json!(text))])),
                Answer::Declined => ToolError::new("the user does not want to answer").into(),
                Answer::Nobody => {
                    ToolError::new("there is nobody to ask: decide, and say what you decided").into()
                }
            }
        })
    }
}

fn question(arguments: &Arguments) -> Result<Question, ToolError> {
    let options = match arguments.object().get("options") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(options)) => options.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(_) => return Err(ToolError::new("options must be an array")),
    };
    Ok(Question { text: arguments.string("question")?.to_owned(), options })
}
