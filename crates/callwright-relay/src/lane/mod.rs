//! The lane of clients and upstreams that speak the same API, messages or responses. Everything that needs no repair passes to
//! the byte, in both directions.
//!
//! In goes the client's request, and on to the upstream as it is. Only our own members, the model's other name and broken old
//! calls change. Of the answer only calls are read. A right call passes, and a call with one reading gets its arguments replaced.
//! A refused one is asked for again, and at last told of in words. A call in a text becomes a native one. Nothing else of an
//! answer changes: thoughts, signatures and unknown members stay as they came.

mod asking;
mod tools;
pub(crate) mod call;
mod verdict;
mod live;
mod question;
mod second;
mod settle;
mod sound;
mod silence;
mod stream;
mod text;
mod whole;
pub(crate) mod wire;

use std::sync::Arc;

use self::asking::{Lane, Open};
use crate::api::Surface;
use crate::headers::{UNCHECKED, unchecked};
use crate::ladder::Ladder;
use crate::log::Log;
use crate::record::{AttemptReason, Nobody, TurnEnd};
use crate::relay::Relay;
use crate::reply::Reply;
use crate::request::{Errand, Request};
use crate::target::Target;
use crate::turn::NoAnswer;
use crate::upstream::{Candidate, Upstream};
use crate::wire::{Document, string_of};

/// Answers a request whose upstream speaks the client's API; none for any other upstream.
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

/// Returns the request's document and the upstreams of its model, if the first one speaks the client's API.
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

/// Counts the tokens of a request's prompt, if its upstream speaks the client's API and counts them.
pub(crate) async fn counted(relay: &Arc<Relay>, request: &Request) -> Option<Reply> {
    let (document, candidates) = candidates(relay, request).await?;
    let candidate = candidates.into_iter().next()?;
    let log = Log::new(request, Arc::new(Nobody));
    let lane = Lane::new(relay, request, document, (log, None)).await.ok()?;
    let path = match request.surface {
        Surface::Responses => "/responses/input_tokens",
        Surface::Messages | Surface::Chat | Surface::Ollama | Surface::Gemini => "/messages/count_tokens",
    };
    let (body, _) = lane.body(&Target::native(candidate.clone()), &[], lane.stream);
    let answer = candidate.upstream.post(path, body, &lane.headers).await.ok()?;
    let body = answer.body.whole(relay.config.limits.answer).await.ok()?;
    let counted = answer.status.is_success().then(|| candidate.upstream.without_secrets(body))?;
    Some(Reply::json(answer.status, counted))
}

/// Answers a request to an upstream without chat completions that may speak the client's API, though nobody has said so. If it
/// does not, the request has `failed`.
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
