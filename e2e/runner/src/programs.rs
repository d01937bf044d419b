//! Programs that people type into, Claude Code and codex, set up as their pages say, before the gateway and a scripted
//! upstream.
//!
//! Each task of `e2e/programs/tasks` has a folder and a home of its own and nothing of the surroundings' environment. Where
//! the system lets us, all of it happens in a network without anything but loopback: nobody is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::install::Installed;
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
    program: Program,
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

/// The tasks of the project in `root` whose names hold `only`.
pub(crate) fn chosen(root: &Path, only: &str) -> Result<Vec<String>> {
    Ok(Task::all(root)?.into_iter().map(|task| task.name).filter(|name| name.contains(only)).collect())
}

/// Runs the tasks whose names hold `only`, in a process of its own.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run(root: &Path, only: &str) -> Result<Tally> {
    step::run(step::alone(&["--only", only])?.current_dir(root))
}

/// Runs them here, and prints how many passed in the words of a test runner.
///
/// # Errors
/// When a task cannot be read, or any fails.
pub(crate) fn run_here(only: &str) -> Result<()> {
    let root = root()?;
    let mut installed = Installed::new(&root, &BTreeSet::new(), false, &mut Suite::default())?;
    ensure!(installed.add_programs(&mut Suite::default())?, "the programs are not installed");
    let mut tally = Tally { ok: true, ..Tally::default() };
    for task in Task::all(&root)?.iter().filter(|task| task.name.contains(only)) {
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

    /// Every difference, as a sentence.
    fn run(&self, root: &Path, installed: &Installed) -> Result<Vec<String>> {
        let place = Place::new(&self.files)?;
        let folder = place.work().display().to_string();
        let answers = toml::to_string(&self.replay)?.replace("{folder}", &folder);
        let script = toml::from_str(&format!("{TRIED}{answers}"))?;
        let record = place.folder.join("asked.jsonl");
        let replay = server::recorded_replay(&script, &record, installed)?;
        let config = self.gateway(root)?;
        let gateway = match &self.upstream {
            Some(kind) => server::gateway_before(kind, &replay.url, config.as_ref(), installed)?,
            None => server::gateway(&replay.url, config.as_ref(), installed)?,
        };
        let output = self.command(root, &gateway.url, &place, installed)?.stdin(Stdio::null()).output()?;
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
            Program::ClaudeCode => {
                Some(toml::from_str(&printed(root, "docs/clients/claude-code.md", "toml")?)?)
            }
            Program::Codex => None,
        })
    }

    /// The program, set up as its page prints it, with the gateway at `url`.
    fn command(&self, root: &Path, url: &str, place: &Place, installed: &Installed) -> Result<Command> {
        let path = std::env::var("PATH").unwrap_or_default();
        let bin = installed.programs()?.join("node_modules/.bin");
        let mut command = Command::new("env");
        command.arg("-i").arg(format!("PATH={}:{path}", bin.display()));
        command.arg(format!("HOME={}", place.home().display())).args(["LANG=C.UTF-8", "TERM=dumb"]);
        // Where the network is everybody's: nobody listens at port 9.
        for name in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"] {
            command.arg(format!("{name}=http://127.0.0.1:9"));
        }
        command.arg("NO_PROXY=127.0.0.1").args(["timeout", "--kill-after=5", PATIENCE]);
        match self.program {
            Program::ClaudeCode => {
                let block = printed(root, "docs/clients/claude-code.md", "sh")?;
                let set = |line: &&str| line.trim_start().starts_with("export ");
                let exports: Vec<&str> = block.lines().filter(set).collect();
                let line = block.lines().find(|line| line.starts_with("claude "));
                let line = line.context("the page prints no command")?;
                let script = format!("{}\nexec {line} \"$@\"", exports.join("\n")).replace(PRINTED, url);
                command.args(["sh", "-eu", "-c", &script, "sh", "-p", &self.ask]);
                command.args(["--output-format", "json", "--allowedTools", "Bash,Read,Edit"]);
            }
            Program::Codex => {
                let config = printed(root, "docs/clients/codex.md", "toml")?.replace(PRINTED, url);
                let folder = place.home().join(".codex");
                fs::create_dir_all(&folder)?;
                fs::write(folder.join("config.toml"), config)?;
                command.args(["codex", "exec", "--skip-git-repo-check"]);
                // A sandbox of its own takes rights that a container may not have.
                command.arg("--dangerously-bypass-approvals-and-sandbox").arg(&self.ask);
            }
        }
        command.args(&self.arguments).current_dir(place.work());
        Ok(command)
    }
}

/// How many of the recorded requests ask what the program was told: the gateway asks for other things as well.
fn questions(record: &str, ask: &str) -> usize {
    let path = ["/v1/chat/completions\"", "/v1/messages\"", "/v1/responses\""];
    record.lines().filter(|line| path.iter().any(|path| line.contains(path)) && line.contains(ask)).count()
}

/// Where a program runs. It goes when it is dropped.
struct Place {
    folder: PathBuf,
}

impl Place {
    fn new(files: &BTreeMap<String, String>) -> Result<Place> {
        let folder = std::env::temp_dir().join(format!("callwright-programs-{}", std::process::id()));
        let place = Place { folder };
        fs::create_dir_all(place.home())?;
        fs::create_dir_all(place.work())?;
        for (name, text) in files {
            fs::write(place.work().join(name), text)?;
        }
        Ok(place)
    }

    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn work(&self) -> PathBuf {
        self.folder.join("work")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What is left lies where all temporary files lie.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
