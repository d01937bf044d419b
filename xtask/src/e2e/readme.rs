//! The client of the README, as it is printed there, against a gateway without any configuration.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result};

use super::install::Installed;
use super::server;
use crate::step::Tally;

/// Its name.
pub(super) const README: &str = "readme";

/// Where the README has the gateway.
const PRINTED: &str = "http://127.0.0.1:4000/v1";

/// Runs the block in Python, and looks at the call that it prints.
pub(super) fn check(root: &Path, installed: &Installed) -> Result<Tally> {
    let page = fs::read_to_string(root.join("README.md")).context("README.md")?;
    let block = page.split_once("```python\n").and_then(|(_, rest)| rest.split_once("\n```"));
    let (block, _) = block.context("README.md has no block in Python")?;
    let start = Instant::now();
    let gateway = server::gateway_alone(installed)?;
    let client = installed.written("readme.py");
    fs::write(&client, block.replace(PRINTED, &format!("{}/v1", gateway.url)))?;
    let output = installed.python(&client)?.stdin(Stdio::null()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut differences = Vec::new();
    if printed.split_whitespace().collect::<String>() != r#"get_weather{"city":"Paris"}"# {
        differences.push(format!("it prints {printed:?}"));
        differences.extend(String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned));
    }
    let mut tally = Tally { ok: true, ..Tally::default() };
    tally.part("readme/python", start.elapsed().as_secs_f64(), &differences);
    Ok(tally)
}
