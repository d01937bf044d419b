//! What reading takes in memory: bounded for valid texts, in proportion for broken ones, also for hostile ones.

use allocation_counter::{AllocationInfo, measure};
use callwright_json::{AnyValue, read};

use crate::hostile::SHAPES;

/// Four times the text may take this much more, blocks that double in size included.
const LINEAR: f64 = 4.6;
/// What does not depend on the length: the first blocks of lists, a handful of readings.
const FREE: u64 = 1 << 16;
/// The most memory in use at once, for each byte of text: each may need an edit in two ways, and each is kept twice.
const PEAK: u64 = 400;

#[test]
fn hostile_texts_take_memory_in_proportion() {
    const LEN: usize = 50_000;
    for shape in SHAPES {
        let small = taken(&shape.text(LEN));
        let large = taken(&shape.text(4 * LEN));
        let grows = |small: u64, large: u64| LINEAR * (small.max(FREE) as f64) < large as f64;
        let (name, was, is) = (shape.name, small.bytes_total, large.bytes_total);
        assert!(!grows(was, is), "{name}: {was} bytes become {is}");
        let (was, is) = (small.bytes_max, large.bytes_max);
        assert!(!grows(was, is), "{name}: {was} bytes at once become {is}");
        assert!(large.bytes_max < PEAK * 4 * LEN as u64, "{name}: {} bytes at once", large.bytes_max);
    }
}

#[test]
fn valid_texts_take_memory_for_their_values_only() {
    let call =
        |len: usize| format!(r#"{{"path": "a.rs", "content": "{}", "n": [1, 2]}}"#, "let x; ".repeat(len));
    let (small, large) = (taken(&call(10)), taken(&call(100_000)));
    assert_eq!(small.count_total, large.count_total, "longer strings take no more blocks");
    // Room for values is reserved by the text's length, up to a bound.
    const RESERVE: u64 = 4096 * 16;
    assert!(large.bytes_total <= small.bytes_total + RESERVE, "longer strings take no more bytes");
    assert!(small.count_total < 8, "{} blocks", small.count_total);
}

#[test]
fn a_broken_string_takes_memory_for_its_edits_only() {
    let call = |len: usize| format!(r#"{{"path": 'a.rs', "content": "{}",}}"#, "let x; ".repeat(len));
    let (small, large) = (taken(&call(10)), taken(&call(100_000)));
    assert_eq!(small.count_total, large.count_total, "longer strings take no more blocks");
    let copies = (large.bytes_total - small.bytes_total) / 700_000;
    assert!(copies < 3, "{copies} copies of the text");
}

/// The memory that one reading of `text` takes, freed again at its end.
fn taken(text: &str) -> AllocationInfo {
    let taken = measure(|| drop(read(text, &AnyValue)));
    assert_eq!(taken.bytes_current, 0, "not freed");
    taken
}
