//! Counts equal errors, and ends what would go on for ever.
//!
//! Two errors are equal when the tool and what is wrong are the same: other arguments with the same error are the same
//! error. An error is forgotten when its tool does its work; what a tool itself had to say is forgotten as soon as a
//! turn passes without it.
//!
//! A call that succeeds can go round as well: the same call with the same result, turn after turn, says nothing new. The
//! model is told so before the run ends. What changes its result, as a job that is asked whether it is done, is something
//! new.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The errors of a run that may come again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breaker {
    /// Of calls that were not right, by `tool kind place`.
    calls: BTreeMap<String, u32>,
    /// Of tools, in turns without a gap.
    tools: BTreeMap<String, u32>,
    /// Errors of tools in the turn that is running.
    #[serde(default)]
    now: BTreeSet<String>,
    /// What the last turn came to, where all its calls succeeded: a sum of calls and results.
    #[serde(default)]
    came_to: Option<u64>,
    /// In how many turns without a gap it came to that.
    #[serde(default)]
    repeats: u32,
}

impl Breaker {
    /// Counts what was wrong with the calls of one answer. Returns how often the worst of it has come by now.
    pub fn answer<'e>(&mut self, errors: impl IntoIterator<Item = &'e String>) -> u32 {
        let errors: BTreeSet<&String> = errors.into_iter().collect();
        let count = |error: &String| {
            let times = self.calls.entry(error.clone()).or_default();
            *times += 1;
            *times
        };
        errors.into_iter().map(count).max().unwrap_or_default()
    }

    /// Is there an error that may be the first of many?
    pub fn is_warned(&self) -> bool {
        !self.calls.is_empty()
    }

    /// A tool has done its work: what was wrong with calls of it is fixed.
    pub fn succeeded(&mut self, tool: &str) {
        self.calls.retain(|error, _| error.split(' ').next() != Some(tool));
    }

    /// All calls of an answer were right: what could not be told of any tool is fixed.
    pub fn all_right(&mut self) {
        self.calls.retain(|error, _| !error.starts_with(' '));
    }

    /// A tool had this to say instead of a result.
    pub fn failed(&mut self, tool: &str, error: &str) {
        self.now.insert(format!("{tool} {error}"));
    }

    /// The turn is over. Returns how often the worst error of a tool has come in turns without a gap.
    pub fn turn_over(&mut self) -> u32 {
        let before = std::mem::take(&mut self.tools);
        let count = |error: String| {
            let times = before.get(&error).copied().unwrap_or_default() + 1;
            (error, times)
        };
        self.tools = std::mem::take(&mut self.now).into_iter().map(count).collect();
        self.tools.values().copied().max().unwrap_or_default()
    }

    /// A turn came to this: a sum of its calls and their results, where all of them succeeded. Returns in how many turns
    /// without a gap it was the same.
    pub fn came_to(&mut self, sum: Option<u64>) -> u32 {
        self.repeats = match sum {
            Some(_) if sum == self.came_to => self.repeats + 1,
            Some(_) => 1,
            None => 0,
        };
        self.came_to = sum;
        self.repeats
    }

    /// Forgets everything: the user has spoken.
    pub fn reset(&mut self) {
        *self = Breaker::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errors: &[&str]) -> Vec<String> {
        errors.iter().map(|error| (*error).to_owned()).collect()
    }

    #[test]
    fn an_error_counts_until_its_tool_succeeds() {
        let mut breaker = Breaker::default();
        assert_eq!(breaker.answer(&of(&["f invalid /a type", "f invalid /a type"])), 1);
        breaker.succeeded("g");
        assert_eq!(breaker.answer(&of(&["f invalid /a type", "g unreadable"])), 2);
        breaker.succeeded("f");
        assert_eq!(breaker.answer(&of(&["f invalid /a type"])), 1);
        assert_eq!(breaker.answer(&of(&[" unreadable"])), 1);
        breaker.all_right();
        assert_eq!(breaker.answer(&of(&[" unreadable"])), 1);
        assert!(breaker.is_warned());
    }

    #[test]
    fn what_comes_to_the_same_counts_without_a_gap() {
        let mut breaker = Breaker::default();
        let sums = [Some(1), Some(1), Some(2), Some(1), Some(1), Some(1), None, Some(1), None, None];
        let times = [1, 2, 1, 1, 2, 3, 0, 1, 0, 0];
        assert_eq!(sums.map(|sum| breaker.came_to(sum)), times);
    }

    #[test]
    fn what_a_tool_says_counts_in_turns_without_a_gap() {
        let mut breaker = Breaker::default();
        for (fails, times) in [(true, 1), (true, 2), (false, 0), (true, 1)] {
            if fails {
                breaker.failed("fsRead", "no such file a.txt");
                breaker.failed("fsRead", "no such file a.txt");
            }
            assert_eq!(breaker.turn_over(), times);
        }
    }
}
