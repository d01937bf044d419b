//! The real clients: each a script that runs tasks with somebody else's package, and reports what that saw.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::install::Installed;
use steps::process::Process;

/// Which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClientName {
    /// The package `openai` of Python.
    OpenaiPython,
    /// The package `openai` of Node.
    OpenaiNode,
    /// The Vercel AI SDK, over its package for all that is like OpenAI's.
    AiSdk,
    /// LangChain's agent.
    Langchain,
    /// The package `anthropic` of Python.
    AnthropicPython,
    /// The package `@anthropic-ai/sdk` of Node.
    AnthropicNode,
    /// The Vercel AI SDK, over its package for Anthropic.
    AiSdkAnthropic,
    /// The package `openai` of Python once more, by responses.
    ResponsesPython,
    /// The package `openai` of Node once more, by responses.
    ResponsesNode,
    /// The Vercel AI SDK, over its package for OpenAI.
    AiSdkOpenai,
    /// OpenAI's Agents SDK.
    AgentsSdk,
    /// The package `ollama` of Python.
    OllamaPython,
    /// The package `ollama` of Node.
    OllamaNode,
    /// The package `google-genai` of Python.
    GeminiPython,
    /// The package `@google/genai` of Node.
    GeminiNode,
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

/// The API that a client speaks. An upstream speaks chat completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Chat,
    Messages,
    Responses,
    Ollama,
    Gemini,
}

/// How a client is called and run.
struct Way {
    name: &'static str,
    platform: Platform,
    api: Api,
    /// The script, and what it is told.
    command: &'static [&'static str],
}

impl ClientName {
    /// All that a scenario can name.
    pub(crate) const ALL: [ClientName; 15] = [
        ClientName::OpenaiPython,
        ClientName::OpenaiNode,
        ClientName::AiSdk,
        ClientName::Langchain,
        ClientName::AnthropicPython,
        ClientName::AnthropicNode,
        ClientName::AiSdkAnthropic,
        ClientName::ResponsesPython,
        ClientName::ResponsesNode,
        ClientName::AiSdkOpenai,
        ClientName::AgentsSdk,
        ClientName::OllamaPython,
        ClientName::OllamaNode,
        ClientName::GeminiPython,
        ClientName::GeminiNode,
    ];

    /// Does it speak what an upstream does?
    pub(crate) fn speaks_chat(self) -> bool {
        self.way().api == Api::Chat
    }

    pub(crate) fn platform(self) -> Platform {
        self.way().platform
    }

    fn way(self) -> Way {
        let way = |name, platform, api, command| Way { name, platform, api, command };
        let python = |name, api, command| way(name, Platform::Python, api, command);
        let node = |name, api, command| way(name, Platform::Node, api, command);
        match self {
            ClientName::OpenaiPython => python("openai-python", Api::Chat, &["openai_client.py"]),
            ClientName::OpenaiNode => node("openai-node", Api::Chat, &["openai_client.mjs"]),
            ClientName::AiSdk => node("ai-sdk", Api::Chat, &["ai_sdk.mjs", "chat"]),
            ClientName::Langchain => python("langchain", Api::Chat, &["langchain_agent.py"]),
            ClientName::AnthropicPython => {
                python("anthropic-python", Api::Messages, &["anthropic_client.py"])
            }
            ClientName::AnthropicNode => node("anthropic-node", Api::Messages, &["anthropic_client.mjs"]),
            ClientName::AiSdkAnthropic => {
                node("ai-sdk-anthropic", Api::Messages, &["ai_sdk.mjs", "messages"])
            }
            ClientName::ResponsesPython => {
                python("responses-python", Api::Responses, &["responses_client.py"])
            }
            ClientName::ResponsesNode => node("responses-node", Api::Responses, &["responses_client.mjs"]),
            ClientName::AiSdkOpenai => node("ai-sdk-openai", Api::Responses, &["ai_sdk.mjs", "responses"]),
            ClientName::AgentsSdk => python("agents-sdk", Api::Responses, &["agents_sdk.py"]),
            ClientName::OllamaPython => python("ollama-python", Api::Ollama, &["ollama_client.py"]),
            ClientName::OllamaNode => node("ollama-node", Api::Ollama, &["ollama_client.mjs"]),
            ClientName::GeminiPython => python("gemini-python", Api::Gemini, &["gemini_client.py"]),
            ClientName::GeminiNode => node("gemini-node", Api::Gemini, &["gemini_client.mjs"]),
            ClientName::Questions => python("questions", Api::Chat, &["questions.py"]),
        }
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.way().name)
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
        let way = name.way();
        let (script, told) = way.command.split_first().context("a client has a script")?;
        let mut command = match way.platform {
            Platform::Python => installed.python_script(script)?,
            Platform::Node => installed.node_script(script)?,
        };
        command.args(told);
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
