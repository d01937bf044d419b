//! The agents that can be set up: a table, `data/agents.toml`, and what its placeholders and paths stand for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use callwright::value::{Map, Value};
use serde::Deserialize;

use super::format::{Format, Lists};
use crate::config::Env;

const TABLE: &str = include_str!("../../data/agents.toml");

static AGENTS: LazyLock<Vec<Agent>> = LazyLock::new(|| {
    // A test reads the table: it is part of the binary.
    toml_edit::de::from_str::<Table>(TABLE).map(|table| table.agents).unwrap_or_default()
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    agents: Vec<Agent>,
}

/// One agent of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Agent {
    /// The word for it on the command line.
    pub(crate) name: String,
    /// Its title.
    pub(crate) title: String,
    /// Its binary.
    pub(crate) program: String,
    /// The API that it speaks.
    #[cfg_attr(not(test), expect(dead_code, reason = "the pages are made of it"))]
    wire: String,
    /// The version that was run, or where the facts come from.
    #[cfg_attr(not(test), expect(dead_code, reason = "the pages are made of it"))]
    checked: String,
    /// The command that starts it once it is set up.
    pub(crate) start: String,
    /// The steps that are left to the user.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    #[serde(default)]
    pub(crate) files: Vec<AgentFile>,
    /// Its settings where it reads them from the environment alone.
    #[serde(default)]
    variables: Map,
    pub(crate) launch: Option<Launch>,
}

/// A file of an agent, and the members that it gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentFile {
    path: String,
    #[serde(default)]
    or: Vec<String>,
    macos: Option<String>,
    project: Option<String>,
    pub(crate) format: Format,
    /// It is the agent's own place for keys.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test holds the table to it"))]
    pub(crate) has_keys: bool,
    #[serde(default)]
    pub(crate) lists: Lists,
    set: Value,
    #[serde(default)]
    keyed: Value,
}

/// The start of an agent so that no file of the user's changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Launch {
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    variables: Map,
    folder: Option<String>,
    folder_macos: Option<String>,
    /// The variable that names the folder.
    pub(crate) folder_variable: Option<String>,
}

/// The values of the placeholders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// The gateway's address, without a path.
    pub(crate) url: String,
    pub(crate) model: String,
    /// The key that the gateway wants, and the variable that holds it.
    pub(crate) key: Option<(String, String)>,
    /// Others, by name.
    pub(crate) more: BTreeMap<&'static str, String>,
}

/// The key that an agent sends where the gateway wants none: many refuse to start without any.
const NO_KEY: &str = "none";

/// All agents, in the order of the table.
pub(crate) fn agents() -> &'static [Agent] {
    &AGENTS
}

impl Agent {
    /// The agent of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Agent> {
        agents().iter().find(|agent| agent.name == name)
    }

    /// The variables that stand for its settings: names and values.
    pub(crate) fn variables(&self, values: &Values) -> Vec<(String, String)> {
        values.pairs(&self.variables)
    }

    /// Its binary in one of the folders of `PATH`.
    pub(crate) fn found(&self, env: Env<'_>) -> Option<PathBuf> {
        let path = env("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(&self.program)).find(|file| file.is_file())
    }
}

impl AgentFile {
    /// The file where it stands, or would stand.
    pub(crate) fn path(&self, env: Env<'_>) -> Option<PathBuf> {
        let own = self.macos.as_ref().filter(|_| cfg!(target_os = "macos")).unwrap_or(&self.path);
        let paths: Vec<PathBuf> =
            [own].into_iter().chain(&self.or).filter_map(|path| expanded(path, env)).collect();
        paths.iter().find(|path| path.exists()).or(paths.first()).cloned()
    }

    /// The file of a project, in the current folder.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        self.project.as_ref().map(PathBuf::from)
    }

    /// The members that it gets.
    pub(crate) fn set(&self, values: &Values) -> Value {
        let mut set = self.set.clone();
        if values.key.is_some() {
            lay_over(&mut set, &self.keyed, self.lists.get(""), "", &self.lists);
        }
        values.filled(&set)
    }

    /// Returns whether the key itself would go into it.
    pub(crate) fn takes_key(&self) -> bool {
        format!("{}{}", self.set, self.keyed).contains("{key}")
    }
}

impl Launch {
    /// The variables that it sets: names and values.
    pub(crate) fn variables(&self, values: &Values) -> Vec<(String, String)> {
        values.pairs(&self.variables)
    }

    /// The user's folder that the agent gets a changed copy of.
    pub(crate) fn folder(&self, env: Env<'_>) -> Option<PathBuf> {
        let own =
            self.folder_macos.as_ref().filter(|_| cfg!(target_os = "macos")).or(self.folder.as_ref())?;
        expanded(own, env)
    }
}

