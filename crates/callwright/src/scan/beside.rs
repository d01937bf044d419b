//! How calls stand to what the model says beside them. Words are any letters and digits; what they say decides nothing.

use crate::verdict::{BesideProse, Verdict};

/// What stands before a call on its own line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum OnLine {
    /// No words.
    #[default]
    Nothing,
    /// Words, and a sign that ends them: `Let me see:`
    Words,
    /// Words that go on: a letter or a comma stands right before it.
    Sentence,
}

/// The calls of a text, and what had been said when each was made.
#[derive(Debug, Default)]
pub(super) struct Beside {
    calls: Vec<(usize, usize, OnLine)>,
}

impl Beside {
    /// Notes the verdict `number`, of a call behind `said` bytes of prose.
    pub(super) fn note(&mut self, number: usize, said: usize, on_line: OnLine) {
        self.calls.push((number, said, on_line));
    }

    /// Says of each accepted call how it stands in `text`, which is all that the model said.
    pub(super) fn tell(&self, text: &str, verdicts: &mut [Verdict]) {
        let first = text.find(char::is_alphanumeric);
        let last = text.rfind(char::is_alphanumeric);
        for &(number, said, on_line) in &self.calls {
            let Some(Verdict::Accepted(call)) = verdicts.get_mut(number) else { continue };
            let is_behind = first.is_some_and(|first| first < said);
            let is_before = last.is_some_and(|last| said <= last);
            call.beside_prose = match (is_behind, is_before, on_line) {
                (true, _, OnLine::Sentence) => Some(BesideProse::Sentence),
                (true, true, _) => Some(BesideProse::Between),
                (false, true, _) => Some(BesideProse::Below),
                (true, false, OnLine::Words) => Some(BesideProse::Line),
                (true, false, OnLine::Nothing) => Some(BesideProse::Above),
                (false, false, _) => None,
            };
        }
    }
}
