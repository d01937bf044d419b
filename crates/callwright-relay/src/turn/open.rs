//! Asks upstreams, until one of them answers in a way that can be read.

use std::borrow::Cow;
use std::sync::Arc;

use http::StatusCode;

use super::{NoAnswer, Target, Turn, explained};
use crate::bridge::{self, Unasked};
use crate::capability::{Evidence, Refused, Strict, refusal, refused_strict};
use crate::config::{Constrain, Mode};
use crate::followup;
use crate::question::{Question, UpstreamRequest};
use crate::reading::Shown;
use crate::record::AttemptReason;
use crate::recover::LostCall;
use crate::relay::Relay;
use crate::surface::{MostTokens, Surface, most_tokens};
use crate::upstream::{Candidate, Response, UpstreamKind};
use crate::wire::{Document, WireError};

/// An upstream that is answering, and how it was asked.
pub(crate) struct OpenAnswer {
    pub(crate) source: AnswerSource,
    pub(crate) target: Target,
    pub(crate) shown: Arc<Shown>,
}

impl OpenAnswer {
    /// Does the answer come as events?
    pub(crate) fn is_stream(&self) -> bool {
        matches!(&self.source, AnswerSource::Upstream(answer) if answer.is_stream())
    }

    /// This answer as one whose events can be read: a whole one is taken for what it holds. None where it holds nothing.
    pub(crate) async fn streamed(self, relay: &Relay) -> Option<OpenAnswer> {
        if self.is_stream() {
            return Some(self);
        }
        let document = self.source.whole(&self.target, relay).await?;
        Some(OpenAnswer { source: AnswerSource::Recovered(document), ..self })
    }
}

/// Where an answer comes from.
pub(crate) enum AnswerSource {
    /// The upstream.
    Upstream(Box<Response>),
    /// A whole one that is there: an error message of the upstream may hold what the model wrote.
    Recovered(Document),
}

impl AnswerSource {
    /// The whole answer of `target`; none where it cannot be read.
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

    /// Asks the upstreams of `model` one after the other, each in the way that it can take.
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

    /// Asks an upstream that does not know chat completions in the APIs that it may speak instead, and from then on in the one
    /// that it answers in. Where it answers in none, it has `failed`.
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

