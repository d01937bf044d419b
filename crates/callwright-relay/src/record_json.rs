//! A record as JSON, for its keepers and viewers: one form for gateway and agent.

use std::time::Duration;

use callwright::json;
use callwright::value::Value;
use callwright::{NativeCall, Outcome, Policy, Reason, Report, Verdict};

use crate::record::{Attempt, AttemptReason, Choice, TurnRecord};
use crate::tokens::Usage;

impl TurnRecord {
    /// Writes the request as a whole, with the names that a turn has in a dump: times in microseconds, `upstream` and `mode` of
    /// the last attempt. No number is beyond 63 bits, which is the limit of databases.
    pub fn to_json(&self) -> Value {
        let count = |n: u64| n.min(i64::MAX as u64);
        let microseconds = |time: Duration| u64::try_from(time.as_micros()).map_or(i64::MAX as u64, count);
        let last = self.attempts.last();
        let usage = self.usage();
        let corrections: Usage = self.corrections().map(|attempt| attempt.usage).sum();
        let feedback = self.attempts.iter().filter(|attempt| attempt.reason == AttemptReason::Feedback);
        json!({
            "request": self.id,
            "outcome": self.end.name(),
            "model": self.model,
            "surface": self.surface.name(),
            "upstream": last.map_or("", |attempt| attempt.upstream.as_str()),
            "mode": last.filter(|_| self.has_tools).map_or("", |attempt| attempt.mode.name()),
            "policy": self.policy.name(),
            "streamed": self.streamed,
            "status": self.status,
            "attempts": self.attempts.len(),
            "first_byte_us": microseconds(self.first_byte),
            "total_us": microseconds(self.total),
            "upstream_us": microseconds(self.upstream),
            "prompt_tokens": count(usage.prompt),
            "completion_tokens": count(usage.completion),
            "repair_turns": self.corrections().count(),
            "feedback_turns": feedback.count(),
            "repair_tokens": count(corrections.prompt.saturating_add(corrections.completion)),
            "repairs": self.n_repaired(),
        })
    }

    /// Returns all faults in the calls of all answers.
    pub fn faults(&self) -> impl Iterator<Item = CallFault> {
        let choices = self.attempts.iter().flat_map(|attempt| &attempt.choices);
        choices.flat_map(|choice| &choice.outcome.verdicts).flat_map(faults_of)
    }
}

impl Attempt {
    /// Writes one question to a model and its answer. `number` counts the attempts of a request from 1.
    pub fn to_json(&self, number: usize) -> Value {
        let choices: Vec<Value> = self.choices.iter().map(Choice::to_json).collect();
        let mut record = json!({
            "attempt": number,
            "why": self.reason.name(),
            "upstream": self.upstream,
            "model": self.model,
            "api": self.api.name(),
            "kind": self.kind.name(),
            "mode": self.mode.name(),
            "dialect": self.dialect,
            "status": self.status,
            "error": self.error,
            "duration_us": self.duration.as_micros() as u64,
            "usage": {
                "prompt_tokens": self.usage.prompt,
                "completion_tokens": self.usage.completion,
                "total_tokens": self.usage.total,
            },
            "choices": choices,
        });
        if let Some((_, came)) = self.answer.bytes() {
            record["answer_bytes"] = came.into();
        }
        if 0 < self.unchecked_live {
            record["unchecked_live"] = self.unchecked_live.into();
        }
        record
    }
}

impl Choice {
    /// Writes the model's text, and its outcome.
    pub fn to_json(&self) -> Value {
        let native: Vec<Value> = self
            .native
            .iter()
            .map(|(name, arguments)| json!({"name": name, "arguments": arguments}))
            .collect();
        json!({
            "raw": self.raw,
            "native": native,
            "reasoning": self.reasoning,
            "finish_reason": self.finish_reason,
            "report": self.report(&self.outcome),
        })
    }

    /// Writes the engine's report of `outcome`, which came of this choice.
    pub fn report(&self, outcome: &Outcome) -> Value {
        let native = |(name, arguments)| NativeCall { id: None, name, arguments };
        let native: Vec<NativeCall<'_>> =
            self.native.iter().map(|(name, arguments)| native((name.as_str(), arguments.as_str()))).collect();
        callwright::value::Value::of(&Report::of(outcome, &self.raw, &native)).unwrap_or_default()
    }
}

/// A fault of a call as the model wrote it, repaired or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFault {
    /// Its stable name: `unknown-tool`, `truncated`, `drop-comma`, ….
    pub kind: String,
    /// The tool; empty if none could be read.
    pub tool: String,
    /// The place or the keyword, which tells equal faults from different ones of a kind: `/limit type`.
    pub place: String,
}

/// Returns all faults of one call, each sort once.
fn faults_of(verdict: &Verdict) -> Vec<CallFault> {
    match verdict {
        Verdict::Accepted(call) if Policy::Strict.admits(call) => Vec::new(),
        Verdict::Accepted(call) => {
            let fault = |kind: &str, place: &str| CallFault {
                kind: kind.into(),
                tool: call.name.clone(),
                place: place.into(),
            };
            let mut kinds: Vec<&str> = call.repairs.iter().map(|repair| repair.kind.code()).collect();
            kinds.extend(call.renamed_from.is_some().then_some("rename"));
            kinds.sort_unstable();
            kinds.dedup();
            let repaired = kinds.into_iter().map(|kind| fault(kind, ""));
            repaired.chain(call.coercions.iter().map(|coercion| fault("coerce", &coercion.pointer))).collect()
        }
        Verdict::Refused(refusal) => {
            let place = match &refusal.reason {
                Reason::Invalid(violations) => {
                    violations.first().map_or_else(String::new, |v| format!("{} {}", v.pointer, v.keyword))
                }
                _ => String::new(),
            };
            let tool = refusal.name.clone().unwrap_or_default();
            vec![CallFault { kind: refusal.reason.code().into(), tool, place }]
        }
    }
}
