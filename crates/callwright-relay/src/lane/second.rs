//! Asks a second model the same, once, if the answer of the first would end as refused.
//!
//! In goes the client's request with another model, through the relay's own door: the second model may live at an upstream of any
//! API. Out comes its answer in the client's API, read, checked and ended as any other. No third model follows.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use callwright_json::{Kind, Value, quote};
use http::{HeaderMap, StatusCode};

use super::asking::{Lane, request_id};
use super::wire;
use super::wire::told::{Settled, Told};
use crate::headers::REQUEST_ID;
use crate::record::{Observer, TurnEnd, TurnRecord};
use crate::reply::{Reply, ReplyBody};
use crate::report;
use crate::request::{Errand, Request};
use crate::tokens::Usage;
use crate::turn::outcome::worse;
use crate::wire::{Change, Document, rewritten, spliced, string_of};

/// A second model's answer.
pub(super) struct Second {
    /// Its name in the configuration.
    pub(super) model: String,
    headers: HeaderMap,
    /// A whole answer, or the events of one.
    pub(super) body: Bytes,
    /// The end of its turn.
    pub(super) end: TurnEnd,
}

impl Lane {
    /// Asks the second model of the request's own model the same. The first answer was `told`. None without such a model, without
    /// room for another question, or without an answer.
    pub(super) async fn second(&mut self, told: &Told, stream: bool) -> Option<Second> {
        let root = self.document.root();
        let first = string_of(root, "model").unwrap_or_default();
        let model = self.relay.upstreams().second(&first)?.to_owned();
        // What only the first upstream keeps, the second one does not know.
        let is_kept = |key: &str| root.get(key).is_some_and(|kept| kept.kind() != Kind::Null);
        let is_elsewhere = ["previous_response_id", "conversation", "prompt"].into_iter().any(is_kept);
        let elapsed = self.log.elapsed();
        // The client's bound would cut another answer as well.
        if is_elsewhere || self.is_cut_by_bound(told) || !self.ladder.may_escalate(elapsed) {
            return None;
        }
        tracing::info!(from = &*first, to = model, "[relay] fallback: asking a second model");
        let kept = Arc::new(KeptRecord::default());
        let errand = Errand { observer: kept.clone(), ladder: Some(self.ladder.rest(elapsed)) };
        let request = Request {
            id: self.log.id().to_owned(),
            body: self.request_of(&model, stream),
            policy: Some(self.policy),
            wants_report: false,
            headers: self.headers.clone(),
            owner: self.owner.clone(),
            surface: self.surface,
            gemini: None,
        };
        let Reply { status, headers, body } = Arc::clone(&self.relay).chat_within(request, errand).await;
        let body = body.collected(self.relay.config.limits.answer).await;
        let record = mem::take(&mut *kept.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let end = record.end;
        self.log.adds(record);
        let is_answer = status.is_success() && end.is_of_an_answer();
        Some(Second { model, headers, body: body.filter(|_| is_answer)?, end })
    }

    /// Writes the client's request to another model.
    fn request_of(&self, model: &str, stream: bool) -> Bytes {
        let root = self.document.root();
        let mut changes = vec![("model", Change::Set(quote(model)))];
        if stream != self.stream {
            changes.extend(["stream", "stream_options"].map(|key| (key, Change::Remove)));
        }
        let left = self.ladder.tokens_left();
        // A budget for thoughts has to stay below the bound.
        if self.most_tokens.is_some_and(|most| left < most) && root.get("thinking").is_none() {
            let bounds =
                ["max_tokens", "max_output_tokens"].into_iter().filter(|key| root.get(key).is_some());
            changes.extend(bounds.map(|key| (key, Change::Set(left.to_string()))));
        }
        Bytes::from(rewritten(root, &changes))
    }

    /// Writes the answer of a second model for the client. It bears the first one's name, which the request named, and the tokens
    /// of both. `first` is the first one's answer, which took `spent`.
    pub(super) fn reply_of(&mut self, second: Second, first: Value<'_>, spent: Usage) -> Option<Reply> {
        let Second { model, mut headers, body, end } = second;
        let document = Document::of_answer(body, None).ok()?;
        let root = document.root();
        let settled = Settled { calls: &[], has_calls: true, is_mended: false, more: spent };
        let mut edits = wire::of(self.surface).edits(root, &settled);
        if let (Some(own), Some(named)) = (root.get("model"), first.get("model")) {
            edits.push((own.span(), named.raw().to_owned()));
        }
        edits.sort_by_key(|(span, _)| *span);
        let body = Bytes::from(spliced(document.text(), &edits));
        self.ends_with(&model, end);
        report::head(self.log.record(), &mut headers);
        report::outcome(self.log.record(), self.log.record().end, &[], &mut headers);
        headers.extend(request_id(&self.log).map(|id| (REQUEST_ID, id)));
        Some(Reply { status: StatusCode::OK, headers, body: ReplyBody::whole(body) })
    }

    /// Notes that the client gets the answer of this model, with this end.
    pub(super) fn ends_with(&mut self, model: &str, end: TurnEnd) {
        self.log.escalated(model);
        self.log.end(worse(end, TurnEnd::Retried), StatusCode::OK.as_u16());
    }
}

/// Keeps the record of one request.
#[derive(Default)]
struct KeptRecord(Mutex<Option<TurnRecord>>);

impl Observer for KeptRecord {
    fn ended(&self, turn: TurnRecord) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(turn);
    }
}
