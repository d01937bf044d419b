//! Asks one upstream until it takes the request: a refused part is left out, or said in the upstream's words, and asked again.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::open::AnswerSource;
use super::{NoAnswer, OpenAnswer, Turn, error_line, explained, unreachable};
use crate::api::Surface;
use crate::bridge::{self, Unasked};
use crate::capability::{Evidence, Refusal, Refused, Strict, refusal, refused_strict};
use crate::config::{Constrain, Mode};
use crate::followup;
use crate::question::{Question, UpstreamRequest};
use crate::reading::Shown;
use crate::record::AttemptReason;
use crate::recover::LostCall;
use crate::surface::{MostTokens, most_tokens};
use crate::target::Target;
use crate::upstream::Upstream;
use crate::wire::WireError;

/// The next question to an upstream.
struct Asking<'q> {
    target: Target,
    question: Cow<'q, Question>,
    reason: AttemptReason,
    /// The bound of tokens has been said by its other name.
    is_renamed: bool,
    /// The bound of tokens has been lowered.
    is_lowered: bool,
    /// The upstream's words about `strict`, if it refused that.
    refused_strictly: Option<String>,
}

/// An answer that is an error.
struct ErrorAnswer {
    upstream: Arc<Upstream>,
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    /// The refusal that it tells, if any.
    refusal: Option<Refusal>,
    asked: Target,
    shown: Shown,
}

impl ErrorAnswer {
    fn refused(&self) -> Option<Refused> {
        self.refusal.as_ref().map(|refusal| refusal.what)
    }

    fn words(&self) -> &str {
        self.refusal.as_ref().map_or("", |refusal| &refusal.words)
    }

    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

impl Turn {
    /// Asks this target; if it takes no tools, no constraint or no `strict`, once more without.
    pub(crate) async fn open_at(
        &mut self,
        target: Target,
        question: &Question,
        reason: AttemptReason,
    ) -> Result<OpenAnswer, NoAnswer> {
        let mut asking = Asking {
            target,
            question: Cow::Borrowed(question),
            reason,
            is_renamed: false,
            is_lowered: false,
            refused_strictly: None,
        };
        loop {
            let error = match self.ask_once(&mut asking).await? {
                Ok(open) => return Ok(open),
                Err(error) => error,
            };
            let lost = if self.is_read() { LostCall::in_error(&error.text()) } else { None };
            if let Some(document) = lost.as_ref().and_then(|lost| lost.answer(&self.ask.model)) {
                let source = AnswerSource::Recovered(document);
                return Ok(OpenAnswer { source, target: error.asked, shown: Arc::new(error.shown) });
            }
            asking.reason = match lost.filter(|_| self.ladder.may_repeat(self.log.elapsed())) {
                Some(lost) => {
                    asking.question = Cow::Owned(followup::lost(&asking.question, "", &lost.why));
                    AttemptReason::Reask
                }
                None => match self.adapt(&mut asking, &error).await {
                    Some(reason) => reason,
                    None => {
                        let ErrorAnswer { upstream, status, headers, body, .. } = error;
                        return Err(explained(&upstream, status, headers, body));
                    }
                },
            };
        }
    }

    /// Asks in the present form.
    async fn ask_once(
        &mut self,
        asking: &mut Asking<'_>,
    ) -> Result<Result<OpenAnswer, ErrorAnswer>, NoAnswer> {
        let Asking { target, question, .. } = asking;
        let UpstreamRequest { body, shown, constrain, strict } =
            question.upstream_request(&self.ask, self.offer(), target.request_options());
        let asked = Target { constrain, strict, ..target.clone() };
        self.log.asked(asking.reason, &asked, Surface::Chat, body.clone());
        let upstream = Arc::clone(&target.candidate.upstream);
        let limits = self.relay.config.limits;
        let mut answer = match bridge::ask(&target.candidate, body, &self.headers, &limits).await {
            Ok(answer) => answer,
            Err(Unasked::Question(error)) => return Err(self.not_asked(None, &error.message, error.clone())),
            Err(Unasked::Upstream(error)) => {
                return Err(self.not_asked(None, &error.to_string(), unreachable(&error)));
            }
        };
        self.log.answered(&mut answer, self.relay.config.keep_answers);
        if answer.status.is_success() {
            if let Some(words) = asking.refused_strictly.take().filter(|_| asked.mode == Mode::Native) {
                self.relay.capabilities.learn_no_strict(&asked.candidate, &words).await;
            }
            let source = AnswerSource::Upstream(Box::new(answer));
            return Ok(Ok(OpenAnswer { source, target: asked, shown: Arc::new(shown) }));
        }
        let (status, headers) = (answer.status, answer.headers);
        let body = match answer.body.whole(limits.answer).await {
            Ok(body) => upstream.without_secrets(body),
            Err(error) => {
                return Err(self.not_asked(Some(status), &error.to_string(), unreachable(&error)));
            }
        };
        self.log.failed(Some(status.as_u16()), &error_line(&body));
        let refusal = refusal(status, &body);
        Ok(Err(ErrorAnswer { upstream, status, headers, body, refusal, asked, shown }))
    }

