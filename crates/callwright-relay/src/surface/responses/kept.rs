//! Responses from which a conversation may go on. They are kept in memory, bounded, and unmasked, as the model has to read its
//! own words again. Nothing of them is written anywhere.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::owner::Owner;
use crate::wire::WireError;

/// The most responses that are kept, their most bytes, and the time that they are kept. An agent's loop is minutes long, and
/// clients whose response is gone send the whole conversation again.
const MOST: usize = 4096;
const MOST_BYTES: usize = 64 << 20;
const TIME: Duration = Duration::from_secs(3600);

/// The most responses behind one another: each of them is looked up anew.
const DEPTH: usize = 1024;

/// A response, and the conversation that it is an answer in.
#[derive(Debug)]
pub(crate) struct KeptResponse {
    /// Another owner does not find it.
    pub(crate) owner: Owner,
    /// The response that it goes on from.
    pub(crate) parent: Option<String>,
    /// The items of its own request, as they came.
    pub(crate) input: Vec<String>,
    /// The items of its answer, as they went out.
    pub(crate) output: Vec<String>,
    /// All of it, as it went out.
    pub(crate) body: String,
    pub(crate) session: Option<String>,
}

impl KeptResponse {
    fn size(&self) -> usize {
        let items = self.input.iter().chain(&self.output).map(String::len).sum::<usize>();
        items + self.body.len()
    }
}

/// The responses that are kept. The one that was unused for longest goes first.
#[derive(Debug)]
pub(crate) struct KeptResponses {
    most_bytes: usize,
    kept: Mutex<Kept>,
    /// Owners are compared by their hash, which only this process can make.
    hasher: RandomState,
}

#[derive(Debug, Default)]
struct Kept {
    by_id: HashMap<String, (Instant, u64, KeptResponse)>,
    /// The ids in the order of their last use.
    order: VecDeque<String>,
    bytes: usize,
}

impl Default for KeptResponses {
    fn default() -> KeptResponses {
        KeptResponses { most_bytes: MOST_BYTES, kept: Mutex::default(), hasher: RandomState::new() }
    }
}

impl KeptResponses {
    /// Returns whether anything is kept at all.
    pub(crate) fn keeps(&self) -> bool {
        0 < self.most_bytes
    }

    /// Keeps a response. Returns false if it is larger than all may be together.
    pub(super) fn keep(&self, id: &str, mut response: KeptResponse) -> bool {
        // The key itself is not needed any more.
        let owner = self.hasher.hash_one(std::mem::take(&mut response.owner));
        let size = response.size();
        if self.most_bytes < size {
            return false;
        }
        let mut kept = self.lock();
        kept.bytes += size;
        kept.by_id.insert(id.to_owned(), (Instant::now(), owner, response));
        kept.order.push_back(id.to_owned());
        while MOST < kept.order.len() || self.most_bytes < kept.bytes || kept.first_is_old() {
            let Some(oldest) = kept.order.pop_front() else { break };
            kept.take(&oldest);
        }
        true
    }

    /// Returns all items up to and with the answer of this response, from the first on; none if one of the responses is gone.
    pub(super) fn conversation(&self, id: &str, owner: &Owner) -> Option<Vec<String>> {
        let (mut kept, owner) = (self.lock(), self.hasher.hash_one(owner));
        let (mut backwards, mut next) = (Vec::new(), Some(id.to_owned()));
        let mut depth = 0;
        while let Some(id) = next {
            let response = kept.used(&id, owner).filter(|_| depth < DEPTH)?;
            depth += 1;
            let items = response.input.iter().chain(&response.output);
            backwards.extend(items.rev().cloned());
            next = response.parent.clone();
        }
        backwards.reverse();
        Some(backwards)
    }

    pub(super) fn session(&self, id: &str) -> Option<String> {
        self.lock().by_id.get(id).and_then(|(_, _, response)| response.session.clone())
    }

    /// Returns the response of this id as it went out, and its own input.
    pub(crate) fn get(&self, id: &str, owner: &Owner) -> Option<(String, Vec<String>)> {
        let owner = self.hasher.hash_one(owner);
        self.lock().used(id, owner).map(|response| (response.body.clone(), response.input.clone()))
    }

    /// Forgets the response of this id. Returns false if it is unknown.
    pub(crate) fn forget(&self, id: &str, owner: &Owner) -> bool {
        let owner = self.hasher.hash_one(owner);
        let mut kept = self.lock();
        let is_there = kept.used(id, owner).is_some();
        if is_there {
            kept.take(id);
            kept.order.retain(|other| other != id);
        }
        is_there
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn first_is_old(&self) -> bool {
        let first = self.order.front().and_then(|id| self.by_id.get(id));
        first.is_some_and(|(since, ..)| TIME < since.elapsed())
    }

    fn take(&mut self, id: &str) {
        if let Some((_, _, response)) = self.by_id.remove(id) {
            self.bytes = self.bytes.saturating_sub(response.size());
        }
    }

    /// Returns the response of this id, if it is this owner's and not too old, and notes its use.
    fn used(&mut self, id: &str, owner: u64) -> Option<&KeptResponse> {
        let (since, of, response) = self.by_id.get_mut(id)?;
        if *of != owner || TIME < since.elapsed() {
            return None;
        }
        *since = Instant::now();
        if let Some(at) = self.order.iter().position(|other| other == id) {
            let id = self.order.remove(at).unwrap_or_default();
            self.order.push_back(id);
        }
        Some(response)
    }
}

/// Makes the error for an id that names no response of the asker.
pub(crate) fn not_found(id: &str) -> WireError {
    WireError {
        status: http::StatusCode::NOT_FOUND,
        message: format!("Previous response with id '{id}' not found."),
        kind: "invalid_request_error",
        param: Some("previous_response_id"),
        code: "previous_response_not_found",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(parent: Option<&str>, input: &str) -> KeptResponse {
        KeptResponse {
            owner: Owner::Key([1; 32]),
            parent: parent.map(str::to_owned),
            input: vec![input.to_owned()],
            output: vec![format!("{input}!")],
            body: String::from("{}"),
            session: None,
        }
    }

    #[test]
    fn a_conversation_is_kept_for_its_owner_and_within_bounds() {
        let kept = KeptResponses { most_bytes: 40, ..KeptResponses::default() };
        let (mine, yours) = (Owner::Key([1; 32]), Owner::Key([2; 32]));
        assert!(kept.keep("a", response(None, "1")) && kept.keep("b", response(Some("a"), "2")));
        assert_eq!(kept.conversation("b", &mine).unwrap(), ["1", "1!", "2", "2!"]);
        assert_eq!(kept.conversation("b", &yours), None);
        assert_eq!(kept.get("a", &yours), None);
        assert!(!kept.keep("c", response(None, &"x".repeat(40))), "it would be alone and too large");
        // The one that was used first goes first.
        assert!(kept.get("a", &mine).is_some());
        assert!(kept.keep("d", response(None, &"x".repeat(15))));
        assert_eq!((kept.get("a", &mine).is_some(), kept.get("b", &mine).is_some()), (true, false));
        assert!(kept.forget("a", &mine) && !kept.forget("a", &mine));
    }
}
