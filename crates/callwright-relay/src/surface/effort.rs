//! The effort that a model puts into thoughts, in words and in tokens.

/// Returns the effort in a word that servers of chats know.
pub(super) fn chat_effort(effort: &str) -> &str {
    match effort {
        "xhigh" | "max" => "high",
        other => other,
    }
}

/// The bounds below which a number of tokens for thoughts is a low, or a medium, effort.
const LOW_BUDGET: u64 = 4096;
const MEDIUM_BUDGET: u64 = 16_384;

/// Returns the effort for a budget of tokens for thoughts.
pub(super) fn budget_effort(budget: u64) -> &'static str {
    match budget {
        0..LOW_BUDGET => "low",
        LOW_BUDGET..MEDIUM_BUDGET => "medium",
        _ => "high",
    }
}
