//! Edits in each element of a list: what one of them is read as, many are, and they cost what their text is long.

use std::collections::BTreeMap;

use allocation_counter::{AllocationInfo, measure};
use callwright::value::Value;
use callwright::{Schema, heal, json};

use super::{Edited, Outcome, Pool, Sample, Seed, Tally, edits, habits, pools, samples, words};

/// Each edit in all elements of a list of so many.
const SAME: usize = 24;
/// Different edits in as many elements.
const MIXED: usize = 4;

/// What is to be read as it was meant of a hundred lists, and how many may be read otherwise, on each seed. Brackets that are
/// missing in each element may belong elsewhere.
const SAME_FLOORS: [(Seed, f64, f64); 2] = [(Seed::Work, 90.0, 0.0), (Seed::Judge, 80.0, 0.0)];
const MIXED_FLOORS: [(Seed, f64, f64); 2] = [(Seed::Work, 50.0, 0.7), (Seed::Judge, 40.0, 0.7)];

#[test]
fn the_same_edit_in_each_element() {
    for (seed, exact, wrong) in SAME_FLOORS {
        let mut tally = Tally::default();
        let pools = pools();
        for (kind, sample) in one_of_each(seed.pool(&pools), &[edits, |text, _| habits(text)]) {
            if sample.outcome() == Outcome::Exact {
                tally.add(&kind, outcome(&[&sample; SAME]));
            }
        }
        println!("{seed:?}, {SAME} times\n{tally}");
        tally.hold(seed, exact, wrong);
    }
}

#[test]
fn different_edits_in_the_elements() {
    /// Elements beside each other come from texts that are so far apart.
    const STRIDE: usize = 37;
    for (seed, exact, wrong) in MIXED_FLOORS {
        let pools = pools();
        let mut by_schema: BTreeMap<&str, Vec<Sample<'_>>> = BTreeMap::new();
        for sample in samples(seed.pool(&pools), edits) {
            if sample.outcome() == Outcome::Exact {
                by_schema.entry(&sample.tool.schema).or_default().push(sample);
            }
        }
        let mut tally = Tally::default();
        for samples in by_schema.values() {
            for from in (0..samples.len()).step_by(3) {
                let list: Vec<&Sample<'_>> =
                    (0..MIXED).map(|n| &samples[(from + n * STRIDE) % samples.len()]).collect();
                tally.add(&format!("first {}", list[0].edited.kind), outcome(&list));
            }
        }
        println!("{seed:?}, mixed\n{tally}");
        tally.hold(seed, exact, wrong);
    }
}

#[test]
fn an_edit_in_each_element_takes_memory_in_proportion() {
    /// Four times the text may take this much more, blocks that double in size included.
    const LINEAR: f64 = 4.6;
    /// What does not depend on the length.
    const FREE: u64 = 1 << 18;
    /// The bytes of the shorter list.
    const LEN: usize = 1 << 14;
    let pools = pools();
    let mut grown = Vec::new();
    for (kind, sample) in one_of_each(&pools.work, &[edits, |text, _| habits(text), words]) {
        let schema = list_of(&sample);
        let taken = |len: usize| -> AllocationInfo {
            let text = list(&vec![sample.edited.text.as_str(); len.div_ceil(sample.edited.text.len())]);
            measure(|| drop(heal(&text, Some(&schema), None)))
        };
        let (small, large) = (taken(LEN), taken(4 * LEN));
        let grows = |small: u64, large: u64| LINEAR * (small.max(FREE) as f64) < large as f64;
        if grows(small.bytes_total, large.bytes_total) || grows(small.bytes_max, large.bytes_max) {
            grown.push(format!("{kind}: {small:?} becomes {large:?}"));
        }
    }
    assert!(grown.is_empty(), "{}", grown.join("\n"));
}

/// The first text of each kind that `made` makes of a pool's values.
fn one_of_each<'p>(pool: &'p Pool, made: &[fn(&str, &Pool) -> Vec<Edited>]) -> BTreeMap<String, Sample<'p>> {
    let mut one_of_each = BTreeMap::new();
    for sample in made.iter().flat_map(|made| samples(pool, made)) {
        one_of_each.entry(sample.edited.kind.clone()).or_insert(sample);
    }
    one_of_each
}

/// What becomes of the list of `samples`, all of one tool.
fn outcome(samples: &[&Sample<'_>]) -> Outcome {
    let text = list(&samples.iter().map(|sample| sample.edited.text.as_str()).collect::<Vec<_>>());
    let meant = list(&samples.iter().map(|sample| sample.meant.as_str()).collect::<Vec<_>>());
    let edited = Edited { kind: String::new(), text };
    Outcome::of(&edited, &meant, Some(&list_of(samples[0])))
}

fn list(elements: &[&str]) -> String {
    format!("[{}]", elements.join(", "))
}

/// The schema of a list whose elements have that of `sample`.
fn list_of(sample: &Sample<'_>) -> Schema {
    let element: Value = sample.tool.schema.parse().unwrap();
    Schema::compile(&json!({"type": "array", "items": element})).unwrap()
}
