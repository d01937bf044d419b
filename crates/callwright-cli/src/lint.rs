//! `callwright lint`: what is wrong with tool definitions, and what they cost.

use std::io::{self, Write};

use callwright::ToolSet;
use callwright::lint::{Severity, cost, lint_definitions};
use callwright::value::Value;

use crate::args::LintArgs;
use crate::door;
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::input;

/// One line per finding, then the cost where it is asked for. Errors are a failure; warnings only where that is asked for.
pub(crate) fn run(args: &LintArgs) -> Result<(), Failure> {
    let text = input::text(&args.file)?;
    let unusable = |why: String| Failure::Definitions(args.file.clone(), why);
    let definitions: Value =
        serde_json::from_str(&text).map_err(|error| unusable(format!("not JSON: {error}")))?;
    let findings = lint_definitions(&definitions).map_err(|error| unusable(error.to_string()))?;
    let mut out = io::stdout().lock();
    for finding in &findings {
        writeln!(out, "{}", harmless(&finding.to_string()))?;
    }
    if findings.is_empty() {
        // Of a check that passes somebody who reads along is told, too.
        writeln!(io::stderr(), "callwright: nothing is wrong with the definitions")?;
    }
    if args.cost {
        // What cannot be compiled has been told, and goes with no request.
        if let Ok(tools) = door::tool_set(&text) {
            write_cost(&mut out, &tools)?;
        }
    }
    let least = if args.strict { Severity::Warning } else { Severity::Error };
    if findings.iter().any(|finding| least <= finding.severity) { Err(Failure::Refused) } else { Ok(()) }
}

/// One line per tool, then the total.
pub(crate) fn write_cost(out: &mut impl Write, tools: &ToolSet) -> io::Result<()> {
    let cost = cost(tools);
    for (name, tokens) in &cost.tools {
        writeln!(out, "{tokens:6} tokens  {}", harmless(name))?;
    }
    writeln!(out, "{:6} tokens in every request", cost.total)
}
