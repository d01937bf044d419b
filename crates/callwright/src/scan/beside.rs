//! How calls stand to what the model says beside them. Words are any letters and digits; what they say decides nothing.

use crate::verdict::{BesideProse, Verdict};

/// The calls of a text, and what had been said when each was made.
#[derive(Debug, Default)]
pub(super) struct Beside {
    calls: Vec<(usize, usize, BesideProse)>,
}

impl Beside {
    /// Notes the verdict `number`, of a call behind `said` bytes of prose, and how it stands to these if nothing follows.
    pub(super) fn note(&mut self, number: usize, said: usize, before: BesideProse) {
        self.calls.push((number, said, before));
    }

    /// Says of each accepted call how it stands in `text`, which is all that the model said.
    pub(super) fn tell(&self, text: &str, verdicts: &mut [Verdict]) {
        let first = text.find(char::is_alphanumeric);
        let last = text.rfind(char::is_alphanumeric);
        for &(number, said, before) in &self.calls {
            let Some(Verdict::Accepted(call)) = verdicts.get_mut(number) else { continue };
            let is_behind = first.is_some_and(|first| first < said);
            let is_before = last.is_some_and(|last| said <= last);
            call.beside_prose = match (is_behind, is_before) {
                (true, true) if before != BesideProse::Sentence => Some(BesideProse::Between),
                (true, _) => Some(before),
                (false, true) => Some(BesideProse::Below),
                (false, false) => None,
            };
        }
    }
}
