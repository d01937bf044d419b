//! `allowed.toml`: the changes that are meant, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;

use super::Changed;
use super::outcomes::Change;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/differential/allowed.toml");
const HEAD: &str = "# What is read otherwise than it was recorded, and why. `differential/mod.rs` says how this file is written.\n";
/// Keys in a line of the file.
const IN_LINE: usize = 6;

/// The keys of the texts, by reason and change.
pub(super) struct Allowed(BTreeMap<(String, String, String), BTreeSet<u64>>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    change: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    from: String,
    to: String,
    because: String,
    /// Keys, in hexadecimal digits.
    texts: Vec<String>,
}

impl Allowed {
    pub(super) fn read() -> Allowed {
        let file: File = toml::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
        let mut allowed: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
        for entry in file.change {
            assert!(entry.because.contains(' '), "a reason is a sentence: {:?}", entry.because);
            let keys = entry.texts.iter().map(|key| u64::from_str_radix(key, 16).unwrap());
            allowed.entry((entry.because, entry.from, entry.to)).or_default().extend(keys);
        }
        Allowed(allowed)
    }

    pub(super) fn allows(&self, key: u64, change: &Change) -> bool {
        self.0.iter().any(|((_, from, to), keys)| is_of(change, from, to) && keys.contains(&key))
    }

    /// The keys, of those that `is_taken` has, whose texts did not change as it is allowed.
    pub(super) fn stale(
        &self,
        changed: &BTreeMap<u64, Changed>,
        is_taken: impl Fn(u64) -> bool,
    ) -> BTreeSet<u64> {
        let mut stale = BTreeSet::new();
        for ((_, from, to), keys) in &self.0 {
            let is_stale =
                |key: &u64| !changed.get(key).is_some_and(|changed| is_of(&changed.change, from, to));
            stale.extend(keys.iter().copied().filter(|key| is_taken(*key)).filter(is_stale));
        }
        stale
    }

    pub(super) fn drop(&mut self, stale: &BTreeSet<u64>) {
        self.0.values_mut().for_each(|keys| keys.retain(|key| !stale.contains(key)));
        self.0.retain(|_, keys| !keys.is_empty());
    }

    /// Allows a change that is not allowed yet, if any reason can.
    pub(super) fn add(&mut self, key: u64, change: &Change, because: &str) {
        if self.allows(key, change) {
            return;
        }
        if let Change::Kind { from, to } = change {
            let entry = (because.to_owned(), from.clone(), to.clone());
            self.0.entry(entry).or_default().insert(key);
        }
    }

    pub(super) fn write(&self) {
        let mut text = HEAD.to_owned();
        for ((because, from, to), keys) in &self.0 {
            text +=
                &format!("\n[[change]]\nfrom = {from:?}\nto = {to:?}\nbecause = {because:?}\ntexts = [\n");
            let keys: Vec<String> = keys.iter().map(|key| format!("\"{key:016x}\",")).collect();
            keys.chunks(IN_LINE).for_each(|line| text += &format!("    {}\n", line.join(" ")));
            text += "]\n";
        }
        fs::write(FILE, text).unwrap();
    }
}

fn is_of(change: &Change, allowed_from: &str, allowed_to: &str) -> bool {
    matches!(change, Change::Kind { from, to } if from == allowed_from && to == allowed_to)
}
