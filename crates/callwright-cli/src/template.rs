//! `callwright template`: what a model's chat template says, and how far that was proved.

use std::io::{self, Write};

use callwright::Dialects;
use callwright_template::{Findings, Proved, Template};
use serde::Serialize;

use crate::args::TemplateArgs;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input;
use crate::view::json;

/// The name of a dialect that only this template has.
const NAME: &str = "template";

/// Prints what the template says; fails where it does not tell a dialect.
pub(crate) fn run(args: &TemplateArgs) -> Result<(), Failure> {
    let source = input::text(&args.file)?;
    let template =
        Template::new(&source).map_err(|error| Failure::Definitions(args.file.clone(), error.to_string()))?;
    let findings = Findings::of(&template, &Dialects::default(), NAME);
    let shown = if args.json { json(&View::of(&findings)) + "\n" } else { text(&findings) };
    io::stdout().write_all(shown.as_bytes())?;
    if findings.calls.is_ok() { Ok(()) } else { Err(Failure::Refused) }
}

fn text(findings: &Findings) -> String {
    let mut lines = Vec::new();
    let system = if findings.turns.system_role { "system turns" } else { "no system turns" };
    let order = if findings.turns.alternate { ", user and assistant in turn" } else { "" };
    lines.push(format!("turns      {system}{order}"));
    lines.push(format!("tools      {}", if findings.lists_tools { "listed" } else { "not listed" }));
    if let Some(reasoning) = &findings.reasoning {
        let opened = if reasoning.opened { ", opened by the prompt" } else { "" };
        lines.push(format!("reasoning  {} … {}{opened}", reasoning.open, reasoning.close));
    }
    match &findings.calls {
        Err(unknown) => lines.push(format!("dialect    not known: {unknown}")),
        Ok(Proved { name, own, round_trips, unclear }) => {
            let name = if own.is_some() { "one of its own" } else { name };
            let unclear = match unclear {
                0 => String::new(),
                n => format!(", {n} more hold what the template does not escape"),
            };
            lines.push(format!("dialect    {name} (proved by {round_trips} round trips{unclear})"));
            lines.extend(own.iter().map(json));
        }
    }
    lines.iter().map(|line| harmless(line).into_owned() + "\n").collect()
}

/// The same for programs.
#[derive(Serialize)]
struct View<'f> {
    system_role: bool,
    alternate: bool,
    lists_tools: bool,
    reasoning: Option<[&'f str; 2]>,
    opens_reasoning: bool,
    dialect: Option<&'f str>,
    own: Option<&'f callwright::Dialect>,
    round_trips: usize,
    unclear: usize,
    unknown: Option<String>,
}

impl<'f> View<'f> {
    fn of(findings: &'f Findings) -> View<'f> {
        let reasoning = findings.reasoning.as_ref();
        let proved = findings.calls.as_ref().ok();
        View {
            system_role: findings.turns.system_role,
            alternate: findings.turns.alternate,
            lists_tools: findings.lists_tools,
            reasoning: reasoning.map(|reasoning| [&*reasoning.open, &*reasoning.close]),
            opens_reasoning: reasoning.is_some_and(|reasoning| reasoning.opened),
            dialect: proved.map(|proved| &*proved.name),
            own: proved.and_then(|proved| proved.own.as_ref()),
            round_trips: proved.map_or(0, |proved| proved.round_trips),
            unclear: proved.map_or(0, |proved| proved.unclear),
            unknown: findings.calls.as_ref().err().map(ToString::to_string),
        }
    }
}
