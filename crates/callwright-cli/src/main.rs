//! The binary `callwright`: the only reader of arguments, environment and files, and the only
//! printer.
//!
//! Each command is a module with a `run`; `door` holds the calls into the engine.

mod agent;
mod args;
mod bench;
mod caps;
mod chat;
mod checkup;
mod chunks;
mod config;
mod demo;
mod dialects;
mod discover;
mod doctor;
mod door;
mod draw;
mod failure;
mod harmless;
mod heal;
mod health;
mod input;
mod jsonl;
mod kept;
mod key;
mod launch;
mod lint;
mod mcp;
mod models;
mod output;
mod parse;
mod prompt;
mod replay;
mod run;
mod runtime;
mod serve;
mod setup;
mod sft;
mod shell;
mod statistics;
mod template;
mod tools;
mod trust;
mod view;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::agent::KEEPER;
use crate::args::{Cli, Color, Command};
use crate::draw::Pen;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|word| word == KEEPER) {
        return callwright_agent::keep(arguments);
    }
    let cli = Cli::read();
    // Drawings go to standard error where standard output is no terminal.
    let is_drawn_on_terminal = io::stdout().is_terminal() || io::stderr().is_terminal();
    let pen = Pen::new(in_color(cli.color, is_drawn_on_terminal));
    let done = match &cli.command {
        Command::Serve(args) => serve::run(args),
        Command::Setup(args) => setup::run(args, in_color(cli.color, io::stdout().is_terminal())),
        Command::Launch(args) => launch::run(args),
        Command::Run(args) => run::run(args, in_color(cli.color, io::stdout().is_terminal())),
        Command::Caps(args) => caps::run(args),
        Command::Models(args) => models::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Trust(args) => trust::run(args),
        Command::Key => key::run(),
        Command::Health { address } => health::run(*address),
        Command::Dialects(args) => dialects::run(args),
        Command::Parse(args) => parse::run(args, pen),
        Command::Heal(args) => heal::run(args, pen),
        Command::Prompt(args) => prompt::run(args),
        Command::Lint(args) => lint::run(args),
        Command::Template(args) => template::run(args),
        Command::Tools(args) => tools::run(args),
        Command::Chat(args) => chat::run(args, in_color(cli.color, io::stdout().is_terminal())),
        Command::Mcp(args) => mcp::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Demo { all } => demo::run(*all, pen),
        Command::Completions { shell } => shell::completions(*shell),
        Command::Man { folder } => shell::manual(folder),
        Command::Sessions(args) => kept::sessions(args),
        Command::Statistics(args) => statistics::run(args),
        Command::Show(args) => kept::show(args, pen),
        Command::View(args) => kept::view(args, pen),
        Command::Export(args) => kept::export(args),
    };
    let Err(failure) = done else { return ExitCode::SUCCESS };
    if failure.is_quiet() {
        return ExitCode::from(failure.code());
    }
    // Nothing is left to be done where even this cannot be said.
    let _ = writeln!(io::stderr(), "callwright: {}", harmless::harmless(&failure.to_string()));
    ExitCode::from(failure.code())
}

/// `NO_COLOR` and a terminal that says it is dumb are believed unless the user asks for colour by name.
fn in_color(color: Color, is_terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && !set("NO_COLOR") && !dumb,
    }
}
