//! The counters for Prometheus.
//!
//! Requests that have ended go in, the text of `/metrics` comes out. The number of series is bounded: clients
//! name models as they like, so only models that an upstream has answered for get a name of their own, and of
//! these only the first few.

use std::borrow::Borrow;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};

use callwright::{Acceptance, Outcome, Policy, Reason, ShapeError, Verdict};
use callwright_relay::{Attempt, TurnRecord};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelKey, EncodeLabelSet, EncodeLabelValue, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::problem::Problem;

/// The number of models that get a name of their own; the rest are `other`.
const MAX_NAMES: usize = 100;

/// All counters of a server.
pub(crate) struct Metrics {
    registry: Registry,
    models: Names,
    upstreams: Names,
    requests: Family<Labels<5>, Counter>,
    attempts: Family<Labels<3>, Counter>,
    loops: Family<Labels<1>, Counter>,
    calls: Family<Labels<4>, Counter>,
    call_errors: Family<Labels<4>, Counter>,
    repairs: Family<Labels<1>, Counter>,
    unsure: Family<Labels<3>, Counter>,
    shown: Family<Labels<4>, Counter>,
    tokens: Family<Labels<2>, Counter>,
    refused: Family<Labels<1>, Counter>,
    first_byte: Histogram,
    duration: Histogram,
    own_time: Histogram,
    held: Histogram,
    open: Gauge,
    records_dropped: Counter,
    /// Spans that were not sent.
    pub(crate) spans_dropped: Counter,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        let seconds = [0.001, 0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0, 600.0];
        let own = [0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.02, 0.1, 1.0];
        let bytes = [0.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0, 65536.0, 1048576.0];
        let mut metrics = Metrics {
            registry: Registry::with_prefix("callwright"),
            models: Names::default(),
            upstreams: Names::default(),
            requests: Family::default(),
            attempts: Family::default(),
            loops: Family::default(),
            calls: Family::default(),
            call_errors: Family::default(),
            repairs: Family::default(),
            unsure: Family::default(),
            shown: Family::default(),
            tokens: Family::default(),
            refused: Family::default(),
            first_byte: Histogram::new(seconds),
            duration: Histogram::new(seconds),
            own_time: Histogram::new(own),
            held: Histogram::new(bytes),
            open: Gauge::default(),
            records_dropped: Counter::default(),
            spans_dropped: Counter::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("requests", "Requests by how they ended", self.requests.clone());
        registry.register("attempts", "Questions to upstreams, and their HTTP status", self.attempts.clone());
        let help = "Requests whose model was told that it makes the same calls again";
        registry.register("loops", help, self.loops.clone());
        registry.register("calls", "Calls that models wrote, by what became of them", self.calls.clone());
        let help = "Invalid calls, before repair and after it";
        registry.register("call_errors", help, self.call_errors.clone());
        registry.register("repairs", "Repairs by kind", self.repairs.clone());
        let help = "Calls that may be quoted rather than made";
        registry.register("unsure_calls", help, self.unsure.clone());
        let help = "Quoted calls that stayed text, by what shows that they are quoted";
        registry.register("shown_calls", help, self.shown.clone());
        registry.register("tokens", "Tokens as upstreams count them", self.tokens.clone());
        registry.register("refused", "Requests that were refused before their turn", self.refused.clone());
        registry.register_with_unit(
            "first_byte",
            "Until an answer's first byte",
            Unit::Seconds,
            self.first_byte.clone(),
        );
        registry.register_with_unit(
            "duration",
            "Until an answer's end",
            Unit::Seconds,
            self.duration.clone(),
        );
        let help = "The part of it that was not spent waiting for upstreams";
        registry.register_with_unit("own_time", help, Unit::Seconds, self.own_time.clone());
        let help = "The most bytes of an answer that were held back at a time";
        registry.register_with_unit("held", help, Unit::Bytes, self.held.clone());
        registry.register("open_requests", "Requests that are open", self.open.clone());
        let help = "Requests that were not kept, as too many waited";
        registry.register("records_dropped", help, self.records_dropped.clone());
        let help = "Trace spans that could not be sent";
        registry.register("spans_dropped", help, self.spans_dropped.clone());
    }

