//! `callwright run` with a real small model: each of the run files that are shipped, one task, a workspace of its own. What
//! counts is what happened: the call in the events and in the journal, and the file on the disk. Of tasks that are too much for such a
//! model, that the run ends, says how in a sentence, and says so in its exit code.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::install::Installed;
use crate::scenario::Upstream;

/// The name of this part of the suite; its cells are `real-agent/MODE/TASK`.
pub(crate) const AGENT: &str = "real-agent";

/// How the tools reach the model: in the prompt, its decoding held to their schemas, as its server drops `tools`; or as native
/// tools.
const MODES: [(&str, Upstream); 2] = [("prompt", Upstream::Smollm2), ("native", Upstream::Smollm2Tools)];

/// The file `e2e/agent.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tasks {
    task: Vec<Task>,
}

/// One task, and what must come of it.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    name: String,
    /// How the tools reach the model; in both ways where none is named.
    #[serde(default)]
    modes: Vec<String>,
    /// The run file, of the folder `examples`.
    file: String,
    input: Map<String, Value>,
    /// The tool that is called, and with it the run is over. Where there is none, the run ends as it may.
    #[serde(default)]
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    /// What the tool gives.
    #[serde(default)]
    result: String,
    /// What is in the workspace before.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// What is in the workspace afterwards.
    #[serde(default)]
    written: BTreeMap<String, String>,
}

/// A task in a mode.
#[derive(Clone)]
pub(crate) struct Cell {
    mode: &'static str,
    pub(crate) upstream: Upstream,
    task: Task,
}

impl Cell {
    /// The cells whose names hold `only`, a model after the other.
    ///
    /// # Errors
    /// The file with the tasks cannot be read.
    pub(crate) fn all(root: &Path, only: &str) -> Result<Vec<Cell>> {
        let file = root.join("e2e/agent.toml");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let tasks: Tasks =
            toml::from_str(&text).with_context(|| format!("{} holds no tasks", file.display()))?;
        let of_mode = |(mode, upstream)| {
            let is_in =
                move |task: &&Task| task.modes.is_empty() || task.modes.iter().any(|name| name == mode);
            let cell = move |task: &Task| Cell { mode, upstream, task: task.clone() };
            tasks.task.iter().filter(is_in).map(cell).collect::<Vec<_>>()
        };
        let mut cells: Vec<Cell> = MODES.into_iter().flat_map(of_mode).collect();
        cells.retain(|cell| cell.name().contains(only));
        Ok(cells)
    }

    pub(crate) fn name(&self) -> String {
        format!("{AGENT}/{}/{}", self.mode, self.task.name)
    }

    /// Runs the task with the model at `url`.
    ///
    /// # Errors
    /// What is not as it should be.
    pub(crate) fn check(&self, url: &str, root: &Path, installed: &Installed) -> Result<()> {
        let desk = Desk::new(&format!("agent-{}-{}", self.mode, self.task.name), installed)?;
        let file = desk.folder.join("run.toml");
        fs::write(&file, self.run_file(&root.join("examples"))?)?;
        let input = json!(self.task.input).to_string();
        let upstream = format!("{url}/v1");
        for (path, text) in &self.task.files {
            fs::write(desk.folder.join("w").join(path), text)?;
        }
        let (code, events) = desk.callwright(
            &[
                &["run", &file.to_string_lossy(), "--input", &input, "--session", SESSION, "--yes"][..],
                &[
                    "--model",
                    self.upstream.name(),
                    "--upstream",
                    &upstream,
                    "--workspace",
                    "w",
                    "--output",
                    "json",
                ],
            ]
            .concat(),
        )?;
        let events = events.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        if self.task.tool.is_empty() {
            return is_truthful(code, &events);
        }
        ensure!(code == 0, "it ended with {code}: {:?}", events.last());
        self.told(&events)?;
        let (_, dump) = desk.callwright(&["show", SESSION, "--json"])?;
        self.kept(&serde_json::from_str(&dump)?)?;
        for (path, text) in &self.task.written {
            let found =
                fs::read_to_string(desk.folder.join("w").join(path)).with_context(|| format!("no {path}"))?;
            ensure!(found == *text, "{path} holds {found:?}");
        }
        Ok(())
    }

