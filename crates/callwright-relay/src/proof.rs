//! Which models write right calls: of those, arguments may go out while they are written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use callwright::{ToolSet, Verdict};

use crate::record::Choice;
use crate::relay::Relay;
use crate::turn::Target;
use crate::upstream::Candidate;

/// So many native calls in a row, right as they were written, prove a model at an upstream.
const ENOUGH: u32 = 20;

/// So long a call is held for its verdict where its model has proved itself: most are whole before that, and who waits longer
/// may as well see it grow.
const LONGEST_HOLD: Duration = Duration::from_secs(5);

/// So many pairs are counted: clients can name models that do not exist, without end.
const MAX_PAIRS: usize = 1024;

impl Relay {
    /// How long a native call that `candidate` streams is held before it goes out without its verdict; none where it never
    /// does. The client decides by what it has `wanted`, or the configuration; else the model has to have proved itself.
    pub(crate) fn holds_calls_for(&self, candidate: &Candidate, wanted: Option<bool>) -> Option<Duration> {
        match wanted.or(self.config.stream_arguments) {
            Some(true) => Some(Duration::ZERO),
            Some(false) => None,
            None => {
                let is_proved = self.proofs.is_proved(candidate.upstream.name(), &candidate.model);
                is_proved.then_some(LONGEST_HOLD)
            }
        }
    }

    /// Counts the calls of an answer of `target`: as evidence for its model and its upstream, and that its server holds them to
    /// their schemas, or does not. Returns how many break these although `strict` was said.
    pub(crate) fn count_calls(
        self: &Arc<Relay>,
        target: &Target,
        choice: &Choice,
        tool_set: &ToolSet,
    ) -> u32 {
        let candidate = &target.candidate;
        self.proofs.count(candidate.upstream.name(), &candidate.model, choice);
        if let Some(is_right) = choice.is_right_as_written(target.mode) {
            self.upstreams.count(candidate, is_right);
        }
        let shown = target.strict.shown(&choice.outcome.verdicts, choice.finish_reason.as_deref(), tool_set);
        if self.capabilities.learn_strict(&target.candidate, shown) {
            let relay = Arc::clone(self);
            drop(tokio::spawn(async move { relay.capabilities.save().await }));
        }
        shown.broken
    }
}

/// How many right calls in a row each model has written, by upstream and model.
#[derive(Debug, Default)]
pub(crate) struct Proofs(Mutex<HashMap<(String, String), u32>>);

impl Proofs {
    /// Has this model proved itself?
    pub(crate) fn is_proved(&self, upstream: &str, model: &str) -> bool {
        let pairs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.get(&(upstream.to_owned(), model.to_owned())).is_some_and(|n| ENOUGH <= *n)
    }

    /// Counts the native calls of an answer. One that was not right as it was written begins the count anew.
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
