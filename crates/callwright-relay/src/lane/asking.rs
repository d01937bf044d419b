//! A request on its way to upstreams that speak the client's API: they are asked one after the other.

use std::sync::Arc;

use bytes::Bytes;
use callwright::{Policy, json};
use http::{HeaderMap, HeaderValue};

use super::tools::Tools;
use crate::api::Surface;
use crate::capability::{Strict, refused_strict};
use crate::headers::stream_arguments;
use crate::ladder::Ladder;
use crate::log::Log;
use crate::owner::Owner;
use crate::record::AttemptReason;
use crate::relay::Relay;
use crate::request::Request;
use crate::surface::{Beside, Translated};
use crate::target::Target;
use crate::turn::content::ContentCheck;
use crate::turn::{NoAnswer, error_line, explained, unreachable};
use crate::upstream::{Candidate, Response};
use crate::wire::{ContentForm, Document, Hosted, WireError, count_of, policy_of, string_of};

/// A request on its way to an upstream that speaks the client's API.
pub(super) struct Lane {
    pub(super) relay: Arc<Relay>,
    pub(super) surface: Surface,
    /// The request as the client sent it.
    pub(super) document: Document,
    pub(super) stream: bool,
    /// The most tokens that the answer may have.
    pub(super) most_tokens: Option<u64>,
    /// A follow-up's own bound, if the request has none: an answer that stays below it was not cut.
    pub(super) bound: Option<u64>,
    pub(super) tools: Tools,
    /// The form of the answer's text, if the request asks for JSON and has no tools.
    pub(super) content: Option<Arc<ContentCheck>>,
    /// Its tools that are not functions.
    pub(super) hosted: Hosted,
    /// The message behind the conversation which tells the model that it goes round.
    pub(super) looped: Option<String>,
    pub(super) policy: Policy,
    /// Says whether arguments may go out while they are written; none if the client says nothing.
    pub(super) stream_arguments: Option<bool>,
    pub(super) ladder: Ladder,
    pub(super) headers: HeaderMap,
    pub(super) owner: Owner,
    pub(super) log: Log,
}

/// An upstream that is answering.
pub(super) struct Open {
    pub(super) answer: Response,
    pub(super) target: Target,
}

impl Lane {
    pub(super) async fn new(
        relay: &Arc<Relay>,
        request: &Request,
        document: Document,
        (mut log, ladder): (Log, Option<Ladder>),
    ) -> Result<Lane, (WireError, Log)> {
        let root = document.root();
        let checked = async {
            let tools = Tools::of(relay, request.surface, root).await?;
            Ok((tools, policy_of(root)?, stream_arguments(&request.headers)?))
        };
        let (tools, own, stream_arguments) = match checked.await {
            Ok(checked) => checked,
            Err(error) => return Err((error, log)),
        };
        let model = string_of(root, "model").unwrap_or_default().into_owned();
        let set = relay.upstreams().configured(&model).and_then(|set| set.policy);
        let policy = request.policy.or(own).or(set).unwrap_or(relay.config.policy);
        let stream = root.get("stream").and_then(callwright_json::Value::as_bool) == Some(true);
        let most_tokens = count_of(root, "max_output_tokens").or_else(|| count_of(root, "max_tokens"));
        // Records are told in chats, as far as there is one that says the same.
        let beside = Beside { headers: &request.headers, owner: &request.owner, gemini: None };
        let chat = Translated::of(request.surface, document.clone(), beside, &relay.responses).ok();
        let asked = chat.as_ref().filter(|_| tools.is_empty());
        let form = asked.and_then(|chat| ContentForm::of(chat.document.root()));
        let content = ContentCheck::of(form, &model, policy, &relay.readers).await;
        let messages = chat.as_ref().and_then(|chat| chat.document.root().get("messages"));
        let found = messages.and_then(|messages| relay.looped(messages.elements(), &tools.tool_set));
        let (told, session) = match chat {
            Some(chat) => (chat.document.to_bytes(), chat.session),
            None => (document.to_bytes(), None),
        };
        log.came_by(request.surface, session);
        if let Some(found) = &found {
            log.looped(found.times);
        }
        log.asks(told, &model, policy, (stream, !tools.is_empty()));
        let ladder = ladder.unwrap_or_else(|| Ladder::new(policy, &relay.config.ladder));
        Ok(Lane {
            relay: Arc::clone(relay),
            surface: request.surface,
            stream,
            most_tokens,
            bound: None,
            hosted: Hosted::of(document.root()),
            looped: found.map(|found| json!({"role": "user", "content": found.sentence}).to_string()),
            tools,
            content,
            policy,
            stream_arguments,
            ladder,
            headers: request.headers.clone(),
            owner: request.owner.clone(),
            log,
            document,
        })
    }

