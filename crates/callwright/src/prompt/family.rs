//! Which dialect a model is best taught, where nobody has said: a table of model families.

use super::PromptDialect;

/// What a model's name holds, in lower case, and the dialect that its family was trained on.
const FAMILIES: &[(&str, PromptDialect)] = &[
    ("hermes", PromptDialect::Hermes),
    ("qwen", PromptDialect::Hermes),
    ("qwq", PromptDialect::Hermes),
    ("gemma-2", PromptDialect::ToolCode),
    ("gemma2", PromptDialect::ToolCode),
    ("gemma-3", PromptDialect::ToolCode),
    ("gemma3", PromptDialect::ToolCode),
];

/// The dialect for the model of this name; [`PromptDialect::Json`] for a family that is not known.
pub fn dialect_for(model: &str) -> PromptDialect {
    let model = model.to_ascii_lowercase();
    let known = FAMILIES.iter().find(|(family, _)| model.contains(family));
    known.map_or(PromptDialect::Json, |(_, dialect)| *dialect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_their_names() {
        for (model, dialect) in [
            ("Qwen/Qwen2.5-7B-Instruct", PromptDialect::Hermes),
            ("google/gemma-3-27b-it", PromptDialect::ToolCode),
            ("smollm2", PromptDialect::Json),
            ("", PromptDialect::Json),
        ] {
            assert_eq!(dialect_for(model), dialect, "{model}");
        }
    }
}
