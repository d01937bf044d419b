//! The parts of the suite that a name chooses: each whose own name holds it.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use crate::agent;
use crate::client::Platform;
use crate::dialects::{self, Part};
use crate::questions::QUESTIONS;
use crate::scenario::{Cell, Scenario};
use crate::{matrix, mcp, page, programs, prompts, readme};

/// The halves of the measured run: `questions/required` and `questions/auto`.
const CHOICES: [&str; 2] = ["required", "auto"];

/// All parts that a name chooses.
pub(crate) struct Chosen<'s> {
    pub(crate) scenarios: Vec<(&'s Scenario, Vec<Cell<'s>>)>,
    /// The halves of the measured run.
    pub(crate) choices: Vec<&'static str>,
    pub(crate) dialects: Vec<Part>,
    /// The runs of the agent.
    pub(crate) runs: Vec<agent::Cell>,
    /// The tasks of programs, by name.
    pub(crate) programs: Vec<String>,
    /// The names of the parts that have no parts of their own here.
    pub(crate) others: BTreeSet<&'static str>,
}

impl<'s> Chosen<'s> {
    /// Returns the parts that `only` chooses; with `all`, also those that take long.
    ///
    /// # Errors
    /// When a file of a part cannot be read.
    pub(crate) fn of(scenarios: &'s [Scenario], root: &Path, only: &str, all: bool) -> Result<Chosen<'s>> {
        let cells = scenarios.iter().map(|scenario| (scenario, scenario.cells(only)));
        let is_choice = |choice: &&str| format!("{QUESTIONS}/{choice}").contains(only);
        let others = [
            // It takes minutes, so it is named as a whole.
            (prompts::PROMPTS, only == prompts::PROMPTS),
            (page::PAGE, page::PAGE.contains(only)),
            (mcp::MCP, mcp::MCP.contains(only)),
            (readme::README, readme::README.contains(only)),
            (matrix::MATRIX, matrix::is_chosen(root, only, all)?),
        ];
        Ok(Chosen {
            scenarios: cells.filter(|(_, cells)| !cells.is_empty()).collect(),
            choices: CHOICES.into_iter().filter(is_choice).collect(),
            dialects: dialects::chosen(only),
            runs: agent::Cell::all(root, only)?,
            programs: programs::chosen(root, only, all)?,
            others: others.into_iter().filter(|(_, is_chosen)| *is_chosen).map(|(name, _)| name).collect(),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        let Chosen { scenarios, choices, dialects, runs, programs, others } = self;
        scenarios.is_empty()
            && choices.is_empty()
            && dialects.is_empty()
            && runs.is_empty()
            && programs.is_empty()
            && others.is_empty()
    }

    /// Returns the platforms that the chosen clients run on.
    pub(crate) fn platforms(&self) -> BTreeSet<Platform> {
        let cells = self.scenarios.iter().flat_map(|(_, cells)| cells);
        let mut platforms: BTreeSet<Platform> = cells.map(|cell| cell.client.platform()).collect();
        if self.others.contains(readme::README) {
            platforms.extend(readme::PLATFORMS);
        }
        if self.measures() {
            platforms.insert(Platform::Python);
        }
        platforms
    }

    /// Returns whether a part asks the model, where `server` is the address of one that runs already.
    pub(crate) fn asks_model(&self, server: Option<&str>) -> bool {
        !self.runs.is_empty()
            || self.scenarios.iter().any(|(scenario, _)| scenario.upstream.is_model())
            || self.measures() && server.is_none()
    }

    /// Returns whether a measured run is chosen.
    fn measures(&self) -> bool {
        !self.choices.is_empty() || !self.dialects.is_empty() || self.others.contains(prompts::PROMPTS)
    }
}
