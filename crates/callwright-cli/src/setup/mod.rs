//! `callwright setup`: has an agent speak to the gateway, and takes that back.
//!
//! The agents are a table, `data/agents.toml`. What a file holds besides stays, and nothing is written that the user has
//! not seen.

mod format;
mod kept;
mod table;

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Duration;

use callwright_relay::survey;

pub(crate) use kept::{put, read};
pub(crate) use table::{Agent, AgentFile, Values, agents};

use crate::agent::diff::diff;
use crate::agent::forget_typed;
use crate::agent::paint::Paint;
use crate::args::{SetupArgs, word};
use crate::config::{Config, Env};
use crate::discover;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input::{Line, read_line};
use crate::runtime::on_runtime;
use kept::{Change, Run, Runs};
use table::tilde;

/// The time that a running gateway may take to list its models.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sets an agent up, takes that back, or lists the agents.
pub(crate) fn run(args: &SetupArgs, in_color: bool) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let paint = Paint { is_on: in_color };
    match args.agent.as_deref().and_then(Agent::named) {
        None => list(&env),
        Some(agent) if args.undo => undo(agent, args, &env, paint),
        Some(agent) => set_up(agent, args, &env, paint),
    }
}

/// Writes what the agent needs, once the user has seen it.
fn set_up(agent: &Agent, args: &SetupArgs, env: Env<'_>, paint: Paint) -> Result<(), Failure> {
    let runs = Runs::of(&agent.name, env)?;
    let values = values(args, &runs, env)?;
    let mut out = io::stdout().lock();
    let variables = agent.variables(&values);
    let mut changes = Vec::new();
    for (file, path) in files(agent, args, env)? {
        if args.project && values.key.is_some() && file.takes_key() {
            let why =
                "a key belongs in no file of a project: set the agent up for yourself, without --project";
            return Err(Failure::Config(why.to_owned()));
        }
        let set = file.set(&values);
        if set.as_object().is_some_and(|members| members.is_empty()) {
            continue;
        }
        let before = read(&path)?;
        let after = file
            .format
            .merge(before.as_deref().unwrap_or_default(), &set, &file.lists)
            .map_err(|why| Failure::Config(format!("{} is left as it is: {why}", tilde(&path, env))))?;
        if before.as_ref() != Some(&after) {
            changes.push(Change { path, before, after });
        }
    }
    if changes.is_empty() && variables.is_empty() {
        writeln!(out, "{}: nothing to do", agent.name)?;
        return Ok(());
    }
    for change in &changes {
        let before = change.before.as_deref().unwrap_or_default();
        let shown = diff(&tilde(&change.path, env), before, &change.after, paint);
        out.write_all(hidden(shown, &values).as_bytes())?;
    }
    out.flush()?;
    if args.dry_run && !changes.is_empty() {
        return Ok(());
    }
    if !changes.is_empty() {
        if !args.yes && !agreed("Write this?")? {
            return Err(Failure::Config(String::from("nothing was written")));
        }
        let is_change = changes.iter().any(|change| change.before.is_some());
        let number = runs.write(&values.url, &values.model, changes)?;
        if is_change {
            let kept = runs.folder(number);
            writeln!(io::stderr(), "callwright: what was there is kept in {}", tilde(&kept, env))?;
        }
    }
    for (name, value) in &variables {
        writeln!(out, "export {name}={}", word(value.as_ref()))?;
    }
    say(agent, &values)
}

/// Tells the steps that are left, on standard error.
fn say(agent: &Agent, values: &Values) -> Result<(), Failure> {
    let mut err = io::stderr().lock();
    for note in &agent.notes {
        writeln!(err, "callwright: {note}")?;
    }
    if let Some((variable, _)) = &values.key
        && agent
            .files
            .iter()
            .any(|file| !file.takes_key() && file.set(values).to_string().contains(variable.as_str()))
    {
        writeln!(
            err,
            "callwright: {} reads the key from {variable}, which has to be set where it starts",
            agent.title
        )?;
    }
    let url = &values.url;
    Ok(writeln!(err, "callwright: start the gateway at {url} (callwright serve), then: {}", agent.start)?)
}

/// Takes the last run back, if nobody has changed anything since.
fn undo(agent: &Agent, args: &SetupArgs, env: Env<'_>, paint: Paint) -> Result<(), Failure> {
    let runs = Runs::of(&agent.name, env)?;
    let mut out = io::stdout().lock();
    let Some((number, run)) = runs.last()? else {
        return Ok(writeln!(out, "{}: nothing to undo", agent.name)?);
    };
    for written in &run.files {
        let now = read(&written.path)?;
        if now.as_ref() == Some(&written.after) || now == written.before {
            continue;
        }
        let path = tilde(&written.path, env);
        out.write_all(diff(&path, &written.after, now.as_deref().unwrap_or_default(), paint).as_bytes())?;
        out.flush()?;
        let kept = runs.folder(number);
        return Err(Failure::Config(format!(
            "{path} was changed since it was set up: undoing that would lose what is shown; what was there before is in {}",
            tilde(&kept, env)
        )));
    }
    for written in &run.files {
        let before = written.before.as_deref().unwrap_or_default();
        out.write_all(diff(&tilde(&written.path, env), &written.after, before, paint).as_bytes())?;
    }
    out.flush()?;
    if args.dry_run {
        return Ok(());
    }
    if !args.yes && !agreed("Write this?")? {
        return Err(Failure::Config(String::from("nothing was written")));
    }
    runs.undo(number, &run)
}

