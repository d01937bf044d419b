//! Scenarios as data: what a client asks, which upstream answers, through what, and what the client must see.

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::client::ClientName;
use crate::judge::Expectation;

/// One file of `e2e/scenarios`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scenario {
    /// The file's name.
    #[serde(skip)]
    pub(crate) name: String,
    pub(crate) upstream: Upstream,
    /// The model that the client asks for. A real one is asked for by its upstream's name.
    #[serde(default)]
    model: Option<String>,
    pub(crate) ask: String,
    pub(crate) tools: Vec<String>,
    /// The request's `tool_choice`, for clients of OpenAI's package in Python.
    #[serde(default)]
    pub(crate) tool_choice: Option<String>,
    /// After how many answers the client stops.
    pub(crate) turns: u32,
    #[serde(default = "max_tokens")]
    pub(crate) max_tokens: u32,
    pub(crate) expect: Expectation,
    #[serde(rename = "run")]
    pub(crate) runs: Vec<Run>,
    /// The script of the replay upstream.
    #[serde(default)]
    pub(crate) replay: Option<toml::Table>,
    /// The gateway's configuration.
    #[serde(default)]
    pub(crate) gateway: Option<toml::Table>,
    /// What the gateway's log must hold.
    #[serde(default)]
    pub(crate) gateway_log: Vec<String>,
}

fn max_tokens() -> u32 {
    64
}

/// Who answers in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Upstream {
    /// The replay upstream, from the scenario's script.
    Replay,
    /// A small model whose server drops `tools` without a word: its template knows none.
    Smollm2,
    /// The same weights with native calls.
    Smollm2Tools,
    /// The same weights, refusing `tools` with an error.
    Smollm2Nojinja,
    /// The same weights under a template that nobody has seen, and that knows no tools.
    Smollm2Unheard,
}

/// A row of the matrix: clients and modes that take one way to the upstream.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) through: Through,
    /// Where none is named, all that speak what there is to speak to.
    #[serde(default)]
    clients: Vec<ClientName>,
    /// Both where none is named.
    #[serde(default = "both_modes")]
    pub(crate) modes: Vec<Mode>,
    /// A control: without the gateway the expectation must *not* be met. It shows that meeting it takes something.
    #[serde(default)]
    pub(crate) fails: bool,
}

fn both_modes() -> Vec<Mode> {
    vec![Mode::Plain, Mode::Streamed]
}

/// The way from the client to the upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Through {
    /// None: the client speaks to the upstream.
    Direct,
    /// `callwright serve`, started for this one cell.
    Gateway,
    /// The same before an upstream that is said to speak Anthropic's messages.
    Messages,
    /// The same before one that is said to speak OpenAI's responses.
    Responses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    Plain,
    Streamed,
}

/// One field of the matrix.
pub(crate) struct Cell<'s> {
    pub(crate) scenario: &'s Scenario,
    pub(crate) run: &'s Run,
    pub(crate) client: ClientName,
    pub(crate) mode: Mode,
}

impl Scenario {
    /// All scenarios of a folder, in the order of their upstreams and names: a model is started once.
    ///
    /// # Errors
    /// When a file cannot be read, or is no scenario.
    pub(crate) fn all(folder: &Path) -> Result<Vec<Scenario>> {
        let mut scenarios = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let read = || -> Result<Scenario> {
                let mut scenario: Scenario = toml::from_str(&fs::read_to_string(&path)?)?;
                let name = path.file_stem().and_then(|stem| stem.to_str()).context("no name")?;
                scenario.name = String::from(name);
                Ok(scenario)
            };
            scenarios.push(read().with_context(|| format!("{} is no scenario", path.display()))?);
        }
        scenarios.sort_by(|a, b| (a.upstream, &a.name).cmp(&(b.upstream, &b.name)));
        Ok(scenarios)
    }

    pub(crate) fn model(&self) -> &str {
        self.model.as_deref().unwrap_or(self.upstream.name())
    }

    /// The fields of the matrix, those with `only` in their names.
    pub(crate) fn cells(&self, only: &str) -> Vec<Cell<'_>> {
        let mut cells = Vec::new();
        for run in &self.runs {
            for client in run.clients() {
                let modes = run.modes.iter().copied();
                cells.extend(modes.map(|mode| Cell { scenario: self, run, client, mode }));
            }
        }
        cells.retain(|cell| cell.to_string().contains(only));
        cells
    }
}

impl Run {
    fn clients(&self) -> Vec<ClientName> {
        let speaks = |client: &ClientName| self.through.is_gateway() || client.speaks_chat();
        match self.clients.is_empty() {
            true => ClientName::ALL.into_iter().filter(speaks).collect(),
            false => self.clients.clone(),
        }
    }
}

impl Through {
    pub(crate) fn is_gateway(self) -> bool {
        self != Through::Direct
    }

    /// What the gateway is told that its upstream speaks.
    pub(crate) fn kind(self) -> Option<&'static str> {
        match self {
            Through::Direct | Through::Gateway => None,
            Through::Messages => Some("messages"),
            Through::Responses => Some("responses"),
        }
    }
}

impl Upstream {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Upstream::Replay => "replay",
            Upstream::Smollm2 => "smollm2",
            Upstream::Smollm2Tools => "smollm2-tools",
            Upstream::Smollm2Nojinja => "smollm2-nojinja",
            Upstream::Smollm2Unheard => "smollm2-unheard",
        }
    }

    pub(crate) fn is_model(self) -> bool {
        self != Upstream::Replay
    }
}

/// `extra-closers/gateway/openai-python/streamed`
impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let through = match self.run.through {
            Through::Direct => "direct",
            Through::Gateway => "gateway",
            Through::Messages => "messages",
            Through::Responses => "responses",
        };
        let mode = match self.mode {
            Mode::Plain => "plain",
            Mode::Streamed => "streamed",
        };
        write!(f, "{}/{through}/{}/{mode}", self.scenario.name, self.client)
    }
}
