//! Keeps what happens to a request, and tells the observer once, however the request ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callwright::{Policy, Refusal};

use crate::api::Surface;
use crate::followup;
use crate::owner::Owner;
use crate::record::{Attempt, AttemptReason, Choice, Observer, TurnEnd, TurnRecord};
use crate::request::Request;
use crate::target::Target;
use crate::tokens::Usage;
use crate::upstream::{Kept, Response};
use crate::wire::{Ask, string_of};

/// The record of a request, being written. Dropping it tells the observer.
pub(crate) struct Log {
    record: TurnRecord,
    /// None once the record has been taken.
    observer: Option<Arc<dyn Observer>>,
    since: Instant,
    /// The beginning of the last attempt.
    asked: Instant,
    usage: Usage,
}

impl Log {
    /// Begins the record of a new request.
    pub(crate) fn new(request: &Request, observer: Arc<dyn Observer>) -> Log {
        let header =
            |name| request.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let record = TurnRecord {
            id: request.id.clone(),
            owner: match &request.owner {
                Owner::Key(hash) => Owner::Key(*hash),
                // They may hold a key as it is: nothing of them goes into a record.
                Owner::Headers(_) => Owner::default(),
            },
            session: header("x-callwright-session").filter(|name| !name.trim().is_empty()),
            traceparent: header("traceparent"),
            ..TurnRecord::default()
        };
        let now = Instant::now();
        Log { record, observer: Some(observer), since: now, asked: now, usage: Usage::default() }
    }

    /// Notes the parts of the request.
    pub(crate) fn request(&mut self, ask: &Ask, policy: Policy, has_tools: bool) {
        self.asks(ask.document.to_bytes(), &ask.model, policy, (ask.answer.stream, has_tools));
    }

    /// Notes a request of another API than chats, and whether it wants a stream and declares tools.
    pub(crate) fn asks(
        &mut self,
        request: Bytes,
        model: &str,
        policy: Policy,
        (stream, has_tools): (bool, bool),
    ) {
        self.record.request = request;
        self.record.model = model.to_owned();
        self.record.policy = policy;
        self.record.streamed = stream;
        self.record.has_tools = has_tools;
    }

    /// Notes the API of the client, and the session that it names in the way of that API.
    pub(crate) fn came_by(&mut self, surface: Surface, session: Option<String>) {
        self.record.surface = surface;
        if self.record.session.is_none() {
            self.record.session = session;
        }
    }

    /// Notes a question to an upstream, in a request of this API.
    pub(crate) fn asked(&mut self, reason: AttemptReason, target: &Target, api: Surface, request: Bytes) {
        self.close_attempt();
        self.asked = Instant::now();
        self.record.attempts.push(Attempt {
            reason,
            upstream: target.candidate.upstream.name().to_owned(),
            model: target.candidate.model.clone(),
            mode: target.mode,
            strict: target.strict,
            strict_broken: 0,
            unchecked_live: 0,
            dialect: (target.mode == crate::config::Mode::Prompt).then(|| target.dialect.name().clone()),
            request,
            api,
            kind: target.candidate.kind,
            status: None,
            error: None,
            choices: Vec::new(),
            answer: Kept::default(),
            usage: Usage::default(),
            duration: Duration::ZERO,
        });
    }

    /// Notes the beginning of the upstream's answer. The first `kept` bytes are kept as they come.
    pub(crate) fn answered(&mut self, response: &mut Response, kept: usize) {
        let status = response.status.as_u16();
        if self.record.first_byte.is_zero() {
            self.record.first_byte = self.since.elapsed();
        }
        if let Some(attempt) = self.record.attempts.last_mut() {
            attempt.status = Some(status);
            attempt.answer = Kept::of(kept);
            response.body.kept = attempt.answer.clone();
        }
    }

    /// Notes that the upstream's answer cannot be used.
    pub(crate) fn failed(&mut self, status: Option<u16>, error: &str) {
        if let Some(attempt) = self.record.attempts.last_mut() {
            attempt.status = status.or(attempt.status);
            attempt.error = Some(error.to_owned());
        }
        self.close_attempt();
    }

