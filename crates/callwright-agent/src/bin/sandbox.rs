//! Runs the keeper of one command as a separate program, for embedders of the agent that have no command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    callwright_agent::keep(std::env::args_os().skip(1))
}