    /// Counts a request that has ended.
    pub(crate) fn ended(&self, turn: &TurnRecord) {
        let last = turn.attempts.last();
        let is_known = last.is_some_and(|attempt| matches!(attempt.status, Some(200..300)));
        let model = self.models.label(&turn.model, is_known);
        let mode = last.map_or("none", |attempt| attempt.mode.name());
        let dialect = last.and_then(|attempt| attempt.dialect.as_ref());
        let labels = [
            ("model", model.clone()),
            ("mode", mode.into()),
            ("dialect", dialect.cloned().map_or(Label::Word("native"), Label::dialect)),
            ("outcome", turn.end.name().into()),
            ("surface", turn.surface.name().into()),
        ];
        self.requests.get_or_create(&Labels(labels)).inc();
        if 0 < turn.looped {
            self.loops.get_or_create(&Labels([("model", model.clone())])).inc();
        }
        for attempt in &turn.attempts {
            self.attempt(&model, attempt);
        }
        self.first_byte.observe(turn.first_byte.as_secs_f64());
        self.duration.observe(turn.total.as_secs_f64());
        self.own_time.observe(turn.total.saturating_sub(turn.upstream).as_secs_f64());
        self.held.observe(turn.held as f64);
    }

    fn attempt(&self, model: &Label, attempt: &Attempt) {
        let status = match attempt.status {
            None => "none",
            Some(200..300) => "2xx",
            Some(429) => "429",
            Some(400..500) => "4xx",
            Some(500..600) => "5xx",
            Some(_) => "other",
        };
        let labels = [
            ("upstream", self.upstreams.label(&attempt.upstream, true)),
            ("why", attempt.reason.name().into()),
            ("status", status.into()),
        ];
        self.attempts.get_or_create(&Labels(labels)).inc();
        for (kind, tokens) in [("prompt", attempt.usage.prompt), ("completion", attempt.usage.completion)] {
            if 0 < tokens {
                let labels = Labels([("model", model.clone()), ("kind", kind.into())]);
                self.tokens.get_or_create(&labels).inc_by(tokens);
            }
        }
        for choice in &attempt.choices {
            self.calls(model, attempt.mode.name(), &choice.outcome);
            self.shown(model, attempt.mode.name(), &choice.outcome);
        }
    }

    fn calls(&self, model: &Label, mode: &'static str, outcome: &Outcome) {
        for verdict in &outcome.verdicts {
            let (dialect, became, before, after) = match verdict {
                Verdict::Accepted(call) => {
                    for repair in &call.repairs {
                        self.repairs.get_or_create(&Labels([("kind", repair.kind.code().into())])).inc();
                    }
                    let before = healed_error(call);
                    (&call.dialect, if before.is_some() { "repaired" } else { "passed" }, before, None)
                }
                Verdict::Refused(refusal) => {
                    let error = Some(refused_error(&refusal.reason));
                    (&refusal.dialect, "refused", error, error)
                }
            };
            let labels = [
                ("model", model.clone()),
                ("mode", mode.into()),
                ("dialect", Label::dialect(dialect.clone())),
                ("outcome", became.into()),
            ];
            if let Verdict::Accepted(Acceptance { unsure: true, .. }) = verdict {
                let [model, mode, dialect, _] = labels.clone();
                self.unsure.get_or_create(&Labels([model, mode, dialect])).inc();
            }
            self.calls.get_or_create(&Labels(labels)).inc();
            for (stage, error) in [("before", before), ("after", after)] {
                let Some(error) = error else { continue };
                let labels = [
                    ("model", model.clone()),
                    ("mode", mode.into()),
                    ("error", error.into()),
                    ("healing", stage.into()),
                ];
                self.call_errors.get_or_create(&Labels(labels)).inc();
            }
        }
    }

    fn shown(&self, model: &Label, mode: &'static str, outcome: &Outcome) {
        for call in &outcome.shown {
            let labels = [
                ("model", model.clone()),
                ("mode", mode.into()),
                ("dialect", Label::dialect(call.dialect.clone())),
                ("by", call.by.name().into()),
            ];
            self.shown.get_or_create(&Labels(labels)).inc();
        }
    }

    /// Counts a request that was refused before its turn.
    pub(crate) fn refused(&self, problem: &Problem) {
        self.refused.get_or_create(&Labels([("code", problem.code().into())])).inc();
    }

