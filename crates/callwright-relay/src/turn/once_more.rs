//! Asks the same again where what came first is no answer: it is empty, or the model did not get its tools.

use super::{OpenAnswer, Sent, Target, Turn};
use crate::question::Question;
use crate::record::{AttemptReason, Choice};
use crate::wire::PromptTokens;

impl Turn {
    /// Takes up what the first answer shows, and asks the same again where it is none. Of `read` the client has what is `sent`.
    /// Where nothing comes of it, what came first is still an answer.
    pub(crate) async fn once_more(
        &mut self,
        target: &Target,
        read: &[&Choice],
        tokens: Option<PromptTokens>,
        sent: Sent,
    ) -> Option<OpenAnswer> {
        // JSON that did not come is asked for in words of its own.
        let is_silent = self.has_tools() && read.iter().all(|choice| choice.is_silent());
        if is_silent && let Some(again) = self.repeat(target).await {
            return Some(again);
        }
        if !self.is_disproved(target, read, tokens, sent).await {
            return None;
        }
        self.in_prompt_mode(target, &Question::first(&self.ask)).await.ok()
    }

    /// Asks the same once more: another try at the same answer often brings one where the first brought nothing.
    pub(crate) async fn repeat(&mut self, target: &Target) -> Option<OpenAnswer> {
        if !self.ladder.may_repeat(self.log.elapsed()) {
            return None;
        }
        tracing::info!(model = target.candidate.model, "[relay] the answer was empty: the same once more");
        let question = Question::first(&self.ask);
        Box::pin(self.open_at(target.clone(), &question, AttemptReason::Repeat)).await.ok()
    }
}
