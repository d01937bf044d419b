//! The lane of clients and upstreams that speak the same API, messages or responses: what nobody has to repair passes to the
//! byte, in both directions.
//!
//! In goes the client's request; it goes on as it is, but for what is ours, the model's other name, and old calls that are
//! broken. Of the answer only calls are read. One that is right passes; one that has one reading gets its arguments put in their
//! place; one that is refused is asked for again, and at last told of in words. One that stands in a text becomes a native one. Nothing else
//! of an answer is changed: thoughts, signatures and whatever nobody here knows stay as they came.

mod call;
mod live;
mod question;
mod second;
mod settle;
mod sound;
mod stream;
mod text;
mod whole;
pub(crate) mod wire;

use std::sync::Arc;

use bytes::Bytes;
use callwright::{Policy, json};
use http::{HeaderMap, HeaderValue};

use self::call::Tools;
use crate::api::Surface;
use crate::capability::{Strict, refused_strict};
use crate::headers::{UNCHECKED, stream_arguments, unchecked};
use crate::ladder::Ladder;
use crate::log::Log;
use crate::owner::Owner;
use crate::record::{AttemptReason, Nobody, TurnEnd};
use crate::relay::Relay;
use crate::reply::Reply;
use crate::request::{Errand, Request};
use crate::surface::{Beside, Translated};
use crate::target::Target;
use crate::turn::content::ContentCheck;
use crate::turn::{NoAnswer, error_line, explained, unreachable};
use crate::upstream::{Candidate, Response, Upstream};
use crate::wire::{ContentForm, Document, Hosted, WireError, count_of, policy_of, string_of};

/// A request on its way to an upstream that speaks the client's API.
pub(crate) struct Lane {
    relay: Arc<Relay>,
    surface: Surface,
    /// The request as the client sent it.
    document: Document,
    stream: bool,
    /// The most tokens that the answer may have.
    most_tokens: Option<u64>,
    /// A follow-up's own bound, where the request has none: an answer that stays below it was not cut.
    bound: Option<u64>,
    tools: Tools,
    /// What the text of the answer has to be, where the request asks for JSON and has no tools.
    content: Option<Arc<ContentCheck>>,
    /// Its tools that are no functions.
    hosted: Hosted,
    /// What the model is told behind the conversation: that it goes round.
    looped: Option<String>,
    policy: Policy,
    /// May arguments go out while they are written? None where the client says nothing.
    stream_arguments: Option<bool>,
    ladder: Ladder,
    headers: HeaderMap,
    owner: Owner,
    log: Log,
}

/// An upstream that is answering.
struct Open {
    answer: Response,
    target: Target,
}

/// The answer to a request whose upstream speaks the client's API; none where it does not.
pub(crate) async fn answer(relay: &Arc<Relay>, request: &Request, errand: &Errand) -> Option<Reply> {
    let kind = request.surface;
    let (document, candidates) = candidates(relay, request).await?;
    let log = Log::new(request, Arc::clone(&errand.observer));
    let mut lane = match Lane::new(relay, request, document, (log, errand.ladder.clone())).await {
        Ok(lane) => lane,
        Err((error, mut log)) => {
            log.came_by(kind, None);
            log.fault(&error.message);
            log.end(TurnEnd::Rejected, error.status.as_u16());
            return Some(Reply::error(&error).error_of(kind, &request.id));
        }
    };
    Some(match lane.open(candidates, AttemptReason::First).await {
        Ok(open) => lane.reply(open).await,
        Err(failed @ NoAnswer::Upstream(..)) => failed.reply(&mut lane.log),
        Err(failed) => failed.reply(&mut lane.log).error_of(kind, &request.id),
    })
}

/// The upstreams of a request's model, where the first one speaks the client's API, and the request.
async fn candidates(relay: &Arc<Relay>, request: &Request) -> Option<(Document, Vec<Candidate>)> {
    let kind = request.surface;
    let speaks = |upstream: &Upstream| upstream.kind() == kind.into();
    if !kind.has_lane() || !relay.upstreams().all().iter().any(|upstream| speaks(upstream)) {
        return None;
    }
    let document = relay.document_of(request.body.clone()).await.ok()?;
    let root = document.root();
    let model = string_of(root, "model").unwrap_or_default();
    let has_tools = root.get("tools").is_some_and(|tools| tools.elements().next().is_some());
    let route = match has_tools {
        true => relay.upstreams().route_for_calls(&model, root),
        false => relay.upstreams().route(&model),
    };
    let is_first = route.candidates.first().is_some_and(|candidate| speaks(&candidate.upstream));
    is_first.then(|| (document, route.of_kind(kind.into())))
}

