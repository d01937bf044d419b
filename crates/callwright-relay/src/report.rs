//! The report to the client: headers always, a member `callwright` on request.

use std::collections::BTreeMap;

use callwright::json;
use callwright::{Outcome, Refusal, Report, Verdict};
use callwright_json::tally;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::followup;
use crate::headers::{UNCHECKED, unchecked_calls};
use crate::record::{TurnEnd, TurnRecord};
use crate::turn::{Resolution, refusals};

/// Sets the `x-callwright-*` headers that are known before the answer begins.
pub(crate) fn head(record: &TurnRecord, headers: &mut HeaderMap) {
    set(headers, "x-callwright-policy", record.policy.name());
    if 0 < record.looped {
        set(headers, "x-callwright-loop", &record.looped.to_string());
    }
    let Some(attempt) = record.attempts.last() else { return };
    set(headers, "x-callwright-upstream", &attempt.upstream);
    if record.has_tools {
        set(headers, "x-callwright-mode", attempt.mode.name());
        if let Some(dialect) = &attempt.dialect {
            set(headers, "x-callwright-dialect", dialect);
        }
    }
}

/// Sets the headers that are known with the answer.
pub(crate) fn outcome(
    record: &TurnRecord,
    end: TurnEnd,
    resolutions: &[Resolution],
    headers: &mut HeaderMap,
) {
    set(headers, "x-callwright-outcome", end.name());
    set(headers, "x-callwright-attempts", &record.attempts.len().to_string());
    if let Some(model) = &record.escalated {
        set(headers, "x-callwright-escalated", model);
    }
    let mut repaired = repairs(resolutions.iter().flat_map(|resolution| &resolution.verdicts));
    for (kind, n) in resolutions.iter().flat_map(|resolution| &resolution.content_repairs) {
        *repaired.entry(*kind).or_default() += n;
    }
    list(headers, "x-callwright-repairs", &repaired);
    let mut shown = BTreeMap::new();
    for call in resolutions.iter().flat_map(|resolution| &resolution.first.outcome.shown) {
        *shown.entry(call.by.name()).or_default() += 1;
    }
    list(headers, "x-callwright-shown", &shown);
    let verdicts = resolutions.iter().flat_map(|resolution| &resolution.verdicts);
    let unsure = verdicts.filter(|verdict| matches!(verdict, Verdict::Accepted(call) if call.unsure)).count();
    if let Some(names) = unchecked_calls(resolutions.iter().flat_map(|resolution| &resolution.verdicts)) {
        headers.insert(UNCHECKED, names);
    }
    if 0 < unsure {
        set(headers, "x-callwright-unsure", &unsure.to_string());
    }
}

/// Sets `fence=1,line=2`; an empty list sets nothing.
fn list(headers: &mut HeaderMap, name: &'static str, counts: &BTreeMap<&'static str, usize>) {
    if !counts.is_empty() {
        let list: Vec<String> = counts.iter().map(|(kind, n)| format!("{kind}={n}")).collect();
        set(headers, name, &list.join(","));
    }
}

/// Counts the repairs of each kind in the calls that go out; renamings and coercions are among them.
fn repairs<'v>(verdicts: impl Iterator<Item = &'v Verdict>) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for verdict in verdicts {
        let Verdict::Accepted(call) = verdict else { continue };
        for (kind, n) in tally(&call.repairs) {
            *counts.entry(kind.code()).or_default() += n;
        }
        if call.renamed_from.is_some() {
            *counts.entry("rename").or_default() += 1;
        }
        if !call.coercions.is_empty() {
            *counts.entry("coerce").or_default() += call.coercions.len();
        }
    }
    counts
}

/// Writes the member `callwright` of an answer, as JSON.
pub(crate) fn member(record: &TurnRecord, end: TurnEnd, resolutions: &[Resolution]) -> String {
    let attempts: Vec<_> = record
        .attempts
        .iter()
        .map(|attempt| {
            json!({
                "why": attempt.reason.name(),
                "upstream": attempt.upstream,
                "model": attempt.model,
                "mode": attempt.mode.name(),
                "dialect": attempt.dialect,
                "status": attempt.status,
                "error": attempt.error,
            })
        })
        .collect();
    let choices: Vec<_> = resolutions
        .iter()
        .map(|resolution| {
            let outcome =
                Outcome { verdicts: resolution.verdicts.clone(), ..resolution.first.outcome.clone() };
            let mut report = callwright::value::Value::of(&Report::of_verdicts(&outcome, |verdict| {
                resolution.source_of(verdict)
            }))
            .unwrap_or_default();
            if let (Some(report), 1..) = (report.as_object_mut(), resolution.first.lone_surrogates) {
                report.insert("lone_surrogates".into(), resolution.first.lone_surrogates.into());
            }
            if let (Some(report), true) = (report.as_object_mut(), resolution.is_unchecked_live) {
                report.insert("unchecked_live".into(), true.into());
            }
            report
        })
        .collect();
    json!({
        "request": record.id,
        "policy": record.policy.name(),
        "outcome": end.name(),
        "escalated": record.escalated,
        "attempts": attempts,
        "choices": choices,
    })
    .to_string()
}

/// Returns the calls of a choice that the client does not get, each as the JSON of a part of the stream. An error of a tool call
/// does not end the stream.
pub(crate) fn tool_errors(resolution: &Resolution) -> Vec<String> {
    let part = |refusal: &Refusal| {
        json!({
            "type": "tool-error",
            "tool_call_id": refusal.id,
            "tool_name": refusal.name,
            "input": refusal.block,
            "code": refusal.reason.code(),
            "error": followup::sentence(std::iter::once(refusal)),
        })
        .to_string()
    };
    refusals(&resolution.verdicts).map(part).collect()
}

fn set(headers: &mut HeaderMap, name: &'static str, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        // A name that is given as a text would be copied.
        headers.insert(HeaderName::from_static(name), value);
    }
}
