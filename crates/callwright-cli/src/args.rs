//! What can be asked of the command line.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use callwright::{CallsInReasoning, Policy, ToolChoice};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

use crate::chunks::Chunks;
use crate::failure::Failure;

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a call was refused, a text could not be healed, or lint or doctor warns
  2  wrong usage
  3  something could not be read or written, or an address not listened on
  4  the input is not UTF-8
  5  the tool definitions, the schema or the script cannot be used
  6  with --jsonl: at least one line could not be used; the others were answered
  7  the input is too long
  8  the configuration cannot be used
  9  run: a limit was reached, of turns, tokens, time or money
 10  run: it is blocked; somebody has to approve a call, or the model cannot be reached
130  run: it was cancelled";

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
    /// Serve the OpenAI API in front of any upstream.
    Serve(ServeArgs),
    /// Have a model do a task with tools, to its end.
    Run(RunArgs),
    /// Say what a model can do at its upstreams, and who says so.
    Caps(CapsArgs),
    /// Name models to begin with, and why.
    Models(ModelsArgs),
    /// Find out why a tool is not called, or called wrongly.
    Doctor(DoctorArgs),
    /// Make a key for a client of the gateway.
    Key,
    /// Find the tool calls in a model's answer.
    Parse(ParseArgs),
    /// Turn one broken JSON text into strict JSON.
    Heal(HealArgs),
    /// List the dialects that calls are read in, or show one of them whole.
    Dialects(DialectsArgs),
    /// Print the prompt that teaches tools to a model that has no native tool calls.
    Prompt(PromptArgs),
    /// Judge tool definitions, and count their tokens.
    Lint(LintArgs),
    /// Say what a model's chat template tells: its dialect, proved, and the turns that it takes.
    Template(TemplateArgs),
    /// List the tools that the agent has: its own, and those of the configured MCP servers.
    Tools(ToolsArgs),
    /// Talk with a model that has tools, at the terminal.
    Chat(ChatArgs),
    /// Be an MCP server on standard input and output, or look after the configured ones.
    Mcp(McpArgs),
    /// Measure on recorded answers.
    Bench(BenchArgs),
    /// Be an upstream without a model: answer from a script, record what is asked.
    Replay(ReplayArgs),
    /// List what is kept of past requests, session by session.
    Sessions(SessionsArgs),
    /// Count what became of calls: by model, what errors came again, and which were put right.
    Statistics(StatisticsArgs),
    /// Show a session: what the model wrote, and what was done to it.
    Show(ShowArgs),
    /// Show a dump of a session, from this machine or another one.
    View(ViewArgs),
    /// Write what is kept for other programs.
    Export(ExportArgs),
    /// Show what Callwright does, on built-in examples.
    Demo {
        /// Every example.
        #[arg(long)]
        all: bool,
    },
}

/// What is configured, for every command that asks an upstream. Flags come before the environment, which
/// comes before the file.
#[derive(Debug, Default, Args)]
pub(crate) struct ConfigArgs {
    /// The configuration file; callwright.toml in the current directory where none is named.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// An upstream: the URL before `/chat/completions`. May be given several times.
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: Vec<String>,
    /// The environment variable that holds the key of --upstream.
    #[arg(long, value_name = "NAME", requires = "upstream")]
    pub(crate) upstream_key_env: Option<String>,
    /// The model of requests that name none.
    #[arg(long, value_name = "MODEL")]
    pub(crate) default_model: Option<String>,
    /// What may be done about a call that is not right as it was written: auto, heal, feedback, strict.
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: Option<String>,
    /// Where to listen; port 0 takes any that is free.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: Option<String>,
    /// Listen on other addresses than loopback although no keys are configured.
    #[arg(long)]
    pub(crate) allow_open: bool,
    /// The hash of a client's key, as `callwright key` prints it. May be given several times.
    #[arg(long, value_name = "SHA256")]
    pub(crate) key_hash: Vec<String>,
    /// How log lines look: text or json.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) log_format: Option<String>,
    /// The least level of log lines, also by target: info, debug, warn,callwright_relay=debug.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) log_level: Option<String>,
    /// Where traces are sent, by OTLP over HTTP: http://127.0.0.1:4318.
    #[arg(long, value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
    /// Where requests are kept: a file, postgres://…, or off.
    #[arg(long, value_name = "PATH|URL|off")]
    pub(crate) store: Option<String>,
    /// Any other single value of the configuration: --set server.workers=2. May be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

impl ConfigArgs {
    /// The single values that flags set: key, value, flag.
    ///
    /// # Errors
    /// A `--set` without `=`.
    pub(crate) fn overrides(&self) -> Result<Vec<(&str, &str, String)>, Failure> {
        let mut overrides = Vec::new();
        for set in &self.set {
            let (key, value) = set
                .split_once('=')
                .ok_or_else(|| Failure::Config(format!("--set {set}: not of the form KEY=VALUE")))?;
            overrides.push((key.trim(), value.trim(), format!("--set {}", key.trim())));
        }
        let flags = [
            ("default_model", &self.default_model, "--default-model"),
            ("policy", &self.policy, "--policy"),
            ("listen", &self.listen, "--listen"),
            ("log.format", &self.log_format, "--log-format"),
            ("log.level", &self.log_level, "--log-level"),
            ("traces.otlp_endpoint", &self.otlp_endpoint, "--otlp-endpoint"),
            ("store.at", &self.store, "--store"),
        ];
        for (key, value, flag) in flags {
            overrides.extend(value.as_deref().map(|value| (key, value, flag.to_owned())));
        }
        if self.allow_open {
            overrides.push(("allow_open", "true", "--allow-open".to_owned()));
        }
        Ok(overrides)
    }
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without an upstream it looks for a local server (llama.cpp, Ollama, vLLM, LM Studio), then for
OPENROUTER_API_KEY, and says what it chose; with neither it answers from a built-in script.
Once it is ready, the first line of its output is: listening on http://HOST:PORT"
)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
    /// Validate the configuration, print what was found, and end.
    #[arg(long)]
    pub(crate) check: bool,
}

