//! `callwright lint`: what is wrong with tool definitions, and what they cost.

use std::io::{self, Write};

use callwright::ToolSet;
use callwright::lint::{Severity, cost, lint};

use crate::args::LintArgs;
use crate::door;
use crate::failure::Failure;
use crate::harmless::harmless;

/// One line per finding, then the cost where it is asked for. Hints alone are no failure.
pub(crate) fn run(args: &LintArgs) -> Result<(), Failure> {
    let tools = door::tools_of(&args.file)?;
    let mut out = io::stdout().lock();
    let findings = lint(&tools);
    for finding in &findings {
        writeln!(out, "{}", harmless(&finding.to_string()))?;
    }
    if args.cost {
        write_cost(&mut out, &tools)?;
    }
    let warned = findings.iter().any(|finding| finding.severity == Severity::Warning);
    if warned { Err(Failure::Refused) } else { Ok(()) }
}

/// One line per tool, then the total.
pub(crate) fn write_cost(out: &mut impl Write, tools: &ToolSet) -> io::Result<()> {
    let cost = cost(tools);
    for (name, tokens) in &cost.tools {
        writeln!(out, "{tokens:6} tokens  {}", harmless(name))?;
    }
    writeln!(out, "{:6} tokens in every request", cost.total)
}
