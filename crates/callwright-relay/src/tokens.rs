//! Tokens of prompts and answers: the number spent, and the bound that cut an answer.

/// Tokens, as upstreams count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Tokens of the answer.
    pub completion: u64,
    /// Tokens of both, as the upstream adds them up.
    pub total: u64,
    /// Tokens of the prompt that were cached from an earlier one.
    pub cached: u64,
    /// Tokens of thoughts in the answer.
    pub reasoning: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Usage) {
        self.prompt = self.prompt.saturating_add(more.prompt);
        self.completion = self.completion.saturating_add(more.completion);
        self.total = self.total.saturating_add(more.total);
        self.cached = self.cached.saturating_add(more.cached);
        self.reasoning = self.reasoning.saturating_add(more.reasoning);
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(all: I) -> Usage {
        all.fold(Usage::default(), |mut sum, usage| {
            sum += usage;
            sum
        })
    }
}

/// The rest of the tokens that an answer might have taken, if its end is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Budget {
    /// No tokens are left: the answer was cut, whatever the upstream says.
    Spent,
    /// Some tokens are left: the answer ended by itself.
    Left,
    /// The upstream does not count.
    #[default]
    Unknown,
}

impl Budget {
    /// Compares the tokens `spent` with the request's bound of `most` completion tokens. Without a bound, the upstream may have
    /// one of its own that nobody here knows.
    pub(crate) fn of(most: Option<u64>, spent: Usage) -> Budget {
        match most {
            Some(most) if most <= spent.completion => Budget::Spent,
            Some(_) if spent.completion != 0 => Budget::Left,
            Some(_) | None => Budget::Unknown,
        }
    }
}

/// Returns whether this is the reason of an answer that nothing cut short. No reason at all counts as one.
pub(crate) fn ends_by_itself(reason: Option<&str>) -> bool {
    let proper = ["", "stop", "tool_calls", "function_call"];
    reason.is_none_or(|reason| proper.iter().any(|it| it.eq_ignore_ascii_case(reason)))
}

/// The bytes of a request for each token, about: the mean of English text and code in common tokenisers.
const BYTES_PER_TOKEN: f64 = 3.5;

/// Estimates the number of tokens in a chat request.
pub(crate) fn estimated_tokens(request: &str) -> u64 {
    (request.len() as f64 / BYTES_PER_TOKEN).ceil() as u64
}
