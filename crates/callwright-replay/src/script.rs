//! A script: the answers, when each of them is given, and the server's words about itself.
//!
//! In goes TOML or JSON; out comes a [`Script`] or one sentence about the first thing that is wrong in it.

use std::collections::BTreeMap;
use std::fmt;

use callwright_value::{Map, Value};
use serde::Deserialize;

use crate::api::Api;
use crate::fault::Fault;
use crate::form::Form;
use crate::improvise::Improvise;

/// All that an upstream will do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The answers. The first unused one whose condition holds is given.
    #[serde(rename = "answer", alias = "answers")]
    pub answers: Vec<Answer>,
    /// The APIs that it speaks, all where nothing is said: `chat`, `messages`, `responses`, `ollama`. 404 for the others.
    pub speaks: Option<Vec<Api>>,
    /// The form of answers that do not say it themselves.
    pub form: Form,
    /// The list of `GET /v1/models`: whole entries; one named `replay` where there is none.
    pub models: Vec<Value>,
    /// The answer to `GET /props`; 404 where there is nothing.
    pub props: Option<Value>,
    /// The answers to `POST /api/show`, by model; 404 for the others.
    pub show: BTreeMap<String, Value>,
    /// The status of `GET /health`; 200 where it is not said.
    pub health: Option<u16>,
    /// Each request with `tools` is refused with this message.
    pub refuses_tools: Option<String>,
    /// Each request with `response_format` is refused with this message.
    pub refuses_response_format: Option<String>,
    /// Each request with `grammar` is refused with this message.
    pub refuses_grammar: Option<String>,
    /// The status of those refusals; 400 where it is not said.
    pub refuses_status: Option<u16>,
}

/// One answer: either what a model says, which is then written plain or as a stream as the request asks for,
/// or raw bytes.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// When it may be given; always where nothing is said.
    pub when: When,
    /// It may be given more than once.
    pub repeat: bool,
    /// The words of the model, where there is one choice.
    #[serde(flatten)]
    pub choice: Choice,
    /// Its words, where there are several choices.
    pub choices: Vec<Choice>,
    /// The tokens that it counts, or `"bound"` for as many as the request allows; counted in a crude way where it is not
    /// said.
    pub usage: Option<Value>,
    /// Further fields beside `choices`. They take the place of those that are there anyway.
    pub extra: Map,
    /// The form of the answer; the script's where nothing is said.
    pub form: Option<Form>,
    /// The HTTP status.
    pub status: Option<u16>,
    /// Further HTTP headers.
    pub headers: BTreeMap<String, String>,
    /// An error: the object beside `error`. With a status of 400 and more a `message` is enough.
    pub error: Option<Value>,
    /// The whole body, byte for byte.
    pub body: Option<String>,
    /// The whole stream, byte for byte, each text written by itself.
    pub raw_events: Option<Vec<String>>,
    /// The answer is made up for the request. It is not given where there is nothing to make up.
    pub improvise: Option<Improvise>,
    /// The faults on the way.
    #[serde(alias = "faults")]
    pub fault: Fault,
}

/// The words of a model in one choice.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    /// `content`.
    pub text: Option<String>,
    /// Its thoughts.
    pub reasoning: Option<String>,
    /// Its calls.
    pub tool_calls: Vec<Call>,
    /// Its call in the form that came before `tool_calls`.
    pub function_call: Option<Function>,
    /// Why it stopped; `tool_calls`, `function_call` or `stop` where it is not said.
    pub finish_reason: Option<String>,
    /// Further fields of the message. In a stream they come in a delta of their own.
    pub message: Map,
    /// Further fields of the choice: `logprobs`.
    pub choice: Map,
    /// All other members. A script that holds such a thing is not taken.
    #[serde(flatten)]
    unknown: BTreeMap<String, Value>,
}

/// A native call.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// Its id; made up where it is not said.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool's name.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Arguments,
}