impl Values {
    /// `text` with the placeholders filled in.
    pub(crate) fn fill(&self, text: &str) -> String {
        let key = self.key.as_ref().map(|(variable, key)| (variable.as_str(), key.as_str()));
        let (variable, key) = key.unwrap_or(("CALLWRIGHT_KEY", NO_KEY));
        // A value is not a template: what was filled in is not looked at again.
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let name = from.get(1..).and_then(|name| name.split_once('}')).map(|(name, _)| name);
            let value = name.and_then(|name| match name {
                "url" => Some(&*self.url),
                "model" => Some(&*self.model),
                "key" => Some(key),
                "key_env" => Some(variable),
                name => self.more.get(name).map(String::as_str),
            });
            match (name, value) {
                (Some(name), Some(value)) => {
                    out.push_str(value);
                    rest = from.get(name.len() + 2..).unwrap_or_default();
                }
                (_, _) => {
                    out.push('{');
                    rest = from.get(1..).unwrap_or_default();
                }
            }
        }
        out + rest
    }

    /// `value` with the placeholders filled in, in keys and texts.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill(text).into(),
            Value::Array(elements) => elements.iter().map(|element| self.filled(element)).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (self.fill(key), self.filled(value))).collect()
            }
            other => other.clone(),
        }
    }

    fn pairs(&self, variables: &Map) -> Vec<(String, String)> {
        let pairs = variables.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?)));
        pairs.map(|(name, value)| (name, self.fill(value))).collect()
    }
}

/// Puts the members of `over` into `set`.
fn lay_over(set: &mut Value, over: &Value, name: Option<&String>, at: &str, lists: &Lists) {
    match (set, over) {
        (Value::Object(set), Value::Object(over)) => {
            for (key, value) in over {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                match set.get_mut(key) {
                    Some(there) => lay_over(there, value, lists.get(&at), &at, lists),
                    None => _ = set.insert(key.clone(), value.clone()),
                }
            }
        }
        (Value::Array(set), Value::Array(over)) => {
            let Some(name) = name else { return };
            for element in over {
                let same = set.iter_mut().find(|there| there.get(&**name) == element.get(&**name));
                if let Some(there) = same {
                    lay_over(there, element, None, at, lists);
                }
            }
        }
        (_, Value::Null) => {}
        (set, over) => *set = over.clone(),
    }
}

/// `${NAME:PATH}` and `~/PATH`, for this user; none where there is no home.
fn expanded(path: &str, env: Env<'_>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty());
    if let Some(inner) = path.strip_prefix("${") {
        // The default may hold another one.
        let (inner, rest) = inner.rsplit_once('}')?;
        let (name, default) = inner.split_once(':')?;
        let folder = set(name).map(PathBuf::from).or_else(|| expanded(default, env))?;
        return Some(folder.join(rest.trim_start_matches('/')));
    }
    match path.strip_prefix("~/") {
        Some(rest) => Some(PathBuf::from(set("HOME").or_else(|| set("USERPROFILE"))?).join(rest)),
        None => Some(PathBuf::from(path)),
    }
}

/// A path as people write it: with `~` for their home.
pub(crate) fn tilde<'p>(path: &'p std::path::Path, env: Env<'_>) -> Cow<'p, str> {
    match env("HOME")
        .filter(|home| !home.is_empty())
        .and_then(|home| path.strip_prefix(home).ok().map(PathBuf::from))
    {
        Some(rest) => format!("~/{}", rest.display()).into(),
        None => path.to_string_lossy(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        let table: Table = toml_edit::de::from_str(TABLE).unwrap();
        assert!(15 <= table.agents.len());
        for agent in &table.agents {
            let Agent { name, wire, checked, files, variables, .. } = agent;
            assert!(["chat", "messages", "responses", "gemini"].contains(&&**wire), "{name}: {wire}");
            assert!(!checked.is_empty() && !agent.start.is_empty(), "{name}");
            assert!(!files.is_empty() || !variables.is_empty(), "{name}: it has files, or variables");
            for file in files {
                assert!(
                    file.has_keys || !file.takes_key(),
                    "{name}: a key goes into a file that is not the place for it"
                );
            }
        }
    }

    #[test]
    fn placeholders_are_filled_once() {
        let values = Values { url: "u".into(), model: "a{url}b".into(), ..Values::default() };
        assert_eq!(
            values.fill("{url}/v1 {model} {key} {nobody} {env:{key_env}} {"),
            "u/v1 a{url}b none {nobody} {env:CALLWRIGHT_KEY} {"
        );
    }

    #[test]
    fn paths_are_those_of_the_user() {
        let env = |name: &str| match name {
            "HOME" => Some(String::from("/h")),
            "X" => Some(String::from("/x")),
            _ => None,
        };
        for (path, expected) in [
            ("~/.a/b", "/h/.a/b"),
            ("${X:~/.c}/d", "/x/d"),
            ("${Y:~/.c}/d", "/h/.c/d"),
            ("${Y:${X:~/.c}/e}/d", "/x/e/d"),
            ("${Y:${Z:~/.c}/e}/d", "/h/.c/e/d"),
        ] {
            assert_eq!(expanded(path, &env).unwrap(), PathBuf::from(expected), "{path}");
        }
    }

    #[test]
    fn a_key_goes_where_the_agent_keeps_it() {
        let plain = Values { url: "http://u".into(), model: "m".into(), ..Values::default() };
        let keyed = Values { key: Some((String::from("CW"), String::from("secret"))), ..plain.clone() };
        for agent in agents() {
            for file in &agent.files {
                let (without, with) = (file.set(&plain).to_string(), file.set(&keyed).to_string());
                assert!(!without.contains("secret"), "{}", agent.name);
                assert_eq!(
                    with.contains("secret"),
                    file.has_keys && file.takes_key(),
                    "{}: {with}",
                    agent.name
                );
            }
        }
        let vibe = Agent::named("mistral-vibe").unwrap().files[0].set(&keyed);
        assert_eq!(vibe["providers"][0]["api_key_env_var"], "CW");
        let llm = Agent::named("llm").unwrap().files[0].set(&keyed);
        assert_eq!(llm[0]["api_key_name"], "callwright");
    }
}
