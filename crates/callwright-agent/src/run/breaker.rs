//! Counts equal errors, and ends a run that would go on for ever.
//!
//! Two errors are equal if tool and fault are equal, whatever the arguments. A success of the tool clears its errors of
//! calls; a tool's own errors are cleared by one turn without them.
//!
//! Successful calls can go round as well: the same call with the same result, turn after turn, brings nothing new. The
//! model is warned before the run ends. A changed result, as of a job that is asked whether it is done, is something
//! new.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// The errors of a run that may come again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breaker {
    /// The counts of faulty calls, by `tool kind place`.
    calls: BTreeMap<String, u32>,
    /// The counts of tools' errors, in turns without a gap.
    tools: BTreeMap<String, u32>,
    /// The errors of tools in the present turn.
    #[serde(default)]
    now: BTreeSet<String>,
    /// The sum of calls and results of the last turn, if all its calls succeeded.
    #[serde(default)]
    came_to: Option<u64>,
    /// The number of turns without a gap that had that sum.
    #[serde(default)]
    repeats: u32,
}

impl Breaker {
    /// Counts the faults of the calls of one answer. Returns the count of the most frequent one.
    pub fn answer<'e>(&mut self, errors: impl IntoIterator<Item = &'e String>) -> u32 {
        let errors: BTreeSet<&String> = errors.into_iter().collect();
        let count = |error: &String| {
            let times = self.calls.entry(error.clone()).or_default();
            *times += 1;
            *times
        };
        errors.into_iter().map(count).max().unwrap_or_default()
    }

    /// Returns whether there is an error that may be the first of many.
    pub fn is_warned(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Clears the faults of calls of a tool that did its work.
    pub fn succeeded(&mut self, tool: &str) {
        self.calls.retain(|error, _| error.split(' ').next() != Some(tool));
    }

    /// Clears the faults that name no tool, as all calls of an answer were right.
    pub fn all_right(&mut self) {
        self.calls.retain(|error, _| !error.starts_with(' '));
    }

    /// Counts an error that a tool returned in place of a result.
    pub fn failed(&mut self, tool: &str, error: &str) {
        self.now.insert(format!("{tool} {error}"));
    }

    /// Ends the turn. Returns the number of turns without a gap that had the most frequent error of a tool.
    pub fn turn_over(&mut self) -> u32 {
        let before = std::mem::take(&mut self.tools);
        let count = |error: String| {
            let times = before.get(&error).copied().unwrap_or_default() + 1;
            (error, times)
        };
        self.tools = std::mem::take(&mut self.now).into_iter().map(count).collect();
        self.tools.values().copied().max().unwrap_or_default()
    }

    /// Takes the turn's sum of calls and results, if all of them succeeded. Returns the number of turns without a gap
    /// that had this sum.
    pub fn came_to(&mut self, sum: Option<u64>) -> u32 {
        self.repeats = match sum {
            Some(_) if sum == self.came_to => self.repeats + 1,
            Some(_) => 1,
            None => 0,
        };
        self.came_to = sum;
        self.repeats
    }

    /// Forgets everything, since the user has spoken.
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
