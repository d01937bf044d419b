//! `callwright demo`: the main job on outputs that are built in: the raw text, what came of it, and what a client
//! of the gateway gets over HTTP when its model answers so.

mod wire;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use callwright::Context;
use serde::Deserialize;

use self::wire::Wire;
use crate::door;
use crate::draw::{Pen, indent};
use crate::failure::Failure;

const EXAMPLES: &str = include_str!("../demo/examples.toml");

/// The next steps, each as it can be typed.
const NEXT: &str = "\
next steps
  callwright demo --all          # every example
  callwright run \"create a Python file that prints hello\" --yes   # an agent, here without a model
  callwright serve               # the gateway: point a client at http://127.0.0.1:4000/v1, a browser at /
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Demo {
    /// Tool definitions by the name that examples call them by.
    tools: BTreeMap<String, String>,
    example: Vec<Example>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    title: String,
    /// It is shown where not all are asked for.
    #[serde(default)]
    brief: bool,
    text: String,
    finish_reason: Option<String>,
    /// The tools whose calls may stand in the text.
    tools: Option<String>,
    /// The text is one JSON value.
    #[serde(default)]
    heal: bool,
    schema: Option<String>,
}

/// Shows the brief examples, or `all`. Some of them are there for their refusal, which is not a failure here.
pub(crate) fn run(all: bool, pen: Pen) -> Result<(), Failure> {
    let broken = |why: String| Failure::Definitions(PathBuf::from("the built-in examples"), why);
    let mut demo: Demo = toml::from_str(EXAMPLES).map_err(|error| broken(error.to_string()))?;
    let n_examples = demo.example.len();
    demo.example.retain(|example| all || example.brief);
    let wire = Wire::start(&demo).map_err(Failure::Config)?;
    let mut out = io::stdout().lock();
    let mut heading = String::new();
    pen.heading(&mut heading, "What Callwright does with what models write");
    let shown = demo.example.len();
    writeln!(
        out,
        "{heading}{shown} of {n_examples} examples: the text, what is repaired or refused, what a client gets.\n"
    )?;
    for (number, example) in (1..).zip(&demo.example) {
        let mut shown = example.shown(pen, &demo.tools, number).map_err(broken)?;
        let got = wire.ask(example, &demo.tools, number).map_err(Failure::Config)?;
        shown.push_str("  over HTTP, a client gets\n");
        for line in got {
            shown.push_str("    ");
            shown.push_str(&line);
            shown.push('\n');
        }
        shown.push('\n');
        out.write_all(shown.as_bytes())?;
    }
    out.write_all(NEXT.as_bytes())?;
    Ok(())
}

impl Example {
    fn shown(&self, pen: Pen, tools: &BTreeMap<String, String>, number: usize) -> Result<String, String> {
        let mut out = String::new();
        pen.heading(&mut out, &format!("{number}. {}", self.title));
        out.push('\n');
        indent(&mut out, &self.text);
        out.push('\n');
        let finish_reason = self.finish_reason.as_deref();
        match &self.tools {
            Some(name) if !self.heal => {
                let tools = door::tool_set(definitions(tools, name)?)?;
                let context = Context { finish_reason, ..Context::default() };
                let outcome = door::parse(&tools, ("", &self.text), &[], &context, None);
                out.push_str(&pen.outcome(&self.text, &outcome, "answer"));
            }
            None if self.heal => {
                let schema = self.schema.as_deref().map(door::schema).transpose()?;
                let healed = door::heal(&self.text, schema.as_ref(), finish_reason);
                out.push_str(&pen.healing(&self.text, healed.as_ref(), "arguments"));
            }
            _ => return Err(format!("`{}` needs either tools or heal", self.title)),
        }
        out.push('\n');
        Ok(out)
    }
}

fn definitions<'t>(tools: &'t BTreeMap<String, String>, name: &str) -> Result<&'t str, String> {
    tools.get(name).map(String::as_str).ok_or_else(|| format!("there are no tools `{name}`"))
}
