//! The way of a result and of its drawing: a program reads standard output, a person standard error, or standard output as well
//! where that is a terminal.

use std::io::{self, IsTerminal, Write};

use crate::failure::Failure;
use crate::harmless::harmless;

/// Writes the drawing, unless the result is all that is wanted, and then the result, where there is one.
///
/// # Errors
/// One of the outputs cannot be written.
pub(crate) fn write(
    is_result_all: bool,
    result: Option<&str>,
    drawn: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let is_terminal = io::stdout().is_terminal();
    if !is_result_all {
        let drawn = drawn();
        let wrote = match is_terminal {
            true => io::stdout().write_all(drawn.as_bytes()),
            false => io::stderr().write_all(drawn.as_bytes()),
        };
        wrote?;
    }
    if let Some(result) = result {
        // A program gets each byte; a terminal obeys some of them.
        let result = if is_terminal { harmless(result) } else { result.into() };
        let mut out = io::stdout().lock();
        if !is_result_all && is_terminal {
            writeln!(out)?;
        }
        writeln!(out, "{result}")?;
    }
    Ok(())
}