    /// Asks this one; where it takes no tools, no constraint or no `strict`, once more without.
    pub(crate) async fn open_at(
        &mut self,
        mut target: Target,
        question: &Question,
        reason: AttemptReason,
    ) -> Result<OpenAnswer, NoAnswer> {
        let (mut reason, mut is_renamed, mut is_lowered) = (reason, false, false);
        let mut question = Cow::Borrowed(question);
        let mut refused_strictly: Option<String> = None;
        loop {
            let UpstreamRequest { body, shown, constrain, strict } =
                question.upstream_request(&self.ask, self.offer(), target.request_options());
            let asked = Target { constrain, strict, ..target.clone() };
            self.log.asked(reason, &asked, Surface::Chat, body.clone());
            let upstream = Arc::clone(&target.candidate.upstream);
            let limits = self.relay.config.limits;
            let mut answer = match bridge::ask(&target.candidate, body, &self.headers, &limits).await {
                Ok(answer) => answer,
                Err(Unasked::Question(error)) => {
                    self.log.failed(None, &error.message);
                    return Err(NoAnswer::Error(error));
                }
                Err(Unasked::Upstream(error)) => {
                    self.log.failed(None, &error.to_string());
                    return Err(NoAnswer::Error(unreachable(&error)));
                }
            };
            self.log.answered(&mut answer, self.relay.config.keep_answers);
            if answer.status.is_success() {
                if let Some(words) = refused_strictly.filter(|_| asked.mode == Mode::Native) {
                    self.relay.capabilities.learn_no_strict(&asked.candidate, &words).await;
                }
                return Ok(OpenAnswer {
                    source: AnswerSource::Upstream(Box::new(answer)),
                    target: asked,
                    shown: Arc::new(shown),
                });
            }
            let (status, headers) = (answer.status, answer.headers);
            let body = match answer.body.whole(limits.answer).await {
                Ok(body) => body,
                Err(error) => {
                    self.log.failed(Some(status.as_u16()), &error.to_string());
                    return Err(NoAnswer::Error(unreachable(&error)));
                }
            };
            let body = upstream.without_secrets(body);
            self.log.failed(Some(status.as_u16()), &error_line(&body));
            let text = String::from_utf8_lossy(&body);
            // Who refuses a member of a request names it.
            let is_ours = question.stream && !self.ask.include_usage && upstream.counts_streams();
            if is_ours && status.is_client_error() && text.contains("stream_options") {
                tracing::info!(
                    upstream = upstream.name(),
                    "[relay] fallback: the upstream does not count streams"
                );
                upstream.learn_no_stream_options();
                reason = AttemptReason::NoUsage;
                continue;
            }
            if self.is_read()
                && let Some(lost) = LostCall::in_error(&text)
            {
                if let Some(document) = lost.answer(&self.ask.model) {
                    return Ok(OpenAnswer {
                        source: AnswerSource::Recovered(document),
                        target: asked,
                        shown: Arc::new(shown),
                    });
                }
                if self.ladder.may_repeat(self.log.elapsed()) {
                    question = Cow::Owned(followup::lost(&question, "", &lost.why));
                    reason = AttemptReason::Reask;
                    continue;
                }
            }
            let refusal = refusal(status, &body);
            let refused = refusal.as_ref().map(|refusal| refusal.what);
            let words = refusal.as_ref().map_or("", |refusal| &refusal.words);
            if let Some(Refused::Bound(member)) = refused
                && !is_renamed
            {
                let taken = member.other();
                self.relay.capabilities.learn_bound(&target.candidate, taken, words).await;
                (target.bound, is_renamed) = (Some(taken), true);
                reason = AttemptReason::OtherBound;
                continue;
            }
            let wanted = question.asks_for(&self.ask, target.request_options());
            if !is_lowered && let Some(said) = wanted.and_then(|wanted| most_tokens(status, &body, wanted)) {
                let most = match said {
                    MostTokens::OfPrompt(most) => most,
                    MostTokens::OfModel(most) => {
                        self.relay.capabilities.learn_most_tokens(&target.candidate, most, &text).await;
                        most
                    }
                };
                tracing::info!(model = target.candidate.model, most, "[relay] fallback: a lower bound");
                (target.most_tokens, is_lowered) = (Some(most), true);
                reason = AttemptReason::OtherBound;
                continue;
            }
            if asked.strict != Strict::None
                && matches!(refused, None | Some(Refused::Schema))
                && let Some(words) = refused_strict(status, &body)
            {
                let model = &target.candidate.model;
                tracing::info!(model, reason = words, "[relay] fallback: the upstream takes no strict");
                (target.strict, refused_strictly) = (Strict::None, Some(words));
                reason = AttemptReason::NoStrict;
                continue;
            }
            if self.has_tools()
                && target.mode == Mode::Native
                && let Some(Refused::Tools | Refused::ToolChoice) = refused
            {
                tracing::info!(
                    model = target.candidate.model,
                    reason = words,
                    "[relay] fallback: the upstream takes no tools"
                );
                if refused == Some(Refused::Tools) {
                    let capabilities = &self.relay.capabilities;
                    capabilities.learn(&target.candidate, Evidence::Refused, words).await;
                }
                target = self.prompt_target(target.candidate).await;
                reason = AttemptReason::NoTools;
                continue;
            }
            if asked.constrain != Constrain::None
                && let Some(Refused::Constraint | Refused::Schema) = refused
            {
                tracing::info!(
                    model = target.candidate.model,
                    reason = words,
                    "[relay] fallback: the upstream takes no constraint"
                );
                if refused == Some(Refused::Constraint) {
                    self.relay.capabilities.learn_no_constraint(&target.candidate, words).await;
                }
                target.constrain = Constrain::None;
                reason = AttemptReason::NoConstraint;
                continue;
            }
            return Err(explained(&upstream, status, headers, body));
        }
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

/// No answer came, or one that cannot be used.
pub(crate) fn unreachable(error: &crate::upstream::UpstreamError) -> WireError {
    use crate::upstream::Failure;
    let status = match error.failure {
        Failure::Timeout(_) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    WireError::upstream(status, "upstream_unavailable", error.to_string())
}

/// The first line of an error's body, for the log.
pub(crate) fn error_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(2048)]);
    text.lines().next().unwrap_or("").chars().take(300).collect()
}
