//! A behaviour: what a model or its server does, what must have come of it in the end, and the script that plays it.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;

use super::client::Client;
use super::script::{self, Filler};
use super::{Way, Wrong};
use crate::every::Every;

/// One file of `e2e/matrix/behaviours`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Behaviour {
    #[serde(skip)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) every: Every,
    /// How many seconds a client may take.
    #[serde(default = "patience")]
    pub(super) patience: u32,
    /// So many right calls of the model have been seen by the gateway before.
    #[serde(default)]
    pub(super) warm: usize,
    /// So many right calls of the client itself come before, each with a file of its own.
    #[serde(default)]
    session: usize,
    /// The gateway's configuration.
    pub(super) gateway: Option<toml::Table>,
    /// What stands in the folder in the end, and is there once.
    #[serde(default = "one")]
    files: BTreeMap<String, String>,
    /// Long texts, by name, as `{text:NAME}`.
    #[serde(default)]
    texts: BTreeMap<String, Text>,
    /// What the model says first: answers of `callwright replay`, with placeholders.
    #[serde(rename = "answer")]
    answers: Vec<toml::Table>,
    /// It says these again and again. Otherwise it says from then on what is `right`.
    #[serde(default)]
    always: bool,
    /// A right call.
    right: Option<toml::Table>,
    /// How these answers are written.
    #[serde(default)]
    form: toml::Table,
    /// Cells that are wrong with the gateway and without it: `cells` names clients.
    #[serde(default)]
    pub(super) wrong: Vec<Wrong>,
}

/// A text: lines, so many times, with `{n}` for their number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    lines: String,
    #[serde(default = "once")]
    times: usize,
}

fn patience() -> u32 {
    120
}

fn once() -> usize {
    1
}

fn one() -> BTreeMap<String, String> {
    [("one.txt".to_owned(), "one\n".to_owned())].into()
}

impl Behaviour {
    /// The script for a client in `folder`, and the files that must be there in the end.
    ///
    /// # Errors
    /// When a placeholder names nothing.
    pub(super) fn script(
        &self,
        client: &Client,
        folder: &str,
        way: Way,
    ) -> Result<(toml::Table, BTreeMap<String, String>)> {
        let texts = self.texts.iter().map(|(name, text)| (name.as_str(), text.whole())).collect();
        let filler = Filler { tools: &client.tools, folder, texts };
        let mut files = BTreeMap::new();
        for (name, text) in &self.files {
            files.insert(name.clone(), filler.fill(text)?);
        }
        let mut session = Vec::new();
        for n in 0..self.session {
            files.insert(format!("s{n}.txt"), format!("s{n}\n"));
            session.push(script::right(&format!("s{n}"))?);
        }
        let done: Vec<String> = files.keys().map(|name| format!("{folder}/{name}")).collect();
        let right = self.right.clone().map_or_else(|| script::right("one"), Ok)?;
        let answers: Vec<toml::Table> = match self.always {
            true => std::iter::repeat_n(&self.answers, script::TRIES).flatten().cloned().collect(),
            false => self.answers.iter().cloned().chain(std::iter::repeat_n(right, script::TRIES)).collect(),
        };
        let mut said = [session, answers].concat();
        for answer in &mut said {
            answer.entry("form").or_insert_with(|| self.form.clone().into());
        }
        let mut script = script::script(&client.answers, &said, &done, &filler)?;
        if way == Way::Gateway {
            script.insert("speaks".into(), vec![toml::Value::from("chat")].into());
        }
        Ok((script, files))
    }
}

impl Text {
    fn whole(&self) -> String {
        (0..self.times).map(|n| self.lines.replace("{n}", &n.to_string())).collect()
    }
}