/// How many tokens the prompt of a request has, where its upstream speaks the client's API and counts them.
pub(crate) async fn counted(relay: &Arc<Relay>, request: &Request) -> Option<Reply> {
    let (document, candidates) = candidates(relay, request).await?;
    let candidate = candidates.into_iter().next()?;
    let log = Log::new(request, Arc::new(Nobody));
    let lane = Lane::new(relay, request, document, (log, None)).await.ok()?;
    let path = match request.surface {
        Surface::Responses => "/responses/input_tokens",
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => "/messages/count_tokens",
    };
    let (body, _) = question::body(&lane, &Target::native(candidate.clone()), &[], lane.stream);
    let answer = candidate.upstream.post(path, body, &lane.headers).await.ok()?;
    let body = answer.body.whole(relay.config.limits.answer).await.ok()?;
    let counted = answer.status.is_success().then(|| candidate.upstream.without_secrets(body))?;
    Some(Reply::json(answer.status, counted))
}

/// The answer to a request that an upstream knows no chat completions for, where it speaks the client's API instead, which
/// nobody has said. Where it does not, it has `failed`.
pub(crate) async fn instead(
    relay: &Arc<Relay>,
    request: &Request,
    (log, ladder): (Log, Ladder),
    failed: NoAnswer,
) -> Reply {
    let Ok(document) = relay.document_of(request.body.clone()).await else {
        let mut log = log;
        return failed.reply(&mut log);
    };
    let model = string_of(document.root(), "model").unwrap_or_default().into_owned();
    let candidates = relay.upstreams().route(&model).candidates.into_iter();
    let candidates = candidates.filter(|candidate| candidate.upstream.may_speak_another());
    let candidates =
        candidates.map(|candidate| Candidate { kind: request.surface.into(), ..candidate }).collect();
    let mut lane = match Lane::new(relay, request, document, (log, Some(ladder))).await {
        Ok(lane) => lane,
        Err((_, mut log)) => return failed.reply(&mut log),
    };
    match lane.open(candidates, AttemptReason::OtherApi).await {
        Ok(open) => {
            open.target.candidate.upstream.learn_kind(request.surface.into());
            lane.reply(open).await
        }
        Err(_) => failed.reply(&mut lane.log),
    }
}

impl Lane {
    async fn new(
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

    /// The most tokens that the answer to the next question may have.
    fn most_tokens(&self) -> Option<u64> {
        self.most_tokens.or(self.bound)
    }

    /// Asks these one after the other, until one answers.
    async fn open(&mut self, candidates: Vec<Candidate>, reason: AttemptReason) -> Result<Open, NoAnswer> {
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

    /// Asks again where an answer failed, for this reason, before the client had anything of it: another upstream of this API where
    /// there is one. None where nothing more may be asked, or nobody answers.
    async fn past_failure(&mut self, target: &Target, why: &str) -> Option<Open> {
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

    /// Asks `target` with `more` behind the conversation; where it takes no `strict`, once more without.
    async fn ask(
        &mut self,
        target: Target,
        more: &[String],
        stream: bool,
        reason: AttemptReason,
    ) -> Result<Open, NoAnswer> {
        let (body, strict) = question::body(self, &target, more, stream);
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
        let (body, _) = question::body(self, &asked, more, stream);
        let open = self.asked_with(asked, body, AttemptReason::NoStrict).await?;
        self.relay.capabilities.learn_no_strict(&open.target.candidate, &words).await;
        Ok(open)
    }

    async fn asked_with(
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

    async fn reply(self, open: Open) -> Reply {
        let unchecked = unchecked(&self.tools.tool_set);
        let mut reply = match open.answer.is_stream() {
            true => stream::reply(self, open),
            false => whole::reply(self, open).await,
        };
        if let Some(unchecked) = unchecked {
            reply.headers.append(UNCHECKED, unchecked);
        }
        reply
    }
}

/// The request's id, for its answer.
fn request_id(log: &Log) -> Option<HeaderValue> {
    HeaderValue::from_str(log.id()).ok()
}
