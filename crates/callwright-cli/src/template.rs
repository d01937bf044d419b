//! `callwright template`: what a model's chat template says, or its tokenizer, and how far that was proved.

use std::collections::BTreeMap;
use std::io::{self, Write};

use callwright::Dialects;
use callwright_template::{Findings, Proved, ResponseError, ResponseTemplate, Server, Template, Unknown};
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
    if is_json(&source) {
        return response(args, &source);
    }
    let template =
        Template::new(&source).map_err(|error| Failure::Definitions(args.file.clone(), error.to_string()))?;
    let findings = Findings::of(&template, &Dialects::default(), NAME);
    let shown = if args.json { json(&View::of(&findings)) + "\n" } else { text(&findings) };
    io::stdout().write_all(shown.as_bytes())?;
    if findings.calls.is_ok() { Ok(()) } else { Err(Failure::Refused) }
}

/// Jinja begins with `{%`, `{{` or `{#`, where it begins with a brace.
fn is_json(source: &str) -> bool {
    let behind = source.trim_start().strip_prefix('{').and_then(|rest| rest.chars().next());
    behind.is_some_and(|c| !matches!(c, '%' | '{' | '#'))
}

/// Prints what a tokenizer says of its model's calls.
fn response(args: &TemplateArgs, source: &str) -> Result<(), Failure> {
    let refused = |error: ResponseError| Failure::Definitions(args.file.clone(), error.to_string());
    let found = ResponseTemplate::new(source).map_err(refused)?.dialect(&Dialects::default(), NAME);
    let shown = match args.json {
        true => json(&CallsView::of(&found)) + "\n",
        false => dialect(&found).iter().map(|line| harmless(line).into_owned() + "\n").collect(),
    };
    io::stdout().write_all(shown.as_bytes())?;
    if found.is_ok() { Ok(()) } else { Err(Failure::Refused) }
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
    lines.extend(dialect(&findings.calls));
    lines.iter().map(|line| harmless(line).into_owned() + "\n").collect()
}

/// In which dialect the calls are.
fn dialect(found: &Result<Proved, Unknown>) -> Vec<String> {
    let mut lines = Vec::new();
    match found {
        Err(unknown) => lines.push(format!("dialect    not known: {unknown}")),
        Ok(proved @ Proved { name, own, round_trips, unclear }) => {
            let name = if own.is_some() { "one of its own" } else { name };
            let unclear = match unclear {
                0 => String::new(),
                n => format!(", {n} more hold what the template does not escape"),
            };
            lines.push(format!("dialect    {name} (proved by {round_trips} round trips{unclear})"));
            lines.extend(own.iter().map(json));
            lines.extend(
                flags(proved).map(|(server, flags)| format!("flags      {flags:60} {}", server.name())),
            );
        }
    }
    lines
}

/// The flags by which servers read the calls themselves.
fn flags(proved: &Proved) -> impl Iterator<Item = (Server, String)> + '_ {
    Server::ALL.into_iter().filter_map(|server| Some((server, server.flags(&proved.name)?)))
}

/// The findings, for programs.
#[derive(Serialize)]
struct View<'f> {
    #[serde(flatten)]
    turns: TurnsView,
    lists_tools: bool,
    reasoning: Option<[&'f str; 2]>,
    opens_reasoning: bool,
    #[serde(flatten)]
    calls: CallsView<'f>,
}

/// The turns that the template takes, for programs.
#[derive(Serialize)]
struct TurnsView {
    system_role: bool,
    alternate: bool,
}

/// In which dialect the calls are, for programs.
#[derive(Serialize)]
struct CallsView<'f> {
    dialect: Option<&'f str>,
    own: Option<&'f callwright::Dialect>,
    round_trips: usize,
    unclear: usize,
    unknown: Option<String>,
    /// By the names of servers.
    flags: BTreeMap<&'static str, String>,
}

impl<'f> CallsView<'f> {
    fn of(found: &'f Result<Proved, Unknown>) -> CallsView<'f> {
        let proved = found.as_ref().ok();
        CallsView {
            dialect: proved.map(|proved| &*proved.name),
            own: proved.and_then(|proved| proved.own.as_ref()),
            round_trips: proved.map_or(0, |proved| proved.round_trips),
            unclear: proved.map_or(0, |proved| proved.unclear),
            unknown: found.as_ref().err().map(ToString::to_string),
            flags: proved.into_iter().flat_map(flags).map(|(server, flags)| (server.name(), flags)).collect(),
        }
    }
}

impl<'f> View<'f> {
    fn of(findings: &'f Findings) -> View<'f> {
        let reasoning = findings.reasoning.as_ref();
        View {
            turns: TurnsView { system_role: findings.turns.system_role, alternate: findings.turns.alternate },
            lists_tools: findings.lists_tools,
            reasoning: reasoning.map(|reasoning| [&*reasoning.open, &*reasoning.close]),
            opens_reasoning: reasoning.is_some_and(|reasoning| reasoning.opened),
            calls: CallsView::of(&findings.calls),
        }
    }
}
