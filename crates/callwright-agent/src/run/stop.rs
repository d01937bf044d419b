//! Decides when a run ends, bounds its costs, and states its end.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// The conditions that end a run before the model has said all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// The most answers of the model; `None` for no bound. Calls of the last answer still run.
    pub max_turns: Option<u32>,
    /// The run ends after a call of one of these tools.
    pub tools: BTreeSet<String>,
    /// The run ends when this much is spent.
    pub budget: Budget,
    /// The run ends after so many equal errors.
    pub breaker: u32,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { max_turns: Some(50), tools: BTreeSet::new(), budget: Budget::default(), breaker: 3 }
    }
}

/// The most that a run may spend. The machine learns time and money from outside: it has no clock and knows no prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// The tokens of all questions and answers.
    pub tokens: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// The money, in the unit of the prices.
    pub money: Option<f64>,
}

/// The costs of a run so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// The tokens of all questions, as upstreams count them.
    pub prompt_tokens: u64,
    /// The tokens of all answers.
    pub completion_tokens: u64,
    /// The number of requests to upstreams.
    pub requests: u64,
    /// The number of calls that ran.
    pub calls: u64,
    /// The number of turns that were spent on errors for the model.
    pub feedback_turns: u64,
    /// Seconds.
    pub seconds: f64,
    /// Money.
    pub money: f64,
}

impl Account {
    /// Returns the tokens of questions and answers.
    pub fn tokens(&self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens)
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, more: Account) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(more.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(more.completion_tokens);
        self.requests += more.requests;
        self.calls += more.calls;
        self.feedback_turns += more.feedback_turns;
        // Whole microseconds survive JSON to the bit.
        self.seconds = ((self.seconds + more.seconds) * 1e6).round() / 1e6;
        self.money += more.money;
    }
}

impl fmt::Display for Account {
    /// Writes the account: `3 requests, 1200 + 88 tokens, 2 calls, 4.1 s`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Account { prompt_tokens, completion_tokens, requests, calls, seconds, .. } = self;
        let s = |n: &u64| if *n == 1 { "" } else { "s" };
        write!(f, "{requests} request{}, {prompt_tokens} + {completion_tokens} tokens, ", s(requests))?;
        write!(f, "{calls} call{}, {seconds:.1} s", s(calls))?;
        if 0 < self.feedback_turns {
            write!(f, ", {} turn{} of feedback", self.feedback_turns, s(&self.feedback_turns))?;
        }
        if 0.0 < self.money { write!(f, ", {:.4} spent", self.money) } else { Ok(()) }
    }
}

/// The bound that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The model reached its number of answers.
    MaxTurns,
    /// The budget of tokens.
    Tokens,
    /// The budget of time.
    Seconds,
    /// The budget of money.
    Money,
    /// The answer was cut at its limit of tokens, and holds no call that could be made again.
    Answer,
}

impl Limit {
    /// Returns its stable name: `max_turns`, `tokens`, ….
    pub fn name(self) -> &'static str {
        match self {
            Limit::MaxTurns => "max_turns",
            Limit::Tokens => "tokens",
            Limit::Seconds => "seconds",
            Limit::Money => "money",
            Limit::Answer => "answer",
        }
    }
}

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The model said all, and called nothing more.
    Answered,
    /// The model called a tool that ends the run.
    Finished,
    /// The model called a tool after which the run stops.
    ToolCalled(String),
    /// The caller had seen enough.
    Predicate,
    /// A bound was reached.
    Limit(Limit),
    /// A call was refused, and the policy lets nothing be asked again.
    Refused,
    /// The same error came too often.
    #[serde(alias = "breaker")]
    GaveUp,
    /// The model neither said nor called anything.
    Silent,
    /// The user cancelled it.
    Cancelled,
}

impl End {
    /// Returns its stable name: `answered`, `max_turns`, ….
    pub fn name(&self) -> &'static str {
        match self {
            End::Answered => "answered",
            End::Finished => "finished",
            End::ToolCalled(_) => "tool_called",
            End::Predicate => "predicate",
            End::Limit(limit) => limit.name(),
            End::Refused => "refused",
            End::GaveUp => "gave_up",
            End::Silent => "silent",
            End::Cancelled => "cancelled",
        }
    }
}

/// The end of a run, with the sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// The way in which it ended.
    pub end: End,
    /// The model's last words, or the error. Never empty.
    pub sentence: String,
}

impl Stop {
    /// Returns the bound that is reached, if one is.
    pub(crate) fn limit(&self, turns: u32, account: &Account) -> Option<Limit> {
        let Budget { tokens, seconds, money } = self.budget;
        if self.max_turns.is_some_and(|most| most <= turns) {
            return Some(Limit::MaxTurns);
        }
        if tokens.is_some_and(|most| most <= account.tokens()) {
            return Some(Limit::Tokens);
        }
        if seconds.is_some_and(|most| most <= account.seconds) {
            return Some(Limit::Seconds);
        }
        money.is_some_and(|most| most <= account.money).then_some(Limit::Money)
    }

    pub(crate) fn sentence(&self, limit: Limit, turns: u32) -> String {
        let Budget { tokens, seconds, money } = self.budget;
        match limit {
            Limit::MaxTurns => {
                format!("⚠️ Stopped after {turns} turns, which is the limit: the model had not finished.")
            }
            Limit::Tokens => {
                format!("⚠️ Stopped: the budget of {} tokens is spent.", tokens.unwrap_or_default())
            }
            Limit::Seconds => {
                format!("⚠️ Stopped: the time of {} s is over.", seconds.unwrap_or_default())
            }
            Limit::Money => {
                format!("⚠️ Stopped: the budget of {} is spent.", money.unwrap_or_default())
            }
            Limit::Answer => String::from("⚠️ The answer was cut off at the limit of its tokens."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_ends_a_run() {
        let stop = |budget| Stop { max_turns: Some(3), budget, ..Stop::default() };
        let spent = Account {
            prompt_tokens: 60,
            completion_tokens: 40,
            seconds: 2.0,
            money: 0.5,
            ..Account::default()
        };
        let none = Budget::default();
        for (budget, turns, limit) in [
            (none, 2, None),
            (none, 3, Some(Limit::MaxTurns)),
            (Budget { tokens: Some(101), ..none }, 1, None),
            (Budget { tokens: Some(100), ..none }, 1, Some(Limit::Tokens)),
            (Budget { seconds: Some(2.0), ..none }, 1, Some(Limit::Seconds)),
            (Budget { money: Some(0.4), ..none }, 1, Some(Limit::Money)),
        ] {
            assert_eq!(stop(budget).limit(turns, &spent), limit, "{budget:?} {turns}");
        }
        assert_eq!(Stop { max_turns: None, ..Stop::default() }.limit(10_000, &spent), None);
    }
}