    /// The run file as it is shipped; the answers short and always the same, and the run over with the call.
    fn run_file(&self, examples: &Path) -> Result<String> {
        let path = examples.join(&self.task.file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut file: toml::Table = text.parse().with_context(|| path.display().to_string())?;
        // What llama.cpp keeps of an earlier question changes the last digits of what it computes.
        let request = "{ temperature = 0, seed = 1, max_tokens = 128, cache_prompt = false }";
        // What goes on for long tells no more than what ends soon.
        let stop = match self.task.tool.as_str() {
            "" => String::from("max_turns = 4"),
            tool => format!("stop_tools = [{tool:?}]"),
        };
        file.extend(format!("{stop}\nrequest = {request}").parse::<toml::Table>()?);
        Ok(toml::to_string(&file)?)
    }

    /// What a script sees: one call, which the model made in one answer, and an end because of it.
    fn told(&self, events: &[Value]) -> Result<()> {
        let named = |name: &str| events.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
        let tail = || events.last().map(Value::to_string).unwrap_or_default();
        let answered = named("answered");
        ensure!(
            answered.len() == 1 && answered[0]["calls"] == 1,
            "not one answer with one call: {answered:?}; {}",
            tail()
        );
        let in_text = u64::from(self.mode == "prompt");
        ensure!(answered[0]["prompt_based"] == in_text, "the call came another way: {}", answered[0]);
        let finished = named("call_finished");
        ensure!(finished.len() == 1, "{} calls were run", finished.len());
        self.is_call(&finished[0]["tool"], &finished[0]["arguments"])?;
        ensure!(finished[0]["is_error"] == false, "{}", finished[0]);
        ensure!(finished[0]["result"] == self.task.result, "the result is {}", finished[0]["result"]);
        let end = json!({"tool_called": self.task.tool});
        let last = events.last().context("no event")?;
        ensure!(last["event"] == "ended" && last["end"] == end, "it ended otherwise: {last}");
        Ok(())
    }

    /// What the journal tells: an intent before the call, and its result.
    fn kept(&self, dump: &Value) -> Result<()> {
        let entries = dump["entries"].as_array().context("the dump has no entries")?;
        let of_kind =
            |kind: &str| entries.iter().filter(|entry| entry["node_type"] == kind).collect::<Vec<_>>();
        let (intents, effects, results) = (of_kind("intent"), of_kind("effect"), of_kind("tool_result"));
        ensure!(
            (intents.len(), effects.len(), results.len()) == (1, 1, 1),
            "{} intents, {} effects, {} results",
            intents.len(),
            effects.len(),
            results.len()
        );
        self.is_call(&intents[0]["payload"]["tool"], &intents[0]["payload"]["arguments"])?;
        ensure!(results[0]["payload"]["text"] == self.task.result, "kept: {}", results[0]["payload"]);
        ensure!(intents[0]["call"] == results[0]["call"], "the result is one of another call");
        Ok(())
    }

    fn is_call(&self, tool: &Value, arguments: &Value) -> Result<()> {
        let text = arguments.as_str().context("arguments are a text")?;
        let arguments: Map<String, Value> =
            serde_json::from_str(text).with_context(|| format!("arguments {text}"))?;
        ensure!(*tool == self.task.tool && arguments == self.task.arguments, "the call is {tool} {text}");
        Ok(())
    }
}

/// Decides whether the last event has a sentence and the exit code is that of its end: 0 only where the model was done, and where it
/// did something or answered in words.
fn is_truthful(code: i32, events: &[Value]) -> Result<()> {
    let last = events.last().context("no event")?;
    let sentence = last["sentence"].as_str().unwrap_or_default();
    ensure!(!sentence.trim().is_empty(), "no sentence: {last}");
    let (end, is_limit) = (&last["end"], last["end"]["limit"].is_string());
    let expected = match end.as_str().unwrap_or_default() {
        _ if last["event"] == "blocked" => 10,
        _ if is_limit => 9,
        "answered" | "finished" => 0,
        "refused" | "gave_up" | "silent" => 1,
        _ => bail!("an end that nobody expects: {last}"),
    };
    ensure!(code == expected, "{code} instead of {expected}: {last}");
    let worked = |event: &&Value| event["event"] == "call_finished" && event["is_error"] == false;
    let shows_a_call = ["\"arguments\"", "<tool_call>"].iter().any(|mark| sentence.contains(mark));
    ensure!(
        code != 0 || !shows_a_call || events.iter().any(|event| worked(&event)),
        "nothing was done, and it says that all is well: {last}"
    );
    Ok(())
}

const SESSION: &str = "real";

/// A folder with a workspace, a store, and nothing of the user's.
struct Desk {
    folder: PathBuf,
}

impl Desk {
    fn new(name: &str, installed: &Installed) -> Result<Desk> {
        let folder = installed.written(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(folder.join("w"))?;
        Ok(Desk { folder: folder.canonicalize()? })
    }

    /// The exit code of the command, and what it prints.
    fn callwright(&self, args: &[&str]) -> Result<(i32, String)> {
        let binary = env::current_exe().context("where do we stand?")?.with_file_name("callwright");
        let mut command = Command::new(binary);
        command.args(args).args(["--store", "callwright.db"]).current_dir(&self.folder);
        command.env("XDG_STATE_HOME", self.folder.join("state")).env("NO_COLOR", "1").stdin(Stdio::null());
        let output = command.output().context("cannot start callwright")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        let code = output.status.code().with_context(|| format!("{}: {err}", output.status))?;
        Ok((code, out))
    }
}
