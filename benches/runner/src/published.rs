//! What `docs/performance.md` publishes is what is measured, and keeps its bounds.

use crate::workload::ADDED;

const PAGE: &str = include_str!("../../../docs/performance.md");

/// The cells of the row of this name.
fn row(name: &str) -> Vec<&'static str> {
    // A cell's mark says where its figure is from.
    let cell = |cell: &'static str| cell.split("<!--").next().unwrap_or_default().trim();
    let rows = PAGE.lines().map(|line| line.trim_matches('|').split('|').map(cell).collect::<Vec<_>>());
    let mut named = rows.filter(|cells| cells.first() == Some(&name));
    named.next().unwrap_or_else(|| panic!("no row is named {name}"))
}

/// `0.19 ms` → 0.19
fn milliseconds(cell: &str) -> f64 {
    cell.strip_suffix(" ms")
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("no time: {cell}"))
}

/// S3-41: what the gateway adds at p50 and at p99 stands there, with the command that measures it.
#[test]
fn the_added_times_are_published_and_within_their_bounds() {
    assert!(PAGE.contains("\ncargo xtask bench gateway "), "the command is missing");
    let published = ADDED.map(|added| {
        let cells = row(added.name);
        let (value, bound) = (milliseconds(cells[1]), milliseconds(cells[cells.len() - 1]));
        assert_eq!(bound, added.most, "{}", added.name);
        assert!(value <= bound, "{}", added.name);
        value
    });
    assert!(published.chunks(2).all(|pair| pair[0] <= pair[1]), "p99 is no less than p50");
}
