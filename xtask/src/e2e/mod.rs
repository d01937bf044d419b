//! The end-to-end suite: clients as people install them, against upstreams as people run them, over loopback, with
//! and without the gateway between them.

mod agent;
mod client;
mod dialects;
mod install;
mod judge;
mod mcp;
mod page;
pub(crate) mod process;
pub(crate) mod programs;
mod prompts;
mod questions;
mod readme;
mod scenario;
mod server;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::javascript::{package, site};
use client::{Client, ClientName, Platform, Task};
use install::Installed;
pub(crate) use install::{bindgen, crate_program, environment, node_packages, web_compiler};
use judge::breaches;
use process::Server;
use questions::Questions;
use scenario::{Cell, Mode, Scenario, Through, Upstream};

use crate::step::Tally;
use crate::suite::Suite;

/// The name of the measured run; its two halves are `questions/required` and `questions/auto`.
const QUESTIONS: &str = "questions";
const CHOICES: [&str; 2] = ["required", "auto"];
/// The upstream of the measured run: it ignores `tools`.
const ASKED: Upstream = Upstream::Smollm2;

/// Runs the cells whose names hold `only`, each as one test, and the measured run. The dialects are asked of the model at the
/// address `server`, where one is given, which has to be llama.cpp's.
///
/// # Errors
/// When the scenarios cannot be read, or none of them has such a name.
pub(crate) fn add_to(suite: &mut Suite, root: &Path, only: &str, server: Option<&str>) -> Result<()> {
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
    let tasks = programs::chosen(root, only)?;
    let is_asked = !chosen.is_empty() || !choices.is_empty() || !compared.is_empty() || !runs.is_empty();
    let is_any = is_asked || is_prompts || is_page || is_mcp || is_readme || !tasks.is_empty();
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
    let mut bench = Bench { installed, clients: BTreeMap::new(), model: None };
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
    if !tasks.is_empty() && bench.installed.add_programs(suite)? {
        suite.tests(&format!("end to end: {}", programs::PROGRAMS), || programs::run(root, only));
    } else if !tasks.is_empty() {
        suite.leave_out(&tasks.join(", "), "the programs cannot be installed");
    }
    Ok(())
}

/// What stays between cells.
struct Bench {
    installed: Installed,
    clients: BTreeMap<ClientName, Client>,
    /// The model that runs now.
    model: Option<(Upstream, Server)>,
}

