//! Log lines: where they go, and what is said of each request.

use std::fmt;
use std::io;

use callwright::{Acceptance, Refusal, Verdict};
use callwright_relay::{Attempt, Choice, TurnEnd, TurnRecord};
use serde::Deserialize;
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt as lines};

use callwright_store::{Hiding, Secrets};

/// The form of log lines, and the choice of those that are written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// As text or as JSON.
    pub format: LogFormat,
    /// The least level, for all or by target: `info`, `warn,callwright_relay=debug`, `off`.
    pub level: String,
}

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig { format: LogFormat::Text, level: "info".into() }
    }
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: one object per line.
    Json,
}

/// An unknown level.
#[derive(Debug)]
pub struct LogError(String);

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is not a log level: off, error, warn, info, debug or trace, also by target", self.0)
    }
}

impl std::error::Error for LogError {}

impl LogConfig {
    /// Checks the configuration of logs before anything is logged.
    ///
    /// # Errors
    /// An unknown level.
    pub fn check(&self) -> Result<(), LogError> {
        self.targets().map(|_| ())
    }

    /// Sends the log lines of the whole process to standard error, without any of `secrets`. Only the first
    /// call of a process does anything.
    ///
    /// # Errors
    /// An unknown level.
    pub fn start(&self, in_color: bool, secrets: &Secrets) -> Result<(), LogError> {
        let targets = self.targets()?;
        let secrets = secrets.clone();
        let writer = move || Hiding { to: io::stderr(), secrets: secrets.clone() };
        let layer = lines::layer().with_ansi(in_color).with_writer(writer);
        let layer = match self.format {
            LogFormat::Text => layer.boxed(),
            LogFormat::Json => layer.json().flatten_event(true).boxed(),
        };
        // A process that logs somewhere already goes on doing so.
        let _ = tracing_subscriber::registry().with(layer.with_filter(targets)).try_init();
        Ok(())
    }

    fn targets(&self) -> Result<Targets, LogError> {
        // A word alone would be taken for a target, whose lines are all written: `loud` for a level silences the rest.
        let is_level = |part: &str| part.contains('=') || part.parse::<LevelFilter>().is_ok();
        let parsed = self.level.parse().ok().filter(|_| self.level.split(',').map(str::trim).all(is_level));
        parsed.ok_or_else(|| LogError(self.level.clone()))
    }
}

/// Says what there is to say of a request that has ended.
pub(crate) fn ended(turn: &TurnRecord) {
    if tracing::enabled!(Level::INFO) {
        for (number, attempt) in (1..).zip(&turn.attempts) {
            for choice in &attempt.choices {
                step(&turn.id, number, attempt, choice);
            }
        }
    }
    match turn.end {
        TurnEnd::UpstreamError | TurnEnd::Cut | TurnEnd::Rejected | TurnEnd::Invalid => {
            unanswered(turn, Some(failure(turn)), None, "failed");
        }
        // The client has an answer that says so.
        TurnEnd::Refused | TurnEnd::GaveUp => {
            unanswered(turn, None, last_refusal(turn), "gave up: no valid call came");
        }
        TurnEnd::Passed | TurnEnd::Repaired | TurnEnd::Retried | TurnEnd::HungUp => answered(turn),
    }
}

/// Tells of a turn without the answer that was asked for, because of an error or a refusal.
fn unanswered(turn: &TurnRecord, error: Option<&str>, reason: Option<&str>, what: &str) {
    tracing::warn!(
        request = %turn.id,
        model = turn.model,
        end = turn.end.name(),
        status = turn.status,
        attempts = turn.attempts.len(),
        error,
        reason,
        "[chat] {what}"
    );
}

/// The error that ended a turn.
fn failure(turn: &TurnRecord) -> &str {
    let of_attempt = || turn.attempts.iter().rev().find_map(|attempt| attempt.error.as_deref());
    turn.error.as_deref().or_else(of_attempt).unwrap_or("the answer broke off")
}

fn answered(turn: &TurnRecord) {
    tracing::debug!(
        request = %turn.id,
        model = turn.model,
        mode = turn.attempts.last().map(|attempt| attempt.mode.name()),
        end = turn.end.name(),
        status = turn.status,
        attempts = turn.attempts.len(),
        ms = turn.total.as_secs_f64() * 1e3,
        upstream_ms = turn.upstream.as_secs_f64() * 1e3,
        "[chat] ended"
    );
}

/// Why the last call that was refused was.
fn last_refusal(turn: &TurnRecord) -> Option<&'static str> {
    let choices = turn.attempts.iter().rev().flat_map(|attempt| &attempt.choices);
    choices.flat_map(|choice| choice.outcome.refusals()).map(|refusal| refusal.reason.code()).next()
}

/// One answer of a model, where it made calls.
fn step(request: &str, number: usize, attempt: &Attempt, choice: &Choice) {
    for shown in &choice.outcome.shown {
        let (name, by) = (shown.name.as_deref(), shown.by.name());
        tracing::info!(request, tool_name = name, dialect = &*shown.dialect, by, "[chat] shown tool call");
    }
    for verdict in &choice.outcome.verdicts {
        let (name, id, invalid, unsure) = match verdict {
            Verdict::Accepted(call) => {
                healed(request, call);
                (Some(call.name.as_str()), call.id.as_deref(), false, call.unsure)
            }
            Verdict::Refused(refusal) => {
                refused(request, number, refusal);
                (refusal.name.as_deref(), refusal.id.as_deref(), true, false)
            }
        };
        let usage = attempt.usage;
        tracing::info!(
            request,
            tool_name = name,
            tool_call_id = id,
            invalid,
            unsure,
            finish_reason = choice.finish_reason.as_deref(),
            prompt_tokens = usage.prompt,
            completion_tokens = usage.completion,
            total_tokens = usage.total,
            has_text = !choice.outcome.text.trim().is_empty(),
            why = attempt.reason.name(),
            mode = attempt.mode.name(),
            "[chat] step.finish"
        );
    }
}

fn healed(request: &str, call: &Acceptance) {
    if let Some(from) = &call.renamed_from {
        let (to, id) = (call.name.as_str(), call.id.as_deref());
        tracing::info!(request, from = from.as_str(), to, tool_call_id = id, "[chat] repaired tool name");
    }
    if !call.repairs.is_empty() || !call.coercions.is_empty() {
        let kinds: Vec<&str> = call.repairs.iter().map(|repair| repair.kind.code()).collect();
        tracing::info!(
            request,
            tool_name = call.name.as_str(),
            tool_call_id = call.id.as_deref(),
            repairs = kinds.join(","),
            coercions = call.coercions.len(),
            "[chat] repaired tool inputs"
        );
    }
}

fn refused(request: &str, number: usize, refusal: &Refusal) {
    tracing::info!(
        request,
        node_type = "validation_error",
        turn = number,
        tool_name = refusal.name.as_deref(),
        tool_call_id = refusal.id.as_deref(),
        reason = refusal.reason.code(),
        "[chat] refused tool call"
    );
}
