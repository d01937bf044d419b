//! Notes to a model about its repaired calls: each goes out once, with the next request of the conversation.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use callwright::Acceptance;
use callwright::json;
use callwright_json::Value;

use crate::wire::{Ask, string_of};

/// The most notes that are kept for conversations that may never go on.
const MOST: usize = 4096;

/// Notes that wait for the next request, by the id of the repaired call.
#[derive(Debug)]
pub(crate) struct Notes {
    is_on: bool,
    waiting: Mutex<VecDeque<(String, String)>>,
}

impl Notes {
    pub(crate) fn new(is_on: bool) -> Notes {
        Notes { is_on, waiting: Mutex::default() }
    }

    /// Keeps the note about a call that goes out under this id, if there is something to say about it.
    pub(crate) fn keep(&self, id: &str, call: &Acceptance) {
        let Some(note) = self.is_on.then(|| call.note()).flatten() else { return };
        let mut waiting = self.lock();
        if waiting.len() == MOST {
            waiting.pop_front();
        }
        waiting.push_back((id.to_owned(), note));
    }

    /// Returns the notes about the calls of the last assistant turn, as messages; each is given once.
    pub(crate) fn for_request(&self, ask: &Ask) -> Vec<String> {
        if !self.is_on || self.lock().is_empty() {
            return Vec::new();
        }
        let turn = ask.messages().filter(|message| message.get("tool_calls").is_some()).last();
        let calls = turn.and_then(|turn| turn.get("tool_calls")).into_iter().flat_map(Value::elements);
        let mut notes: Vec<String> = Vec::new();
        let mut waiting = self.lock();
        for id in calls.filter_map(|call| string_of(call, "id")) {
            let Some(at) = waiting.iter().position(|(of, _)| *of == *id) else { continue };
            let note = waiting.remove(at).map(|(_, note)| note).unwrap_or_default();
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        notes.iter().map(|note| json!({"role": "system", "content": note}).to_string()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(String, String)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