    /// The text of `/metrics`; `open` requests are open now, and `dropped` were not kept.
    pub(crate) fn text(&self, open: usize, dropped: u64) -> String {
        self.records_dropped.inner().store(dropped, Ordering::Relaxed);
        self.open.set(i64::try_from(open).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a text cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Names the error of a call that was repaired.
fn healed_error(call: &Acceptance) -> Option<&'static str> {
    // A fence or a tag around a call is no fault of it.
    if Policy::Strict.admits(call) {
        None
    } else if call.renamed_from.is_some() {
        Some("UnknownName")
    } else if !call.coercions.is_empty() {
        Some("SchemaMismatch")
    } else {
        Some("InvalidJson")
    }
}

/// Names the error of a call that is refused.
fn refused_error(reason: &Reason) -> &'static str {
    match reason {
        Reason::UnknownTool { .. } | Reason::NotOffered { .. } | Reason::Shape(ShapeError::NoName(_)) => {
            "UnknownName"
        }
        Reason::Invalid(_)
        | Reason::Shape(ShapeError::ArgumentsNotObject(_) | ShapeError::BesideArguments(_)) => {
            "SchemaMismatch"
        }
        // Reasons may be added: what they have in common is that there are no arguments to be read.
        _ => "InvalidJson",
    }
}

/// The names that models, or upstreams, have in the metrics.
#[derive(Default)]
struct Names(RwLock<HashSet<Name>>);

#[derive(PartialEq, Eq, Hash)]
struct Name(Arc<str>);

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl Names {
    /// The label for a name: its own, if `is_known`, or `other`.
    fn label(&self, name: &str, is_known: bool) -> Label {
        {
            let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(Name(name)) = names.get(name) {
                return Label::Name(name.clone());
            }
            if !is_known || MAX_NAMES <= names.len() {
                return Label::Word("other");
            }
        }
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if MAX_NAMES <= names.len() {
            return Label::Word("other");
        }
        let name: Arc<str> = name.into();
        names.insert(Name(name.clone()));
        Label::Name(name)
    }
}

/// The labels of one series.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Labels<const N: usize>([(&'static str, Label); N]);

impl<const N: usize> Hash for Labels<N> {
    /// The keys are the same in all series of a family: the values alone tell them apart.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|(_, value)| value.as_str().hash(state));
    }
}

/// The value of a label. It is made for every request, so making it allocates nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    Word(&'static str),
    Name(Arc<str>),
}

impl Label {
    /// The name of a dialect: only one that is configured allocates.
    fn dialect(name: Cow<'static, str>) -> Label {
        match name {
            Cow::Borrowed(name) => Label::Word(name),
            Cow::Owned(name) => Label::Name(name.into()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Label::Word(word) => word,
            Label::Name(name) => name,
        }
    }
}

impl From<&'static str> for Label {
    fn from(word: &'static str) -> Label {
        Label::Word(word)
    }
}

impl<const N: usize> EncodeLabelSet for Labels<N> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        for (key, value) in &self.0 {
            let mut label = encoder.encode_label();
            let mut into = label.encode_label_key()?;
            EncodeLabelKey::encode(key, &mut into)?;
            let mut into = into.encode_label_value()?;
            EncodeLabelValue::encode(&value.as_str(), &mut into)?;
            into.finish()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/metrics.md");
    const DASHBOARD: &str = include_str!("../../../docs/grafana-dashboard.json");

    fn fill<const N: usize>(family: &Family<Labels<N>, Counter>) {
        family.get_or_create(&Labels(std::array::from_fn(|_| ("label", Label::Word("x"))))).inc();
    }

    #[test]
    fn page_and_dashboard_have_the_metrics_that_there_are() {
        let metrics = Metrics::new();
        // A family without a series has no line.
        fill(&metrics.requests);
        [&metrics.calls, &metrics.call_errors, &metrics.shown].into_iter().for_each(fill);
        [&metrics.attempts, &metrics.unsure].into_iter().for_each(fill);
        [&metrics.repairs, &metrics.refused, &metrics.loops].into_iter().for_each(fill);
        fill(&metrics.tokens);
        let text = metrics.text(0, 0);
        for document in [PAGE, DASHBOARD] {
            // `callwright_relay=debug` is a level of the log.
            let is_part = |c: char| c.is_ascii_lowercase() || c == '_' || c == '=';
            let words = document.split(|c: char| !is_part(c)).filter(|word| !word.contains('='));
            for name in words.filter(|word| word.starts_with("callwright_")) {
                assert!(text.contains(&format!("\n{name}")) || text.contains(&format!(" {name} ")), "{name}");
            }
        }
        for line in text.lines().filter_map(|line| line.strip_prefix("# TYPE ")) {
            let (name, kind) = line.split_once(' ').unwrap();
            let name = if kind == "counter" { format!("{name}_total") } else { name.to_owned() };
            assert!(PAGE.contains(&format!("`{name}`")), "docs/metrics.md does not have {name}");
        }
    }
}
