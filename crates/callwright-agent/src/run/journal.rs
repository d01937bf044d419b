//! Writes what happens in a run to a session of the store, before anything else happens.
//!
//! Each input of the machine is a node, so that the session can rebuild the same machine. A call has an intent before
//! it begins; after its end, an effect and a result are written together.

use std::sync::Arc;

use callwright::json;
use callwright::value::Value;
use callwright::{Acceptance, Outcome, Policy, Verdict};
use callwright_relay::{Answer, CallFault, TurnEnd};
use callwright_store::{
    Became, Before, Call as KeptCall, Fault, Hold, NewNode, NewTurn, NodeKind, SessionRef, Store, StoreError,
    Turn,
};

use super::resume::{ResumeError, Resumed};
use super::stop::{Account, Ended};
use super::turn::{Call, ModelTurn, Part};
use crate::tool::ToolResult;

/// The session that keeps a run. No other process continues it while this value lives.
#[derive(Clone, Debug)]
pub struct Journal {
    store: Store,
    hold: Arc<Hold>,
    session: String,
    title: String,
}

/// The member of a payload that holds the machine's input.
pub(super) const FED: &str = "run";

impl Journal {
    /// Opens a journal in the session of this name, new or old.
    ///
    /// # Errors
    /// Fails with [`StoreError::Held`] where somebody else, also in this process, continues that session.
    pub async fn open(store: Store, session: impl Into<String>) -> Result<Journal, StoreError> {
        let session = session.into();
        let hold = Arc::new(store.hold(&session).await?);
        Ok(Journal { store, hold, session, title: String::new() })
    }

    /// Returns the run that the session holds; `None` where there is no session.
    ///
    /// # Errors
    /// Fails when the store refuses.
    pub async fn resumed(&self) -> Result<Option<Result<Resumed, ResumeError>>, StoreError> {
        let session = self.store.session(&self.session).await?;
        Ok(session.as_ref().map(Resumed::of))
    }

    /// The session's name.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Writes the run's settings, at its beginning or for the time from here on. `facts` are the caller's facts for a
    /// resume.
    pub(super) async fn settings(&self, settings: &Value, facts: &Value) -> Result<(), StoreError> {
        self.append(settings_nodes(settings, facts)).await
    }

    /// Writes the user's words. The settings go with the first words, so that neither exists without the other.
    pub(super) async fn said(
        &mut self,
        text: &str,
        first: Option<(&Value, &Value)>,
    ) -> Result<(), StoreError> {
        if self.title.is_empty() {
            self.title = text.to_owned();
        }
        let mut nodes = first.map_or_else(Vec::new, |(settings, facts)| settings_nodes(settings, facts));
        nodes.push(NewNode::new(NodeKind::User, json!({"text": text, FED: {"said": true}})));
        self.append(nodes).await
    }

    /// Writes an event without a message: the user cancelled, the run goes on.
    pub(super) async fn note(&self, what: &str, more: Value) -> Result<(), StoreError> {
        self.append(vec![note(what, more)]).await
    }

    /// Writes an answer of the model. `turn` is the machine's form of it.
    pub(super) async fn answered(
        &self,
        answer: &Answer,
        turn: &ModelTurn,
        policy: Policy,
    ) -> Result<(), StoreError> {
        let record = &answer.record;
        let attempts = (1..).zip(&record.attempts);
        let mut nodes: Vec<NewNode> = attempts
            .map(|(number, attempt)| {
                NewNode::model_turn(attempt.to_json(number), &attempt.request, attempt.answer.bytes())
            })
            .collect();
        if let Some(last) = nodes.last_mut() {
            last.payload[FED] = json!({"answered": Value::of(turn).unwrap_or_default()});
        }
        if !answer.reasoning.is_empty() {
            nodes.push(NewNode::new(NodeKind::Reasoning, json!({"text": answer.reasoning})));
        }
        nodes.extend(parts(answer, turn, policy));
        let calls: Vec<KeptCall> = answer.verdicts.iter().map(|verdict| kept(verdict, record.end)).collect();
        let turn = NewTurn {
            session: SessionRef::Named(self.session.clone()),
            // A local run has no client.
            owner: None,
            origin: "agent",
            title: self.title.clone(),
            turn: Turn {
                dialect: calls.first().map_or_else(String::new, |call| call.dialect.clone()),
                // The run did not come through an API.
                surface: String::new(),
                // The store's turn has each member of the record, with its type.
                ..record.to_json().to().unwrap_or_default()
            },
            nodes,
            before: Before::default(),
            calls,
            faults: record
                .faults()
                .map(|CallFault { kind, tool, place }| Fault { kind, tool, place })
                .collect(),
            feeds_back: policy.feeds_back(),
        };
        self.store.write(turn).await.map(drop)
    }

    /// Writes that these calls are about to begin.
    pub(super) async fn intents(&self, calls: &[Call]) -> Result<(), StoreError> {
        // If the hold was lost, somebody else may be about to begin the same calls.
        self.hold.check().await?;
        let intent = |call: &Call| NewNode {
            name: Some(call.name.clone()),
            call: Some(call.id.clone()),
            ..NewNode::new(NodeKind::Intent, json!({"tool": call.name, "arguments": call.arguments}))
        };
        self.append(calls.iter().map(intent).collect()).await
    }

