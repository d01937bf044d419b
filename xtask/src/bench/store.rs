//! What a store of a million nodes takes to answer, and what handing a record over costs a request.

use std::fs;

use anyhow::{Context, Result, ensure};

use super::figure::{Bound, Figure, Held, show};
use crate::{root, step};

/// Measures, and prints a table.
///
/// # Errors
/// When a figure is over its bound and `is_gate` says that this matters, or nothing could be measured.
pub(crate) fn store(n_nodes: u64, is_gate: bool) -> Result<()> {
    let root = root()?;
    let folder = root.join("target/bench/store");
    // What another run has left would be measured too.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut cargo = step::cargo(&root);
    cargo.args(["run", "--profile", "dist", "--quiet", "--package", "callwright-store"]);
    cargo.args(["--example", "measure", "--"]).arg(&folder).arg(n_nodes.to_string());
    let output = cargo.output().context("cannot run cargo")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{text}");
    ensure!(output.status.success(), "it failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    let figures: Vec<Figure> = text.lines().filter_map(figure).collect();
    show(&figures);
    let over: Vec<&str> = figures.iter().filter(|f| f.is_over()).map(|f| f.name.as_str()).collect();
    fs::remove_dir_all(&folder)?;
    ensure!(!figures.is_empty(), "nothing was measured");
    ensure!(!is_gate || over.is_empty(), "over their bounds: {}", over.join(", "));
    Ok(())
}

/// `open: 1.25 ms, 1 found`, `write: 0.41 µs at the median, …`
fn figure(line: &str) -> Option<Figure> {
    let (name, rest) = line.rsplit_once(": ").filter(|(name, _)| *name != "fill")?;
    let (value, unit) = rest.split_once(' ')?;
    let ours: f64 = value.parse().ok()?;
    let (unit, most) = if unit.starts_with("µs") { ("µs", 5.0) } else { ("ms", 50.0) };
    let held = Some(Held { what: unit, value: ours, bound: Bound::AtMost(most) });
    let name = name.to_owned();
    Some(Figure { name, unit, ours, direct: None, nginx: None, held })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_figures() {
        let of = |line| figure(line).map(|figure| (figure.name, figure.unit, figure.ours));
        assert_eq!(of("open: 1.25 ms, 1 found"), Some(("open".into(), "ms", 1.25)));
        assert_eq!(of("filter by rare error: 51.00 ms, 2 found").unwrap().2, 51.0);
        assert_eq!(of("filter: model, error: 3.00 ms, 2 found").unwrap().0, "filter: model, error");
        assert_eq!(of("write: 0.41 µs at the median, 2.00 µs at p99"), Some(("write".into(), "µs", 0.41)));
        assert_eq!(of("fill: 10 nodes in 1.0 s"), None);
        assert!(figure("filter by rare error: 51.00 ms, 2 found").unwrap().is_over());
    }
}
