//! Sets of characters: `[a-z\d]`, `\w`, `\p{L}`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use regex_syntax::hir::{Class as Parsed, HirKind};

/// Characters from the first of each pair to the second, sorted, none twice.
pub(super) type Ranges = Arc<[(char, char)]>;

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) ranges: Vec<(char, char)>,
    /// Whole tables, each with whether it is negated.
    pub(super) tables: Vec<(Ranges, bool)>,
    pub(super) is_negated: bool,
    /// The case of letters does not count.
    pub(super) folds: bool,
    /// The ASCII characters in the set, one bit for each: nearly all lookups.
    pub(super) ascii: u128,
}

impl Class {
    pub(super) fn of(ranges: &[(char, char)]) -> Class {
        Class { ranges: ranges.to_vec(), ..Class::default() }
    }

    /// Returns the set of all characters but `ranges`.
    pub(super) fn but(ranges: &[(char, char)]) -> Class {
        Class { is_negated: true, ..Class::of(ranges) }
    }

    /// Returns whether the set is empty, so that it is a slip.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty() && self.tables.is_empty()
    }

    /// Adds `other`, which has no case of its own.
    pub(super) fn add(&mut self, other: Class) {
        match (other.is_negated, other.tables.is_empty()) {
            (false, _) => {
                self.ranges.extend(other.ranges);
                self.tables.extend(other.tables);
            }
            (true, true) => self.tables.push((other.ranges.into(), true)),
            (true, false) => {
                self.tables.extend(other.tables.into_iter().map(|(table, is_not)| (table, !is_not)))
            }
        }
    }

    /// Sorts the added ranges, so that they can be searched.
    pub(super) fn settle(&mut self) {
        self.ranges.sort_unstable();
        let mut settled: Vec<(char, char)> = Vec::with_capacity(self.ranges.len());
        for (from, to) in self.ranges.drain(..) {
            match settled.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                Some(_) | None => settled.push((from, to)),
            }
        }
        self.ranges = settled;
        self.ascii = (0..128_u8).filter(|b| self.looks_up(char::from(*b))).map(|b| 1_u128 << b).sum();
    }

    pub(super) fn has(&self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> u32::from(c) & 1 == 1 } else { self.looks_up(c) }
    }

    fn looks_up(&self, c: char) -> bool {
        let found = self.holds(c)
            || self.folds && {
                let (mut lower, mut upper) = (c.to_lowercase(), c.to_uppercase());
                // The capital of `ß` has two letters, and neither belongs to the set.
                let is_one = |len: usize| len == 1;
                is_one(lower.len()) && lower.next().is_some_and(|c| self.holds(c))
                    || is_one(upper.len()) && upper.next().is_some_and(|c| self.holds(c))
            };
        found != self.is_negated
    }

    fn holds(&self, c: char) -> bool {
        within(&self.ranges, c) || self.tables.iter().any(|(table, is_not)| within(table, c) != *is_not)
    }
}

fn within(ranges: &[(char, char)], c: char) -> bool {
    let behind = ranges.partition_point(|(from, _)| *from <= c);
    behind.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, to)| c <= *to)
}

pub(super) const DIGIT: &[(char, char)] = &[('0', '9')];
pub(super) const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
/// White space and ends of lines.
pub(super) const SPACE: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{a0}', '\u{a0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200a}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202f}', '\u{202f}'),
    ('\u{205f}', '\u{205f}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{feff}', '\u{feff}'),
];

/// Most tables that are kept: Unicode has some hundred properties, and each a few names.
const MAX_TABLES: usize = 512;

/// Returns the characters with a property of Unicode: `L`, `Lu`, `Script=Greek`; `None` if there is no such property.
pub(super) fn property(name: &str) -> Option<Ranges> {
    static TABLES: OnceLock<Mutex<HashMap<Box<str>, Ranges>>> = OnceLock::new();
    let is_name = !name.is_empty()
        && name.len() < 64
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_=".contains(&b));
    if !is_name {
        return None;
    }
    let mut tables = TABLES.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = tables.get(name) {
        return Some(Arc::clone(known));
    }
    let parsed = regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?;
    let table: Ranges = match parsed.kind() {
        HirKind::Class(Parsed::Unicode(class)) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        // One character alone.
        HirKind::Literal(one) => std::str::from_utf8(&one.0).ok()?.chars().map(|c| (c, c)).collect(),
        _ => return None,
    };
    if tables.len() < MAX_TABLES {
        tables.insert(name.into(), Arc::clone(&table));
    }
    Some(table)
}