/// What an agent may do, and where.
#[derive(Debug, Default, Args)]
pub(crate) struct AgentArgs {
    /// The folder that tools may reach; the current one where none is named.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Run without a question what reads, and what writes in the workspace.
    #[arg(long)]
    pub(crate) yes: bool,
    /// A tool that runs without a question. May be given several times.
    #[arg(long, value_name = "TOOL")]
    pub(crate) allow: Vec<String>,
    /// A tool that never runs. May be given several times.
    #[arg(long, value_name = "TOOL")]
    pub(crate) deny: Vec<String>,
    /// Let commands reach the network.
    #[arg(long)]
    pub(crate) network: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "A run file says what to do, with which tools: see docs/agent.md.
Ctrl-C once ends the turn and writes it down; twice stops at once.
With --output json each event is a line: {\"event\": \"call_finished\", …}; the last one is `ended` or `blocked`.")]
pub(crate) struct RunArgs {
    /// A run file (.toml, .json), or the task itself.
    #[arg(value_name = "FILE|TASK", required_unless_present_any = ["resume", "input"])]
    pub(crate) what: Option<String>,
    /// What goes into the task: JSON, or the path of a file that holds it.
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) input: Option<String>,
    /// What the run is called where it is kept; made up where it is not said.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Go on with the run of this name, where it stood: what it has done is not done again.
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) resume: Option<String>,
    /// The model; that of the run file, or the default one, where none is named.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How often the model is asked at most.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// How the run is told.
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub(crate) output: OutputForm,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// How a run is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputForm {
    /// For a person.
    Text,
    /// A line of JSON for each event.
    Json,
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
    pub(crate) config: ConfigArgs,
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
    /// Only where a turn ended like this: passed, healed, corrected, refused, breaker, …
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// Only where this model was asked for.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Only where the tools reached it like this: native, prompt.
    #[arg(long, value_name = "MODE")]
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
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The session, as `callwright sessions` names it.
    pub(crate) id: String,
    /// Write all of it as JSON, in the form of a dump.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
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
    pub(crate) config: ConfigArgs,
}

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Conversations with the calls as they should have been, to train a model on.
    Sft,
    /// All that is kept.
    Jsonl,
}