    /// Writes a call's result. `ran` says that the call had begun.
    pub(super) async fn finished(
        &self,
        call: &Call,
        result: &ToolResult,
        spent: Account,
        ran: bool,
    ) -> Result<(), StoreError> {
        let (name, id) = (Some(call.name.clone()), Some(call.id.clone()));
        let content = result.content();
        let payload = json!({"text": content, FED: {"finished": form(result), "spent": Value::of(&spent).unwrap_or_default()}});
        let done =
            NewNode { name: name.clone(), call: id.clone(), ..NewNode::new(NodeKind::ToolResult, payload) };
        let mut nodes = Vec::with_capacity(2);
        if ran {
            let mut effect = json!({"ok": !result.is_error(), "seconds": spent.seconds});
            if let ToolResult::Error(error) = result
                && let Some(outcome) = error.more.get("outcome")
            {
                effect["outcome"] = outcome.clone();
            }
            nodes.push(NewNode { name, call: id, ..NewNode::new(NodeKind::Effect, effect) });
        }
        nodes.push(done);
        self.append(nodes).await
    }

    /// Writes that the user approved a call.
    pub(super) async fn approved(&self, call: &Call) -> Result<(), StoreError> {
        let node = note("approved", json!({"text": format!("approved: {} {}", call.name, call.arguments)}));
        self.append(vec![NewNode { call: Some(call.id.clone()), name: Some(call.name.clone()), ..node }])
            .await
    }

    /// Writes the end of the run, whatever its reason.
    pub(super) async fn ended(&self, ended: &Ended) -> Result<(), StoreError> {
        let kind = match ended.end {
            super::stop::End::GaveUp => NodeKind::GaveUp,
            _ => NodeKind::Note,
        };
        // The model's last words are already written.
        let text = match ended.end {
            super::stop::End::Answered => "answered",
            _ => ended.sentence.as_str(),
        };
        let payload = json!({"text": text, "end": ended.end.name()});
        self.append(vec![NewNode::new(kind, payload)]).await
    }

    async fn append(&self, nodes: Vec<NewNode>) -> Result<(), StoreError> {
        self.store.append(&self.session, nodes).await.map(drop)
    }
}

fn settings_nodes(settings: &Value, facts: &Value) -> Vec<NewNode> {
    let system =
        settings["system"].as_str().map(|text| NewNode::new(NodeKind::System, json!({"text": text})));
    let policy = settings["policy"].as_str().unwrap_or_default();
    let text = format!("a run under the policy {policy}");
    let note = note("settings", json!({"text": text, "settings": settings, "facts": facts}));
    system.into_iter().chain([note]).collect()
}

fn note(what: &str, more: Value) -> NewNode {
    let mut payload = if more.is_object() { more } else { json!({}) };
    let fed = std::mem::replace(&mut payload, json!({}));
    if let Some(text) = fed.get("text") {
        payload["text"] = text.clone();
    }
    payload[FED] = json!({what: fed});
    NewNode::new(NodeKind::Note, payload)
}

fn form(result: &ToolResult) -> &'static str {
    match result {
        ToolResult::Text(_) => "text",
        ToolResult::Object(_) => "object",
        ToolResult::Error(_) => "error",
    }
}

/// Makes a node for each call of an answer, right or wrong, with its report.
fn parts(answer: &Answer, turn: &ModelTurn, policy: Policy) -> Vec<NewNode> {
    let attempts = &answer.record.attempts;
    let report = attempts.last().and_then(|attempt| attempt.choices.first()).map(|choice| {
        choice.report(&Outcome { verdicts: answer.verdicts.clone(), ..choice.outcome.clone() })
    });
    let report = report.unwrap_or_default();
    let (mut calls, mut refusals) = (listed(&report, "calls"), listed(&report, "refusals"));
    let node = |part: &Part| match part {
        Part::Call(call) => call_node(call, calls.next()),
        Part::Wrong(wrong) => {
            let mut payload = refusals.next().unwrap_or_else(|| json!({}));
            let text = if wrong.is_native() { Some(&wrong.result) } else { turn.user_message.as_ref() };
            payload["text"] = text.cloned().into();
            payload["error"] = wrong.error.clone().into();
            payload["attempt"] = attempts.len().into();
            let mut kind = NodeKind::Refused;
            if policy.feeds_back() {
                payload["next"] = "feedback".into();
                kind = NodeKind::ValidationError;
            }
            NewNode { name: wrong.name.clone(), call: wrong.id.clone(), ..NewNode::new(kind, payload) }
        }
    };
    turn.parts.iter().map(node).collect()
}

fn call_node(call: &Call, report: Option<Value>) -> NewNode {
    let kind = if call.is_repaired() { NodeKind::Repaired } else { NodeKind::ToolCall };
    let payload = report.filter(Value::is_object).unwrap_or_else(|| json!({"arguments": call.arguments}));
    NewNode { name: Some(call.name.clone()), call: Some(call.id.clone()), ..NewNode::new(kind, payload) }
}

fn listed(report: &Value, member: &str) -> impl Iterator<Item = Value> + use<> {
    report.get(member).and_then(Value::as_array).cloned().unwrap_or_default().into_iter()
}

fn kept(verdict: &Verdict, end: TurnEnd) -> KeptCall {
    let (tool, dialect, became) = match verdict {
        Verdict::Accepted(Acceptance { name, dialect, .. }) if end == TurnEnd::Retried => {
            (name.clone(), dialect, Became::Retried)
        }
        Verdict::Accepted(call) if Policy::Strict.admits(call) => {
            (call.name.clone(), &call.dialect, Became::Passed)
        }
        Verdict::Accepted(call) => (call.name.clone(), &call.dialect, Became::Repaired),
        Verdict::Refused(refusal) => {
            (refusal.name.clone().unwrap_or_default(), &refusal.dialect, Became::Refused)
        }
    };
    KeptCall { tool, dialect: dialect.to_string(), became }
}
