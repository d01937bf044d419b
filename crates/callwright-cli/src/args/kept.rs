//! Commands that look at what is kept.

use std::net::SocketAddr;
use std::path::PathBuf;

use callwright_relay::{Surface, TurnEnd};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};

use super::configuration::{ConfigArgs, Flags, StoreArgs};

/// The store.
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
    /// Only the last hour, day or week.
    #[arg(long, value_enum, value_name = "TIME", default_value = "all")]
    pub(crate) last: Last,
    /// Write JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

/// The outcomes, with the names that earlier versions gave them.
fn outcomes() -> PossibleValuesParser {
    PossibleValuesParser::new(TurnEnd::ALL.map(|end| {
        let value = PossibleValue::new(end.name());
        match end {
            TurnEnd::Repaired => value.alias("healed"),
            TurnEnd::Retried => value.alias("corrected"),
            TurnEnd::GaveUp => value.alias("breaker"),
            _ => value,
        }
    }))
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
    /// Only sessions with a turn that ended this way.
    #[arg(long, value_name = "OUTCOME", value_parser = outcomes())]
    pub(crate) outcome: Option<String>,
    /// Only sessions with this model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only sessions in which the tools reached the model this way.
    #[arg(long, value_name = "MODE", value_parser = ["native", "prompt"])]
    pub(crate) mode: Option<String>,
    /// Only sessions with calls in this dialect.
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// Only sessions whose client spoke this API.
    #[arg(long, value_name = "API", value_parser = PossibleValuesParser::new(Surface::ALL.map(Surface::name)))]
    pub(crate) surface: Option<String>,
    /// Only sessions with this error: truncated, invalid, drop-comma, …
    #[arg(long, value_name = "KIND")]
    pub(crate) error: Option<String>,
    /// Only sessions in which all of these words occur.
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// The maximum number.
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
    /// Write JSON, in the form of a dump.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// The dump; `-` is standard input.
    pub(crate) file: PathBuf,
    /// Write it as JSON, in the form of this version.
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve it as a page, at this address of loopback. Port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "json")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
#[command(after_help = "sft: a line for each request whose calls were repaired or retried, and all went out,
  {\"messages\": […, {\"role\": \"assistant\", \"content\", \"tool_calls\"}], \"tools\": […]}
jsonl: a line for each session, in the form of a dump.")]
pub(crate) struct ExportArgs {
    /// The form of the export.
    #[arg(value_enum)]
    pub(crate) form: ExportForm,
    /// Only sessions with this model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only sessions in which all of these words occur.
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    #[command(flatten)]
    pub(crate) kept: KeptArgs,
}

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Conversations with valid calls, to train a model on.
    Sft,
    /// Everything that is kept.
    Jsonl,
}
