//! `callwright tools`: what the agent has built in, and what that costs.

use std::io::{self, Write};

use callwright::ToolSet;
use callwright_agent::tools::definitions;
use serde_json::Value;

use crate::args::ToolsArgs;
use crate::failure::Failure;
use crate::lint::write_cost;

/// One line per tool; or the definitions as JSON; or their tokens.
pub(crate) fn run(args: &ToolsArgs) -> Result<(), Failure> {
    let definitions = Value::Array(definitions());
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{definitions:#}")?;
        return Ok(());
    }
    let tools = ToolSet::from_value(&definitions);
    let tools =
        tools.map_err(|error| Failure::Definitions("the built-in tools".into(), error.to_string()))?;
    if args.cost {
        write_cost(&mut out, &tools)?;
        return Ok(());
    }
    let width = tools.iter().map(|tool| tool.name().len()).max().unwrap_or_default();
    for tool in tools.iter() {
        writeln!(out, "{:width$}  {}", tool.name(), tool.description())?;
    }
    Ok(())
}
