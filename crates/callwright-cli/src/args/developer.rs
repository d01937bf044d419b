//! Commands for whoever measures or tests: recorded answers, and an upstream without a model.

use std::net::SocketAddr;
use std::num::{NonZeroU8, NonZeroU16, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::gateway::AskArgs;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Each question goes to the model twice: as a client without Callwright asks, and as `callwright serve` does for \
                  it. An answer is right if it calls the tool that was asked for, and each call fits its schema as it stands.
A line of --questions: {\"ask\" or \"messages\", \"tools\"[, \"tool\": the one to be called]}"
)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: Option<BenchWhat>,
    #[command(flatten)]
    pub(crate) gain: GainArgs,
}

/// The questions that show what repair gains on a model.
#[derive(Debug, Args)]
pub(crate) struct GainArgs {
    /// The model [default: the default model, or the only one that the upstream lists].
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Your own questions, one JSON object a line; `-` is standard input [default: those that come along].
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: Option<PathBuf>,
    /// The number of questions to ask [default: all].
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<NonZeroU16>,
    /// The number of questions to ask at the same time.
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) parallel: NonZeroU8,
    /// The maximum number of tokens in an answer.
    #[arg(long, value_name = "N", default_value = "512")]
    pub(crate) max_tokens: u32,
    /// Ask an upstream that is not on this machine.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) asked: AskArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    /// Count answers with an invalid call, as written and after repair.
    #[command(
        after_help = "A line is that of `callwright parse --jsonl`, and may say which model wrote it, and which calls are right:
  {\"model\", \"text\", \"tools\"[, \"tool_calls\"][, \"finish_reason\"][, \"expected\": [{\"name\", \"arguments\"}]]}
Prose or a fence around a call is not a defect."
    )]
    Defects(DefectsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DefectsArgs {
    /// The answers, one JSON object a line; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The tools for lines that declare none, in any form that `callwright lint --help` names.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value = "67108864")]
    pub(crate) max_line: NonZeroUsize,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The first line of output is `listening on http://ADDRESS:PORT`; requests go to /v1/chat/completions.
A script is TOML or JSON:
  [[answer]]
  when = { has_tools = true, contains = \"Paris\" }
  tool_calls = [{ name = \"get_weather\", arguments = '{\"city\": \"Paris\",}' }]
  [[answer]]
  when = { last_role = \"tool\" }
  text = \"It is sunny.\"
  fault = { between_ms = 50 }
The first unused answer whose condition holds is given; one with `repeat = true` is never used up."
)]
pub(crate) struct ReplayArgs {
    /// The address to listen on. Port 0 takes any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// The script [default: the built-in one].
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Append each request to this file, as one line of JSON, without keys.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}
