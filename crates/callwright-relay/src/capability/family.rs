//! The families of models, and whether they call tools natively. The table decides if neither the configuration nor the upstream
//! says anything.

use crate::config::fits;

/// Patterns of models, and whether they take tools. The first pattern that fits counts.
///
/// The open families come first: a model that was distilled from Claude into Qwen is a Qwen. They take tools in
/// some servers and not in others, and prompt mode works in all.
const FAMILIES: &[(&str, bool)] = &[
    ("*gemma*", false),
    ("*llama*", false),
    ("*qwen*", false),
    ("*qwq*", false),
    ("*deepseek*", false),
    ("*gpt-j*", false),
    ("*gpt-neo*", false),
    ("*claude*", true),
    ("gpt-*", true),
    ("*/gpt-*", true),
    ("chatgpt-*", true),
    ("*/chatgpt-*", true),
    ("*gemini*", true),
    ("*mistral-large*", true),
    ("*mixtral*", true),
    ("command*", true),
    ("*/command*", true),
    ("cohere*command*", true),
];

/// Returns whether a model of this name takes tools; none if its family is unknown.
pub(super) fn takes_tools(model: &str) -> Option<bool> {
    FAMILIES.iter().find(|(pattern, _)| fits(pattern, model)).map(|(_, takes_tools)| *takes_tools)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_by_name() {
        for (row, model, takes) in [
            ("S3-09", "anthropic/claude-3-5-haiku", Some(true)),
            ("S3-09", "claude-sonnet-4-5", Some(true)),
            ("S3-10", "openai/gpt-4o-mini", Some(true)),
            ("S3-10", "gpt-5", Some(true)),
            ("S3-11", "google/gemini-flash-1.5:free", Some(true)),
            ("S3-12", "mistralai/mistral-large-2411", Some(true)),
            ("S3-12", "mixtral-8x7b-instruct", Some(true)),
            ("S3-13", "cohere/command-r-plus", Some(true)),
            ("S3-13", "command-a-03-2025", Some(true)),
            ("S3-14", "google/gemma-3-27b-it:free", Some(false)),
            ("S3-14", "gemma2:9b", Some(false)),
            ("S3-15", "meta-llama/Llama-3.3-70B-Instruct", Some(false)),
            ("S3-16", "Qwen/Qwen2.5-7B-Instruct", Some(false)),
            ("S3-17", "deepseek/deepseek-chat", Some(false)),
            ("S3-18", "smollm2", None),
            ("S3-18", "mistral-7b-instruct:free", None),
            ("an open model that learned from another one", "qwen3-14b-claude-opus-distill", Some(false)),
            ("not OpenAI's", "EleutherAI/gpt-neo-2.7B", Some(false)),
        ] {
            assert_eq!(takes_tools(model), takes, "{row}: {model}");
        }
    }
}
