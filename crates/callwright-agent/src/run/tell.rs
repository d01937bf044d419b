//! Reports a turn to the watcher and to the log.

use callwright::Policy;

use super::driver::Runner;
use super::event::{Event, Step, StepCall};
use super::turn::{Call, ModelTurn};

impl Runner {
    /// Reports an answer and the repairs of its calls.
    pub(super) fn tell_answer(&mut self, turn: &ModelTurn, policy: Policy) {
        let number = self.machine.turn();
        self.tell(Event::Answered {
            turn: number,
            text: turn.text.clone(),
            calls: turn.calls().count(),
            prompt_based: turn.calls().filter(|call| call.is_text).count(),
        });
        for call in turn.calls().filter(|call| call.is_repaired()) {
            log_repaired(call);
            self.tell(Event::Repaired {
                id: call.id.clone(),
                tool: call.name.clone(),
                renamed_from: call.renamed_from.clone(),
                repairs: call.repairs.clone(),
                class: call.repaired.code().to_owned(),
            });
        }
        for wrong in turn.wrongs() {
            tracing::info!(
                node_type = "validation_error",
                turn = number,
                tool_name = wrong.name.as_deref(),
                tool_call_id = wrong.id.as_deref(),
                reason = wrong.code,
                "[chat] refused tool call"
            );
            self.tell(Event::Invalid {
                turn: number,
                id: wrong.id.clone(),
                tool: wrong.name.clone(),
                code: wrong.code.clone(),
                error: wrong.error.clone(),
                is_fed_back: policy.feeds_back(),
            });
        }
        let right = turn.calls().map(|call| (Some(&call.id), Some(&call.name), false));
        let wrong = turn.wrongs().map(|wrong| (wrong.id.as_ref(), wrong.name.as_ref(), true));
        let calls = right.chain(wrong).map(|(id, tool, invalid)| StepCall {
            id: id.cloned(),
            tool: tool.cloned(),
            invalid,
        });
        self.step = Some(Step {
            turn: number,
            has_text: !turn.text.trim().is_empty(),
            finish_reason: turn.finish_reason.clone(),
            spent: turn.spent,
            calls: calls.collect(),
        });
    }
}

fn log_repaired(call: &Call) {
    let (to, id) = (call.name.as_str(), call.id.as_str());
    if let Some(from) = &call.renamed_from {
        tracing::info!(from = from.as_str(), to, tool_call_id = id, "[chat] repaired tool name");
    }
    if !call.repairs.is_empty() {
        let repairs = call.repairs.join(",");
        tracing::info!(tool_name = to, tool_call_id = id, repairs, "[chat] repaired tool inputs");
    }
}

/// Logs a line for each call of a turn; a turn without calls has none.
pub(super) fn log_step(step: &Step) {
    for call in &step.calls {
        tracing::info!(
            turn = step.turn,
            tool_name = call.tool.as_deref(),
            tool_call_id = call.id.as_deref(),
            invalid = call.invalid,
            finish_reason = step.finish_reason.as_deref(),
            prompt_tokens = step.spent.prompt_tokens,
            completion_tokens = step.spent.completion_tokens,
            has_text = step.has_text,
            "[chat] step.finish"
        );
    }
}
