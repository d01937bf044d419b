//! Commands of the agent: a run, a talk, its tools, MCP.

use std::path::PathBuf;

use callwright_json::Class;
use clap::{Args, Subcommand, ValueEnum};

use super::configuration::{ConfigArgs, GatewayArgs};
use super::given::Given;

/// The rights of an agent, and its workspace.
#[derive(Debug, Default, Args)]
pub(crate) struct AgentArgs {
    /// The folder that tools may reach [default: the current one].
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Run calls that read, and calls that write in the workspace, without asking.
    #[arg(long)]
    pub(crate) yes: bool,
    /// A tool that runs without asking. Repeatable.
    #[arg(long, value_name = "TOOL")]
    pub(crate) allow: Vec<String>,
    /// A tool that never runs. Repeatable.
    #[arg(long, value_name = "TOOL")]
    pub(crate) deny: Vec<String>,
    /// Run a repaired call like one that was right as written, up to this class of repairs, and ask about all others
    /// [default: by what the tool may do].
    #[arg(long, value_enum, value_name = "CLASS")]
    pub(crate) repairs: Option<Repairs>,
    /// A folder that commands may read besides the workspace and the system. Repeatable.
    #[arg(long, value_name = "DIR")]
    pub(crate) read: Vec<PathBuf>,
    /// Let commands reach the network.
    #[arg(long)]
    pub(crate) network: bool,
    #[command(flatten)]
    pub(crate) gateway: GatewayArgs,
    /// All that was given.
    #[arg(skip)]
    pub(crate) given: Given,
}

/// The most that a repair may change, in the words of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Repairs {
    /// R0: nothing.
    Exact,
    /// R1: wrapping, punctuation and spelling; keys and values are the model's own.
    Spelling,
    /// R2: something was added or removed, in the only way there is.
    Inferred,
}

impl Repairs {
    pub(crate) fn class(self) -> Class {
        match self {
            Repairs::Exact => Class::Exact,
            Repairs::Spelling => Class::Lossless,
            Repairs::Inferred => Class::Inferred,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "A run file says what to do, with which tools: see docs/agent.md.
Ctrl-C once ends the turn and writes it down; twice stops at once.
With --output json each event is a line: {\"event\": \"call_finished\", …}; the last one is `ended` or `blocked`.")]
pub(crate) struct RunArgs {
    /// A run file (.toml, .json), or the task itself.
    #[arg(value_name = "FILE|TASK", required_unless_present_any = ["resume", "input"])]
    pub(crate) what: Option<String>,
    /// Values for the task: JSON, or the path of a JSON file.
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) input: Option<String>,
    /// The name of the session [default: a new one].
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Continue the run of this name. A call that has a result does not run again.
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) resume: Option<String>,
    /// The model [default: that of the run file, `default_model`, or the only one that the upstream lists].
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The maximum number of turns.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// The form of the output.
    #[arg(long, value_enum, value_name = "FORM", default_value = "text")]
    pub(crate) output: OutputForm,
    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

/// The form in which a run is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputForm {
    /// For a person.
    Text,
    /// A line of JSON for each event.
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// Print the definitions as they are sent with each request.
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
    after_help = "A call that changes something asks, and shows every byte that would run. Without a terminal it \
                  reads plain lines and writes plain text. Ctrl-C once stops what runs; twice ends at once."
)]
pub(crate) struct ChatArgs {
    /// The model [default: `default_model`, or the only one that the upstream lists].
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Show each call and its result in full.
    #[arg(long)]
    pub(crate) verbose: bool,
    /// Show each answer of the model as it came, with known keys masked.
    #[arg(long)]
    pub(crate) debug_raw: bool,
    /// The maximum number of turns before it is your turn.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_turns: Option<u32>,
    /// The name of the session [default: a new one].
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Continue a session.
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
    /// List the tools of the configured servers: what each may do, and whether it is as pinned.
    List(ConfigArgs),
    /// Call one tool, with arguments that are read and repaired like a model's.
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
    /// Run it even if the arguments were repaired and the tool can change anything.
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
