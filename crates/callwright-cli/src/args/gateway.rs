//! Commands around the gateway: serve, look at upstreams, accept a configuration.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::configuration::{ConfigArgs, Flags, ListenArgs, LogArgs, RequestArgs, StoreArgs, UpstreamArgs};

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
    pub(crate) upstream: UpstreamArgs,
    #[command(flatten)]
    pub(crate) requests: RequestArgs,
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

impl ServeArgs {
    pub(crate) fn flags(&self) -> Flags<'_> {
        Flags {
            config: Some(&self.config),
            upstream: Some(&self.upstream),
            requests: Some(&self.requests),
            listen: Some(&self.listen),
            log: Some(&self.log),
            store: Some(&self.store),
        }
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
