//! A run file: what a run is to do, with which tools, as TOML or JSON.
//!
//! Whoever names it believes it: what it says of its own tools is a local declaration. But what may run without a question
//! stands on the command line alone, and it reaches no file outside of its own folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use callwright::Policy;
use callwright::value::{Map, Value};
use callwright_agent::run::{Budget, Settings, Stop};
use callwright_agent::tools::Program;
use callwright_agent::{Commands, FileError, Kind, Tool, Workspace};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::input;

/// The task of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum What<'a> {
    /// The task of a run file.
    File(&'a Path),
    /// The task itself.
    Task(&'a str),
}

impl What<'_> {
    /// Tells a file's name from a task: a name has the ending of a run file, or is one word with the separator of a path.
    ///
    /// # Errors
    /// A name of a file that is not there, or is not a run file: a typing error would be sent to the model as a task.
    pub(crate) fn of(word: &str) -> Result<What<'_>, Failure> {
        let path = Path::new(word);
        let is_one_word = !word.contains(char::is_whitespace);
        let ends_like_one = is_json(path) || is_toml(path);
        if path.is_file() {
            if ends_like_one {
                return Ok(What::File(path));
            }
            let why = format!(
                "{word} is a file, and no run file, which ends in .toml or .json; its text is a task as \"$(cat {word})\""
            );
            return Err(Failure::Config(why));
        }
        // A text such as `mend src/a.toml` is a task.
        let is_name = is_one_word && (ends_like_one || word.contains(['/', '\\']))
            || ends_like_one
                && path
                    .parent()
                    .is_some_and(|folder| folder.components().next().is_some() && folder.is_dir());
        match is_name {
            true => Err(Failure::Read(path.to_owned(), std::io::ErrorKind::NotFound.into())),
            false => Ok(What::Task(word)),
        }
    }
}

/// The content of a run file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunFile {
    /// The first words to the model.
    system: Option<String>,
    /// A file with what the model is told first, beneath the folder of this one.
    system_file: Option<PathBuf>,
    /// The model.
    pub(crate) model: Option<String>,
    /// The task; `{name}` stands for a member of the input.
    task: Option<String>,
    /// The tools by name, built-in ones and those below; all where it is not said.
    tools: Option<Vec<String>>,
    max_turns: Option<u32>,
    policy: Option<String>,
    notes: Option<bool>,
    context_tokens: Option<usize>,
    stop_tools: BTreeSet<String>,
    budget: Budget,
    /// The price of a million tokens.
    price: Option<Price>,
    /// Further members of each request: `temperature`.
    pub(crate) request: Map,
    /// Programs as tools.
    tool: Vec<Declared>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Price {
    prompt: f64,
    completion: f64,
}

/// A program as a tool.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Declared {
    name: String,
    description: String,
    parameters: Value,
    command: Vec<String>,
    #[serde(default)]
    kind: Effect,
    #[serde(default)]
    idempotent: bool,
    timeout_s: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Effect {
    Read,
    Write,
    #[default]
    Destructive,
}

impl RunFile {
    /// Reads a file; what its name ends with says what it is.
    ///
    /// # Errors
    /// It cannot be read or used.
    pub(crate) fn read(path: &Path) -> Result<RunFile, Failure> {
        let text = input::text(path)?;
        let unusable = |why: String| Failure::Definitions(path.to_owned(), why);
        let mut file: RunFile = match is_json(path) {
            true => serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?,
            false => toml::from_str(&text).map_err(|error| unusable(error.to_string()))?,
        };
        if let Some(beside) = file.system_file.take() {
            if file.system.is_some() {
                return Err(unusable(String::from("give either system or system_file, not both")));
            }
            file.system = Some(beneath(path, &beside).map_err(unusable)?);
        }
        file.policy().map_err(unusable)?;
        Ok(file)
    }

    fn policy(&self) -> Result<Option<Policy>, String> {
        let named = |name: &String| {
            Policy::named(name).ok_or(format!("policy {name}: one of auto, heal, feedback, strict"))
        };
        self.policy.as_ref().map(named).transpose()
    }

    /// The task with the input in it.
    ///
    /// # Errors
    /// It names what the input does not have, or there is neither.
    pub(crate) fn task(&self, input: Option<&Value>) -> Result<String, Failure> {
        let wrong = |why: String| Failure::Config(why);
        match (&self.task, input) {
            (None, None) => Err(wrong(String::from("there is no task: give one, or --input"))),
            (None, Some(Value::String(text))) => Ok(text.clone()),
            (None, Some(Value::Object(members))) if members.len() == 1 => {
                Ok(members.values().map(text_of).collect())
            }
            (None, Some(input)) => Ok(input.to_string()),
            (Some(task), input) => filled(task, input).map_err(wrong),
        }
    }

