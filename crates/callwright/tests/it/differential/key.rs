//! Keys: 64 bits of all that an outcome depends on.

use crate::common::question::Question;

/// The key of a question. It stays the same as long as the question does, on any machine.
pub(super) fn of(question: &Question<'_>) -> u64 {
    let context = question.context;
    let (name, arguments) = question.native.unwrap_or_default();
    let flags = [
        question.native.is_some(),
        context.native,
        context.starts_in_reasoning,
        context.unsure_is_text,
        context.doubt_open_ends,
    ];
    let mut hash = question.tools.hash;
    for part in [
        question.apart,
        question.text,
        name,
        arguments,
        question.dialects,
        context.finish_reason.unwrap_or_default(),
        context.asked.unwrap_or_default(),
        context.policy.name(),
        context.calls_in_reasoning.name(),
        &format!("{:?} {flags:?}", context.tool_choice),
    ] {
        hash.put(part);
    }
    hash.0
}
