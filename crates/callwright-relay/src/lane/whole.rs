//! Whole answers: as they came, but for calls that are repaired or refused.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::asking::{Lane, Open, request_id};
use super::call::Call;
use super::settle::{Again, End, resolution, settled};
use super::text::{Found, Whole};
use super::wire;
use super::wire::told::Told;
use crate::headers::REQUEST_ID;
use crate::record::TurnEnd;
use crate::relay::Unread;
use crate::reply::{Reply, ReplyBody};
use crate::report;
use crate::target::Target;
use crate::tokens::Usage;
use crate::turn::Resolution;
use crate::turn::outcome::worse;
use crate::wire::{Document, WireError, spliced};

/// Answers a request, from an upstream that answers in one piece.
pub(super) async fn reply(mut lane: Lane, open: Open) -> Reply {
    let (target, mut headers, read) = received(&mut lane, open).await;
    let document = match read {
        Ok(document) => document,
        Err(why) => {
            lane.log.failed(None, &why);
            lane.log.end(TurnEnd::UpstreamError, StatusCode::BAD_GATEWAY.as_u16());
            let error = WireError::upstream(StatusCode::BAD_GATEWAY, "bad_answer", why);
            return Reply::error(&error).error_of(lane.surface, lane.log.id());
        }
    };
    if wire::is_failed(document.root()) {
        return failed(lane, &document, headers);
    }
    let mut wire = wire::of(lane.surface);
    let is_phantom = lane.is_phantom(document.root());
    let (Whole { document, found, content }, before) = match is_phantom {
        true => instead_of_phantom(&mut lane, document, &target).await,
        false => (lane.read_texts(document, &target).await, Usage::default()),
    };
    let is_as_it_came = found.is_empty() && content.is_none();
    let raw = if is_as_it_came { String::new() } else { found.raw.clone() };
    let mut told = Told { raw, ..Told::default() };
    let heads = wire.calls(document.root(), &mut told);
    let n_calls = heads.len();
    let begun = heads.into_iter().filter_map(|(at, head)| lane.begun(at, head, &found));
    let mut calls: Vec<Call> = begun.map(|call| Call { is_whole: true, ..call }).collect();
    let n_unread = n_calls - calls.len();
    let End { end, more } = lane.settle(&mut calls, &told, &target).await;
    let more = [before, more].into_iter().sum();
    let ended = End { end, more };
    if end.is_refusal()
        && let Some(second) = lane.second(&told, false).await
    {
        let spent = [told.usage, more].into_iter().sum();
        if let Some(reply) = lane.reply_of(second, document.root(), spent) {
            return reply;
        }
    }
    let end = if is_phantom { worse(end, TurnEnd::Retried) } else { end };
    let (end, content_repairs) =
        content.map_or((end, BTreeMap::new()), |content| (worse(end, content.end), content.repairs));
    let mut edits = wire.edits(document.root(), &settled(&calls, n_unread, &ended));
    edits.sort_by_key(|(span, _)| *span);
    let body = match edits.is_empty() {
        true => document.to_bytes(),
        false => Bytes::from(spliced(document.text(), &edits)),
    };
    lane.log.end(end, 200);
    report::head(lane.log.record(), &mut headers);
    let resolution = Resolution { content_repairs, ..resolution(&calls, &told, end) };
    report::outcome(lane.log.record(), end, &[resolution], &mut headers);
    headers.extend(request_id(&lane.log).map(|id| (REQUEST_ID, id)));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::whole(body) }
}

/// Receives a whole answer, from another upstream if the first one breaks off.
async fn received(lane: &mut Lane, mut open: Open) -> (Target, HeaderMap, Result<Document, String>) {
    loop {
        let Open { answer, target } = open;
        let read = lane.relay.whole_answer(answer.body, &answer.headers, &target).await;
        if let Err(Unread { why, is_broken_off: true }) = &read
            && let Some(again) = lane.past_failure(&target, why).await
            && !again.answer.is_stream()
        {
            open = again;
            continue;
        }
        let read = read.map_err(|unread| unread.why);
        let read = read.and_then(|document| lane.fault(document.root()).map_or(Ok(document), Err));
        return (target, answer.headers, read);
    }
}

/// Replaces an answer that stops for calls and has none. Returns the tokens that the first one took as well.
async fn instead_of_phantom(lane: &mut Lane, document: Document, target: &Target) -> (Whole, Usage) {
    let mut told = Told::default();
    wire::of(lane.surface).calls(document.root(), &mut told);
    match lane.once_more(target, &told).await {
        Some(Again { document, found, .. }) => (Whole { document, found, content: None }, told.usage),
        None => {
            let document = lane.told_of_silence(document);
            (Whole { document, found: Found::default(), content: None }, Usage::default())
        }
    }
}

/// Hands on an answer that says that it failed.
fn failed(mut lane: Lane, document: &Document, mut headers: HeaderMap) -> Reply {
    let error = document.root().get("error").map_or("", callwright_json::Value::raw).to_owned();
    lane.log.failed(None, &error);
    // A response that failed is an answer of its API; an error alone is none.
    let is_answer = document.root().get("status").is_some();
    let status = if is_answer { StatusCode::OK } else { StatusCode::BAD_GATEWAY };
    lane.log.end(TurnEnd::UpstreamError, status.as_u16());
    report::head(lane.log.record(), &mut headers);
    headers.extend(request_id(&lane.log).map(|id| (REQUEST_ID, id)));
    Reply { status, headers, body: ReplyBody::whole(document.to_bytes()) }
}
