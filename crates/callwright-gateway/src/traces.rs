//! Traces: each request and each of its attempts as a span with OpenTelemetry's names for generative AI, sent
//! as OTLP over HTTP in JSON.
//!
//! A request only puts its spans into a bounded queue. What does not fit, or cannot be delivered, is dropped
//! and counted: a collector that is slow or gone costs no request anything.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callwright::json;
use callwright::value::Value;
use callwright_relay::config::{RelayConfig, Timeouts, UpstreamConfig};
use callwright_relay::upstream::{ConfigError, Upstream, Upstreams};
use callwright_relay::{Attempt, TurnEnd, TurnRecord, Usage};
use http::HeaderMap;
use prometheus_client::metrics::counter::Counter;
use serde::Deserialize;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::Instant;

use callwright_store::Secrets;

/// The collector of traces.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TraceConfig {
    /// The collector's base URL, to which `/v1/traces` is added: `http://127.0.0.1:4318`. No traces where
    /// there is none.
    pub otlp_endpoint: Option<String>,
    /// Further headers. Values may name the environment: `${NAME}`.
    pub headers: BTreeMap<String, String>,
}

/// The most spans that wait to be sent.
const QUEUE: usize = 4096;
/// The number of spans that are sent at once.
const BATCH: usize = 512;
/// The time for which the first of a batch waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// The time that the collector may take, in seconds.
const PATIENCE: f64 = 5.0;

/// Takes the spans of requests that have ended.
pub(crate) struct Spans {
    queue: Sender<Value>,
    dropped: Counter,
    secrets: Secrets,
    ids: SpanIds,
}

/// Sends them.
pub(crate) struct Exporter {
    queue: Receiver<Value>,
    dropped: Counter,
    collector: Arc<Upstream>,
}

/// Both ends of the queue; none where no traces are wanted. `env` looks up what headers name.
///
/// # Errors
/// An endpoint or a header that cannot be used.
pub(crate) fn traces(
    config: &TraceConfig,
    env: &dyn Fn(&str) -> Option<String>,
    dropped: &Counter,
    secrets: &Secrets,
) -> Result<Option<(Spans, Exporter)>, ConfigError> {
    let Some(endpoint) = &config.otlp_endpoint else { return Ok(None) };
    let base = endpoint.trim_end_matches('/');
    // A collector is asked like any other server: with headers, patience and TLS as they are configured.
    let collector = UpstreamConfig {
        headers: config.headers.clone(),
        timeouts: Timeouts { connect: PATIENCE, first_byte: PATIENCE, idle: PATIENCE, total: 2.0 * PATIENCE },
        ..UpstreamConfig::new("otlp_endpoint", base.strip_suffix("/v1/traces").unwrap_or(base))
    };
    let only = RelayConfig { upstreams: vec![collector], ..RelayConfig::default() };
    let Some(collector) = Upstreams::new(&only, env)?.all().first().cloned() else { return Ok(None) };
    let (put, queue) = mpsc::channel(QUEUE);
    let spans =
        Spans { queue: put, dropped: dropped.clone(), secrets: secrets.clone(), ids: SpanIds::default() };
    Ok(Some((spans, Exporter { queue, dropped: dropped.clone(), collector })))
}

impl Exporter {
    /// Sends spans until nobody can make any more.
    pub(crate) async fn run(mut self) {
        let mut batch = Vec::new();
        while let Some(first) = self.queue.recv().await {
            batch.push(first);
            let until = Instant::now() + GATHER;
            while batch.len() < BATCH {
                let Ok(Some(next)) = tokio::time::timeout_at(until, self.queue.recv()).await else { break };
                batch.push(next);
            }
            let n_spans = batch.len() as u64;
            if let Err(why) = self.send(std::mem::take(&mut batch)).await {
                self.dropped.inc_by(n_spans);
                tracing::warn!(spans = n_spans, why, "traces were not delivered");
            }
        }
    }

    async fn send(&self, spans: Vec<Value>) -> Result<(), String> {
        let export = json!({"resourceSpans": [{
            "resource": {"attributes": [attribute("service.name", "callwright")]},
            "scopeSpans": [{
                "scope": {"name": "callwright", "version": env!("CARGO_PKG_VERSION")},
                "spans": spans,
            }],
        }]});
        let body = export.to_string().into();
        let answer = self.collector.post("/v1/traces", body, &HeaderMap::new()).await;
        let status = answer.map_err(|error| error.to_string())?.status;
        if status.is_success() { Ok(()) } else { Err(format!("the collector answered {status}")) }
    }
}

