//! The relation of calls to the words beside them. Words are any letters and digits; their meaning decides nothing.

use crate::verdict::{BesideProse, Verdict};

/// The calls of a text, and what had been said when each was made.
#[derive(Debug, Default)]
pub(super) struct Beside {
    calls: Vec<(usize, usize, Option<BesideProse>)>,
}

impl Beside {
    /// Notes the verdict `number`, of a call behind `said` bytes of text, and how it stands to the words before it, those of an
    /// unclosed thought among them.
    pub(super) fn note(&mut self, number: usize, said: usize, before: Option<BesideProse>) {
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
            call.beside_prose = match before.or(is_behind.then_some(BesideProse::Above)) {
                Some(BesideProse::Sentence) => before,
                _ if is_behind && is_before => Some(BesideProse::Between),
                // What a thought says before it and the text behind it are not about one place.
                before => before.max(is_before.then_some(BesideProse::Below)),
            };
        }
    }
}
