//! The way in which texts are read.

use std::sync::Arc;

use callwright::{CallsInReasoning, Event, ToolSet, Verdict};

use crate::lane::asking::Lane;
use crate::readers::Readers;
use crate::reading::{ReadOptions, Reading};
use crate::target::Target;
use crate::tokens::Budget;

/// The end of a text behind which the answer goes on, which has no reason.
pub(super) const UNSAID: End<'static> = (None, Budget::Unknown);

/// The reason for the end of an answer, and the rest of its tokens.
pub(super) type End<'a> = (Option<&'a str>, Budget);

/// The readers and options of texts.
pub(super) struct Reads {
    readers: Arc<Readers>,
    tool_set: Arc<ToolSet>,
    options: ReadOptions,
}

impl Reads {
    /// Returns the reader for answers of `target`; none if no call can stand in their texts.
    pub(super) fn of(lane: &Lane, target: &Target) -> Option<Reads> {
        let may_call = !lane.tools.is_empty() && !lane.tools.are_barred && target.candidate.heals_text();
        may_call.then(|| Reads {
            readers: Arc::clone(&lane.relay.readers),
            tool_set: Arc::clone(&lane.tools.tool_set),
            options: lane.read_options(target),
        })
    }

    pub(super) fn reading(&self) -> Reading {
        Reading::new(&self.readers, &self.tool_set, &self.options)
    }

    /// Returns the calls in reasoning that something `follows`, or nothing.
    pub(super) async fn thought(&self, thought: &str, follows: bool, end: End<'_>) -> Vec<Verdict> {
        let is_read = match self.options.calls_in_reasoning {
            CallsInReasoning::Ignore => false,
            CallsInReasoning::Unclosed => !follows,
            _ => true,
        };
        if !is_read || thought.trim().is_empty() {
            return Vec::new();
        }
        let mut events = Vec::new();
        let mut reading = self.reading();
        reading.thought(thought, &mut events).await;
        end_of(reading, end, &mut events).await;
        events.into_iter().filter_map(call_of).collect()
    }
}

/// Ends a reading, for this reason and with this budget.
pub(super) async fn end_of(mut reading: Reading, (reason, budget): End<'_>, events: &mut Vec<Event>) {
    if let Some(reason) = reason {
        reading.stopped(reason);
    }
    reading.finish(budget, events).await;
}

/// Returns the verdict that an event holds.
pub(super) fn call_of(event: Event) -> Option<Verdict> {
    match event {
        Event::Call(verdict) => Some(verdict),
        _ => None,
    }
}
