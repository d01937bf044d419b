//! The end-to-end suite: clients as people install them, against upstreams as people run them, over loopback, with
//! and without the gateway between them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod agent;
mod agents;
mod bench;
mod client;
mod dialects;
mod flags;
mod install;
mod judge;
mod matrix;
mod mcp;
mod page;
mod place;
mod programs;
mod prompts;
mod questions;
mod readme;
mod scenario;
mod server;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use packaging::javascript::{package, site};
use steps::{Suite, root};

use bench::Bench;
use client::Platform;
use flags::E2e;
use install::Installed;
use scenario::{Cell, Scenario};

/// The name of the measured run; its two halves are `questions/required` and `questions/auto`.
const QUESTIONS: &str = "questions";
const CHOICES: [&str; 2] = ["required", "auto"];

fn main() -> ExitCode {
    let flags = E2e::from_env_or_exit();
    let only = flags.only.as_deref().unwrap_or_default();
    let done = match (flags.here || flags.alone, flags.part.as_deref()) {
        (true, Some(matrix::MATRIX)) => matrix::run_here(only, flags.all),
        (true, _) => programs::run_here(only, flags.all),
        (false, _) => run(only, flags.all, flags.server.as_deref()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("e2e: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(only: &str, all: bool, server: Option<&str>) -> Result<()> {
    let mut suite = Suite::default();
    if let Err(error) = add_to(&mut suite, &root()?, only, all, server) {
        suite.check("end to end: what to run", || Err(error));
    }
    suite.finish()
}

/// Runs the cells whose names hold `only`, each as one test, and the measured run. The dialects are asked of the model at the
/// address `server`, where one is given, which has to be llama.cpp's.
///
/// # Errors
/// When the scenarios cannot be read, or none of them has such a name.
fn add_to(suite: &mut Suite, root: &Path, only: &str, all: bool, server: Option<&str>) -> Result<()> {
    let scenarios = Scenario::all(&root.join("e2e/scenarios"))?;
    let chosen: Vec<(&Scenario, Vec<Cell<'_>>)> = scenarios
        .iter()
        .map(|scenario| (scenario, scenario.cells(only)))
        .filter(|(_, cells)| !cells.is_empty())
        .collect();
    let choices: Vec<&str> =
        CHOICES.into_iter().filter(|choice| format!("{QUESTIONS}/{choice}").contains(only)).collect();
    let compared = dialects::chosen(only);
    let is_prompts = only == prompts::PROMPTS;
    let is_page = page::PAGE.contains(only);
    let is_mcp = mcp::MCP.contains(only);
    let is_readme = readme::README.contains(only);
    let runs = agent::Cell::all(root, only)?;
    let tasks = programs::chosen(root, only, all)?;
    let is_matrix = matrix::is_chosen(root, only, all)?;
    let is_asked = !chosen.is_empty() || !choices.is_empty() || !compared.is_empty() || !runs.is_empty();
    let is_any = is_asked || is_prompts || is_page || is_mcp || is_readme || is_matrix || !tasks.is_empty();
    ensure!(is_any, "nothing is named {only}");
    ensure!(server.is_none() || !compared.is_empty(), "only dialects are compared at a given server");

    let mut platforms: BTreeSet<Platform> =
        chosen.iter().flat_map(|(_, cells)| cells).map(|cell| cell.client.platform()).collect();
    let mut is_model = !runs.is_empty() || chosen.iter().any(|(scenario, _)| scenario.upstream.is_model());
    if is_readme {
        platforms.extend(readme::PLATFORMS);
    }
    if !choices.is_empty() || !compared.is_empty() || is_prompts {
        platforms.insert(Platform::Python);
        is_model |= server.is_none();
    }
    let installed = Installed::new(root, &platforms, is_model, suite)?;
    let mut bench = Bench::new(installed);
    for (scenario, cells) in chosen {
        bench.scenario(suite, scenario, &cells);
    }
    for choice in choices {
        bench.questions(suite, root, choice);
    }
    if !runs.is_empty() {
        bench.agent(suite, root, &runs);
    }
    if !compared.is_empty() {
        bench.dialects(suite, root, &compared, server);
    }
    if is_prompts {
        bench.prompts(suite, root);
    }
    if is_readme && readme::PLATFORMS.iter().all(|platform| bench.installed.has(*platform)) {
        suite.tests("end to end: the clients of README and docs", || readme::check(root, &bench.installed));
    } else if is_readme {
        suite.leave_out(readme::README, "the clients of Python or Node are not installed");
    }
    if is_page && bench.installed.add_page(suite)? {
        for (name, folder, command) in
            [("page/site", site(root), "site"), ("page/package", package(root), "npm")]
        {
            if !folder.is_dir() {
                suite.leave_out(name, &format!("it is not built: cargo xtask {command}"));
            }
        }
        suite.tests("end to end: the page", || page::look(root, &bench.installed));
    } else if is_page {
        suite.leave_out(page::PAGE, "there is no browser, or nothing to drive it");
    }
    if is_mcp && bench.installed.add_mcp(suite)? {
        suite.tests("end to end: MCP", || mcp::check(&bench.installed));
    } else if is_mcp {
        suite.leave_out(mcp::MCP, "the servers cannot be installed");
    }
    if !tasks.is_empty() && programs::install(root, only, all, suite, &mut bench.installed)? {
        suite.tests(&format!("end to end: {}", programs::PROGRAMS), || programs::run(root, only, all));
    } else if !tasks.is_empty() {
        suite.leave_out(&tasks.join(", "), "the programs cannot be installed");
    }
    if is_matrix {
        matrix::install(root, only, all, suite)?;
        suite.tests(&format!("end to end: {}", matrix::MATRIX), || matrix::run(root, only, all));
    }
    Ok(())
}