/// A call in the form that came before `tool_calls`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// The function's name.
    pub name: String,
    /// The arguments.
    #[serde(default)]
    pub arguments: Arguments,
}

/// The arguments of a call as a script writes them.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    /// The text, byte for byte.
    Text(String),
    /// A value, whose compact JSON is the text.
    Value(Value),
}

impl Default for Arguments {
    fn default() -> Arguments {
        Arguments::Text(String::new())
    }
}

impl Arguments {
    /// The argument text.
    pub fn text(&self) -> String {
        match self {
            Arguments::Text(text) => text.clone(),
            Arguments::Value(value) => value.to_string(),
        }
    }
}

/// A condition on the request. All that is said must hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// The model's name.
    pub model: Option<String>,
    /// The role of the last message.
    pub last_role: Option<String>,
    /// A text somewhere in the last message.
    pub last_contains: Option<String>,
    /// Texts that the user's task holds, in whatever case: what was said last, but for results and errors of calls.
    pub task: Vec<String>,
    /// A text somewhere in the body.
    pub contains: Option<String>,
    /// A text nowhere in the body.
    pub lacks: Option<String>,
    /// There are `tools`, or there are not.
    pub has_tools: Option<bool>,
    /// There is a `response_format` or a `grammar`, or there is not.
    pub is_constrained: Option<bool>,
    /// A stream is asked for, or it is not.
    pub stream: Option<bool>,
    /// Its number among the requests for a completion, counted from 1.
    pub nth: Option<usize>,
    /// The path, where no model is asked at it.
    pub path: Option<String>,
    /// Files that stand on this machine by now: what tools have done.
    pub exists: Vec<String>,
}

impl Script {
    /// Reads a script written in TOML.
    pub fn from_toml(text: &str) -> Result<Script, ScriptError> {
        toml::from_str::<Script>(text).map_err(|e| ScriptError::Syntax(e.to_string()))?.checked()
    }

    /// Reads a script written in JSON.
    pub fn from_json(text: &str) -> Result<Script, ScriptError> {
        // By way of a value: only there are numbers plain numbers to the flattened parts.
        let value: Value = serde_json::from_str(text).map_err(|e| ScriptError::Syntax(e.to_string()))?;
        Script::from_value(value)
    }

    /// Reads a script that is a JSON value already.
    pub fn from_value(value: Value) -> Result<Script, ScriptError> {
        value.to::<Script>().map_err(|e| ScriptError::Syntax(e.to_string()))?.checked()
    }

    /// The built-in script: good and malformed answers, so that there is something to see without a model.
    pub fn built_in() -> Script {
        // INVARIANT: it is read by a test, so that it cannot be broken here.
        Script::from_toml(include_str!("../scripts/built-in.toml")).unwrap_or_default()
    }

    /// A script that gives these answers, one after the other.
    pub fn of(answers: impl IntoIterator<Item = Answer>) -> Script {
        Script { answers: answers.into_iter().collect(), ..Script::default() }
    }

    fn checked(self) -> Result<Script, ScriptError> {
        for (number, answer) in (1..).zip(&self.answers) {
            if let Some(why) = answer.fault() {
                return Err(ScriptError::Answer { number, why });
            }
        }
        Ok(self)
    }
}

impl Answer {
    /// An answer of text only.
    pub fn text(text: &str) -> Answer {
        Answer { choice: Choice::text(text), ..Answer::default() }
    }

    /// An answer of one native call.
    pub fn call(name: &str, arguments: &str) -> Answer {
        Answer { choice: Choice::call(name, arguments.into()), ..Answer::default() }
    }

    /// Returns the words of the model, choice by choice.
    pub(crate) fn said(&self) -> &[Choice] {
        if self.choices.is_empty() { std::slice::from_ref(&self.choice) } else { &self.choices }
    }

