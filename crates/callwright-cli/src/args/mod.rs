//! The commands of the command line and their flags.

mod gateway;
mod agent;
mod kept;
mod text;
mod developer;
mod configuration;
mod given;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use agent::{
    AgentArgs, ChatArgs, McpArgs, McpCallArgs, McpWhat, OutputForm, Repairs, RunArgs, ToolsArgs,
};
pub(crate) use configuration::{ConfigArgs, Flags, UpstreamArgs};
use given::Given;
pub(crate) use given::word;

pub(crate) use developer::{BenchArgs, BenchWhat, DefectsArgs, GainArgs, ReplayArgs};
pub(crate) use gateway::{
    CapsArgs, DoctorArgs, LaunchArgs, ModelsArgs, Purpose, ServeArgs, SetupArgs, TrustArgs,
};
pub(crate) use kept::{
    ExportArgs, ExportForm, KeptArgs, Last, SessionsArgs, ShowArgs, StatisticsArgs, ViewArgs,
};
pub(crate) use text::{
    Constrain, DialectsArgs, HealArgs, LinesArgs, LintArgs, ParseArgs, PromptArgs, Start, TemplateArgs,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  a call was refused, a text could not be repaired, or a check failed:
     lint, doctor, caps, serve --check
  2  wrong usage
  3  something could not be read, written, reached or listened on
  4  the input is not UTF-8
  5  the tool definitions, the schema or the script cannot be used
  6  with --jsonl: at least one line could not be used; the others were answered
  7  the input is too long
  8  the configuration cannot be used
  9  run: it reached a limit of turns, tokens, time or money
 10  run: it is blocked; somebody has to approve a call, or the model cannot be reached
130  run: it was cancelled";

/// Finds the tool calls in what a model wrote, and repairs JSON that has exactly one reading.
#[derive(Debug, Parser)]
#[command(name = "callwright", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// When to use colour.
    // Of a command's own options the last, behind those that are why somebody reads its help.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN", display_order = 998)]
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

/// The commands by what they are for, in the order in which help lists them.
const GROUPS: [(&str, &[&str]); 7] = [
    ("Gateway", &["serve", "doctor", "caps", "models", "key", "trust", "health"]),
    ("Other agents", &["setup", "launch"]),
    ("Agent", &["run", "chat", "tools", "mcp"]),
    ("Sessions", &["sessions", "show", "statistics", "export", "view"]),
    ("Texts and tools", &["parse", "heal", "lint", "prompt", "dialects", "template"]),
    ("Try and measure", &["demo", "replay", "bench"]),
    ("Set up a shell", &["completions", "man"]),
];

impl Cli {
    /// Reads the command line. Wrong usage, and help, end the process here.
    pub(crate) fn read() -> Cli {
        let mut command = Cli::command();
        let template = help_template(&command);
        command = command.help_template(template);
        let matches = command.clone().get_matches();
        let mut cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        let agent = match &mut cli.command {
            Command::Run(args) => Some(&mut args.agent),
            Command::Chat(args) => Some(&mut args.agent),
            _ => None,
        };
        if let Some((agent, (name, matches))) = agent.zip(matches.subcommand())
            && let Some(command) = command.find_subcommand(name)
        {
            agent.given = Given::of(command, matches);
        }
        cli
    }
}

/// Help with the commands in their groups.
fn help_template(command: &clap::Command) -> String {
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        template.push_str(&format!("\n{title}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            template.push_str(&format!("  {name:11}  {}\n", about.cloned().unwrap_or_default()));
        }
    }
    template + "\nOptions:\n{options}\n\nHelp of a command: callwright COMMAND --help{after-help}\n"
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the OpenAI API in front of any upstream.
    Serve(ServeArgs),
    /// Have another agent speak to the gateway: Claude Code, codex, opencode, and more. Without one, list them.
    Setup(SetupArgs),
    /// Run another agent with a gateway of its own. No file of yours changes.
    Launch(LaunchArgs),
    /// Give a model a task and tools, until the task is done.
    Run(RunArgs),
    /// Show what a model can do at its upstreams, and who said so.
    Caps(CapsArgs),
    /// List the models of the upstreams.
    Models(ModelsArgs),
    /// Check the set-up: upstreams, keys, models, tools; find out why a tool is not called, or called wrongly.
    Doctor(DoctorArgs),
    /// Accept a configuration file in the current folder, as it is now.
    Trust(TrustArgs),
    /// Make a key for a client of the gateway.
    Key,
    /// Ask a running gateway whether it is alive.
    Health {
        /// The address that the gateway listens on.
        #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:4000")]
        address: SocketAddr,
    },
    /// Find the tool calls in a model's answer.
    Parse(ParseArgs),
    /// Turn one broken JSON text into strict JSON.
    Heal(HealArgs),
    /// List the dialects that calls are read in, or show one.
    Dialects(DialectsArgs),
    /// Print the prompt that teaches tools to a model without native tool calls.
    Prompt(PromptArgs),
    /// Check tool definitions, and count their tokens.
    Lint(LintArgs),
    /// Infer a model's dialect from its chat template, and prove it.
    Template(TemplateArgs),
    /// List the agent's tools: its own, and those of the configured MCP servers.
    Tools(ToolsArgs),
    /// Work with a model and tools at the terminal.
    Chat(ChatArgs),
    /// Run an MCP server on standard input and output, or manage the configured ones.
    Mcp(McpArgs),
    /// See what repair gains on your model, or on recorded answers.
    Bench(BenchArgs),
    /// Run a scripted mock upstream, and record requests.
    Replay(ReplayArgs),
    /// List the kept sessions.
    Sessions(SessionsArgs),
    /// Count calls by model and outcome, errors that came again, and errors that the model fixed.
    Statistics(StatisticsArgs),
    /// Show a session: what the model wrote, and each repair.
    Show(ShowArgs),
    /// Show a dump of a session.
    View(ViewArgs),
    /// Write sessions for other programs.
    Export(ExportArgs),
    /// Show what Callwright does, on built-in examples.
    Demo {
        /// Show every example.
        #[arg(long)]
        all: bool,
    },
    /// Print a script that completes commands and flags in a shell.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Write a manual page for each command.
    Man {
        /// The folder for the pages. It must exist.
        folder: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_listed_once() {
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let command = Cli::command();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }
}
