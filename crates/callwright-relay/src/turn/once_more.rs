//! Asks the same again after an unusable first answer: it is empty, or the model did not get its tools.

use std::sync::Arc;

use super::{AnswerSource, OpenAnswer, Sent, Turn};
use crate::followup;
use crate::question::Question;
use crate::reading::Shown;
use crate::record::{AttemptReason, Choice};
use crate::recover::LostCall;
use crate::target::Target;
use crate::upstream::Candidate;
use crate::wire::{Document, PromptTokens, error_status, is_passing};

impl Turn {
    /// Takes up the evidence of the first answer, and asks the same again if it is unusable. The client has the part `sent` of
    /// `read`. If no better answer comes, the first one still counts.
    pub(crate) async fn once_more(
        &mut self,
        target: &Target,
        read: &[&Choice],
        tokens: Option<PromptTokens>,
        sent: Sent<'_>,
    ) -> Option<OpenAnswer> {
        let is_owed = self.has_tools() && read.iter().all(|choice| self.owes_an_answer(choice));
        if is_owed && let Some(again) = self.repeat(target).await {
            return Some(again);
        }
        if !self.is_disproved(target, read, tokens, sent).await {
            return None;
        }
        self.in_prompt_mode(target, &Question::first(&self.ask)).await.ok()
    }

    /// Asks the same once more: another try often brings an answer after an empty one.
    pub(crate) async fn repeat(&mut self, target: &Target) -> Option<OpenAnswer> {
        if !self.ladder.may_repeat(self.log.elapsed()) {
            return None;
        }
        tracing::info!(model = target.candidate.model, "[relay] the answer was empty: the same once more");
        let question = Question::first(&self.ask);
        Box::pin(self.open_at(target.clone(), &question, AttemptReason::Repeat)).await.ok()
    }

    /// Goes past a failure before the client has anything of the answer. Reads the call in an error, or asks again, another
    /// upstream if there is one. None if the request itself is at fault, or nobody answers.
    pub(crate) async fn past_failure(
        &mut self,
        target: &Target,
        failure: Option<&Document>,
        shown: &Arc<Shown>,
    ) -> Option<OpenAnswer> {
        let mut question = Question::first(&self.ask);
        match failure.and_then(|failure| LostCall::in_error(failure.text())) {
            Some(lost) => {
                self.log.failed(None, &lost.why);
                if let Some(document) = lost.answer(&self.ask.model) {
                    let (target, shown) = (target.clone(), Arc::clone(shown));
                    return Some(OpenAnswer { source: AnswerSource::Recovered(document), target, shown });
                }
                if !self.ladder.may_repeat(self.log.elapsed()) {
                    return None;
                }
                question = followup::lost(&question, "", &lost.why);
                return Box::pin(self.open_at(target.clone(), &question, AttemptReason::Reask)).await.ok();
            }
            None if failure.is_some_and(|failure| !is_passing(error_status(failure.root()))) => return None,
            None => {}
        }
        if !self.ladder.may_pass_failure(self.log.elapsed()) {
            return None;
        }
        let why = failure.and_then(|failure| failure.root().get("error")).map(|error| error.raw().to_owned());
        self.log.failed(None, why.as_deref().unwrap_or("the upstream's answer broke off"));
        let is_other = |other: &Candidate| other.differs_from(&target.candidate);
        let candidates = self.relay.upstreams.route(&self.ask.model).candidates;
        let next = match candidates.into_iter().find(is_other) {
            Some(other) => self.target(other).await,
            None => target.clone(),
        };
        tracing::warn!(
            next = next.candidate.upstream.name(),
            "[relay] the answer broke off before it began, asking again"
        );
        Box::pin(self.open_at(next, &question, AttemptReason::Failover)).await.ok()
    }
}
