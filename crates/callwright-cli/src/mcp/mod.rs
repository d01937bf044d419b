//! `callwright mcp`: our own MCP server, and the servers that are configured.

mod call;

use std::ffi::OsString;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use callwright_agent::mcp::{Notice, Servers, Surroundings, Tell, accept, serve};
use callwright_agent::{Effect, shown};

use crate::args::{McpArgs, McpWhat};
use crate::config::{Config, Env};
use crate::failure::Failure;
use crate::runtime::on_runtime;

/// The length of a description in a list.
const SHOWN: usize = 80;

pub(crate) fn run(args: &McpArgs) -> Result<(), Failure> {
    match &args.what {
        None => on_runtime(async {
            serve(tokio::io::stdin(), tokio::io::stdout()).await.map_err(|why| Failure::Mcp(why.to_owned()))
        }),
        Some(McpWhat::List(args)) => {
            let env = |name: &str| std::env::var(name).ok();
            list(&Config::load(args.flags(), &env)?, &env)
        }
        Some(McpWhat::Call(args)) => call::run(args),
        Some(McpWhat::Accept(args)) => {
            let env = |name: &str| std::env::var(name).ok();
            let config = Config::load(args.config.flags(), &env)?;
            let unknown = || Failure::Config(format!("no MCP server is called {}", args.name));
            let server = config.settings.mcp.get(&args.name).ok_or_else(unknown)?;
            let surroundings = surroundings(&config, &env)?;
            let accepted = on_runtime(async {
                accept(&args.name, server, &surroundings)
                    .await
                    .map_err(|error| Failure::Mcp(error.to_string()))
            })?;
            let mut out = io::stdout().lock();
            for notice in &accepted {
                writeln!(out, "{}", said(notice))?;
            }
            Ok(writeln!(out, "accepted: {}", args.name)?)
        }
    }
}

/// The tools of all servers, with what each may do and how it stands to what is pinned.
fn list(config: &Config, env: Env<'_>) -> Result<(), Failure> {
    let looked = look(config, env)?;
    if config.settings.mcp.is_empty() {
        let none = "no MCP server is configured: a section [mcp.NAME] of the configuration file names one";
        writeln!(io::stderr(), "callwright: {none}")?;
    }
    let mut out = io::stdout().lock();
    let width = looked.tools.iter().map(|tool| tool.name.len()).max().unwrap_or_default();
    for tool in &looked.tools {
        let Looked { name, effect, state, description } = tool;
        let first: String = description.lines().next().unwrap_or_default().chars().take(SHOWN).collect();
        writeln!(out, "{name:width$}  {effect:11}  {}  {}", shown(state), shown(&first))?;
    }
    let mut err = io::stderr().lock();
    for notice in &looked.notices {
        writeln!(err, "callwright: {notice}")?;
    }
    let is_fine = |notice: &Notice| {
        matches!(notice, Notice::Pinned { .. } | Notice::Restarted { .. } | Notice::Unknown { .. })
    };
    if looked.notices.iter().all(is_fine) { Ok(()) } else { Err(Failure::Refused) }
}

/// The tools of the configured servers.
#[derive(Default)]
pub(crate) struct Look {
    pub(crate) tools: Vec<Looked>,
    /// Of the tools that can be used.
    pub(crate) definitions: Vec<callwright::value::Value>,
    pub(crate) notices: Vec<Notice>,
}

pub(crate) struct Looked {
    name: String,
    effect: &'static str,
    state: String,
    description: String,
}

/// Starts the configured servers, asks for their tools, and ends them. Nothing is pinned.
///
/// # Errors
/// One of them cannot be used as it is configured.
pub(crate) fn look(config: &Config, env: Env<'_>) -> Result<Look, Failure> {
    if config.settings.mcp.is_empty() {
        return Ok(Look::default());
    }
    let surroundings = surroundings(config, env)?;
    let notices: Arc<Mutex<Vec<Notice>>> = Arc::default();
    let kept = notices.clone();
    let tell: Tell = Arc::new(move |notice| kept.lock().unwrap_or_else(PoisonError::into_inner).push(notice));
    let mut look = on_runtime(async {
        let servers = Servers::look(&config.settings.mcp, &surroundings, tell).await;
        let servers = servers.map_err(|error| Failure::Config(error.to_string()))?;
        let tools = servers.listed().iter().map(|tool| Looked {
            name: tool.name.clone().unwrap_or_else(|| format!("{}: {}", tool.server, shown(&tool.tool))),
            effect: effect(tool.kind.effect),
            state: tool.state.clone(),
            description: tool.description.clone(),
        });
        let look = Look {
            tools: tools.collect(),
            definitions: servers.tools().iter().map(|tool| tool.definition()).collect(),
            notices: Vec::new(),
        };
        servers.close().await;
        Ok(look)
    })?;
    look.notices = std::mem::take(&mut *notices.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(look)
}

/// Returns the surroundings of the servers of `config`.
///
/// # Errors
/// There is no folder in which their definitions could be pinned.
pub(crate) fn surroundings(config: &Config, env: Env<'_>) -> Result<Surroundings, Failure> {
    let nowhere =
        || Failure::Config("there is no folder to pin definitions in: set capability.dir".to_owned());
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    Ok(Surroundings {
        environment,
        folder: std::env::current_dir().map_err(|error| Failure::Read(".".into(), error))?,
        pins: config.state_folder(env).ok_or_else(nowhere)?.join("mcp"),
        // A file that nobody named was accepted as a whole before it was read.
        is_named: true,
    })
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::Destructive => "destructive",
    }
}

/// A change that was accepted is news, no warning.
fn said(notice: &Notice) -> String {
    match notice {
        Notice::Changed { tool, what, .. } => {
            format!("{} has changed: {}", shown(tool), shown(&what.join("; ")))
        }
        Notice::Pinned { tools, .. } => format!("new: {}", shown(&tools.join(", "))),
        other => other.to_string(),
    }
}