impl Spans {
    /// Puts the spans of `turn` into the queue.
    pub(crate) fn ended(&self, turn: &TurnRecord) {
        let parent = turn.traceparent.as_deref().and_then(Parent::of);
        if parent.as_ref().is_some_and(|parent| !parent.is_sampled) {
            return;
        }
        let end = SystemTime::now();
        let start = end.checked_sub(turn.total).unwrap_or(end);
        let trace_id = match &parent {
            Some(parent) => parent.trace_id.clone(),
            None => [self.ids.next(), self.ids.next()].concat(),
        };
        let span_id = self.ids.next();
        let mut begun = start;
        for attempt in &turn.attempts {
            let ended = begun.checked_add(attempt.duration).unwrap_or(begun);
            self.put(self.attempt(turn, attempt, &trace_id, &span_id, (begun, ended)));
            begun = ended;
        }
        let parent_id = parent.map_or(String::new(), |parent| parent.span_id);
        self.put(request(turn, &trace_id, &span_id, &parent_id, (start, end)));
    }

    fn attempt(
        &self,
        turn: &TurnRecord,
        attempt: &Attempt,
        trace_id: &str,
        parent_id: &str,
        (start, end): (SystemTime, SystemTime),
    ) -> Value {
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.request.model", attempt.model.as_str()),
            attribute("callwright.request", turn.id.as_str()),
            attribute("callwright.why", attempt.reason.name()),
            attribute("callwright.upstream", attempt.upstream.as_str()),
            attribute("callwright.mode", attempt.mode.name()),
        ];
        attributes.extend(attempt.dialect.as_deref().map(|dialect| attribute("callwright.dialect", dialect)));
        attributes
            .extend(attempt.status.map(|status| attribute("http.response.status_code", i64::from(status))));
        let reasons = attempt.choices.iter().filter_map(|choice| choice.finish_reason.as_deref());
        attributes.extend(finish_reasons(reasons));
        attributes.extend(usage(attempt.usage));
        // What an upstream says may repeat what it was sent, the key among it.
        let error = attempt.error.as_deref().map(|error| self.secrets.hidden_text(error));
        let has_failed = error.is_some() || !matches!(attempt.status, Some(200..300));
        json!({
            "traceId": trace_id, "spanId": self.ids.next(), "parentSpanId": parent_id,
            "name": format!("chat {}", attempt.model), "kind": 3,
            "startTimeUnixNano": nanoseconds(start), "endTimeUnixNano": nanoseconds(end),
            "attributes": attributes,
            "status": status(has_failed, error.unwrap_or_default()),
        })
    }

    fn put(&self, span: Value) {
        if self.queue.try_send(span).is_err() {
            self.dropped.inc();
        }
    }
}

/// The span of the whole request.
fn request(
    turn: &TurnRecord,
    trace_id: &str,
    span_id: &str,
    parent_id: &str,
    (start, end): (SystemTime, SystemTime),
) -> Value {
    let total = turn.usage();
    let mut counts = [0_i64; 6];
    for attempt in &turn.attempts {
        for outcome in attempt.choices.iter().map(|choice| &choice.outcome) {
            counts[0] += outcome.calls().count() as i64;
            counts[1] += outcome.refusals().count() as i64;
            counts[2] += outcome.calls().map(|call| call.repairs.len() as i64).sum::<i64>();
            counts[3] += outcome.calls().map(|call| call.coercions.len() as i64).sum::<i64>();
            counts[4] += outcome.calls().filter(|call| call.unsure).count() as i64;
            counts[5] += outcome.shown.len() as i64;
        }
    }
    let mut attributes = vec![
        attribute("gen_ai.operation.name", "chat"),
        attribute("gen_ai.request.model", turn.model.as_str()),
        attribute("http.response.status_code", i64::from(turn.status)),
        attribute("callwright.request", turn.id.as_str()),
        attribute("callwright.policy", turn.policy.name()),
        attribute("callwright.end", turn.end.name()),
        attribute("callwright.attempts", turn.attempts.len() as i64),
        attribute("callwright.held_bytes", turn.held as i64),
        attribute("callwright.streamed", turn.streamed),
        attribute("callwright.surface", turn.surface.name()),
    ];
    let names = [
        "callwright.calls",
        "callwright.refusals",
        "callwright.repairs",
        "callwright.coercions",
        "callwright.unsure",
        "callwright.shown",
    ];
    attributes.extend(names.into_iter().zip(counts).map(|(name, count)| attribute(name, count)));
    let unchecked_live: u32 = turn.attempts.iter().map(|attempt| attempt.unchecked_live).sum();
    if 0 < unchecked_live {
        attributes.push(attribute("callwright.unchecked_live", i64::from(unchecked_live)));
    }
    if let Some(last) = turn.attempts.last() {
        let reasons = last.choices.iter().filter_map(|choice| choice.finish_reason.as_deref());
        attributes.extend(finish_reasons(reasons));
    }
    attributes.extend(usage(total));
    let has_failed = match turn.end {
        TurnEnd::UpstreamError | TurnEnd::Cut | TurnEnd::GaveUp | TurnEnd::Invalid => true,
        TurnEnd::Passed
        | TurnEnd::Repaired
        | TurnEnd::Retried
        | TurnEnd::Refused
        | TurnEnd::Rejected
        | TurnEnd::HungUp => false,
    };
    json!({
        "traceId": trace_id, "spanId": span_id, "parentSpanId": parent_id,
        "name": format!("chat {}", turn.model), "kind": 2,
        "startTimeUnixNano": nanoseconds(start), "endTimeUnixNano": nanoseconds(end),
        "attributes": attributes,
        "status": status(has_failed, turn.end.name().to_owned()),
    })
}

