//! A user's program with and without Callwright in its graph: its own types and values are the same.

use std::path::Path;

use anyhow::Result;

use steps::built;
use steps::step::{self, Tally, cargo};

/// Who else is in the graph.
const GRAPHS: [&[&str]; 3] = [&[], &["callwright"], &["callwright", "others"]];

/// Runs its tests in each graph.
///
/// # Errors
/// When cargo cannot be started.
pub(crate) fn bystander(root: &Path) -> Result<Tally> {
    let mut all = Tally { ok: true, ..Tally::default() };
    for features in GRAPHS {
        let mut tests = cargo(root);
        tests.args([
            "test",
            "--quiet",
            "--locked",
            "--no-fail-fast",
            "--manifest-path",
            "e2e/bystander/Cargo.toml",
        ]);
        tests.arg("--target-dir").arg(built(root)).arg("--features").arg(features.join(","));
        let tally = step::run(&mut tests)?;
        all.ok &= tally.ok;
        all.passed += tally.passed;
        all.failed += tally.failed;
        all.skipped += tally.skipped;
    }
    Ok(all)
}
