//! A client: how it is installed, set up and run, and what its tools are called.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use steps::Suite;
use steps::install::{environment, node_scripts, own_program};
use steps::process::Process;

use super::Wrong;
use crate::agents::{Agent, MODEL};
use crate::every::Every;
use crate::install::{Installed, alone};
use crate::place::Place;

/// Where rig comes from: a crate of its own.
const RIG: &str = "rig";

/// One file of `e2e/matrix/clients`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Client {
    #[serde(skip)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) every: Every,
    /// A program that `callwright setup` sets up.
    agent: Option<Agent>,
    /// Or a package, which a script of ours uses.
    package: Option<Package>,
    pub(super) tools: Tools,
    /// What the model says to this client besides: answers of `callwright replay`, before all others.
    #[serde(default)]
    pub(super) answers: Vec<toml::Table>,
    /// Cells that are wrong with the gateway and without it: `cells` names behaviours.
    #[serde(default)]
    pub(super) wrong: Vec<Wrong>,
}

/// What a client can do.
#[derive(Debug, Deserialize)]
pub(super) struct Tools {
    pub(super) shell: Shell,
    pub(super) write: Write,
}

/// The tool that runs a command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shell {
    pub(super) name: String,
    /// The member with the command.
    pub(super) key: String,
    /// That member is a list of commands.
    #[serde(default)]
    pub(super) list: bool,
    /// Further members.
    #[serde(default)]
    pub(super) with: BTreeMap<String, Value>,
    /// Members that nobody needs: a number, or `true`.
    #[serde(default)]
    pub(super) more: BTreeMap<String, Value>,
}

/// The tool that writes a file; that of the shell where there is none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    pub(super) name: String,
    /// The member with the path; none where it is the shell.
    pub(super) path: Option<String>,
    /// The member with the text, or the command.
    pub(super) content: String,
    #[serde(default)]
    pub(super) list: bool,
    #[serde(default)]
    pub(super) with: BTreeMap<String, Value>,
}

/// A package that a script of ours uses.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    /// `python` and `node` are what the suite has anyway, `rig` is a crate; another name is a file of requirements in
    /// `e2e/matrix/packages`.
    from: String,
    /// A script of `e2e/python` or `e2e/node`.
    #[serde(default)]
    script: String,
    /// What it is told before the address, the model and the task.
    #[serde(default)]
    arguments: Vec<String>,
}

/// A client that is installed.
pub(super) struct Started<'c> {
    client: &'c Client,
    /// The folders of its binary.
    bins: Vec<PathBuf>,
    /// What runs a script.
    words: Vec<PathBuf>,
    /// Loops that wait for a task.
    idle: Mutex<Vec<Process>>,
}

/// What a client is asked, and where it does it.
pub(super) struct Task<'t> {
    /// The server's address.
    pub(super) url: &'t str,
    pub(super) ask: &'t str,
    pub(super) place: &'t Place,
    /// At most so many seconds.
    pub(super) patience: u32,
    /// Where all that it prints is kept.
    pub(super) log: &'t Path,
}

impl Client {
    /// Installs what it needs.
    ///
    /// # Errors
    /// When that cannot be had.
    pub(super) fn start(&self, root: &Path) -> Result<Started<'_>> {
        let idle = Mutex::new(Vec::new());
        let mut started = Started { client: self, bins: Vec::new(), words: Vec::new(), idle };
        if let Some(agent) = &self.agent {
            let mut installed = Installed::new(root, &[].into(), false, &mut Suite::default())?;
            if agent.is_program() {
                let is_there = installed.add_programs(&mut Suite::default())?;
                anyhow::ensure!(is_there, "the programs cannot be installed");
            }
            started.bins = agent.bins(root, &installed)?;
            return Ok(started);
        }
        let package = self.package.as_ref().context("a client is an agent or a package")?;
        let e2e = root.join("e2e");
        started.words = match &*package.from {
            "node" => vec![PathBuf::from("node"), node_scripts(&e2e.join("node"))?.join(&package.script)],
            "python" => {
                let python = environment("python", &e2e.join("python/requirements.txt"))?;
                vec![python, e2e.join("python").join(&package.script)]
            }
            RIG => vec![own_program(RIG, &e2e.join("matrix/rig"), "callwright-e2e-rig")?],
            own => {
                let pinned = e2e.join("matrix/packages").join(format!("{own}.txt"));
                vec![environment(own, &pinned)?, e2e.join("python").join(&package.script)]
            }
        };
        Ok(started)
    }
}

impl Started<'_> {
    /// Runs it, and says how it ended: in words, where that was not well.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn run(&self, task: &Task<'_>) -> Result<Option<String>> {
        match &self.client.package {
            Some(package) if package.from != "node" && package.from != RIG => self.run_loop(package, task),
            _ => {
                let output = self.command(task)?.stdin(Stdio::null()).output()?;
                fs::write(task.log, [output.stdout, output.stderr].concat())?;
                Ok((!output.status.success()).then(|| output.status.to_string()))
            }
        }
    }

    fn command(&self, task: &Task<'_>) -> Result<Command> {
        let Task { url, ask, place, .. } = *task;
        let patience = task.patience.to_string();
        if let Some(agent) = &self.client.agent {
            let mut command = place.command(&self.bins, &agent.variables(), &patience);
            agent.add_to(&mut command, ask, [url, url])?;
            return Ok(command);
        }
        let package = self.client.package.as_ref().context("a client is an agent or a package")?;
        let mut command = place.command(&self.bins, &[String::from("DO_NOT_TRACK=1")], &patience);
        command.args(&self.words).args(&package.arguments).args([url, MODEL, ask]);
        Ok(command)
    }

    /// A loop in Python is kept: importing its packages takes seconds.
    fn run_loop(&self, package: &Package, task: &Task<'_>) -> Result<Option<String>> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = idle().pop();
        let mut process = match waiting {
            Some(process) => process,
            None => {
                let (python, script) = self.words.split_first().context("a loop has a script")?;
                let mut command = Command::new(python);
                command.args(script).args(&package.arguments);
                Process::start(&mut alone(command), &task.log.with_extension("loop"))?
            }
        };
        let Task { url, ask, place, patience, log } = *task;
        let folder = place.work();
        let told = json!({ "folder": folder, "url": url, "model": MODEL, "ask": ask, "log": log, "patience": patience });
        process.say(&told.to_string())?;
        let code = process.line(Duration::from_secs(u64::from(patience) + 60))?;
        idle().push(process);
        Ok((code != "0").then(|| format!("exit code {code}")))
    }
}
