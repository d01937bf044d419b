//! The effort that a model puts into thoughts, in words and in tokens.

/// How much is to be thought, in a word that servers of chats know.
pub(super) fn chat_effort(effort: &str) -> &str {
    match effort {
        "xhigh" | "max" => "high",
        other => other,
    }
}

/// Up to so many tokens for thoughts are a low effort, and a medium one.
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
