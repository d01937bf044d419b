//! Programs that people type into: Claude Code and codex, set up as their pages say, and the agents of `callwright setup`
//! and `callwright launch`, before the gateway and a scripted upstream.
//!
//! Each task of `e2e/programs/tasks` has a folder and a home of its own and nothing of the surroundings' environment. Where
//! the system lets us, all of it happens in a network without anything but loopback: nobody is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::agents::Agent;
use crate::every::Every;
use crate::install::Installed;
use crate::place::Place;
use crate::readme::printed;
use crate::server;
use steps::Suite;
use steps::root;
use steps::step::{self, Tally};

/// The name of this part of the suite.
pub(crate) const PROGRAMS: &str = "programs";

/// How long a program may take, in seconds. Long: cores are shared.
const PATIENCE: &str = "60";

/// Where the pages have the gateway.
const PRINTED: &str = "http://127.0.0.1:4000";

/// The gateway tries a model of this family before it believes that it calls tools.
const TRIED: &str = r#"
[[answer]]
when = { contains = "report_ready" }
tool_calls = [{ name = "report_ready", arguments = "{}" }]
"#;

/// One file of `e2e/programs/tasks`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    #[serde(skip)]
    name: String,
    /// The program, set up as its page prints it.
    program: Option<Program>,
    /// Or the agent, set up by `callwright setup`.
    agent: Option<Agent>,
    #[serde(default = "every_run")]
    every: Every,
    /// The API that the upstream is said to speak; chat completions where nothing is said.
    upstream: Option<String>,
    ask: String,
    /// What the program is told besides.
    #[serde(default)]
    arguments: Vec<String>,
    /// What stands in its folder before.
    #[serde(default)]
    files: BTreeMap<String, String>,
    expect: Expectation,
    /// The script of the upstream; `{folder}` in it is the program's folder.
    replay: toml::Table,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Program {
    ClaudeCode,
    Codex,
}

fn every_run() -> Every {
    Every::Ci
}

/// What must have happened in the end.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    /// The program ends with an error.
    #[serde(default)]
    fails: bool,
    /// What it prints.
    says: String,
    /// What stands in its folder; an empty text is a file that is not there.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// How often the upstream was asked for one.
    answers: usize,
}

/// The tasks of the project in `root` whose names hold `only`; with `all`, those that take long, too.
pub(crate) fn chosen(root: &Path, only: &str, all: bool) -> Result<Vec<String>> {
    Ok(Task::chosen(root, only, all)?.into_iter().map(|task| task.name).collect())
}

/// Installs what these tasks need, and says how much that is: they run where no registry is reached. Is all of it there?
///
/// # Errors
/// When a task cannot be read.
pub(crate) fn install(
    root: &Path,
    only: &str,
    all: bool,
    suite: &mut Suite,
    installed: &mut Installed,
) -> Result<bool> {
    let tasks = Task::chosen(root, only, all)?;
    let mut is_there = true;
    if tasks.iter().any(Task::needs_programs) {
        is_there &= installed.add_programs(suite)?;
    }
    let agents = tasks.iter().filter_map(|task| task.agent.as_ref()).filter(|agent| !agent.is_program());
    let agents: BTreeMap<&str, &Agent> = agents.map(|agent| (agent.from(), agent)).collect();
    for (from, agent) in agents {
        let size = suite.install(&format!("agents from {from}"), || {
            let bins = agent.bins(root, installed)?;
            size(bins.first().context("an agent has a folder")?)
        });
        is_there &= size.is_some();
        println!("    {} MB", size.unwrap_or_default());
    }
    Ok(is_there)
}

/// The size of the installation that the folder is a part of, in MB.
fn size(folder: &Path) -> Result<u64> {
    let whole = folder.ancestors().find(|folder| folder.join(".complete").exists()).unwrap_or(folder);
    let output = Command::new("du").arg("-sm").arg(whole).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().next().and_then(|size| size.parse().ok()).context("du says no size")
}

/// Runs the tasks whose names hold `only`, in a process of its own.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run(root: &Path, only: &str, all: bool) -> Result<Tally> {
    let all: &[&str] = if all { &["--all"] } else { &[] };
    step::run(step::alone(&[&["--part", PROGRAMS, "--only", only], all].concat())?.current_dir(root))
}

/// Runs them here, and prints how many passed in the words of a test runner.
///
/// # Errors
/// When a task cannot be read, or any fails.
pub(crate) fn run_here(only: &str, all: bool) -> Result<()> {
    let root = root()?;
    let mut installed = Installed::new(&root, &BTreeSet::new(), false, &mut Suite::default())?;
    let tasks = Task::chosen(&root, only, all)?;
    if tasks.iter().any(Task::needs_programs) {
        ensure!(installed.add_programs(&mut Suite::default())?, "the programs are not installed");
    }
    let mut tally = Tally { ok: true, ..Tally::default() };
    for task in &tasks {
        let start = Instant::now();
        let differences = match task.run(&root, &installed) {
            Ok(differences) => differences,
            Err(error) => vec![format!("{error:#}")],
        };
        tally.part(&task.name, start.elapsed().as_secs_f64(), &differences);
    }
    let Tally { passed, failed, .. } = tally;
    println!("test result: {}. {passed} passed; {failed} failed", if tally.ok { "ok" } else { "FAILED" });
    ensure!(tally.ok, "{failed} programs do not do what they should");
    Ok(())
}

