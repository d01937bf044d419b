//! Commands that read texts and tool definitions, and ask nobody.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use callwright::{CallsInReasoning, Policy, ToolChoice};
use clap::{Args, ValueEnum};

use crate::chunks::Chunks;

/// The finish reasons of servers: OpenAI's five, Anthropic's, and variants that some servers write. With --jsonl a line may say anything.
const FINISH_REASONS: [&str; 13] = [
    "stop",
    "length",
    "tool_calls",
    "function_call",
    "content_filter",
    "end_turn",
    "tool_use",
    "stop_sequence",
    "max_tokens",
    "model_length",
    "insufficient_system_resource",
    "abort",
    "error",
];

#[derive(Debug, Args)]
#[command(after_help = "With --jsonl each line is an object
  {\"id\", \"text\", \"tools\"[, \"tool_calls\"][, \"finish_reason\"][, \"reasoning\"][, \"start\"][, \"native\"]
   [, \"asked\"][, \"tool_choice\"]}
and is answered, in order, by one flushed line
  {\"id\", \"calls\": [{\"name\", \"arguments\", …}], \"text\", \"repairs\", …, \"us\"}
which has an \"error\" if there are only refusals, or if the line cannot be used.
\"native\" and \"asked\" are as --native and --asked, which hold for lines that have neither; \"tool_choice\" is a \
request's. A line with \"tool_calls\" \
is native.
\"us\" are the microseconds of the reading alone. Unknown fields are ignored.
Without --json and --jsonl a drawing shows the repairs. If standard output is not a terminal, the drawing goes to \
standard error, and standard output gets the JSON of --json.
Places (\"at\", \"span\") are pairs of byte offsets; the end is exclusive.")]
pub(crate) struct ParseArgs {
    /// The model's answer; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// The tools, in any form that `callwright lint --help` names. Without them, what looks like a call is shown. With
    /// --jsonl: the tools for lines that have none.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// Why the model stopped, according to its server.
    #[arg(long, value_name = "REASON", value_parser = FINISH_REASONS, conflicts_with = "jsonl")]
    pub(crate) finish_reason: Option<String>,
    /// The place where the answer begins.
    #[arg(long, value_enum, default_value = "text", conflicts_with = "jsonl")]
    pub(crate) start: Start,
    /// Read this dialect only; `callwright dialects` lists them.
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// The dialect that the prompt asked for. A call in another one, between words, is then unsure.
    #[arg(long, value_name = "NAME", conflicts_with = "native")]
    pub(crate) asked: Option<String>,
    /// The model had its tools natively: a call between words is then text.
    #[arg(long)]
    pub(crate) native: bool,
    /// The `tool_choice` of the request: `auto`, `required`, `none`, or the name of one. A call
    /// without a name counts if this leaves one tool.
    #[arg(long, value_name = "CHOICE", default_value = "auto", value_parser = tool_choice)]
    pub(crate) tool_choice: ToolChoice,
    /// A configuration file with further `[[dialect]]` tables.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The policy for a call that is not valid as written: `auto`, `heal`, `feedback`, `strict`.
    #[arg(long, value_name = "POLICY", default_value = "auto", value_parser = policy)]
    pub(crate) policy: Policy,
    /// The treatment of marked calls in the model's reasoning: `ignore`; `unclosed`, which takes the last call of reasoning that
    /// never ends; `accept`.
    #[arg(long, value_name = "WHICH", default_value = "unclosed", value_parser = calls_in_reasoning)]
    pub(crate) calls_in_reasoning: CallsInReasoning,
    /// Feed the answer in pieces: of N bytes, or of random lengths (random:SEED). The outcome is the same.
    #[arg(long, value_name = "N|random:SEED")]
    pub(crate) chunks: Option<Chunks>,
    /// Write only the result, as JSON.
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
\"us\" are the microseconds of the reading alone. Unknown fields are ignored.
The JSON text goes to standard output; the drawing of the repairs to standard error, or to standard output if that \
is a terminal. Places (\"at\") are pairs of byte offsets; the end is exclusive.")]
pub(crate) struct HealArgs {
    /// The text; `-` is standard input.
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
    /// The JSON Schema that the value must fit.
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    pub(crate) schema: Option<PathBuf>,
    /// Why the model stopped, according to its server.
    #[arg(long, value_name = "REASON", value_parser = FINISH_REASONS, conflicts_with = "jsonl")]
    pub(crate) finish_reason: Option<String>,
    /// Write only the result, as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) lines: LinesArgs,
}

/// Many cases in one run.
#[derive(Debug, Args)]
pub(crate) struct LinesArgs {
    /// Read one case per line, and answer each with one line.
    #[arg(long, conflicts_with = "json")]
    pub(crate) jsonl: bool,
    /// The number of lines that are read at once. With 1, each is answered before the next is read.
    #[arg(long, value_name = "N", default_value = "1", requires = "jsonl")]
    pub(crate) jobs: NonZeroUsize,
    /// The longest line, in bytes.
    #[arg(long, value_name = "BYTES", default_value = "67108864", requires = "jsonl")]
    pub(crate) max_line: NonZeroUsize,
}

#[derive(Debug, Args)]
pub(crate) struct DialectsArgs {
    /// The dialect to show, by its name or an alias.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Write JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// A configuration file with further `[[dialect]]` tables.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "With --messages, it writes a JSON object: the members of a request for a server that knows no \
                  tools, {\"messages\": […][, \"response_format\": {…}][, \"grammar\": \"…\"]}."
)]
pub(crate) struct PromptArgs {
    /// The dialect to teach: hermes, qwen3_coder, harmony, json, …
    #[arg(long, value_name = "NAME", required_unless_present = "model")]
    pub(crate) dialect: Option<String>,
    /// A configuration file with further `[[dialect]]` tables.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The dialect of this model.
    #[arg(long, value_name = "NAME", conflicts_with = "dialect")]
    pub(crate) model: Option<String>,
    /// The tools, in any form that `callwright lint --help` names.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: PathBuf,
    /// The conversation: a JSON array of OpenAI messages; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) messages: Option<PathBuf>,
    /// auto, required, none, or the name of the tool that must be called.
    #[arg(long, value_name = "CHOICE", default_value = "auto", value_parser = tool_choice)]
    pub(crate) tool_choice: ToolChoice,
    /// At most one call per answer.
    #[arg(long)]
    pub(crate) no_parallel: bool,
    /// The constraint for the answer.
    #[arg(long, value_enum, value_name = "HOW", requires = "messages")]
    pub(crate) constrain: Option<Constrain>,
    /// The server's template has no system role.
    #[arg(long, requires = "messages")]
    pub(crate) no_system_role: bool,
    /// The server's template requires user and assistant to alternate.
    #[arg(long, requires = "messages")]
    pub(crate) alternate: bool,
    /// The server's template knows the dialect's role for results.
    #[arg(long, requires = "messages")]
    pub(crate) result_role: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Constrain {
    /// A JSON schema, as `response_format`; for the dialect json.
    Schema,
    /// A grammar for llama.cpp; not for the dialect tool_code.
    Grammar,
}

#[derive(Debug, Args)]
pub(crate) struct TemplateArgs {
    /// The template, in Jinja; or a `tokenizer_config.json` with a `response_template` or `response_schema`, or one of these.
    /// `-` is standard input.
    pub(crate) file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// The tools: JSON, the definitions of OpenAI (chat or Responses), Anthropic, MCP or Gemini, as a list, under `tools`,
    /// or one alone; `-` is standard input.
    pub(crate) file: PathBuf,
    /// Print how many tokens each definition costs in every request.
    #[arg(long)]
    pub(crate) cost: bool,
    /// Fail on warnings too.
    #[arg(long)]
    pub(crate) strict: bool,
}

fn policy(name: &str) -> Result<Policy, &'static str> {
    Policy::named(name).ok_or("one of auto, heal, feedback, strict")
}

fn calls_in_reasoning(name: &str) -> Result<CallsInReasoning, &'static str> {
    CallsInReasoning::named(name).ok_or("one of ignore, unclosed, accept")
}

fn tool_choice(word: &str) -> Result<ToolChoice, std::convert::Infallible> {
    let known = ToolChoice::from_value(&callwright::value::Value::from(word));
    Ok(known.unwrap_or_else(|| ToolChoice::Named(word.to_owned())))
}