/// The trace that a client has put its request in.
struct Parent {
    trace_id: String,
    span_id: String,
    is_sampled: bool,
}

impl Parent {
    /// Reads `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`; none where it is not of this form.
    fn of(traceparent: &str) -> Option<Parent> {
        let mut parts = traceparent.trim().split('-');
        let (_version, trace_id) = (id(parts.next()?, 2)?, id(parts.next()?, 32)?);
        let (span_id, flags) = (id(parts.next()?, 16)?, id(parts.next()?, 2)?);
        let is_sampled = u8::from_str_radix(&flags, 16).ok()? & 1 == 1;
        let is_set = |id: &str| id.bytes().any(|digit| digit != b'0');
        (is_set(&trace_id) && is_set(&span_id)).then_some(Parent { trace_id, span_id, is_sampled })
    }
}

fn id(text: &str, length: usize) -> Option<String> {
    let is_id = text.len() == length && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_id.then(|| text.to_ascii_lowercase())
}

/// Makes ids of 16 digits that are unlike those of any other process.
#[derive(Default)]
struct SpanIds {
    // A hasher's seed is random.
    seed: RandomState,
    next: AtomicU64,
}

impl SpanIds {
    fn next(&self) -> String {
        let number = self.seed.hash_one(self.next.fetch_add(1, Ordering::Relaxed));
        // All zeros would be no id.
        format!("{:016x}", number.max(1))
    }
}

fn attribute(key: &str, value: impl Into<Value>) -> Value {
    let value = match value.into() {
        Value::Bool(value) => json!({"boolValue": value}),
        // OTLP writes its 64-bit integers as texts.
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::String(text) => json!({"stringValue": text}),
        other => json!({"stringValue": other.to_string()}),
    };
    json!({"key": key, "value": value})
}

fn finish_reasons<'a>(reasons: impl Iterator<Item = &'a str>) -> Option<Value> {
    let values: Vec<Value> = reasons.map(|reason| json!({"stringValue": reason})).collect();
    let key = "gen_ai.response.finish_reasons";
    (!values.is_empty()).then(|| json!({"key": key, "value": {"arrayValue": {"values": values}}}))
}

fn usage(usage: Usage) -> impl Iterator<Item = Value> {
    let counts =
        [("gen_ai.usage.input_tokens", usage.prompt), ("gen_ai.usage.output_tokens", usage.completion)];
    counts.into_iter().filter(|(_, tokens)| 0 < *tokens).map(|(key, tokens)| attribute(key, tokens))
}

fn status(has_failed: bool, message: String) -> Value {
    if has_failed { json!({"code": 2, "message": message}) } else { json!({}) }
}

fn nanoseconds(at: SystemTime) -> String {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_or_left() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let parent = Parent::of(&format!("00-{trace}-{span}-01")).unwrap();
        assert_eq!(
            (parent.trace_id.as_str(), parent.span_id.as_str(), parent.is_sampled),
            (trace, span, true)
        );
        assert!(!Parent::of(&format!("00-{trace}-{span}-00")).unwrap().is_sampled);
        for wrong in [
            "",
            "00",
            &format!("00-{trace}-{span}"),
            &format!("00-{span}-{trace}-01"),
            &format!("00-{}-{span}-01", "0".repeat(32)),
            &format!("00-{trace}-{}-01", "g".repeat(16)),
        ] {
            assert!(Parent::of(wrong).is_none(), "{wrong}");
        }
    }
}