/// A line for each agent: whether its program is found, and whether it is set up.
fn list(env: Env<'_>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:14} {:10} set up", "agent", "program")?;
    for agent in agents() {
        let program = if agent.found(env).is_some() { &*agent.program } else { "not found" };
        let is_set_up = match Runs::of(&agent.name, env).and_then(|runs| runs.last()) {
            Ok(Some((_, run))) => state(&run),
            Ok(None) if agent.files.is_empty() => String::from("by variables: callwright setup prints them"),
            Ok(None) => String::from("no"),
            Err(error) => error.to_string(),
        };
        writeln!(out, "{:14} {program:10} {}", agent.name, harmless(&is_set_up))?;
    }
    Ok(())
}

fn state(run: &Run) -> String {
    let is_ours =
        |written: &kept::Written| read(&written.path).is_ok_and(|now| now.as_ref() == Some(&written.after));
    let since = if run.files.iter().all(is_ours) { "" } else { ", changed since" };
    format!("{}, {}{since}", run.url, run.model)
}

/// The files of an agent, and where they are: the user's, or the project's.
fn files<'a>(
    agent: &'a Agent,
    args: &SetupArgs,
    env: Env<'_>,
) -> Result<Vec<(&'a AgentFile, PathBuf)>, Failure> {
    let place = |file: &'a AgentFile| {
        let path = if args.project { file.project() } else { file.path(env) };
        path.map(|path| (file, path))
    };
    let files: Vec<_> = agent.files.iter().filter_map(place).collect();
    match (files.len() == agent.files.len(), args.project) {
        (true, _) => files.into_iter().map(|(file, path)| Ok((file, std::path::absolute(path)?))).collect(),
        (false, true) => Err(Failure::Config(format!("{} has no file of a project for this", agent.title))),
        (false, false) => Err(Failure::Config(String::from("there is no home: set HOME"))),
    }
}

/// The address, the model and the key that the agent gets.
fn values(args: &SetupArgs, runs: &Runs, env: Env<'_>) -> Result<Values, Failure> {
    let last = runs.last()?.map(|(_, run)| run);
    let mut config = Config::load(args.config.flags(), env)?;
    let url = match (&args.url, &last) {
        (Some(url), _) => url.trim_end_matches('/').trim_end_matches("/v1").to_owned(),
        (None, Some(last)) => last.url.clone(),
        (None, None) => address(&config.settings.listen),
    };
    if !url.starts_with("http://") && !url.starts_with("https://") {
        return Err(Failure::Config(format!("--url {url}: it begins with http:// or https://")));
    }
    let key =
        args.client_key_env.as_ref().map(|variable| match env(variable).filter(|key| !key.is_empty()) {
            Some(key) => Ok((variable.clone(), key)),
            None => Err(Failure::Config(format!("--client-key-env {variable}: the variable is not set"))),
        });
    let model = match (&args.model, last) {
        (Some(model), _) => model.clone(),
        (None, Some(last)) => last.model,
        (None, None) => on_runtime(async { model(&mut config, &url, env).await })?,
    };
    Ok(Values { url, model, key: key.transpose()?, ..Values::default() })
}

/// Returns the address at which a gateway that listens there is reached.
fn address(listen: &str) -> String {
    let (host, port) = listen.rsplit_once(':').unwrap_or((listen, "4000"));
    let host = if matches!(host, "0.0.0.0" | "[::]") { "127.0.0.1" } else { host };
    format!("http://{host}:{port}")
}

/// The model where nobody names one: the default one, the only one of the gateway if it runs, or the only one of the
/// upstreams.
pub(crate) async fn model(config: &mut Config, url: &str, env: Env<'_>) -> Result<String, Failure> {
    if config.settings.default_model.is_none() {
        let listed = survey::find(&[format!("{url}/v1")], PATIENCE).await.into_iter().next().flatten();
        if let Some([model]) = listed.as_deref() {
            return Ok(model.clone());
        }
    }
    let chosen = discover::server(config, env).await;
    if let Some(chosen) = &chosen {
        writeln!(io::stderr(), "callwright: {}", chosen.sentence)?;
    }
    if config.settings.upstreams.is_empty() {
        return Err(Failure::Config(String::from(
            "name the model with --model: no upstream is configured or found",
        )));
    }
    discover::model(config, env).await
}

/// Asks the user at the terminal to agree. Without a user, nobody does.
fn agreed(question: &str) -> Result<bool, Failure> {
    let mut err = io::stderr().lock();
    if !(io::stdin().is_terminal() && err.is_terminal()) {
        writeln!(err, "callwright: nobody is here to be asked; --yes writes it")?;
        return Ok(false);
    }
    write!(err, "{question} [y/N] ")?;
    err.flush()?;
    forget_typed();
    let mut line = Vec::new();
    let read = read_line(&mut io::stdin().lock(), &mut line, 1024)?;
    Ok(read == Line::Read && matches!(line.trim_ascii(), b"y" | b"Y" | b"yes"))
}

/// `text` without the key.
fn hidden(text: String, values: &Values) -> String {
    match &values.key {
        Some((variable, key)) => text.replace(key.as_str(), &format!("${{{variable}}}")),
        None => text,
    }
}
