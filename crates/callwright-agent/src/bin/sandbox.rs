//! The keeper of one command as a program of its own, for whoever embeds the agent without the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    callwright_agent::keep(std::env::args_os().skip(1))
}