    /// Notes the reason for which no answer came.
    fn not_asked(&mut self, status: Option<StatusCode>, why: &str, error: WireError) -> NoAnswer {
        self.log.failed(status.map(|status| status.as_u16()), why);
        NoAnswer::Error(error)
    }

    /// Changes the request so that the upstream takes it, if the error tells how. Returns the reason for asking again.
    async fn adapt(&self, asking: &mut Asking<'_>, error: &ErrorAnswer) -> Option<AttemptReason> {
        if self.without_usage(asking, error) {
            return Some(AttemptReason::NoUsage);
        }
        if self.with_other_bound(asking, error).await || self.with_lower_bound(asking, error).await {
            return Some(AttemptReason::OtherBound);
        }
        if without_strict(asking, error) {
            return Some(AttemptReason::NoStrict);
        }
        if self.without_tools(asking, error).await {
            return Some(AttemptReason::NoTools);
        }
        self.without_constraint(asking, error).await.then_some(AttemptReason::NoConstraint)
    }

    /// Drops `stream_options`, which is ours if the client did not ask for it. A server that refuses a member of a request names
    /// it.
    fn without_usage(&self, asking: &Asking<'_>, error: &ErrorAnswer) -> bool {
        let upstream = &error.upstream;
        let is_ours = asking.question.stream && !self.ask.answer.usage && upstream.counts_streams();
        let is_it = is_ours && error.status.is_client_error() && error.text().contains("stream_options");
        if is_it {
            let upstream = upstream.name();
            tracing::info!(upstream, "[relay] fallback: the upstream does not count streams");
            error.upstream.learn_no_stream_options();
        }
        is_it
    }

    async fn with_other_bound(&self, asking: &mut Asking<'_>, error: &ErrorAnswer) -> bool {
        let Some(Refused::Bound(member)) = error.refused().filter(|_| !asking.is_renamed) else {
            return false;
        };
        let taken = member.other();
        self.relay.capabilities.learn_bound(&asking.target.candidate, taken, error.words()).await;
        (asking.target.bound, asking.is_renamed) = (Some(taken), true);
        true
    }

    async fn with_lower_bound(&self, asking: &mut Asking<'_>, error: &ErrorAnswer) -> bool {
        let wanted = asking.question.asks_for(&self.ask, asking.target.request_options());
        let said = wanted.filter(|_| !asking.is_lowered);
        let Some(said) = said.and_then(|wanted| most_tokens(error.status, &error.body, wanted)) else {
            return false;
        };
        let candidate = &asking.target.candidate;
        let most = match said {
            MostTokens::OfPrompt(most) => most,
            MostTokens::OfModel(most) => {
                self.relay.capabilities.learn_most_tokens(candidate, most, &error.text()).await;
                most
            }
        };
        tracing::info!(model = candidate.model, most, "[relay] fallback: a lower bound");
        (asking.target.most_tokens, asking.is_lowered) = (Some(most), true);
        true
    }

    async fn without_tools(&self, asking: &mut Asking<'_>, error: &ErrorAnswer) -> bool {
        let is_native = self.has_tools() && asking.target.mode == Mode::Native;
        let Some(refused @ (Refused::Tools | Refused::ToolChoice)) = error.refused().filter(|_| is_native)
        else {
            return false;
        };
        let (candidate, reason) = (asking.target.candidate.clone(), error.words());
        tracing::info!(model = candidate.model, reason, "[relay] fallback: the upstream takes no tools");
        if refused == Refused::Tools {
            self.relay.capabilities.learn(&candidate, Evidence::Refused, reason).await;
        }
        asking.target = self.prompt_target(candidate).await;
        true
    }

    async fn without_constraint(&self, asking: &mut Asking<'_>, error: &ErrorAnswer) -> bool {
        let is_held = error.asked.constrain != Constrain::None;
        let Some(refused @ (Refused::Constraint | Refused::Schema)) = error.refused().filter(|_| is_held)
        else {
            return false;
        };
        let (candidate, reason) = (&asking.target.candidate, error.words());
        tracing::info!(model = candidate.model, reason, "[relay] fallback: the upstream takes no constraint");
        if refused == Refused::Constraint {
            self.relay.capabilities.learn_no_constraint(candidate, reason).await;
        }
        asking.target.constrain = Constrain::None;
        true
    }
}

/// Drops `strict`; the refusal is learned once such a request is answered.
fn without_strict(asking: &mut Asking<'_>, error: &ErrorAnswer) -> bool {
    let is_open = matches!(error.refused(), None | Some(Refused::Schema));
    if error.asked.strict == Strict::None || !is_open {
        return false;
    }
    let Some(reason) = refused_strict(error.status, &error.body) else { return false };
    let model = &asking.target.candidate.model;
    tracing::info!(model, reason, "[relay] fallback: the upstream takes no strict");
    (asking.target.strict, asking.refused_strictly) = (Strict::None, Some(reason));
    true
}
