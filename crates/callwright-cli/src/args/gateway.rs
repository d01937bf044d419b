//! Commands around the gateway: serve, look at upstreams, accept a configuration.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::setup::agents;

use super::configuration::{ConfigArgs, Flags, GatewayArgs, ListenArgs, UpstreamArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "Without an upstream it looks for a local server (llama.cpp, Ollama, vLLM, LM Studio), then \
                  for OPENROUTER_API_KEY, and says what it chose. With neither it answers from a built-in script.
When it is ready, it prints: listening on http://HOST:PORT"
)]
pub(crate) struct ServeArgs {
    /// Check the set-up and exit: print each value and its source, ask the upstreams for their models, open the store.
    /// Fails if something would not work.
    #[arg(long)]
    pub(crate) check: bool,
    /// Ask no upstream.
    #[arg(long, requires = "check")]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
}

impl ServeArgs {
    pub(crate) fn flags(&self) -> Flags<'_> {
        Flags { listen: Some(&self.listen), ..self.gateway.flags() }
    }
}

/// The upstreams of a command that checks them.
#[derive(Debug, Default, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) upstream: UpstreamArgs,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

impl AskArgs {
    pub(crate) fn flags(&self) -> Flags<'_> {
        Flags { config: Some(&self.config), upstream: Some(&self.upstream), ..Flags::default() }
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "What is found out about a model is kept for a day beside the sessions, whoever finds it out: `serve`, `run`, `caps`.
Without an upstream it shows what is kept, and asks nobody.
Fails if nothing is kept, or if no upstream for the model can be reached."
)]
pub(crate) struct CapsArgs {
    /// The model, as clients name it.
    pub(crate) model: String,
    /// Forget what is known, and ask the upstreams again.
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Also send one small request with a tool, and show the result.
    #[arg(long)]
    pub(crate) ask: bool,
    #[command(flatten)]
    pub(crate) asked: AskArgs,
}

/// The purpose of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Purpose {
    /// Development and tests.
    Dev,
    /// Production.
    Prod,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only models of families that do well with tools, for development or production, with the reason.
    #[arg(long = "for", value_enum, value_name = "PURPOSE")]
    pub(crate) purpose: Option<Purpose>,
    /// Write a line of JSON for each: {"model", "upstream"[, "reason"]}.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) asked: AskArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Each line is `ok`, `BAD`, `warn` if it works and could be better, or `?` if it is not known.
Fails if a line is BAD."
)]
pub(crate) struct DoctorArgs {
    /// The tools, in any form that `callwright lint --help` names; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// The tool that the model does not call.
    #[arg(long, value_name = "NAME", requires = "tools")]
    pub(crate) tool: Option<String>,
    /// The model, as clients name it [default: the only one that is listed].
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Also send one small request with a tool, and show the result.
    #[arg(long)]
    pub(crate) ask: bool,
    #[command(flatten)]
    pub(crate) asked: AskArgs,
}

/// The agents that can be set up, for messages and completions.
fn agent_names() -> PossibleValuesParser {
    PossibleValuesParser::new(
        agents().iter().map(|agent| PossibleValue::new(&*agent.name).help(&*agent.title)),
    )
}

#[derive(Debug, Args)]
#[command(after_help = "It shows what changes, and asks. All else in a file stays as it is, comments too.
Without --model it takes the default model, or the only one that the gateway or the upstreams list.")]
pub(crate) struct SetupArgs {
    /// The agent.
    #[arg(value_parser = agent_names(), hide_possible_values = true)]
    pub(crate) agent: Option<String>,
    /// Show what would change, and write nothing.
    #[arg(long, requires = "agent")]
    pub(crate) dry_run: bool,
    /// Put back what was there before, if nobody has changed it since.
    #[arg(long, requires = "agent", conflicts_with_all = ["url", "model", "client_key_env", "project"])]
    pub(crate) undo: bool,
    /// Write without asking.
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// The gateway's address [default: where `callwright serve` listens].
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The environment variable with the key that the gateway wants, from `callwright key`.
    #[arg(long, value_name = "NAME")]
    pub(crate) client_key_env: Option<String>,
    /// Write the agent's file for the project in the current folder, not yours.
    #[arg(long, requires = "agent")]
    pub(crate) project: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The gateway is configured as `callwright serve` is, but listens on a port of its own, and logs only with --log-level.
The exit code is the agent's."
)]
pub(crate) struct LaunchArgs {
    /// The agent.
    #[arg(value_parser = agent_names(), hide_possible_values = true)]
    pub(crate) agent: String,
    /// The model [default: the default model, or the only one that the upstreams list].
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// Arguments of the agent, behind `--`.
    #[arg(last = true, value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<OsString>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A configuration file in the current folder is not read until you accept it: it can send keys to \
                  any host.\nYou accept the file as it is now. When it changes, it is left out again."
)]
pub(crate) struct TrustArgs {
    /// The file.
    #[arg(default_value = "callwright.toml")]
    pub(crate) file: PathBuf,
    /// Withdraw the acceptance.
    #[arg(long)]
    pub(crate) forget: bool,
}