impl Task {
    fn chosen(root: &Path, only: &str, all: bool) -> Result<Vec<Task>> {
        let mut tasks = Task::all(root)?;
        let is_all = all || only.starts_with(&format!("{PROGRAMS}/"));
        tasks.retain(|task| task.name.contains(only) && (is_all || task.every == Every::Ci));
        Ok(tasks)
    }

    fn all(root: &Path) -> Result<Vec<Task>> {
        let mut tasks = Vec::new();
        for entry in fs::read_dir(root.join("e2e/programs/tasks"))? {
            let path = entry?.path();
            let read = || -> Result<Task> {
                let mut task: Task = toml::from_str(&fs::read_to_string(&path)?)?;
                let name = path.file_stem().and_then(|stem| stem.to_str()).context("no name")?;
                task.name = format!("{PROGRAMS}/{name}");
                Ok(task)
            };
            tasks.push(read().with_context(|| format!("{} is no task", path.display()))?);
        }
        tasks.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(tasks)
    }

    /// Whether it needs what each run of the suite installs.
    fn needs_programs(&self) -> bool {
        self.program.is_some() || self.agent.as_ref().is_some_and(Agent::is_program)
    }

    /// Every difference, as a sentence.
    fn run(&self, root: &Path, installed: &Installed) -> Result<Vec<String>> {
        let place = Place::new(&self.files)?;
        let folder = place.work().display().to_string();
        let answers = toml::to_string(&self.replay)?.replace("{folder}", &folder);
        let script = toml::from_str(&format!("{TRIED}{answers}"))?;
        let record = place.beside("asked.jsonl");
        let replay = server::recorded_replay(&script, &record, installed)?;
        let config = self.gateway(root)?;
        let gateway = match &self.upstream {
            Some(kind) => server::gateway_before(kind, &replay.url, config.as_ref(), installed)?,
            None => server::gateway(&replay.url, config.as_ref(), installed)?,
        };
        let mut command = self.command(root, [&gateway.url, &replay.url], &place, installed)?;
        let output = command.stdin(Stdio::null()).output()?;
        let out = String::from_utf8_lossy(&output.stdout);
        let log = installed.log(&self.name.replace('/', "-"));
        fs::write(&log, [out.as_bytes(), &output.stderr].concat())?;

        let mut differences = Vec::new();
        if output.status.success() == self.expect.fails {
            differences.push(format!("it ended with {}", output.status));
        }
        let all = format!("{out}{}", String::from_utf8_lossy(&output.stderr));
        if !all.contains(&self.expect.says) {
            differences.push(format!("it does not say {:?} (its log: {})", self.expect.says, log.display()));
        }
        for (name, text) in &self.expect.files {
            let found = fs::read_to_string(place.work().join(name)).unwrap_or_default();
            if found != *text {
                differences.push(format!("{name} holds {found:?}"));
            }
        }
        let answers = questions(&fs::read_to_string(&record)?, &self.ask);
        if answers != self.expect.answers {
            differences.push(format!("the upstream was asked {answers} times"));
        }
        Ok(differences)
    }

    /// The gateway's configuration, as the program's page prints it.
    fn gateway(&self, root: &Path) -> Result<Option<toml::Table>> {
        Ok(match self.program {
            Some(Program::ClaudeCode) => {
                Some(toml::from_str(&printed(root, "docs/clients/claude-code.md", "toml")?)?)
            }
            Some(Program::Codex) | None => None,
        })
    }

    /// The program, set up for the gateway, or before the upstream with one of its own.
    fn command(
        &self,
        root: &Path,
        [url, upstream]: [&str; 2],
        place: &Place,
        installed: &Installed,
    ) -> Result<Command> {
        let bins = match &self.agent {
            Some(agent) => agent.bins(root, installed)?,
            None => vec![installed.programs()?.join("node_modules/.bin")],
        };
        let variables = self.agent.as_ref().map(Agent::variables).unwrap_or_default();
        let mut command = place.command(&bins, &variables, PATIENCE);
        match self.program {
            None => {
                let agent = self.agent.as_ref().context("a task names a program or an agent")?;
                agent.add_to(&mut command, &self.ask, [url, upstream])?;
            }
            Some(Program::ClaudeCode) => {
                let block = printed(root, "docs/clients/claude-code.md", "sh")?;
                let set = |line: &&str| line.trim_start().starts_with("export ");
                let exports: Vec<&str> = block.lines().filter(set).collect();
                let line = block.lines().find(|line| line.starts_with("claude "));
                let line = line.context("the page prints no command")?;
                let script = format!("{}\nexec {line} \"$@\"", exports.join("\n")).replace(PRINTED, url);
                command.args(["sh", "-eu", "-c", &script, "sh", "-p", &self.ask]);
                command.args(["--output-format", "json", "--allowedTools", "Bash,Read,Edit"]);
            }
            Some(Program::Codex) => {
                let config = printed(root, "docs/clients/codex.md", "toml")?.replace(PRINTED, url);
                let folder = place.home().join(".codex");
                fs::create_dir_all(&folder)?;
                fs::write(folder.join("config.toml"), config)?;
                command.args(["codex", "exec", "--skip-git-repo-check"]);
                // A sandbox of its own takes rights that a container may not have.
                command.arg("--dangerously-bypass-approvals-and-sandbox").arg(&self.ask);
            }
        }
        command.args(&self.arguments);
        Ok(command)
    }
}

/// How many of the recorded requests ask what the program was told: the gateway asks for other things as well.
fn questions(record: &str, ask: &str) -> usize {
    let path = ["/v1/chat/completions\"", "/v1/messages\"", "/v1/responses\""];
    record.lines().filter(|line| path.iter().any(|path| line.contains(path)) && line.contains(ask)).count()
}
