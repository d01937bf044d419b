//! Counts the calls of answers: a model that writes right ones has its calls streamed, and a server that breaks schemas is known.

use std::sync::Arc;
use std::time::Duration;

use callwright::ToolSet;

use crate::record::Choice;
use crate::relay::Relay;
use crate::target::Target;
use crate::upstream::Candidate;

/// So long a call is held for its verdict where its model has proved itself: most are whole before that, and who waits longer
/// may as well see it grow.
const LONGEST_HOLD: Duration = Duration::from_secs(5);

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
