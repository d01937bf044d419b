//! What is measured: how many texts are read right, what a call costs, what the gateway and the store cost, and what other
//! libraries do.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod cost;
mod figure;
mod flags;
mod gateway;
mod peers;
#[cfg(test)]
mod published;
mod running;
mod score;
mod servers;
mod store;
mod workload;

use std::process::ExitCode;

use flags::{Keeps, Measure, MeasureCmd};
use gateway::Options;

fn main() -> ExitCode {
    let done = match Measure::from_env_or_exit().subcommand {
        MeasureCmd::Gateway(flags) => gateway::gateway(&Options {
            gate: flags.gate,
            rounds: flags.rounds.unwrap_or(5).max(1),
            seconds: flags.seconds.unwrap_or(1.5),
            only: flags.only.unwrap_or_default(),
            ours: flags.ours,
            keeps: flags.store.is_none_or(|keeps| keeps == Keeps::On),
        }),
        MeasureCmd::Store(flags) => store::store(flags.nodes.unwrap_or(1_000_000), flags.gate),
        MeasureCmd::Peers(flags) => peers::peers(flags.built),
        MeasureCmd::Cost(_) => cost::cost(),
        MeasureCmd::Score(flags) => score::score(&flags.dir),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measure: {error:#}");
            ExitCode::FAILURE
        }
    }
}
