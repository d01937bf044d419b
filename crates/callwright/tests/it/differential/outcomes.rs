//! Outcomes in short, and the file of those that were recorded.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;

use callwright::{Outcome, Verdict};

use crate::common::hash::Hash;

/// What an engine said of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// A call is shown in the text.
    is_shown: bool,
    /// 24 bits of each accepted call, its name and its arguments; [`REFUSED`] of each refused one.
    verdicts: Vec<u32>,
}

const REFUSED: u32 = 0;

impl Said {
    pub(super) fn of(outcome: &Outcome) -> Said {
        let verdicts = outcome.verdicts.iter().map(|verdict| match verdict {
            Verdict::Accepted(call) => {
                let mut hash = Hash::new();
                hash.put(&call.name);
                hash.put(&call.compact_arguments());
                // The high bits depend on all bytes.
                ((hash.0 >> 40) as u32).max(1)
            }
            Verdict::Refused(_) => REFUSED,
        });
        Said { is_shown: !outcome.shown.is_empty(), verdicts: verdicts.collect() }
    }

    /// What changed if another engine says `new`.
    pub(super) fn change_to(&self, new: &Said) -> Option<Change> {
        if self == new {
            return None;
        }
        let is_other = self.has_more_than(new) && new.has_more_than(self);
        // The same calls in another order differ in their kind alone: one of each was refused.
        match is_other {
            true => Some(Change::Arguments),
            false => Some(Change::Kind { from: self.kind(), to: new.kind() }),
        }
    }

    /// Returns whether a call is accepted here that `other` does not accept.
    fn has_more_than(&self, other: &Said) -> bool {
        let count = |said: &Said, call: u32| said.verdicts.iter().filter(|own| **own == call).count();
        self.verdicts.iter().any(|call| *call != REFUSED && count(other, *call) < count(self, *call))
    }

    /// `accepted`, `refused, accepted`, `text`, `shown`
    fn kind(&self) -> String {
        let verdicts = self.verdicts.iter().map(|call| if *call == REFUSED { "refused" } else { "accepted" });
        let shown = self.is_shown.then_some("shown");
        let kinds: Vec<&str> = verdicts.chain(shown).collect();
        if kinds.is_empty() { String::from("text") } else { kinds.join(", ") }
    }
}

/// How an outcome differs from the one that was recorded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// Another call is accepted in the place of one. Nothing allows that.
    Arguments,
    Kind {
        from: String,
        to: String,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Arguments => f.write_str("ACCEPTED WITH OTHER ARGUMENTS"),
            Change::Kind { from, to } => write!(f, "{from} → {to}"),
        }
    }
}

/// The outcomes of all texts, by their keys.
///
/// In the file each has eight bytes for its key, one for its number of verdicts, with [`SHOWN`] in it, and three for each
/// verdict, all of them with the high byte first.
pub(super) struct Outcomes(pub(super) BTreeMap<u64, Said>);

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/differential/outcomes.bin");
const SHOWN: u8 = 0x80;

impl Outcomes {
    pub(super) fn recorded() -> Outcomes {
        let bytes = fs::read(FILE).unwrap_or_default();
        let mut rest = bytes.as_slice();
        let mut outcomes = BTreeMap::new();
        while let Some((key, behind)) = rest.split_first_chunk::<8>() {
            let (count, mut behind) = behind.split_first().unwrap();
            let mut verdicts = Vec::new();
            for _ in 0..count & !SHOWN {
                let ([high, middle, low], more) = behind.split_first_chunk::<3>().unwrap();
                verdicts.push(u32::from_be_bytes([0, *high, *middle, *low]));
                behind = more;
            }
            let said = Said { is_shown: count & SHOWN != 0, verdicts };
            outcomes.insert(u64::from_be_bytes(*key), said);
            rest = behind;
        }
        Outcomes(outcomes)
    }

    pub(super) fn record(&self) {
        let mut bytes = Vec::new();
        for (key, said) in &self.0 {
            bytes.extend(key.to_be_bytes());
            let count = u8::try_from(said.verdicts.len()).unwrap();
            assert!(count < SHOWN, "a text with {count} calls has no place in the file");
            bytes.push(count | if said.is_shown { SHOWN } else { 0 });
            bytes.extend(said.verdicts.iter().flat_map(|call| call.to_be_bytes().into_iter().skip(1)));
        }
        fs::write(FILE, bytes).unwrap();
    }
}
