//! Tokens of prompts and answers: how many were spent, and whether a bound cut the answer.

/// Tokens, as upstreams count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the prompt.
    pub prompt: u64,
    /// Of the answer.
    pub completion: u64,
    /// Of both, as the upstream adds them up.
    pub total: u64,
    /// Those of the prompt that were kept from an earlier one.
    pub cached: u64,
    /// Those of the answer that were thought.
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

/// What is left of the tokens that an answer might take, where its end is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Budget {
    /// Nothing: it was cut, whatever the upstream says.
    Spent,
    /// Something: it ended by itself.
    Left,
    /// The upstream does not count.
    #[default]
    Unknown,
}

impl Budget {
    /// Of `most` completion tokens, where the request names a bound, so many were `spent`. Where it names none, the upstream may
    /// have one of its own, of which nobody here knows.
    pub(crate) fn of(most: Option<u64>, spent: Usage) -> Budget {
        match most {
            Some(most) if most <= spent.completion => Budget::Spent,
            Some(_) if spent.completion != 0 => Budget::Left,
            Some(_) | None => Budget::Unknown,
        }
    }
}

/// Is this the reason of an answer that nothing cut short, or no reason at all?
pub(crate) fn ends_by_itself(reason: Option<&str>) -> bool {
    let proper = ["", "stop", "tool_calls", "function_call"];
    reason.is_none_or(|reason| proper.iter().any(|it| it.eq_ignore_ascii_case(reason)))
}

/// So many bytes of a request make a token, about: the mean of English text and code in common tokenisers.
const BYTES_PER_TOKEN: f64 = 3.5;

/// About how many tokens a chat request has.
pub(crate) fn estimated_tokens(request: &str) -> u64 {
    (request.len() as f64 / BYTES_PER_TOKEN).ceil() as u64
}
