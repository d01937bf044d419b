//! The end-to-end suite: clients as people install them, against upstreams as people run them, over loopback, with
//! and without the gateway between them.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to its user")]

mod agent;
mod agents;
mod bench;
mod client;
mod chosen;
mod dialects;
mod every;
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

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, ensure};
use packaging::javascript::{package, site};
use steps::{Suite, root};

use bench::Bench;
use chosen::Chosen;
use flags::E2e;
use install::Installed;
use scenario::Scenario;

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

/// Runs the parts whose names hold `only`. The dialects are asked of the model at the address `server`, where one is given, which
/// has to be llama.cpp's.
///
/// # Errors
/// When the scenarios cannot be read, or no part has such a name.
fn add_to(suite: &mut Suite, root: &Path, only: &str, all: bool, server: Option<&str>) -> Result<()> {
    let scenarios = Scenario::all(&root.join("e2e/scenarios"))?;
    let chosen = Chosen::of(&scenarios, root, only, all)?;
    ensure!(!chosen.is_empty(), "nothing is named {only}");
    ensure!(server.is_none() || !chosen.dialects.is_empty(), "only dialects are compared at a given server");
    let installed = Installed::new(root, &chosen.platforms(), chosen.asks_model(server), suite)?;
    let mut bench = Bench::new(installed);
    ask(&mut bench, suite, root, &chosen, server);
    if chosen.others.contains(readme::README) {
        run_readme(&bench, suite, root);
    }
    if chosen.others.contains(page::PAGE) {
        look_at_page(&mut bench, suite, root)?;
    }
    if chosen.others.contains(mcp::MCP) {
        match bench.installed.add_mcp(suite)? {
            true => suite.tests("end to end: MCP", || mcp::check(&bench.installed)),
            false => suite.leave_out(mcp::MCP, "the servers cannot be installed"),
        }
    }
    if !chosen.programs.is_empty() {
        let run = || programs::run(root, only, all);
        match programs::install(root, only, all, suite, &mut bench.installed)? {
            true => suite.tests(&format!("end to end: {}", programs::PROGRAMS), run),
            false => suite.leave_out(&chosen.programs.join(", "), "the programs cannot be installed"),
        }
    }
    if chosen.others.contains(matrix::MATRIX) {
        matrix::install(root, only, all, suite)?;
        suite.tests(&format!("end to end: {}", matrix::MATRIX), || matrix::run(root, only, all));
    }
    Ok(())
}

/// Runs the parts that ask an upstream or a model by a client.
fn ask(bench: &mut Bench, suite: &mut Suite, root: &Path, chosen: &Chosen<'_>, server: Option<&str>) {
    for (scenario, cells) in &chosen.scenarios {
        bench.scenario(suite, scenario, cells);
    }
    for choice in &chosen.choices {
        bench.questions(suite, root, choice);
    }
    if !chosen.runs.is_empty() {
        bench.agent(suite, root, &chosen.runs);
    }
    if !chosen.dialects.is_empty() {
        bench.dialects(suite, root, &chosen.dialects, server);
    }
    if chosen.others.contains(prompts::PROMPTS) {
        bench.prompts(suite, root);
    }
}

/// Runs the clients that README and docs print.
fn run_readme(bench: &Bench, suite: &mut Suite, root: &Path) {
    match readme::PLATFORMS.iter().all(|platform| bench.installed.has(*platform)) {
        true => suite
            .tests("end to end: the clients of README and docs", || readme::check(root, &bench.installed)),
        false => suite.leave_out(readme::README, "the clients of Python or Node are not installed"),
    }
}

/// Looks at the page, as far as it is built.
fn look_at_page(bench: &mut Bench, suite: &mut Suite, root: &Path) -> Result<()> {
    if !bench.installed.add_page(suite, page::browser)? {
        suite.leave_out(page::PAGE, "there is no browser, or nothing to drive it");
        return Ok(());
    }
    for (name, folder, command) in [("page/site", site(root), "site"), ("page/package", package(root), "npm")]
    {
        if !folder.is_dir() {
            suite.leave_out(name, &format!("it is not built: cargo xtask {command}"));
        }
    }
    suite.tests("end to end: the page", || page::look(root, &bench.installed));
    Ok(())
}
