//! Makes of a request that has ended what the store keeps: its session, its nodes, what became of each call.
//!
//! The request only moves its record into the store's queue. All of this is done by the store's own thread.

use callwright::json;
use callwright::value::Value;
use callwright::{Acceptance, Outcome, Policy, Refusal, Verdict};
use callwright_relay::{Attempt, AttemptReason, CallFault, Choice, TurnEnd, TurnRecord};
use callwright_store::{Became, Call, Fault, NewNode, NewTurn, NodeKind, Owner, Record, Turn};

use crate::conversation::Conversation;

/// A request that has ended.
pub(crate) struct Recorded(pub(crate) TurnRecord);

impl Record for Recorded {
    fn size(&self) -> usize {
        let answers = |attempt: &Attempt| {
            attempt.choices.iter().map(|choice| choice.raw.len() + choice.reasoning.len()).sum::<usize>()
        };
        let attempt = |attempt: &Attempt| attempt.request.len() + attempt.answer.len() + answers(attempt);
        self.0.request.len() + self.0.attempts.iter().map(attempt).sum::<usize>()
    }

    fn into_turn(self: Box<Self>) -> Option<NewTurn> {
        // What was no chat is no turn of one; the metrics count it.
        (self.0.end != TurnEnd::Rejected).then(|| turn_of(&self.0))
    }
}

fn turn_of(record: &TurnRecord) -> NewTurn {
    let conversation = Conversation::of(&record.request);
    let session = conversation.session(record.session.as_deref(), &record.id);
    let title = conversation.title();
    let Conversation { before, mut new, .. } = conversation;
    // What the client sent stands with the last that it said; what was sent on, with each question.
    if let Some(last) = new.last_mut() {
        last.body = std::str::from_utf8(&record.request).ok().map(str::to_owned);
    }
    let mut tally = Tally::default();
    for (number, attempt) in (1..).zip(&record.attempts) {
        let is_last = number == record.attempts.len();
        let turn = NewNode::model_turn(attempt.to_json(number), &attempt.request, attempt.answer.bytes());
        let mut behind = Vec::new();
        for (at, choice) in attempt.choices.iter().enumerate() {
            let place = Place { attempt: number, choice: at, is_last };
            let report = &turn.payload["choices"][at]["report"];
            tally.choice(record, attempt, (choice, report), place, &mut behind);
        }
        new.push(turn);
        new.append(&mut behind);
    }
    if record.end == TurnEnd::GaveUp {
        let text = tally.last_error.as_deref().unwrap_or_default();
        new.push(NewNode::new(
            NodeKind::GaveUp,
            json!({"text": format!("the same error over and over: {text}")}),
        ));
    }
    NewTurn {
        session,
        owner: match &record.owner {
            callwright_relay::Owner::Key(hash) => Some(Owner::of_key(*hash)),
            // No key was asked for, so nobody's is it.
            callwright_relay::Owner::Headers(_) => None,
        },
        origin: "gateway",
        title,
        turn: Turn {
            dialect: tally.calls.first().map_or_else(String::new, |call| call.dialect.clone()),
            // The store's turn has each member of the record, and of its type.
            ..record.to_json().to().unwrap_or_default()
        },
        nodes: new,
        before,
        calls: tally.calls,
        faults: record.faults().map(|CallFault { kind, tool, place }| Fault { kind, tool, place }).collect(),
        // Whoever asked reads the refusal, not the model.
        feeds_back: false,
    }
}

/// The place of a call.
#[derive(Clone, Copy)]
struct Place {
    /// From 1.
    attempt: usize,
    choice: usize,
    /// Nobody was asked again after it.
    is_last: bool,
}

/// The fates of a turn's calls.
#[derive(Default)]
struct Tally {
    calls: Vec<Call>,
    last_error: Option<String>,
}

