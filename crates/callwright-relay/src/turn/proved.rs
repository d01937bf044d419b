//! Counts the calls of answers. A model that writes right ones has its calls streamed, and a server that breaks schemas becomes
//! known.

use std::sync::Arc;
use std::time::Duration;

use callwright::ToolSet;

use crate::record::Choice;
use crate::relay::Relay;
use crate::target::Target;
use crate::upstream::Candidate;

/// The longest time that a call of a proved model is held for its verdict. Most are whole before that, and a longer wait may as
/// well show it grow.
const LONGEST_HOLD: Duration = Duration::from_secs(5);

impl Relay {
    /// Returns the time that a native call which `candidate` streams is held before it goes out without its verdict; none if it
    /// never does. The client's wish `wanted` decides, or the configuration; else the model has to have proved itself.
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

    /// Counts the calls of an answer of `target`: as evidence for its model and its upstream, and for a server that enforces
    /// schemas. Returns the number that break these although `strict` was said.
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