    /// Notes an answer that has been read.
    pub(crate) fn read<'c>(&mut self, usage: Usage, choices: impl Iterator<Item = &'c Choice>) {
        self.usage += usage;
        if let Some(attempt) = self.record.attempts.last_mut() {
            attempt.usage = usage;
            attempt.choices.extend(choices.cloned());
        }
        self.close_attempt();
    }

    /// Notes the number of calls that broke their schemas although `strict` was said.
    pub(crate) fn strict_broken(&mut self, broken: u32) {
        if let Some(attempt) = self.record.attempts.last_mut() {
            attempt.strict_broken += broken;
        }
    }

    /// Returns the completion tokens of all answers but the first.
    pub(crate) fn spent_again(&self) -> u64 {
        let first = self.record.attempts.iter().find(|attempt| attempt.usage != Usage::default());
        self.usage.completion.saturating_sub(first.map_or(0, |first| first.usage.completion))
    }

    /// Notes a call that went out as it was written, although it does not fit its schema.
    pub(crate) fn unchecked_live(&mut self, refusal: &Refusal) {
        if let Some(attempt) = self.record.attempts.last_mut() {
            attempt.unchecked_live += 1;
        }
        self.fault(&followup::unchecked_live(refusal));
    }

    /// Notes the bytes that are held back at this time.
    pub(crate) fn holds(&mut self, bytes: usize) {
        self.record.held = self.record.held.max(bytes);
    }

    /// Notes the end of the request.
    pub(crate) fn end(&mut self, end: TurnEnd, status: u16) {
        self.record.end = end;
        self.record.status = status;
    }

    /// Notes that the model is told that it goes round.
    pub(crate) fn looped(&mut self, times: u32) {
        self.record.looped = times;
    }

    /// Notes that the answer of this model stands in the place of the first one's.
    pub(crate) fn escalated(&mut self, model: &str) {
        self.record.escalated = Some(model.to_owned());
    }

    /// Adds the record of a second model, which was asked in a turn of its own.
    pub(crate) fn adds(&mut self, other: TurnRecord) {
        self.close_attempt();
        self.usage += other.usage();
        self.record.upstream += other.upstream;
        self.record.held = self.record.held.max(other.held);
        let first = self.record.attempts.len();
        self.record.attempts.extend(other.attempts);
        if let Some(attempt) = self.record.attempts.get_mut(first) {
            attempt.reason = AttemptReason::OtherModel;
        }
    }

    /// Notes the reason for which the client does not get its answer.
    pub(crate) fn fault(&mut self, error: &str) {
        self.record.error = Some(error.to_owned());
    }

    /// Returns the record, for a caller that wants it instead of the observer.
    pub(crate) fn close(mut self) -> TurnRecord {
        self.observer = None;
        self.taken()
    }

    fn taken(&mut self) -> TurnRecord {
        self.close_attempt();
        self.record.total = self.since.elapsed();
        std::mem::take(&mut self.record)
    }

    /// Ends the last attempt.
    fn close_attempt(&mut self) {
        if let Some(attempt) = self.record.attempts.last_mut()
            && attempt.duration.is_zero()
        {
            attempt.duration = self.asked.elapsed();
            self.record.upstream += attempt.duration;
        }
    }

    /// Returns the request's id.
    pub(crate) fn id(&self) -> &str {
        &self.record.id
    }

    /// Returns the record so far.
    pub(crate) fn record(&self) -> &TurnRecord {
        &self.record
    }

    /// Returns the number of questions to upstreams.
    pub(crate) fn attempts(&self) -> usize {
        self.record.attempts.len()
    }

    /// Returns the tokens of all answers that have been read.
    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the time since the request came.
    pub(crate) fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let Some(observer) = self.observer.take() else { return };
        observer.ended(self.taken());
    }
}

/// Logs the results of tools that have come: those behind the model's last turn.
pub(crate) fn tool_results(request: &str, ask: &Ask) {
    if !tracing::enabled!(tracing::Level::INFO) {
        return;
    }
    let mut results = Vec::new();
    for message in ask.messages() {
        match string_of(message, "role").as_deref() {
            Some("tool" | "function") => results.push(message),
            _ => results.clear(),
        }
    }
    for result in results {
        let id = string_of(result, "tool_call_id");
        let bytes = result.get("content").map_or(0, |content| content.raw().len());
        tracing::info!(request, tool_call_id = id.as_deref(), bytes, "[chat] tool result");
    }
}
