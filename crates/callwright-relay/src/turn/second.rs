//! Asks a second model the same, once, where the answer of the first would end as refused.
//!
//! Its answer is read, checked and asked for again like any other, within what is left of the request's bounds, and takes the
//! place of the first one's. Nobody follows it.

use super::outcome::{append, worse};
use super::{Resolution, Sent, Turn};
use crate::question::Question;
use crate::record::{AttemptReason, Choice, TurnEnd};
use crate::target::Target;

impl Turn {
    /// Would the client read that this answer is none?
    pub(super) fn would_refuse(&self, resolution: &Resolution) -> bool {
        resolution.end.is_refusal() || self.is_silent(resolution)
    }

    /// Puts what a second model answers in the place of what is refused. Where there is no such model, or it gives no answer,
    /// everything stays as it is.
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

    /// What the second model of the request's own makes of the same question: its name in the configuration, its answer, and
    /// who gave it. None where there is no such model, nothing more may be asked, or no answer comes.
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
