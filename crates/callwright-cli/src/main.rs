//! The binary `callwright`: the only reader of arguments, environment and files, and the only
//! printer.
//!
//! Each command is a module with a `run`; `door` holds the calls into the engine.

mod args;
mod caps;
mod chunks;
mod compiled;
mod config;
mod demo;
mod discover;
mod doctor;
mod door;
mod draw;
mod failure;
mod harmless;
mod heal;
mod input;
mod jsonl;
mod key;
mod lint;
mod models;
mod parse;
mod prompt;
mod replay;
mod serve;
mod view;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Color, Command};
use crate::draw::Pen;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let pen = Pen::new(in_color(cli.color));
    let done = match &cli.command {
        Command::Serve(args) => serve::run(args),
        Command::Caps(args) => caps::run(args),
        Command::Models(args) => models::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Key => key::run(),
        Command::Parse(args) => parse::run(args, pen),
        Command::Heal(args) => heal::run(args, pen),
        Command::Prompt(args) => prompt::run(args),
        Command::Lint(args) => lint::run(args),
        Command::Replay(args) => replay::run(args),
        Command::Demo => demo::run(pen),
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
fn in_color(color: Color) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => io::stdout().is_terminal() && !set("NO_COLOR") && !dumb,
    }
}
