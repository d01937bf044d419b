//! `callwright tools`: what the agent can call, its own and the configured servers', and what that costs.

use std::io::{self, Write};

use callwright::ToolSet;
use callwright::value::Value;
use callwright_agent::{shown, tools::definitions};

use crate::args::ToolsArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::lint::write_cost;
use crate::mcp;

/// One line per tool; or the definitions as JSON; or their tokens.
pub(crate) fn run(args: &ToolsArgs) -> Result<(), Failure> {
    let env = |name: &str| std::env::var(name).ok();
    let look = mcp::look(&Config::load(args.config.flags(), &env)?, &env)?;
    for notice in &look.notices {
        writeln!(io::stderr(), "callwright: {notice}")?;
    }
    let definitions = Value::Array(definitions().into_iter().chain(look.definitions).collect());
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{definitions:#}")?;
        return Ok(());
    }
    let tools = ToolSet::from_value(&definitions);
    let tools = tools.map_err(|error| Failure::Definitions("the tools".into(), error.to_string()))?;
    if args.cost {
        write_cost(&mut out, &tools)?;
        return Ok(());
    }
    let width = tools.iter().map(|tool| tool.name().len()).max().unwrap_or_default();
    for tool in tools.iter() {
        let first = tool.description().lines().next().unwrap_or_default();
        writeln!(out, "{:width$}  {}", tool.name(), shown(first))?;
    }
    Ok(())
}
