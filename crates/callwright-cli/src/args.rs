//! What can be asked of the command line.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use callwright::Policy;
use callwright::prompt::PromptDialect;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::chunks::Chunks;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a call was refused, a text could not be healed, or lint warns
  2  wrong usage
  3  something could not be read or written
  4  the input is not UTF-8
  5  the tool definitions or the schema cannot be used
  6  with --jsonl: at least one line could not be used; the others were answered
  7  the input is too long";

/// Finds the tool calls in whatever a model wrote, and heals JSON that has exactly one reading.
#[derive(Debug, Parser)]
#[command(name = "callwright", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the tool calls in a model's answer.
    Parse(ParseArgs),
    /// Turn one broken JSON text into strict JSON.
    Heal(HealArgs),
    /// Print the prompt that teaches tools to a model that has no native tool calls.
    Prompt(PromptArgs),
    /// Judge tool definitions, and count their tokens.
    Lint(LintArgs),
    /// Show what Callwright does, on built-in examples.
    Demo,
}

#[derive(Debug, Args)]
#[command(after_help = "With --jsonl each line is an object
  {\"id\", \"text\", \"tools\"[, \"tool_calls\"][, \"finish_reason\"][, \"reasoning\"][, \"start\"]}
and is answered, in order, by one flushed line
  {\"id\", \"calls\": [{\"name\", \"arguments\", …}], \"text\", \"repairs\", …, \"us\"}
which has an \"error\" where only refusals came out, or the line could not be used.
\"us\" are the microseconds of the reading alone. Unknown fields are ignored.")]
pub(crate) struct ParseArgs {
    /// The model's answer; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// The tools: a JSON array of OpenAI tool definitions. With --jsonl: for lines that have none.
    #[arg(long, value_name = "FILE", required_unless_present = "jsonl")]
    pub(crate) tools: Option<PathBuf>,
    /// Why the model stopped, as its server says: stop, length, tool_calls, …
    #[arg(long, value_name = "REASON", conflicts_with = "jsonl")]
    pub(crate) finish_reason: Option<String>,
    /// Where the answer begins.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "jsonl")]
    pub(crate) start: Start,
    /// Look for this dialect only.
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// What may be done about a call that is not right as it was written: auto, heal, feedback, strict.
    #[arg(long, value_name = "POLICY", default_value = "auto", value_parser = policy)]
    pub(crate) policy: Policy,
    /// Feed the answer in pieces: of N bytes, or of random lengths (random:SEED). The outcome is the same.
    #[arg(long, value_name = "N|random:SEED")]
    pub(crate) chunks: Option<Chunks>,
    /// Write JSON instead of a drawing.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lines: LinesArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Start {
    /// With the answer.
    Text,
    /// Inside the reasoning block, which the prompt has opened already.
    Reasoning,
}

#[derive(Debug, Args)]
#[command(after_help = "With --jsonl each line is an object
  {\"id\", \"input\", \"schema\"[, \"finish_reason\"]}
and is answered, in order, by one flushed line
  {\"id\", \"output_text\", \"repairs\", \"us\"}  or  {\"id\", \"error\", \"diagnostics\", \"us\"}.
\"us\" are the microseconds of the reading alone. Unknown fields are ignored.")]
pub(crate) struct HealArgs {
    /// The text; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// The JSON Schema that the value must fit.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    pub(crate) schema: Option<PathBuf>,
    /// Why the model stopped, as its server says: stop, length, …
    #[arg(long, value_name = "REASON", conflicts_with = "jsonl")]
    pub(crate) finish_reason: Option<String>,
    /// Write JSON instead of a drawing.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lines: LinesArgs,
}

/// Many cases in one run.
#[derive(Debug, Args)]
pub(crate) struct LinesArgs {
    /// Read one case per line, answer each with one line.
    #[arg(long, conflicts_with = "json")]
    pub(crate) jsonl: bool,
    /// How many lines are worked on at once. With 1, each is answered before the next is read.
    #[arg(long, value_name = "N", default_value = "1", requires = "jsonl")]
    pub(crate) jobs: NonZeroUsize,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value = "67108864", requires = "jsonl")]
    pub(crate) max_line: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// The dialect in which the model is to call: function-tag, tool_code.
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: PromptDialect,
    /// The tools: a JSON array of OpenAI tool definitions.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// The tools: a JSON array of OpenAI tool definitions; `-` is standard input.
    pub(crate) file: PathBuf,
    /// Print how many tokens each definition costs in every request.
    #[arg(long)]
    pub(crate) cost: bool,
}

fn policy(name: &str) -> Result<Policy, &'static str> {
    Policy::named(name).ok_or("one of auto, heal, feedback, strict")
}
