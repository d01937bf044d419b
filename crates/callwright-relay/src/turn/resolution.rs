//! What a choice of an answer came to.

use callwright::{Refusal, Verdict};

use crate::record::{Choice, TurnEnd};

/// What one choice of the answer came to when the ladder had ended.
pub(crate) struct Resolution {
    /// What the first answer said and called.
    pub(crate) first: Choice,
    /// The calls, and those that stay refused, in order.
    pub(crate) verdicts: Vec<Verdict>,
    /// What a later answer says instead of calling anything.
    pub(crate) more_text: String,
    /// Why the model stopped.
    pub(crate) finish_reason: Option<String>,
    /// How it ended.
    pub(crate) end: TurnEnd,
    /// Where JSON was asked for: what the client reads, where that is not what was said.
    pub(crate) content: Option<String>,
    /// Why the content is not the JSON that was asked for, in a sentence.
    pub(crate) fault: Option<String>,
}

/// What the client has of a choice before it is resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// Nothing: all of it may still change.
    Nothing,
    /// The words that stand before its last call, and nothing takes them back.
    Words,
}

impl Resolution {
    /// Of a choice for which nothing is asked again.
    pub(crate) fn unasked(choice: Choice) -> Resolution {
        Resolution {
            verdicts: choice.outcome.verdicts.clone(),
            more_text: String::new(),
            finish_reason: choice.finish_reason.clone(),
            end: TurnEnd::Passed,
            content: None,
            fault: None,
            first: choice,
        }
    }

    /// For a client that takes one call at a time.
    pub(super) fn keep_first_call(&mut self) {
        let mut n_calls = 0;
        self.verdicts.retain(|verdict| match verdict {
            Verdict::Refused(_) => true,
            Verdict::Accepted(_) => {
                n_calls += 1;
                n_calls == 1
            }
        });
    }
}

/// The refused calls.
pub(crate) fn refusals(verdicts: &[Verdict]) -> impl Iterator<Item = &Refusal> {
    verdicts.iter().filter_map(|verdict| match verdict {
        Verdict::Refused(refusal) => Some(refusal),
        Verdict::Accepted(_) => None,
    })
}
