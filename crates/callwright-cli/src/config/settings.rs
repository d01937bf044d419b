//! The settings: the form of the file, and the single values that flags and the environment set too.

use std::collections::BTreeMap;
use std::path::PathBuf;

use callwright::{Dialect, Policy};
use callwright_agent::mcp;
use callwright_gateway::{LogConfig, ServerConfig, Sessions, TraceConfig};
use callwright_relay::config::{
    CapabilityConfig, LadderConfig, Limits, ModelConfig, ToolsConfig, UpstreamConfig,
};
use serde::Deserialize;
use toml::{Table, Value};

use super::message::{in_our_words, meant};
use super::origin::Origin;
use super::store::StoreSettings;
use crate::failure::Failure;

/// The configuration file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Settings {
    pub(crate) listen: String,
    pub(crate) allow_open: bool,
    /// Without a configured upstream, a server on this machine is searched.
    pub(crate) find_local: bool,
    pub(crate) default_model: Option<String>,
    #[serde(deserialize_with = "policy")]
    pub(crate) policy: Policy,
    pub(crate) notes: bool,
    pub(crate) loop_guard: u32,
    pub(crate) stream_arguments: Option<bool>,
    pub(crate) upstreams: Vec<UpstreamConfig>,
    pub(crate) models: Vec<ModelConfig>,
    pub(crate) keys: Vec<KeyConfig>,
    /// The user's own dialects.
    pub(crate) dialect: Vec<Dialect>,
    /// The descriptions of answers by tokenizers, as more dialects.
    pub(crate) response_template: Vec<ResponseFile>,
    pub(crate) tools: ToolsConfig,
    pub(crate) ladder: LadderConfig,
    pub(crate) limits: Limits,
    pub(crate) capability: CapabilityConfig,
    pub(crate) server: ServerConfig,
    pub(crate) log: LogConfig,
    pub(crate) traces: TraceConfig,
    pub(crate) store: StoreSettings,
    /// MCP servers, by name.
    pub(crate) mcp: BTreeMap<String, mcp::ServerConfig>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: "127.0.0.1:4000".into(),
            allow_open: false,
            find_local: true,
            default_model: None,
            policy: Policy::default(),
            notes: false,
            loop_guard: 0,
            stream_arguments: None,
            upstreams: Vec::new(),
            models: Vec::new(),
            keys: Vec::new(),
            dialect: Vec::new(),
            response_template: Vec::new(),
            tools: ToolsConfig::default(),
            ladder: LadderConfig::default(),
            limits: Limits::default(),
            capability: CapabilityConfig::default(),
            server: ServerConfig::default(),
            log: LogConfig::default(),
            traces: TraceConfig::default(),
            store: StoreSettings::default(),
            mcp: BTreeMap::new(),
        }
    }
}

/// A client's key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyConfig {
    /// Whose it is.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// Its hash, as `callwright key` prints it.
    pub(crate) sha256: String,
    /// The sessions that it sees.
    #[serde(default)]
    pub(crate) sessions: Sessions,
}

/// A file of Hugging Face that says how a model's answers look.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResponseFile {
    /// A `tokenizer_config.json`, or what stands in it; from the folder of the configuration file.
    pub(crate) file: PathBuf,
    /// The name of the dialect.
    pub(crate) name: String,
    /// The models that write it.
    #[serde(default)]
    pub(crate) models: Vec<String>,
}

/// A single value.
pub(crate) struct Setting {
    /// Its place in the file: `server.workers`.
    pub(crate) key: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Count,
    Number,
    Texts,
}

