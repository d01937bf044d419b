//! Calls on their way out: ids that no two calls share, and the JSON of the wire.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use callwright::Acceptance;

use callwright_json::quote;

use crate::wire::Foreign;

/// Gives each call of an answer an id of its own: the upstream's, where it gave one that is not taken.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    taken: HashSet<String>,
}

impl Ids {
    /// Makes ids for an answer in whose conversation these ids are taken.
    pub(crate) fn besides(taken: &[String]) -> Ids {
        Ids { taken: taken.iter().cloned().collect() }
    }

    /// Returns the id for a call that came with `id`, or without any.
    pub(crate) fn next(&mut self, id: Option<&str>) -> String {
        if let Some(id) = id.filter(|id| !id.is_empty())
            && self.taken.insert(id.to_owned())
        {
            return id.to_owned();
        }
        loop {
            let made = new_id("call_");
            if self.taken.insert(made.clone()) {
                return made;
            }
        }
    }
}

/// Makes an id that nobody else has: `begin`, and 24 letters and digits, as OpenAI makes them.
pub(crate) fn new_id(begin: &str) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut id = String::from(begin);
    while id.len() < begin.len() + 24 {
        // The standard library's keys are random; ids need no more than that.
        let mut bits = RandomState::new().build_hasher().finish();
        for _ in 0..12 {
            id.push(char::from(LETTERS[(bits % 36) as usize]));
            bits /= 36;
        }
    }
    id
}

/// Writes `{"name": …, "arguments": "…"}`, with the members that are not ours.
pub(crate) fn function(call: &Acceptance, foreign: &Foreign) -> String {
    let (name, arguments) = (quote(&call.name), quote(&call.arguments));
    format!("{{\"name\":{name},\"arguments\":{arguments}{}}}", foreign.function)
}

/// Writes a call of an answer's `tool_calls`.
pub(crate) fn tool_call(id: &str, call: &Acceptance, foreign: &Foreign) -> String {
    let function = function(call, foreign);
    format!("{{\"id\":{},\"type\":\"function\",\"function\":{function}{}}}", quote(id), foreign.call)
}

/// Writes a call as the one delta that streams it.
pub(crate) fn tool_call_delta(index: usize, id: &str, call: &Acceptance, foreign: &Foreign) -> String {
    let (id, function) = (quote(id), function(call, foreign));
    format!(
        "{{\"tool_calls\":[{{\"index\":{index},\"id\":{id},\"type\":\"function\",\"function\":{function}{}}}]}}",
        foreign.call
    )
}

/// Writes the members that are not ours and come behind a call, as a delta.
pub(crate) fn foreign_delta(index: usize, foreign: &Foreign) -> String {
    let function = match foreign.function.strip_prefix(',') {
        Some(members) => format!(",\"function\":{{{members}}}"),
        None => String::new(),
    };
    format!("{{\"tool_calls\":[{{\"index\":{index}{function}{}}}]}}", foreign.call)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_calls_share_an_id() {
        let mut ids = Ids::default();
        assert_eq!(ids.next(Some("a")), "a");
        let second = ids.next(Some("a"));
        assert!(second.starts_with("call_") && second.len() == 29, "{second}");
        assert_ne!(ids.next(None), ids.next(Some("")));
    }
}