    /// Returns the most tokens that the answer to the next question may have.
    pub(super) fn most_tokens(&self) -> Option<u64> {
        self.most_tokens.or(self.bound)
    }

    /// Asks these one after the other, until one answers.
    pub(super) async fn open(
        &mut self,
        candidates: Vec<Candidate>,
        reason: AttemptReason,
    ) -> Result<Open, NoAnswer> {
        let (mut failed, mut reason) = (None, reason);
        for candidate in candidates {
            let strict = self.relay.capabilities.what_is_known(&candidate).strict;
            let target = Target { strict, ..Target::native(candidate) };
            match self.ask(target, &[], self.stream, reason).await {
                Err(failure) if failure.is_worth_another_upstream() => failed = Some(failure),
                done => return done,
            }
            reason = AttemptReason::Failover;
        }
        Err(failed.unwrap_or_else(NoAnswer::nobody))
    }

    /// Asks again after an answer failed, for this reason, before the client had anything of it. It asks another upstream of this
    /// API if there is one. None if nothing more may be asked, or nobody answers.
    pub(super) async fn past_failure(&mut self, target: &Target, why: &str) -> Option<Open> {
        if !self.ladder.may_pass_failure(self.log.elapsed()) {
            return None;
        }
        self.log.failed(None, why);
        let model = string_of(self.document.root(), "model").unwrap_or_default();
        let candidates = self.relay.upstreams().route(&model).of_kind(self.surface.into());
        let is_other = |other: &Candidate| other.differs_from(&target.candidate);
        let next = candidates.into_iter().find(is_other).map_or_else(|| target.clone(), Target::native);
        tracing::warn!(
            next = next.candidate.upstream.name(),
            "[relay] the answer broke off before it began, asking again"
        );
        self.ask(next, &[], self.stream, AttemptReason::Failover).await.ok()
    }

    /// Asks `target` with `more` behind the conversation; if it takes no `strict`, once more without.
    pub(super) async fn ask(
        &mut self,
        target: Target,
        more: &[String],
        stream: bool,
        reason: AttemptReason,
    ) -> Result<Open, NoAnswer> {
        let (body, strict) = self.body(&target, more, stream);
        let asked = Target { strict, ..target };
        let failed = match self.asked_with(asked.clone(), body, reason).await {
            Err(failed) if strict != Strict::None => failed,
            done => return done,
        };
        let NoAnswer::Upstream(status, _, body) = &failed else { return Err(failed) };
        let Some(words) = refused_strict(*status, body) else { return Err(failed) };
        let asked = Target { strict: Strict::None, ..asked };
        let model = asked.candidate.model.clone();
        tracing::info!(model, reason = words, "[relay] fallback: the upstream takes no strict");
        let (body, _) = self.body(&asked, more, stream);
        let open = self.asked_with(asked, body, AttemptReason::NoStrict).await?;
        self.relay.capabilities.learn_no_strict(&open.target.candidate, &words).await;
        Ok(open)
    }

    pub(super) async fn asked_with(
        &mut self,
        target: Target,
        body: Bytes,
        reason: AttemptReason,
    ) -> Result<Open, NoAnswer> {
        self.log.asked(reason, &target, self.surface, body.clone());
        let Candidate { upstream, kind, .. } = target.candidate.clone();
        let answer = upstream.question(kind, body, &self.headers).await;
        let mut answer = answer.map_err(|error| {
            self.log.failed(None, &error.to_string());
            NoAnswer::Error(unreachable(&error))
        })?;
        self.log.answered(&mut answer, self.relay.config.keep_answers);
        if answer.status.is_success() {
            return Ok(Open { answer, target });
        }
        let (status, headers) = (answer.status, answer.headers);
        let body = answer.body.whole(self.relay.config.limits.answer).await.map_err(|error| {
            self.log.failed(Some(status.as_u16()), &error.to_string());
            NoAnswer::Error(unreachable(&error))
        })?;
        let body = upstream.without_secrets(body);
        self.log.failed(Some(status.as_u16()), &error_line(&body));
        Err(explained(&upstream, status, headers, body))
    }
}

/// Returns the request's id, for its answer.
pub(super) fn request_id(log: &Log) -> Option<HeaderValue> {
    HeaderValue::from_str(log.id()).ok()
}
