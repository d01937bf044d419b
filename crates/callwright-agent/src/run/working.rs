//! Holds an answer whose calls are in progress, and decides which of them may begin.

use std::collections::BTreeMap;

use callwright::json;
use serde::{Deserialize, Serialize};

use super::machine::Next;
use super::turn::{Call, ModelTurn};
use crate::rights::{Decision, Why};
use crate::tool::Effect;

/// An answer with calls that have no result yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Working {
    pub(super) answer: ModelTurn,
    /// The state of its calls, by id.
    pub(super) calls: BTreeMap<String, Known>,
    /// The run gives up after this answer.
    pub(super) breaks: bool,
}

/// The state of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Known {
    /// `None` until the driver decides.
    pub(super) decision: Option<Decision>,
    /// The user approved the call.
    pub(super) is_approved: bool,
    pub(super) result: Option<Done>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Done {
    pub(super) content: String,
    pub(super) is_error: bool,
}

impl Working {
    /// Returns the next request for its calls.
    pub(super) fn next(&self) -> Next {
        let mut open = self.open(|known| known.result.is_none());
        let Some(first) = open.next() else { return Next::CallTools(Vec::new()) };
        // Calls that only read run together; a call that changes something runs alone, in its place.
        let mut batch = vec![first.clone()];
        if first.effect == Effect::Read && !first.ends_run {
            batch.extend(open.take_while(|call| call.effect == Effect::Read && !call.ends_run).cloned());
        }
        let asks: Vec<(Call, Why)> = batch
            .iter()
            .filter_map(|call| match self.calls.get(&call.id) {
                Some(Known { decision: Some(Decision::Ask(why)), is_approved: false, .. }) => {
                    Some((call.clone(), *why))
                }
                // An undecided call goes to the user, which is the safe side.
                Some(Known { decision: None, is_approved: false, .. }) => Some((call.clone(), Why::Destroys)),
                _ => None,
            })
            .collect();
        if asks.is_empty() { Next::CallTools(batch) } else { Next::Ask(asks) }
    }

    /// Returns the calls whose state satisfies `is`, in order.
    pub(super) fn open(&self, is: impl Fn(&Known) -> bool) -> impl Iterator<Item = &Call> {
        self.answer.calls().filter(move |call| self.calls.get(&call.id).is_some_and(&is))
    }
}

impl Done {
    pub(super) fn error(message: &str) -> Done {
        Done { content: json!({"error": message}).to_string(), is_error: true }
    }
}