impl Tally {
    fn choice(
        &mut self,
        record: &TurnRecord,
        attempt: &Attempt,
        (choice, report): (&Choice, &Value),
        place: Place,
        nodes: &mut Vec<NewNode>,
    ) {
        // Marked by the upstream, or by the model in its text.
        for (thought, from) in [(&choice.reasoning, "upstream"), (&choice.outcome.reasoning, "text")] {
            if !thought.trim().is_empty() {
                nodes.push(NewNode::new(NodeKind::Reasoning, json!({"text": thought, "from": from})));
            }
        }
        let (mut calls, mut refusals) = (listed(report, "calls"), listed(report, "refusals"));
        for verdict in &choice.outcome.verdicts {
            match verdict {
                Verdict::Accepted(call) => {
                    let report = placed(calls.next().unwrap_or_default(), place);
                    let next = record.attempts.get(place.attempt).map(|attempt| attempt.reason);
                    nodes.push(match next {
                        Some(AttemptReason::Confirm) if call.unsure => doubted(call, report, &choice.outcome),
                        _ => self.accepted(attempt, call, report),
                    });
                }
                Verdict::Refused(refusal) => {
                    let report = refusals.next().unwrap_or_default();
                    nodes.push(self.refused(record, refusal, report, place));
                }
            }
        }
    }

    fn accepted(&mut self, attempt: &Attempt, call: &Acceptance, report: Value) -> NewNode {
        let is_repaired = !Policy::Strict.admits(call);
        let became = match attempt.reason.is_correction() {
            true => Became::Retried,
            false if is_repaired => Became::Repaired,
            false => Became::Passed,
        };
        self.calls.push(Call { tool: call.name.clone(), dialect: call.dialect.to_string(), became });
        let kind = if is_repaired { NodeKind::Repaired } else { NodeKind::ToolCall };
        call_node(kind, call, report)
    }

    fn refused(&mut self, record: &TurnRecord, refusal: &Refusal, report: Value, place: Place) -> NewNode {
        let tool = refusal.name.clone().unwrap_or_default();
        let is_final =
            place.is_last || matches!(record.end, TurnEnd::Cut | TurnEnd::HungUp | TurnEnd::UpstreamError);
        let feedback = refusal.feedback();
        let is_native = feedback.dialect == "native";
        let text = if is_native { feedback.tool_result() } else { feedback.user_message() };
        self.last_error = Some(feedback.message.clone());
        if is_final {
            self.calls.push(Call { tool, dialect: refusal.dialect.to_string(), became: Became::Refused });
        }
        let kind = if is_final { NodeKind::Refused } else { NodeKind::ValidationError };
        let mut payload = placed(report, place);
        payload["text"] = text.into();
        // What came next: asked once more without a trace, or told of its error as its next turn.
        let next = record.attempts.get(place.attempt).map(|attempt| attempt.reason.name());
        payload["next"] = next.into();
        let mut node = NewNode::new(kind, payload);
        node.name = refusal.name.clone();
        node.call = refusal.id.clone();
        node
    }
}

/// A call that did not go out, as the model was asked whether it means it: the answer to that tells what became of it.
fn doubted(call: &Acceptance, report: Value, outcome: &Outcome) -> NewNode {
    let mut payload = report;
    payload["text"] = outcome.confirmation().into();
    payload["next"] = AttemptReason::Confirm.name().into();
    call_node(NodeKind::ToolCall, call, payload)
}

fn call_node(kind: NodeKind, call: &Acceptance, payload: Value) -> NewNode {
    let mut node = NewNode::new(kind, payload);
    node.name = Some(call.name.clone());
    node.call = call.id.clone();
    node
}

fn listed<'r>(report: &'r Value, member: &str) -> impl Iterator<Item = Value> + use<'r> {
    report.get(member).and_then(Value::as_array).into_iter().flatten().cloned()
}

/// A report with the place of its call.
fn placed(report: Value, place: Place) -> Value {
    let mut report = if report.is_object() { report } else { json!({}) };
    report["attempt"] = place.attempt.into();
    report["choice"] = place.choice.into();
    report
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_turn_has_each_member_of_its_record() {
        let longest =
            TurnRecord { id: "cw-1".into(), total: Duration::MAX, streamed: true, ..TurnRecord::default() };
        let record = longest.to_json();
        let turn: Turn = record.to().unwrap();
        assert_eq!((turn.request.as_str(), turn.total_us), ("cw-1", i64::MAX));
        let turn = Value::of(&turn).unwrap();
        for (name, value) in record.as_object().unwrap() {
            assert_eq!(turn.get(name.as_str()), Some(value), "{name}");
        }
    }
}