    /// Returns its fault.
    fn fault(&self) -> Option<String> {
        let unknown =
            |choice: &Choice| choice.unknown.keys().next().map(|key| format!("unknown key `{key}`"));
        if let Some(why) = unknown(&self.choice).or_else(|| self.choices.iter().find_map(unknown)) {
            return Some(why);
        }
        let says = self.choice.says_something() || !self.choices.is_empty();
        let others =
            [self.error.is_some(), self.body.is_some(), self.raw_events.is_some(), self.improvise.is_some()];
        if 1 < [says].iter().chain(&others).filter(|is| **is).count() {
            return Some(
                "what is said, `error`, `body`, `raw_events` and `improvise` exclude each other".into(),
            );
        }
        if self.choice.says_something() && !self.choices.is_empty() {
            return Some("`choices` excludes what one choice says".into());
        }
        None
    }
}

impl Choice {
    /// Text only.
    pub(crate) fn text(text: &str) -> Choice {
        Choice { text: Some(text.into()), ..Choice::default() }
    }

    /// One native call.
    pub(crate) fn call(name: &str, arguments: String) -> Choice {
        let call = Call { id: None, name: name.into(), arguments: Arguments::Text(arguments) };
        Choice { tool_calls: vec![call], ..Choice::default() }
    }

    fn says_something(&self) -> bool {
        self.text.is_some()
            || self.reasoning.is_some()
            || !self.tool_calls.is_empty()
            || self.function_call.is_some()
            || self.finish_reason.is_some()
            || !self.message.is_empty()
            || !self.choice.is_empty()
    }
}

/// Why a script cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptError {
    /// It is not TOML or JSON, or not of the form of a script.
    Syntax(String),
    /// An answer, counted from 1, contradicts itself.
    Answer {
        /// Its number.
        number: usize,
        /// In what way.
        why: String,
    },
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Syntax(why) => f.write_str(why.trim_end()),
            ScriptError::Answer { number, why } => write!(f, "answer {number}: {why}"),
        }
    }
}

impl std::error::Error for ScriptError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = Script::from_toml(
            "[[answer]]\nwhen = { nth = 2, has_tools = true }\nrepeat = true\nstatus = 200\n\
             tool_calls = [{ name = \"f\", arguments = { a = 1 } }]\nusage = { total_tokens = 3 }",
        )
        .unwrap();
        let json = Script::from_json(
            r#"{"answer": [{"when": {"nth": 2, "has_tools": true}, "repeat": true, "status": 200,
                "tool_calls": [{"name": "f", "arguments": {"a": 1}}], "usage": {"total_tokens": 3}}]}"#,
        )
        .unwrap();
        assert_eq!(format!("{toml:?}"), format!("{json:?}"));
        assert_eq!(toml.answers[0].choice.tool_calls[0].arguments.text(), r#"{"a":1}"#);
    }

    #[test]
    fn what_a_script_cannot_say_is_refused() {
        for (script, why) in [
            ("[[answer]]\ntxet = \"x\"", "answer 1: unknown key `txet`"),
            ("[[answer]]\nchoices = [{ txet = \"x\" }]", "answer 1: unknown key `txet`"),
            (
                "[[answer]]\n[[answer]]\ntext = \"x\"\nbody = \"y\"",
                "answer 2: what is said, `error`, `body`, `raw_events` and `improvise` exclude each other",
            ),
            (
                "[[answer]]\ntext = \"x\"\nchoices = [{ text = \"y\" }]",
                "answer 1: `choices` excludes what one choice says",
            ),
        ] {
            assert_eq!(Script::from_toml(script).unwrap_err().to_string(), why);
        }
        for script in
            ["model = 1", "[[answer]]\nwhen = { lats_role = \"tool\" }", "[[answer]]\nfault = { cut = 3 }"]
        {
            assert!(matches!(Script::from_toml(script), Err(ScriptError::Syntax(_))), "{script}");
        }
    }

    #[test]
    fn the_built_in_script_is_one() {
        let text = include_str!("../scripts/built-in.toml");
        assert!(!Script::from_toml(text).unwrap().answers.is_empty());
    }
}
