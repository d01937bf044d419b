//! Commands around the gateway: serve, look at upstreams, accept a configuration.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;

use super::configuration::{ConfigArgs, Flags, ListenArgs, LogArgs, RequestArgs, StoreArgs, UpstreamArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "Without an upstream it looks for a local server (llama.cpp, Ollama, vLLM, LM Studio), then for
OPENROUTER_API_KEY, and says what it chose; with neither it answers from a built-in script.
Once it is ready, the first line of its output is: listening on http://HOST:PORT"
)]
pub(crate) struct ServeArgs {
    /// Check the set-up and end: print what is configured and where it comes from, ask the upstreams for their models,
    /// open the store. Fails where something would not work.
    #[arg(long)]
    pub(crate) check: bool,
    /// Ask nobody: check only what can be seen from here.
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

/// Whom a command asks that checks upstreams.
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
#[command(after_help = "Fails where no upstream that is asked for the model can be reached.")]
pub(crate) struct CapsArgs {
    /// The model, as clients name it.
    pub(crate) model: String,
    /// Forget what is known, and ask the upstreams anew.
    #[arg(long)]
    pub(crate) refresh: bool,
    /// Also send one small request with a tool, and say what came of it.
    #[arg(long)]
    pub(crate) ask: bool,
    #[command(flatten)]
    pub(crate) asked: AskArgs,
}

/// What a model is to be used for.
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
    /// Only those of families that do well with tools, for development or for production, with the reason.
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
    after_help = "Each line is `ok`, `BAD` with what to do about it, or `?` where it could not be told.
Fails where a line is BAD."
)]
pub(crate) struct DoctorArgs {
    /// The tools, in any of the shapes that `callwright lint --help` names; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// The tool that is not called.
    #[arg(long, value_name = "NAME", requires = "tools")]
    pub(crate) tool: Option<String>,
    /// The model, as clients name it; the only one that is listed, where none is named.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Also send one small request with a tool, and say what came of it.
    #[arg(long)]
    pub(crate) ask: bool,
    #[command(flatten)]
    pub(crate) asked: AskArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A configuration file that nobody named is not read until it is accepted: it can send keys to any host.
What is accepted is this file as it is now: once it changes, it is left out again."
)]
pub(crate) struct TrustArgs {
    /// The file.
    #[arg(default_value = "callwright.toml")]
    pub(crate) file: PathBuf,
    /// Take the acceptance back.
    #[arg(long)]
    pub(crate) forget: bool,
}
