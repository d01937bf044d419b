//! Programs of their own beside this one, whose dependencies no other command needs: cargo builds each when it is asked for.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use steps::root;
use steps::step::cargo;

/// The end-to-end suite.
pub(crate) fn e2e(root: &Path) -> Command {
    program(root, "e2e")
}

/// The instructions that a call costs.
pub(crate) fn cost(root: &Path) -> Command {
    let mut cost = program(root, "measure");
    cost.arg("cost");
    cost
}

/// Runs a program that measures, with these arguments, where its user stands.
///
/// # Errors
/// When it cannot be started, or fails.
pub(crate) fn measure(args: &[String]) -> Result<()> {
    let mut measure = program(&root()?, "measure");
    let status = measure.current_dir(".").args(args).status().context("cannot start cargo")?;
    ensure!(status.success(), "{}: {status}", args.join(" "));
    Ok(())
}

fn program(root: &Path, package: &str) -> Command {
    let mut run = cargo(root);
    run.args(["run", "--quiet", "--package", package, "--manifest-path"])
        .arg(root.join("Cargo.toml"))
        .arg("--");
    run
}
