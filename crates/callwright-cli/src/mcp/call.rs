//! `callwright mcp call`: one call of one tool, on the path that a model's call takes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::Arc;

use callwright::{Context, NativeCall, Verdict};
use callwright_agent::mcp::{Notice, Servers, Tell};
use callwright_agent::{
    ApprovalRequest, CallContext, Decision, Repaired, Rights, ToolResult, Toolbox, Why, Workspace, shown,
};

use super::surroundings;
use crate::args::McpCallArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::runtime::on_runtime;

/// Reads the arguments as a model's, says what was repaired, calls the tool, and prints what came of it.
pub(super) fn run(args: &McpCallArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let config = Config::load(args.config.flags(), &env)?;
    let server = args.tool.split_once("__").map_or(args.tool.as_str(), |(server, _)| server);
    let unknown = || {
        Failure::Config(format!("no MCP server is called {}; a tool is named SERVER__TOOL", shown(server)))
    };
    let settings = config.settings.mcp.get(server).ok_or_else(unknown)?;
    let surroundings = surroundings(&config, &env)?;
    let tell: Tell = Arc::new(|notice: Notice| {
        // Nothing is left to be done where even this cannot be said.
        let _ = writeln!(io::stderr(), "callwright: {notice}");
    });
    let place = surroundings.folder.clone();
    let result = on_runtime(async {
        let configs = BTreeMap::from([(server.to_owned(), settings.clone())]);
        let servers = Servers::connect(&configs, &surroundings, tell).await;
        let servers = servers.map_err(|error| Failure::Config(error.to_string()))?;
        let toolbox = Toolbox::new(servers.tools()).map_err(|error| Failure::Mcp(error.to_string()))?;
        let result = match readied(&toolbox, args, &place)? {
            Some(arguments) => {
                let workspace = Workspace::open(&place).map_err(|error| Failure::Read(place, error))?;
                let context =
                    CallContext { approved: args.yes, ..CallContext::new("1", Arc::new(workspace)) };
                Some(toolbox.call(&args.tool, &arguments, &context).await)
            }
            None => None,
        };
        servers.close().await;
        Ok(result)
    })?;
    match result {
        None => Err(Failure::Refused),
        Some(ToolResult::Error(error)) => {
            writeln!(io::stderr(), "callwright: {}", shown(&error.message))?;
            Err(Failure::Refused)
        }
        Some(result) => Ok(writeln!(io::stdout(), "{}", shown(&result.content()))?),
    }
}

/// The arguments as they are to run, if they are.
fn readied(
    toolbox: &Toolbox,
    args: &McpCallArgs,
    place: &std::path::Path,
) -> Result<Option<String>, Failure> {
    let mut err = io::stderr().lock();
    let native = NativeCall { id: None, name: &args.tool, arguments: &args.arguments };
    let outcome = callwright::parse(toolbox.tool_set(), "", &[native], &Context::default());
    let call = match outcome.verdicts.into_iter().next() {
        Some(Verdict::Accepted(call)) => call,
        Some(Verdict::Refused(refusal)) => {
            writeln!(err, "callwright: {}", shown(&refusal.feedback().to_string()))?;
            return Ok(None);
        }
        None => return Ok(None),
    };
    if let Some(note) = call.note() {
        writeln!(err, "callwright: {}", shown(&note))?;
    }
    // Whoever names the tool allows it, but not what another reading of the arguments would do.
    let rights = Rights { allow: BTreeSet::from([args.tool.clone()]), ..Rights::default() };
    match toolbox.decide(&call.name, &call.arguments, Repaired::from(&call), &rights) {
        Decision::Run => Ok(Some(call.arguments)),
        Decision::Ask(_) if args.yes => Ok(Some(call.arguments)),
        Decision::Ask(why) | Decision::Refuse(why) => asked(&call, why, place, &mut err),
        Decision::Feedback => Ok(None),
    }
}

fn asked(
    call: &callwright::Acceptance,
    why: Why,
    place: &std::path::Path,
    err: &mut dyn Write,
) -> Result<Option<String>, Failure> {
    let request = ApprovalRequest::new(&call.name, &call.arguments, place, why);
    writeln!(err, "{request}\ncallwright: with --yes it runs like this")?;
    Ok(None)
}
