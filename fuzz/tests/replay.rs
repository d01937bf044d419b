//! The seeds, and texts that once broke a law, hold for every build.

use std::fs;
use std::path::Path;

#[test]
fn heal_holds_for_its_seeds() {
    replay("heal", callwright_fuzz::heal::check);
}

#[test]
fn parse_holds_for_its_seeds() {
    replay("parse", callwright_fuzz::parse::check);
}

#[test]
fn relay_holds_for_its_seeds() {
    replay("relay", callwright_fuzz::relay::check);
}

#[test]
fn schema_holds_for_its_seeds() {
    replay("schema", callwright_fuzz::schema::check);
}

fn replay(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target);
    let seeds: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(5 < seeds.len());
    seeds.iter().for_each(|seed| check(&fs::read(seed).unwrap()));
}
