//! The cells that ask something, one after the other: what stays between them is a model that runs, and clients.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use steps::Suite;
use steps::process::Server;
use steps::step::Tally;

use crate::client::{Client, ClientName, Platform, Task};
use crate::install::Installed;
use crate::judge::breaches;
use crate::questions::{QUESTIONS, Questions};
use crate::scenario::{Cell, Mode, Scenario, Through, Upstream};
use crate::{agent, dialects, prompts, server};

/// The upstream of the measured run: it ignores `tools`.
const ASKED: Upstream = Upstream::Smollm2;

/// What stays between cells.
pub(crate) struct Bench {
    pub(crate) installed: Installed,
    clients: BTreeMap<ClientName, Client>,
    /// The model that runs now.
    model: Option<(Upstream, Server)>,
}

impl Bench {
    /// With nothing running.
    pub(crate) fn new(installed: Installed) -> Bench {
        Bench { installed, clients: BTreeMap::new(), model: None }
    }

    pub(crate) fn scenario(&mut self, suite: &mut Suite, scenario: &Scenario, cells: &[Cell<'_>]) {
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

    pub(crate) fn questions(&mut self, suite: &mut Suite, root: &Path, choice: &str) {
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
    pub(crate) fn agent(&mut self, suite: &mut Suite, root: &Path, cells: &[agent::Cell]) {
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
    pub(crate) fn dialects(
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

    pub(crate) fn prompts(&mut self, suite: &mut Suite, root: &Path) {
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