    /// Returns the settings of the run.
    pub(crate) fn settings(&self, policy: Policy, notes: bool) -> Settings {
        let default = Stop::default();
        Settings {
            system: self.system.clone(),
            policy: self.policy().ok().flatten().unwrap_or(policy),
            notes: self.notes.unwrap_or(notes),
            stop: Stop {
                max_turns: self.max_turns.or(default.max_turns),
                tools: self.stop_tools.clone(),
                budget: self.budget,
                ..default
            },
            context_tokens: self.context_tokens,
        }
    }

    /// Returns the price of a million tokens of questions and answers.
    pub(crate) fn prices(&self) -> Option<(f64, f64)> {
        self.price.map(|price| (price.prompt, price.completion))
    }

    /// The tools of the run.
    ///
    /// # Errors
    /// There is no tool of a given name.
    pub(crate) fn toolbox(
        &self,
        built_in: &[Arc<dyn Tool>],
        commands: &Arc<Commands>,
    ) -> Result<Vec<Arc<dyn Tool>>, Failure> {
        let declared = self.tool.iter().map(|tool| tool.tool(commands.clone()));
        let mut all: BTreeMap<String, Arc<dyn Tool>> = BTreeMap::new();
        let mut order = Vec::new();
        for tool in built_in.iter().cloned().chain(declared) {
            let name = tool.definition()["function"]["name"].as_str().unwrap_or_default().to_owned();
            order.push(name.clone());
            all.insert(name, tool);
        }
        let wanted = self.tools.as_ref().unwrap_or(&order);
        let known = || order.join(", ");
        wanted
            .iter()
            .map(|name| {
                let tool = all.get(name).cloned();
                tool.ok_or_else(|| {
                    Failure::Config(format!("there is no tool {name}; there are: {}", known()))
                })
            })
            .collect()
    }
}

impl Declared {
    fn tool(&self, commands: Arc<Commands>) -> Arc<dyn Tool> {
        let kind = match self.kind {
            Effect::Read => Kind::READ,
            Effect::Write => Kind::WRITE,
            Effect::Destructive => Kind::DESTRUCTIVE.closed(),
        };
        let kind = if self.idempotent { kind.idempotent() } else { kind };
        let tool =
            Program::new(&self.name, &self.description, &self.parameters, self.command.clone(), commands);
        let tool = tool.of_kind(kind);
        Arc::new(match self.timeout_s {
            Some(seconds) => tool.within(Duration::from_secs(seconds)),
            None => tool,
        })
    }
}

/// The text of a file beneath the folder of a run file. What leads out of that is the user's, and is sent to nobody
/// because a file says so.
fn beneath(file: &Path, path: &Path) -> Result<String, String> {
    let named = path.display();
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = Workspace::open(folder).map_err(|error| format!("system_file {named}: {error}"))?;
    let bytes = folder.read(&path.to_string_lossy()).map_err(|error| match error {
        FileError::Outside => format!("system_file {named}: it lies outside of the folder of this file"),
        error => format!("system_file {named}: {error}"),
    })?;
    String::from_utf8(bytes).map_err(|_| format!("system_file {named}: it is not UTF-8"))
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// `task` with members of `input`: `Solve this: {problem}`. Braces around anything but a name stay.
fn filled(task: &str, input: Option<&Value>) -> Result<String, String> {
    let mut out = String::with_capacity(task.len());
    let mut rest = task;
    while let Some((before, behind)) = rest.split_once('{') {
        out.push_str(before);
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        match behind.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, behind)) => {
                let value = input.and_then(|input| input.get(name));
                let missing = || format!("the task needs `{name}`: give it with --input '{{\"{name}\": …}}'");
                out.push_str(&text_of(value.ok_or_else(missing)?));
                rest = behind;
            }
            None => {
                out.push('{');
                rest = behind;
            }
        }
    }
    Ok(out + rest)
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright::json;

    #[test]
    fn the_input_goes_into_the_task() {
        let file = |task: Option<&str>| RunFile { task: task.map(str::to_owned), ..RunFile::default() };
        let input = json!({"problem": "Print hello", "n": 2});
        let task = |text, input: Option<&Value>| file(text).task(input).map_err(|error| error.to_string());
        assert_eq!(task(Some("Solve: {problem} {n}x {"), Some(&input)).unwrap(), "Solve: Print hello 2x {");
        assert_eq!(task(Some("{ x: 1 }"), None).unwrap(), "{ x: 1 }");
        assert_eq!(task(None, Some(&json!({"problem": "Print hello"}))).unwrap(), "Print hello");
        assert_eq!(task(None, Some(&json!("Print hello"))).unwrap(), "Print hello");
        assert!(task(Some("{problem}"), None).unwrap_err().contains("the task needs `problem`"));
        assert!(task(None, None).unwrap_err().contains("there is no task"));
    }
}
