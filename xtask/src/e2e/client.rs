//! The real clients: each a script that runs tasks with somebody else's package, and reports what that saw.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::install::Installed;
use super::process::Process;

/// Which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClientName {
    /// The package `openai` of Python.
    OpenaiPython,
    /// The package `openai` of Node.
    OpenaiNode,
    /// The Vercel AI SDK.
    AiSdk,
    /// LangChain's agent.
    Langchain,
    /// The package `anthropic` of Python: it speaks messages.
    AnthropicPython,
    /// The package `openai` of Python once more: it speaks responses.
    ResponsesPython,
    /// Not a client of its own: asks the questions of the measured run, with the package `openai` of Python.
    #[serde(skip)]
    Questions,
}

/// What a client runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Platform {
    Python,
    Node,
}

impl ClientName {
    /// The clients of a scenario that names none: they speak chat completions, as all upstreams do.
    pub(crate) const ALL: [ClientName; 4] =
        [ClientName::OpenaiPython, ClientName::OpenaiNode, ClientName::AiSdk, ClientName::Langchain];

    pub(crate) fn platform(self) -> Platform {
        match self {
            ClientName::OpenaiPython
            | ClientName::Langchain
            | ClientName::AnthropicPython
            | ClientName::ResponsesPython
            | ClientName::Questions => Platform::Python,
            ClientName::OpenaiNode | ClientName::AiSdk => Platform::Node,
        }
    }

    fn script(self) -> &'static str {
        match self {
            ClientName::OpenaiPython => "openai_client.py",
            ClientName::OpenaiNode => "openai_client.mjs",
            ClientName::AiSdk => "ai_sdk.mjs",
            ClientName::Langchain => "langchain_agent.py",
            ClientName::AnthropicPython => "anthropic_client.py",
            ClientName::ResponsesPython => "responses_client.py",
            ClientName::Questions => "questions.py",
        }
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClientName::OpenaiPython => "openai-python",
            ClientName::OpenaiNode => "openai-node",
            ClientName::AiSdk => "ai-sdk",
            ClientName::Langchain => "langchain",
            ClientName::AnthropicPython => "anthropic-python",
            ClientName::ResponsesPython => "responses-python",
            ClientName::Questions => "questions",
        })
    }
}

/// What a client is to do: ask, run the tools that the answer calls, and ask again until there is no call.
#[derive(Debug, Serialize)]
pub(crate) struct Task<'t> {
    pub(crate) base_url: String,
    pub(crate) model: &'t str,
    pub(crate) ask: &'t str,
    pub(crate) tools: &'t [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<&'t str>,
    pub(crate) stream: bool,
    pub(crate) turns: u32,
    pub(crate) max_tokens: u32,
}

/// What happened, as the client saw it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    pub(crate) calls: Vec<Called>,
    pub(crate) results: Vec<Returned>,
    /// The text of the last turn.
    pub(crate) text: String,
    /// The finish reason of each turn.
    pub(crate) finish: Vec<Option<String>>,
    /// Whatever a program in the client's place would have had to deal with.
    pub(crate) errors: Vec<String>,
}

/// A call that the client read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Called {
    /// None where the client was given none.
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// As the client parsed them; null where it could not.
    pub(crate) arguments: Value,
}

/// What a tool gave.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Returned {
    pub(crate) id: Option<String>,
    pub(crate) content: String,
}

/// A client that is started with its first task and then kept: importing its packages takes seconds.
pub(crate) struct Client {
    name: ClientName,
    command: Command,
    log: PathBuf,
    process: Option<Process>,
}

impl Client {
    pub(crate) fn new(name: ClientName, installed: &Installed) -> Result<Client> {
        let command = match name.platform() {
            Platform::Python => installed.python_script(name.script())?,
            Platform::Node => installed.node_script(name.script())?,
        };
        Ok(Client { name, command, log: installed.log(&name.to_string()), process: None })
    }

    /// Runs one task.
    ///
    /// # Errors
    /// When the client says nothing within `patience`, ends, or says what is no report.
    pub(crate) fn run(&mut self, task: &impl Serialize, patience: Duration) -> Result<Report> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&mut self.command, &self.log)?,
        };
        process.say(&serde_json::to_string(task)?)?;
        let line = process
            .line(patience)
            .with_context(|| format!("{} (its log: {})", self.name, self.log.display()))?;
        let report = serde_json::from_str(&line).with_context(|| format!("{} said {line}", self.name))?;
        // One that failed is not kept: its next word could be a late answer.
        self.process = Some(process);
        Ok(report)
    }
}
