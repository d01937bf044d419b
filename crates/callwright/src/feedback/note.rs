//! One line for the model about a call that ran although it was not written right.

use callwright_json::tally;

use crate::policy::is_surrounding;
use crate::verdict::{Acceptance, Outcome};

/// The dialect in which the tool's own name is the tag: `<search>{…}</search>`.
const NAME_AS_TAG: &str = "toolname_tag";

impl Acceptance {
    /// What the model should do better next time, in one line; nothing where the call was well formed.
    pub fn note(&self) -> Option<String> {
        if self.dialect == NAME_AS_TAG {
            return Some(String::from("Note: Please use <function> tags, not function name tags"));
        }
        let mut repaired = Vec::new();
        if let Some(from) = &self.renamed_from {
            repaired.push(format!("the tool's name was {from}"));
        }
        let repairs = tally(&self.repairs).into_iter().filter(|(kind, _)| !is_surrounding(*kind));
        repaired.extend(repairs.map(|(kind, n)| match n {
            1 => String::from(kind.code()),
            n => format!("{} {n} times", kind.code()),
        }));
        repaired
            .extend(self.coercions.iter().map(|c| format!("{} was {} and not {}", c.pointer, c.from, c.to)));
        if repaired.is_empty() {
            return None;
        }
        let repaired = repaired.join(", ");
        Some(format!(
            "Note: Your call to {} was repaired before it ran ({repaired}): please send strict JSON",
            self.name
        ))
    }
}

impl Outcome {
    /// The notes about all accepted calls, each one once.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for note in self.calls().filter_map(Acceptance::note) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes
    }
}
