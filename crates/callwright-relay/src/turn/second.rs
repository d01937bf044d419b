//! Asks a second model the same, once, if the answer of the first would end as refused.
//!
//! Its answer is read, checked and asked for again like any other, within the rest of the request's bounds. It takes the place of
//! the first one's. No third model follows.

use super::outcome::{append, worse};
use super::{Resolution, Sent, Turn};
use crate::question::Question;
use crate::record::{AttemptReason, Choice, TurnEnd};
use crate::target::Target;

impl Turn {
    /// Returns whether the client would read a refusal.
    pub(super) fn would_refuse(&self, resolution: &Resolution) -> bool {
        resolution.end.is_refusal() || self.is_silent(resolution)
    }

    /// Puts the answer of a second model in the place of a refusal. Without such a model or answer, everything stays as it is.
    pub(super) async fn ask_second(&mut self, resolution: &mut Resolution) {
        let first = &resolution.first;
        // What passes as it came stays in the answer, and would be made twice.
        if 0 < first.foreign_calls || self.is_cut_by_bound(first) {
            return;
        }
        let before = self.log.usage().completion;
        let Some((model, answer, target)) = self.second_answer().await else { return };
        let spent = self.log.usage().completion.saturating_sub(before);
        let second = Box::pin(self.climb(answer, Sent::Nothing, &target, spent)).await;
        if second.first.is_empty() && second.verdicts.is_empty() && second.more_text.trim().is_empty() {
            return;
        }
        self.log.escalated(&model);
        let mut said = second.more_text;
        if second.verdicts.is_empty() {
            let mut text = second.first.outcome.text.clone();
            append(&mut text, &said);
            // The client has these words.
            said = if text.trim() == first.outcome.text.trim() { String::new() } else { text };
        }
        resolution.more_text = said;
        resolution.end = worse(second.end, TurnEnd::Retried);
        resolution.verdicts = second.verdicts;
        resolution.finish_reason = second.finish_reason;
        resolution.again.push(second.first);
        resolution.again.extend(second.again);
        resolution.by = Some(target);
    }

    /// Asks the second model of the request's own model the same question. Returns its name in the configuration, its answer, and
    /// the target. None without such a model, without room for another question, or without an answer.
    pub(super) async fn second_answer(&mut self) -> Option<(String, Choice, Target)> {
        let model = self.relay.upstreams.second(&self.ask.model)?.to_owned();
        if !self.ladder.may_escalate(self.log.elapsed()) {
            return None;
        }
        tracing::info!(from = self.ask.model, to = model, "[relay] fallback: asking a second model");
        let max_tokens = Some(self.ladder.tokens_left());
        let question = Question { stream: false, max_tokens, ..Question::first(&self.ask) };
        let asked = self.open_model(&model, &question, AttemptReason::OtherModel);
        let open_answer = Box::pin(asked).await.ok()?;
        let target = open_answer.target.clone();
        let answer = self.read_again(open_answer, &question).await?;
        Some((model, answer, target))
    }
}
