//! What the dependencies may be, by `deny.toml`: their licences, their sources, and which are not wanted.

use std::path::{Path, PathBuf};

use anyhow::Result;

use steps::install::crate_program;
use steps::step::{self, program};

const DENY: (&str, &str) = ("cargo-deny", "0.20.2");

/// Finds cargo-deny, or installs it.
///
/// # Errors
/// When it is not there and cannot be had.
pub(crate) fn deny(root: &Path) -> Result<PathBuf> {
    crate_program(root, DENY, &[])
}

/// Checks the dependencies for all of it but advisories. Those need a database from the network: the workflow checks them for
/// each change, once a day and before a release.
///
/// # Errors
/// When cargo-deny cannot be started.
pub(crate) fn dependencies(root: &Path, deny: &Path) -> Result<bool> {
    let mut check = program(root, deny);
    check.args(["--locked", "check", "licenses", "bans", "sources"]);
    Ok(step::run(&mut check)?.ok)
}
