//! What a step may take: a table in a file, in seconds of processor time.

use std::fs;

use anyhow::{Context, Result};

/// The table: seconds, and the name of a step or, before a `*`, the beginning of several.
const TABLE: &str = include_str!("../budgets.txt");

/// The seconds that the step may take.
pub(crate) fn of(step: &str) -> Option<f64> {
    find(TABLE, step)
}

fn find(table: &str, step: &str) -> Option<f64> {
    table.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let (seconds, name) = line.trim().split_once(' ')?;
        let is_named = match name.trim().strip_suffix('*') {
            Some(beginning) => step.starts_with(beginning),
            None => name.trim() == step,
        };
        seconds.parse().ok().filter(|_| is_named)
    })
}

/// The processor time of all processes that this one has waited for, theirs included, in seconds.
///
/// # Errors
/// When the system does not tell it as Linux does.
pub(crate) fn spent() -> Result<f64> {
    // `1 (a name) S 0 …`: behind the name, the 14th and 15th number are of the children, a hundredth of a second each.
    let told = fs::read_to_string("/proc/self/stat").context("no processor time")?;
    let (_, numbers) = told.rsplit_once(')').context("no processor time")?;
    let ticks = numbers.split_whitespace().skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    Ok(ticks.sum::<f64>() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_has_the_first_budget_that_names_it() {
        let table = "# seconds, step\n  60  format\n120  end to end: page\n  90  end to end: *\n";
        assert_eq!(find(table, "format"), Some(60.0));
        assert_eq!(find(table, "end to end: page"), Some(120.0));
        assert_eq!(find(table, "end to end: MCP"), Some(90.0));
        assert_eq!(find(table, "formats"), None);
    }

    #[test]
    fn what_children_took_is_known() {
        let before = spent().unwrap();
        let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        std::process::Command::new("sh").args(["-c", spin]).status().unwrap();
        assert!(before < spent().unwrap());
    }
}
