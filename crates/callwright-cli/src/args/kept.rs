//! Commands that look at what is kept.

use std::net::SocketAddr;
use std::path::PathBuf;

use callwright_relay::TurnEnd;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::configuration::{ConfigArgs, Flags, StoreArgs};

/// Where it is kept.
#[derive(Debug, Default, Args)]
pub(crate) struct KeptArgs {
    #[command(flatten)]
    pub(crate) store: StoreArgs,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

impl KeptArgs {
    pub(crate) fn flags(&self) -> Flags<'_> {
        Flags { config: Some(&self.config), store: Some(&self.store), ..Flags::default() }
    }
}

#[derive(Debug, Args)]
pub(crate) struct StatisticsArgs {
    /// Only what happened since then.
    #[arg(long, value_enum, value_name = "TIME", default_value = "all")]
    pub(crate) last: Last,
    /// Write all of it as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

/// A time that ends now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Last {
    Hour,
    Day,
    Week,
    All,
}

#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    /// Only where a turn ended like this.
    #[arg(long, value_name = "OUTCOME", value_parser = PossibleValuesParser::new(TurnEnd::ALL.map(TurnEnd::name)))]
    pub(crate) outcome: Option<String>,
    /// Only where this model was asked for.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only where the tools reached it like this.
    #[arg(long, value_name = "MODE", value_parser = ["native", "prompt"])]
    pub(crate) mode: Option<String>,
    /// Only where calls were written in this dialect.
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// Only where this was wrong: truncated, invalid, drop-comma, …
    #[arg(long, value_name = "KIND")]
    pub(crate) error: Option<String>,
    /// Only where all of these words were said.
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "N", default_value = "50")]
    pub(crate) limit: usize,
    /// Write a line of JSON for each.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session, as `callwright sessions` names it.
    pub(crate) id: String,
    /// Write all of it as JSON, in the form of a dump.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The dump; `-` is standard input.
    pub(crate) file: PathBuf,
    /// Write it as JSON again, in the form of this version.
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve it as a page instead, at this address of loopback; port 0 takes any that is free.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "json")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
#[command(after_help = "sft: a line for each request whose calls were put right,
  {\"messages\": […, {\"role\": \"assistant\", \"content\", \"tool_calls\"}], \"tools\": […]}
jsonl: a line for each session, in the form of a dump.")]
pub(crate) struct ExportArgs {
    /// What to write.
    #[arg(value_enum)]
    pub(crate) form: ExportForm,
    /// Only where this model was asked for.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only where all of these words were said.
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Conversations with the calls as they should have been, to train a model on.
    Sft,
    /// All that is kept.
    Jsonl,
}