#[derive(Debug, Args)]
pub(crate) struct CapsArgs {
    /// The model, as clients name it.
    pub(crate) model: String,
    /// Forget what is known, and ask the upstreams anew.
    #[arg(long)]
    pub(crate) refresh: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// Only those for development, or for production.
    #[arg(long = "for", value_enum, value_name = "PURPOSE")]
    pub(crate) purpose: Option<Purpose>,
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
pub(crate) struct DoctorArgs {
    /// The tools: a JSON array of OpenAI tool definitions; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) tools: Option<PathBuf>,
    /// The tool that is not called.
    #[arg(long, value_name = "NAME", requires = "tools")]
    pub(crate) tool: Option<String>,
    /// The model, as clients name it.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
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
    /// Look for this dialect only, by a name that `callwright dialects` lists.
    #[arg(long, value_name = "NAME")]
    pub(crate) dialect: Option<String>,
    /// The configuration file whose `[[dialect]]` tables are looked for too.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What may be done about a call that is not right as it was written: auto, heal, feedback, strict.
    #[arg(long, value_name = "POLICY", default_value = "auto", value_parser = policy)]
    pub(crate) policy: Policy,
    /// What becomes of a marked call in the model's reasoning: ignore, unclosed (the reasoning never ends, and the
    /// call is the last thing in it), accept.
    #[arg(long, value_name = "WHICH", default_value = "unclosed", value_parser = calls_in_reasoning)]
    pub(crate) calls_in_reasoning: CallsInReasoning,
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
pub(crate) struct DialectsArgs {
    /// The one to show, by its name or an alias.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Write JSON instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    /// The configuration file whose `[[dialect]]` tables are listed too.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "With --messages, a JSON object is written: the members of a request for a server that knows no
tools, {\"messages\": […][, \"response_format\": {…}][, \"grammar\": \"…\"]}."
)]
pub(crate) struct PromptArgs {
    /// The dialect in which the model is to call, by its name: hermes, qwen3_coder, harmony, json, …
    #[arg(long, value_name = "NAME", required_unless_present = "model")]
    pub(crate) dialect: Option<String>,
    /// The configuration file whose dialects may be spoken too.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Take the dialect that is best known for this model.
    #[arg(long, value_name = "NAME", conflicts_with = "dialect")]
    pub(crate) model: Option<String>,
    /// The tools: a JSON array of OpenAI tool definitions.
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
    /// What the server holds the answer to.
    #[arg(long, value_enum, value_name = "HOW", requires = "messages")]
    pub(crate) constrain: Option<Constrain>,
    /// The server's template has no system role.
    #[arg(long, requires = "messages")]
    pub(crate) no_system_role: bool,
    /// The server's template wants user and assistant to alternate.
    #[arg(long, requires = "messages")]
    pub(crate) alternate: bool,
    /// The server's template knows the role in which the dialect has results.
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
    /// The tools: a JSON array of OpenAI tool definitions; `-` is standard input.
    pub(crate) file: PathBuf,
    /// Print how many tokens each definition costs in every request.
    #[arg(long)]
    pub(crate) cost: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Print the definitions exactly as they go with each request.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print how many tokens each definition costs in every request.
    #[arg(long, conflicts_with = "json")]
    pub(crate) cost: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What changes something is asked for, with every byte that would run. Without a terminal it reads plain lines
and writes plain text. Ctrl-C once ends what the model does, twice at once."
)]
pub(crate) struct ChatArgs {
    /// The model.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Show each call and its result in full.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Show each answer of the model as it came, with known keys masked.
    #[arg(long)]
    pub(crate) debug_raw: bool,
    /// How often the model may answer before the user is back.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// What the session is called where it is kept; made up where it is not said.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Go on with a session that is kept.
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "As a server it has two tools, and writes nothing but its messages to standard output:
  repair_tool_call  text and tools, or text and a schema: the calls with their repairs, or why not
  diagnose          text, and a schema if there is one: what is wrong, where, and what to do"
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    pub(crate) what: Option<McpWhat>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpWhat {
    /// List the tools of the configured servers: what each may do, and whether it is what was pinned.
    List(ConfigArgs),
    /// Call one tool, with arguments that are read and mended like a model's.
    Call(McpCallArgs),
    /// Accept a server as it is configured now, and its tools as it defines them now.
    Accept(McpAcceptArgs),
}

#[derive(Debug, Args)]
pub(crate) struct McpCallArgs {
    /// The tool, as `mcp list` names it.
    pub(crate) tool: String,
    /// Its arguments.
    #[arg(default_value = "{}")]
    pub(crate) arguments: String,
    /// Run it also where the arguments had to be mended and the tool can change anything.
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct McpAcceptArgs {
    /// The server, as the configuration names it.
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: BenchWhat,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchWhat {
    /// How many answers hold a call that is not right as it was written, and how many still do after healing.
    #[command(
        after_help = "A line is that of `callwright parse --jsonl`, and may say which model wrote it, and which calls are right:
  {\"model\", \"text\", \"tools\"[, \"tool_calls\"][, \"finish_reason\"][, \"expected\": [{\"name\", \"arguments\"}]]}
What stands around a call, prose or a fence, is no defect of it."
    )]
    Defects(DefectsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DefectsArgs {
    /// The answers, one JSON object a line; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The tools of lines that declare none: a JSON array of OpenAI tool definitions.
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
    /// Where to listen; with port 0 the system chooses.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// What to answer; the built-in script where there is none.
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Append each request to this file, as one line of JSON. Keys are left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

fn policy(name: &str) -> Result<Policy, &'static str> {
    Policy::named(name).ok_or("one of auto, heal, feedback, strict")
}

fn calls_in_reasoning(name: &str) -> Result<CallsInReasoning, &'static str> {
    CallsInReasoning::named(name).ok_or("one of ignore, unclosed, accept")
}

fn tool_choice(word: &str) -> Result<ToolChoice, std::convert::Infallible> {
    let known = ToolChoice::from_value(&serde_json::Value::from(word));
    Ok(known.unwrap_or_else(|| ToolChoice::Named(word.to_owned())))
}
