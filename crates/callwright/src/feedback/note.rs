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
        let mut mended = Vec::new();
        if let Some(from) = &self.renamed_from {
            mended.push(format!("the tool's name was {from}"));
        }
        let repairs = tally(&self.repairs).into_iter().filter(|(kind, _)| !is_surrounding(*kind));
        mended.extend(repairs.map(|(kind, n)| match n {
            1 => String::from(kind.code()),
            n => format!("{} {n} times", kind.code()),
        }));
        mended
            .extend(self.coercions.iter().map(|c| format!("{} was {} and not {}", c.pointer, c.from, c.to)));
        if mended.is_empty() {
            return None;
        }
        let mended = mended.join(", ");
        Some(format!(
            "Note: Your call to {} was mended before it ran ({mended}): please send strict JSON",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Coercion;
    use crate::verdict::Verdict;
    use callwright_json::{Repair, RepairKind, Span};

    fn call(dialect: &'static str, kinds: &[RepairKind]) -> Acceptance {
        let repair = |&kind| Repair { kind, at: Span::at(0), put: "".into() };
        Acceptance {
            id: None,
            name: "search".into(),
            arguments: "{}".into(),
            dialect: dialect.into(),
            span: Span::at(0),
            repairs: kinds.iter().map(repair).collect(),
            renamed_from: None,
            coercions: Vec::new(),
            beside_prose: None,
            unsure: false,
            open_end: false,
        }
    }

    #[test]
    fn a_name_as_tag_gets_the_note_about_tags_once() {
        let note = "Note: Please use <function> tags, not function name tags";
        let calls = [call(NAME_AS_TAG, &[]), call(NAME_AS_TAG, &[RepairKind::DropComma])];
        let outcome = Outcome { verdicts: calls.map(Verdict::Accepted).into(), ..Outcome::default() };
        assert_eq!(outcome.notes(), [note]);
    }

    #[test]
    fn other_repairs_are_named() {
        assert_eq!(call("json_fence", &[RepairKind::DropFence]).note(), None);
        let mut call = call("hermes", &[RepairKind::DropCloser, RepairKind::DropCloser]);
        call.coercions = vec![Coercion { pointer: "/limit".into(), from: "\"5\"".into(), to: "5".into() }];
        assert_eq!(
            call.note().unwrap(),
            "Note: Your call to search was mended before it ran (drop-closer 2 times, /limit was \"5\" and \
             not 5): please send strict JSON"
        );
    }
}
