//! A shell's knowledge of the commands: completions, and manual pages. Both come from the definition of the arguments.

use std::io::{self, Write};
use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Failure;

/// Prints the script that completes `callwright` in this shell.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn completions(shell: Shell) -> Result<(), Failure> {
    // The generator panics where its output fails, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "callwright", &mut script);
    Ok(io::stdout().lock().write_all(&script)?)
}

/// Writes `callwright.1`, and `callwright-COMMAND.1` for each command, into a folder.
///
/// # Errors
/// A page cannot be written.
pub(crate) fn manual(folder: &Path) -> Result<(), Failure> {
    clap_mangen::generate_to(Cli::command(), folder)
        .map_err(|error| Failure::Record(folder.to_owned(), error))
}
