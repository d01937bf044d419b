//! Asks upstreams, until one of them gives a readable answer.

use std::sync::Arc;

use http::StatusCode;

use super::{NoAnswer, Turn};
use crate::api::UpstreamKind;
use crate::question::Question;
use crate::reading::Shown;
use crate::record::AttemptReason;
use crate::relay::Relay;
use crate::target::Target;
use crate::upstream::{Candidate, Response};
use crate::wire::{Document, WireError};

/// An upstream that is answering, and the way in which it was asked.
pub(crate) struct OpenAnswer {
    pub(crate) source: AnswerSource,
    pub(crate) target: Target,
    pub(crate) shown: Arc<Shown>,
}

impl OpenAnswer {
    /// Returns whether the answer comes as events.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(&self.source, AnswerSource::Upstream(answer) if answer.is_stream())
    }

    /// Returns this answer with readable events, made from a whole one if needed. None if that cannot be read.
    pub(crate) async fn streamed(self, relay: &Relay) -> Option<OpenAnswer> {
        if self.is_stream() {
            return Some(self);
        }
        let document = self.source.whole(&self.target, relay).await?;
        Some(OpenAnswer { source: AnswerSource::Recovered(document), ..self })
    }
}

/// The source of an answer.
pub(crate) enum AnswerSource {
    /// The upstream.
    Upstream(Box<Response>),
    /// A whole answer at hand: an error message of the upstream may hold the model's text.
    Recovered(Document),
}

impl AnswerSource {
    /// Receives the whole answer of `target`; none if it cannot be read.
    pub(super) async fn whole(self, target: &Target, relay: &Relay) -> Option<Document> {
        match self {
            AnswerSource::Recovered(document) => Some(document),
            AnswerSource::Upstream(answer) => {
                let body = answer.body.whole(relay.config.limits.answer).await.ok()?;
                Document::of_answer(target.candidate.upstream.without_secrets(body), None).ok()
            }
        }
    }
}

impl Turn {
    /// Asks the upstreams of the request's model.
    pub(crate) async fn open(
        &mut self,
        question: &Question,
        reason: AttemptReason,
    ) -> Result<OpenAnswer, NoAnswer> {
        let model = self.ask.model.clone();
        self.open_model(&model, question, reason).await
    }

    /// Asks the upstreams of `model` one after the other, each in the way that it takes.
    pub(super) async fn open_model(
        &mut self,
        model: &str,
        question: &Question,
        reason: AttemptReason,
    ) -> Result<OpenAnswer, NoAnswer> {
        let route = match self.has_tools() {
            true => self.relay.upstreams.route_for_calls(model, self.ask.document.root()),
            false => self.relay.upstreams.route(model),
        };
        if route.candidates.is_empty() {
            let error = WireError {
                status: StatusCode::NOT_FOUND,
                message: format!("no upstream serves the model {model}"),
                kind: "invalid_request_error",
                param: Some("model"),
                code: "model_not_found",
            };
            return Err(NoAnswer::Error(error));
        }
        let (mut failed, mut reason) = (None, reason);
        let mut candidates = route.candidates.into_iter().peekable();
        while let Some(candidate) = candidates.next() {
            let target = self.target(candidate.clone()).await;
            let opened = match self.open_at(target, question, reason).await {
                Err(failure) if failure.is_unknown_path() && !self.ask.is_translated => {
                    Box::pin(self.open_in_another_api(candidate, question, failure)).await
                }
                opened => opened,
            };
            match opened {
                Err(failure) if failure.is_worth_another_upstream() => failed = Some(failure),
                done => return done,
            }
            if let (Some(failure), Some(next)) = (&failed, candidates.peek()) {
                let (error, next) = (failure.sentence(), next.upstream.name());
                tracing::warn!(model, error, next, "[relay] upstream failed, asking the next one");
            }
            reason = AttemptReason::Failover;
        }
        Err(failed.unwrap_or_else(NoAnswer::nobody))
    }

    /// Asks an upstream without chat completions in the other APIs that it may speak. The first one that it answers in is used
    /// from then on. Without any, it has `failed`.
    async fn open_in_another_api(
        &mut self,
        candidate: Candidate,
        question: &Question,
        mut failed: NoAnswer,
    ) -> Result<OpenAnswer, NoAnswer> {
        let upstream = Arc::clone(&candidate.upstream);
        if !upstream.may_speak_another() {
            return Err(failed);
        }
        for kind in [UpstreamKind::Messages, UpstreamKind::Responses] {
            let target = self.target(Candidate { kind, ..candidate.clone() }).await;
            match self.open_at(target, question, AttemptReason::OtherApi).await {
                Ok(open) => {
                    upstream.learn_kind(kind);
                    return Ok(open);
                }
                Err(other) if other.is_unknown_path() => {}
                // It knows this one. The key may have another header there.
                Err(_) => failed
                    .advise(&format!("; if it speaks {name}, set kind = \"{name}\"", name = kind.name())),
            }
        }
        Err(failed)
    }

    /// Asks the same candidate the same in prompt mode.
    pub(super) async fn in_prompt_mode(
        &mut self,
        target: &Target,
        question: &Question,
    ) -> Result<OpenAnswer, NoAnswer> {
        tracing::info!(model = target.candidate.model, "[relay] fallback: the upstream made no call");
        let other = self.prompt_target(target.candidate.clone()).await;
        Box::pin(self.open_at(other, question, AttemptReason::NoTools)).await
    }
}
