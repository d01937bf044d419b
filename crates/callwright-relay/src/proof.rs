//! The models that write right calls: their arguments may go out while they are written.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use callwright::Verdict;

use crate::record::Choice;

/// This many native calls in a row, right as they were written, prove a model at an upstream.
const ENOUGH: u32 = 20;

/// The most pairs that are counted: clients can name any number of models that do not exist.
const MAX_PAIRS: usize = 1024;

/// The number of right calls in a row of each model, by upstream and model.
#[derive(Debug, Default)]
pub(crate) struct Proofs(Mutex<HashMap<(String, String), u32>>);

impl Proofs {
    /// Returns whether this model has proved itself.
    pub(crate) fn is_proved(&self, upstream: &str, model: &str) -> bool {
        let pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.get(&(upstream.to_owned(), model.to_owned())).is_some_and(|n| ENOUGH <= *n)
    }

    /// Counts the native calls of an answer. A call that was not right as written begins the count anew.
    pub(crate) fn count(&self, upstream: &str, model: &str, choice: &Choice) {
        let mut natives = choice.outcome.verdicts.iter().filter(|verdict| verdict.is_native()).peekable();
        if natives.peek().is_none() {
            return;
        }
        let pair = (upstream.to_owned(), model.to_owned());
        let mut pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_PAIRS <= pairs.len() && !pairs.contains_key(&pair) {
            return;
        }
        let n = pairs.entry(pair).or_default();
        for verdict in natives {
            *n = if is_as_written(verdict) { n.saturating_add(1) } else { 0 };
        }
    }
}

fn is_as_written(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Accepted(call) => {
            call.repairs.is_empty()
                && call.coercions.is_empty()
                && call.renamed_from.is_none()
                && !call.open_end
        }
        Verdict::Refused(_) => false,
    }
}
