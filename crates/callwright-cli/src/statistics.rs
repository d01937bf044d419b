//! `callwright statistics`: what became of calls, by model; which errors came again, and which were fixed.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use callwright_store::{Counts, FixRate, Range, RepeatRate, Statistics, now};

use crate::args::{Last, StatisticsArgs};
use crate::failure::Failure;
use crate::harmless::harmless;
use crate::kept::{ask, open};
use crate::view::json;

pub(crate) fn run(args: &StatisticsArgs) -> Result<(), Failure> {
    let hours = match args.last {
        Last::Hour => Some(1),
        Last::Day => Some(24),
        Last::Week => Some(7 * 24),
        Last::All => None,
    };
    let range = Range { since: hours.map(|hours: i64| now() - hours * 3_600_000), until: None };
    let counted = match open(&args.kept)? {
        Some(store) => ask(store.statistics(range))?,
        None => Statistics::default(),
    };
    let drawn = match args.json {
        true => json(&counted) + "\n",
        false => drawn(&counted),
    };
    io::stdout().write_all(drawn.as_bytes())?;
    Ok(())
}

/// A table for each question that has an answer.
fn drawn(counted: &Statistics) -> String {
    let mut out = String::from("  calls   passed  repaired  retried  refused  model\n");
    let mut line = |counts: &Counts, name: &str| {
        let Counts { passed, repaired, retried, refused, .. } = counts;
        let total = counts.total();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{total:7}  {passed:7}  {repaired:8}  {retried:7}  {refused:7}  {}", of(name));
    };
    counted.by_model.iter().for_each(|counts| line(counts, &counts.name));
    if counted.by_model.len() != 1 {
        line(&counted.calls, "all");
    }
    if !counted.repeated.is_empty() {
        out.push_str("\n errors  made again  policy, mode\n");
    }
    for RepeatRate { policy, mode, errors, repeat_error_rate, .. } in &counted.repeated {
        let _ = writeln!(
            out,
            "{errors:7}  {}  {}, {}",
            percent(Some(*repeat_error_rate), 10),
            of(policy),
            of(mode)
        );
    }
    if !counted.fixed.is_empty() {
        out.push_str("\n   told  right after 1");
        (2..=FixRate::QUESTIONS)
            .for_each(|questions| out.push_str(&format!("  {:>7}", format!("≤ {questions}"))));
        out.push_str("  model, policy\n");
    }
    for rate in &counted.fixed {
        let _ = write!(out, "{:7}  {}", rate.errors, percent(rate.share(1), 13));
        (2..=FixRate::QUESTIONS)
            .for_each(|questions| out.push_str(&format!("  {}", percent(rate.share(questions), 7))));
        let _ = writeln!(out, "  {}, {}", of(&rate.model), of(&rate.policy));
    }
    out
}

fn percent(share: Option<f64>, width: usize) -> String {
    let text = share.map_or_else(|| String::from("-"), |share| format!("{:.1} %", 100.0 * share));
    format!("{text:>width$}")
}

/// A name on one line.
fn of(name: &str) -> String {
    if name.is_empty() { String::from("(none)") } else { harmless(&name.replace('\n', " ")).into_owned() }
}