impl Bench {
    fn scenario(&mut self, suite: &mut Suite, scenario: &Scenario, cells: &[Cell<'_>]) {
        if scenario.upstream.is_model() && !self.installed.has_model() {
            return suite.leave_out(&scenario.name, "there is no model");
        }
        let (able, unable): (Vec<_>, Vec<_>) =
            cells.iter().partition(|cell| self.installed.has(cell.client.platform()));
        if !unable.is_empty() {
            let names: BTreeSet<String> = unable.iter().map(|cell| cell.client.to_string()).collect();
            let names: Vec<String> = names.into_iter().collect();
            suite.leave_out(&scenario.name, &format!("not installed: {}", names.join(", ")));
        }
        if able.is_empty() {
            return;
        }
        suite.tests(&format!("end to end: {}", scenario.name), || {
            let mut tally = Tally { ok: true, ..Tally::default() };
            for cell in able {
                let start = Instant::now();
                let differences = self.cell(cell).unwrap_or_else(|error| vec![format!("{error:#}")]);
                tally.part(&cell.to_string(), start.elapsed().as_secs_f64(), &differences);
            }
            Ok(tally)
        });
    }

    /// Runs one cell with servers of its own, except for the model. Returns what is not as it should be.
    fn cell(&mut self, cell: &Cell<'_>) -> Result<Vec<String>> {
        let scenario = cell.scenario;
        let replay;
        let upstream = if scenario.upstream.is_model() {
            self.model(scenario.upstream)?
        } else {
            let script = scenario.replay.as_ref().context("the scenario has no script")?;
            replay = server::replay(script, &self.installed)?;
            replay.url.clone()
        };
        let gateway;
        let config = scenario.gateway.as_ref();
        let url = match (cell.run.through, cell.run.through.kind()) {
            (Through::Direct, _) => upstream,
            (_, Some(kind)) => {
                gateway = server::gateway_before(kind, &upstream, config, &self.installed)?;
                gateway.url.clone()
            }
            (_, None) => {
                gateway = server::gateway(&upstream, config, &self.installed)?;
                gateway.url.clone()
            }
        };
        let task = Task {
            base_url: format!("{url}/v1"),
            model: scenario.model(),
            ask: &scenario.ask,
            tools: &scenario.tools,
            tool_choice: scenario.tool_choice.as_deref(),
            stream: cell.mode == Mode::Streamed,
            turns: scenario.turns,
            max_tokens: scenario.max_tokens,
        };
        let patience = Duration::from_secs(if scenario.upstream.is_model() { 300 } else { 60 });
        let report = self.client(cell.client)?.run(&task, patience)?;
        let mut differences = breaches(&scenario.expect, &report);
        if cell.run.through.is_gateway() && !scenario.gateway_log.is_empty() {
            let log = fs::read_to_string(self.installed.log("gateway"))?;
            let missing = scenario.gateway_log.iter().filter(|words| !log.contains(words.as_str()));
            differences.extend(missing.map(|words| format!("the gateway's log does not say {words:?}")));
        }
        Ok(match (cell.run.fails, differences.is_empty()) {
            (false, _) => differences,
            (true, false) => Vec::new(),
            (true, true) => vec![String::from("a control, but the client saw all that is expected")],
        })
    }

    fn questions(&mut self, suite: &mut Suite, root: &Path, choice: &str) {
        let name = format!("{QUESTIONS}/{choice}");
        if !self.installed.has_model() || !self.installed.has(Platform::Python) {
            return suite.leave_out(&name, "there is no model, or no Python client");
        }
        suite.tests(&format!("end to end: {name}"), || {
            let questions = Questions::read(&root.join("crates/callwright-cli/src/bench/questions.toml"))?;
            let upstream = self.model(ASKED)?;
            let gateway = server::gateway(&upstream, None, &self.installed)?;
            let base_url = format!("{}/v1", gateway.url);
            questions.ask(&base_url, ASKED.name(), choice, self.client(ClientName::Questions)?)
        });
    }

    /// `callwright run` with a real model.
    fn agent(&mut self, suite: &mut Suite, root: &Path, cells: &[agent::Cell]) {
        if !self.installed.has_model() {
            return suite.leave_out(agent::AGENT, "there is no model");
        }
        suite.tests(&format!("end to end: {}", agent::AGENT), || {
            let mut tally = Tally { ok: true, ..Tally::default() };
            for cell in cells {
                let start = Instant::now();
                let done = self.model(cell.upstream).and_then(|url| cell.check(&url, root, &self.installed));
                let differences: Vec<String> =
                    done.err().map(|error| format!("{error:#}")).into_iter().collect();
                tally.part(&cell.name(), start.elapsed().as_secs_f64(), &differences);
            }
            Ok(tally)
        });
    }

    /// Compares dialects with the small model, or the one at `server`.
    fn dialects(
        &mut self,
        suite: &mut Suite,
        root: &Path,
        compared: &[dialects::Part],
        server: Option<&str>,
    ) {
        let has_model = server.is_some() || self.installed.has_model();
        if !has_model || !self.installed.has(Platform::Python) {
            return suite.leave_out(dialects::DIALECTS, "there is no model, or no Python client");
        }
        suite.tests(&format!("end to end: {}", dialects::DIALECTS), || {
            let questions = Questions::read(&root.join("crates/callwright-cli/src/bench/questions.toml"))?;
            let upstream = match server {
                Some(url) => url.trim_end_matches('/').to_owned(),
                None => self.model(ASKED)?,
            };
            let passed = dialects::compare(&questions, compared, &upstream, ASKED.name(), &self.installed)?;
            Ok(Tally { passed, ok: true, ..Tally::default() })
        });
    }

    fn prompts(&mut self, suite: &mut Suite, root: &Path) {
        if !self.installed.has_model() || !self.installed.has(Platform::Python) {
            return suite.leave_out(prompts::PROMPTS, "there is no model, or no Python client");
        }
        suite.tests(&format!("end to end: {}", prompts::PROMPTS), || {
            let questions = Questions::read(&root.join("crates/callwright-cli/src/bench/questions.toml"))?;
            let upstream = self.model(ASKED)?;
            prompts::compare(&questions, &upstream, ASKED.name(), &self.installed)
        });
    }

    /// The address of a model, which is started unless it runs. Another one is ended first.
    fn model(&mut self, upstream: Upstream) -> Result<String> {
        if let Some((running, server)) = &self.model
            && *running == upstream
        {
            return Ok(server.url.clone());
        }
        self.model = None;
        let server = server::model(upstream, &self.installed)?;
        let url = server.url.clone();
        self.model = Some((upstream, server));
        Ok(url)
    }

    fn client(&mut self, name: ClientName) -> Result<&mut Client> {
        match self.clients.entry(name) {
            Entry::Occupied(client) => Ok(client.into_mut()),
            Entry::Vacant(place) => Ok(place.insert(Client::new(name, &self.installed)?)),
        }
    }
}
