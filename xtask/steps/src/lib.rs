//! What the house's programs share: a suite of steps with their budgets, commands whose tests are counted, servers that end
//! with their user, and a cache of what registries have.
#![expect(clippy::print_stdout, reason = "a step talks to its user")]

mod budget;
pub mod figures;
pub mod install;
pub mod process;
pub mod step;
mod suite;

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub use suite::Suite;

/// The workspace's root.
///
/// # Errors
/// When this package does not stand in one.
pub fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here.ancestors().nth(2).context("this package stands in a workspace")?.to_path_buf())
}

/// Where cargo puts what it builds in `root`.
pub fn built(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder))
}