/// The environment variable that sets a key: `CALLWRIGHT_SERVER_WORKERS`.
pub(crate) fn variable(key: &str) -> String {
    format!("CALLWRIGHT_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// All single values.
pub(crate) const ALL: &[Setting] = &[
    text("listen"),
    flag("allow_open"),
    flag("find_local"),
    text("default_model"),
    text("policy"),
    flag("notes"),
    count("loop_guard"),
    flag("stream_arguments"),
    count("tools.limit"),
    count("ladder.reasks"),
    count("ladder.feedback_turns"),
    count("ladder.max_tokens"),
    number("ladder.max_seconds"),
    count("ladder.give_up_after"),
    flag("ladder.confirm_open_ends"),
    Setting { key: "ladder.safe_tools", kind: Kind::Texts },
    count("limits.body"),
    count("limits.bodies"),
    count("limits.answer"),
    count("limits.event"),
    count("limits.compiled_tools"),
    count("capability.ttl"),
    text("capability.dir"),
    flag("capability.probe"),
    count("server.workers"),
    count("server.open_requests"),
    Setting { key: "server.cors_origins", kind: Kind::Texts },
    number("server.header_seconds"),
    number("server.body_seconds"),
    number("server.stall_seconds"),
    number("server.notice_seconds"),
    number("server.drain_seconds"),
    text("log.format"),
    text("log.level"),
    text("traces.otlp_endpoint"),
    text("store.at"),
    count("store.days"),
    count("store.bytes"),
    Setting { key: "store.mask", kind: Kind::Texts },
    text("store.dumps"),
];

const fn text(key: &'static str) -> Setting {
    Setting { key, kind: Kind::Text }
}

const fn flag(key: &'static str) -> Setting {
    Setting { key, kind: Kind::Flag }
}

const fn count(key: &'static str) -> Setting {
    Setting { key, kind: Kind::Count }
}

const fn number(key: &'static str) -> Setting {
    Setting { key, kind: Kind::Number }
}

/// Keys of earlier versions, and the keys that took their place. What reads a list renames those in it.
pub(crate) const FORMER: [(&str, &str); 2] =
    [("ladder.breaker", "ladder.give_up_after"), ("models[].fallback_model", "models[].escalate")];

/// Renames the keys of earlier versions in a table that has been read.
pub(crate) fn rename_former(table: &mut Table) {
    for (former, key) in FORMER {
        let (Some((section, former)), Some((_, key))) = (former.split_once('.'), key.split_once('.')) else {
            continue;
        };
        if let Some(Value::Table(section)) = table.get_mut(section)
            && let Some(value) = section.remove(former)
        {
            section.insert(key.into(), value);
        }
    }
}

/// Puts the value that `origin` gives to `key` into the table, and says which key that is.
///
/// # Errors
/// There is no such key, or it takes no such value.
pub(crate) fn put(
    table: &mut Table,
    key: &str,
    value: &str,
    origin: &Origin,
) -> Result<&'static str, Failure> {
    let refused = |why: String| Failure::Config(format!("{origin}: {why}"));
    let key = FORMER.iter().find(|(former, _)| *former == key).map_or(key, |(_, key)| key);
    let setting = ALL.iter().find(|setting| setting.key == key);
    let setting = setting.ok_or_else(|| {
        let meant = meant(key, ALL.iter().map(|setting| setting.key));
        let meant = meant.map_or_else(String::new, |meant| format!(": did you mean `{meant}`?"));
        refused(format!("unknown key `{key}`{meant}"))
    })?;
    let wanted = |what: &str| refused(format!("`{key}` is {what}"));
    let value = match setting.kind {
        Kind::Text => Value::String(value.into()),
        Kind::Flag => Value::Boolean(value.parse().map_err(|_| wanted("true or false"))?),
        Kind::Count => {
            let count = value.parse().ok().filter(|count| 0 <= *count);
            Value::Integer(count.ok_or_else(|| wanted("a whole number"))?)
        }
        Kind::Number => Value::Float(value.parse().map_err(|_| wanted("a number"))?),
        Kind::Texts => Value::Array(value.split(',').map(|text| Value::String(text.trim().into())).collect()),
    };
    let mut alone = Table::new();
    insert(&mut alone, setting.key, value.clone());
    // One value at a time: whoever gave a wrong one is named.
    Settings::deserialize(alone)
        .map_err(|error| refused(format!("`{key}`: {}", in_our_words(error.message()))))?;
    insert(table, setting.key, value);
    Ok(setting.key)
}

/// The single values of a table, as they may be shown.
pub(crate) fn values(table: &Table) -> BTreeMap<&'static str, String> {
    let value = |key: &'static str| {
        let value = match key.split_once('.') {
            None => table.get(key),
            Some((section, key)) => table.get(section)?.get(key),
        };
        Some((key, shown(value?)))
    };
    ALL.iter().filter_map(|setting| value(setting.key)).collect()
}

/// The query of a URL may hold a key, and what stands before its host a password.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        // No single value is one of these.
        Value::Datetime(_) | Value::Table(_) => String::new(),
    };
    let Some((scheme, rest)) = text.split_once("://") else { return text };
    let rest = rest.split('?').next().unwrap_or_default();
    format!("{scheme}://{}", rest.rsplit('@').next().unwrap_or_default())
}

/// The settings that a table comes to.
///
/// # Errors
/// A key or a value that cannot be used.
pub(crate) fn of(table: Table) -> Result<Settings, Failure> {
    Settings::deserialize(table).map_err(|error| Failure::Config(error.message().to_owned()))
}

fn insert(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.into(), value);
        }
        Some((section, key)) => {
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            // The file was read as settings before: a section is a table.
            if let Value::Table(section) = section {
                section.insert(key.into(), value);
            }
        }
    }
}

fn policy<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Policy, D::Error> {
    let name = String::deserialize(from)?;
    let unknown = || serde::de::Error::custom("a policy is one of auto, heal, feedback, strict");
    Policy::named(&name).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_value_is_a_key_of_the_file() {
        for setting in ALL {
            let value = match setting.kind {
                Kind::Text if setting.key == "policy" => "strict",
                Kind::Text if setting.key == "log.format" => "json",
                Kind::Text | Kind::Texts => "x",
                Kind::Flag => "true",
                Kind::Count => "7",
                Kind::Number => "1.5",
            };
            let put = put(&mut Table::new(), setting.key, value, &Origin::Flag("--set".into()));
            assert_eq!(put.unwrap(), setting.key);
        }
    }

    #[test]
    fn a_wrong_value_names_its_key_and_its_origin() {
        for (key, value, says) in [
            ("server.workers", "-1", "X: `server.workers` is a whole number"),
            ("server.drain_seconds", "soon", "X: `server.drain_seconds` is a number"),
            ("allow_open", "yes", "X: `allow_open` is true or false"),
            ("policy", "healing", "X: `policy`: a policy is one of auto, heal, feedback, strict"),
            ("server.worker", "1", "X: unknown key `server.worker`: did you mean `server.workers`?"),
            ("upstreams", "x", "X: unknown key `upstreams`"),
        ] {
            let failure = put(&mut Table::new(), key, value, &Origin::Env("X".into())).unwrap_err();
            assert_eq!(failure.to_string(), says);
        }
    }
}
