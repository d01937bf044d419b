//! Which dialect a model writes, by its name: a table of model families.
//!
//! Names come as people write them: `Qwen/Qwen2.5-7B-Instruct`, `qwen2.5:7b`, `qwen/qwen-2.5-7b-instruct:free`,
//! `Qwen2.5-7B-Instruct-Q4_K_M.gguf`. They are cut into words of letters and numbers first, so that all of these hold
//! the words `qwen 2.5`.

use crate::syntax::Text;

/// The family was taught no calls.
const NONE: &str = "";

/// Words that a model's name holds one behind the other, and the dialect of its family. The first line that fits counts,
/// so fine-tunes stand before what they are made from, and versions before their family. The last word of a line may be
/// the beginning of a name's.
const FAMILIES: &[(&str, &str)] = &[
    ("functiongemma", "functiongemma"),
    ("hyperclova", "hyperclova_x"),
    ("openpangu", "openpangu"),
    ("functionary small v 3.1", "functionary_v31"),
    ("functionary medium v 3.1", "functionary_v31"),
    ("functionary", "functionary_v32"),
    ("firefunction", "phi4mini"),
    ("toolace", "pythonic"),
    ("hermes", "hermes"),
    ("deephermes", "hermes"),
    ("xlam", "hermes"),
    ("smollm 3", "hermes"),
    ("bielik", "hermes"),
    ("trinity", "hermes"),
    ("cogito v 2", "deepseek_v31"),
    ("cogito", "hermes"),
    ("nemotron 3", "qwen3_coder"),
    ("nemotron 70 b", "llama3_json"),
    ("nemotron", "nemotron_deci"),
    ("deepseek v 4.1", "deepseek_v41"),
    ("deepseek v 4", "deepseek_v4"),
    ("deepseek v 3.2 exp", "deepseek_v31"),
    ("deepseek v 3.2", "deepseek_v32"),
    ("deepseek v 3.1", "deepseek_v31"),
    ("deepseek chat v 3.1", "deepseek_v31"),
    ("deepseek", "deepseek_v3"),
    ("kimi k 3", "kimi_k3"),
    ("kimi", "kimi_k2"),
    ("glm 4.5", "glm45"),
    ("glm 4.6", "glm45"),
    ("glm 4.7", "glm47"),
    ("glm 5", "glm47"),
    ("glm", "name_line"),
    ("ling 3", "glm45"),
    ("laguna", "glm45"),
    ("spark 2.5", "glm45"),
    ("iquest", "iquest_q1"),
    ("minimax m 3", "minimax_m3"),
    ("minimax m 1", "jamba"),
    ("minimax", "minimax_m2"),
    ("gpt oss", "harmony"),
    ("granite 20 b functioncalling", "granite20b_fc"),
    ("granite 4", "hermes"),
    ("granite", "granite"),
    ("phi 4 mini", "phi4mini"),
    ("phi 4 multimodal", "phi4mini"),
    ("gemma 4", "gemma4"),
    ("gemma", "tool_code"),
    ("command a", "cohere"),
    ("command r 7 b", "cohere"),
    ("command r", "command_r_plus"),
    ("lfm", "lfm2"),
    ("olmo 3", "olmo3"),
    ("internlm", "internlm2"),
    ("intern s", "internlm2"),
    ("jamba", "jamba"),
    ("hunyuan a 13 b", "jamba"),
    ("hunyuan", "hy_v3"),
    ("hy 3", "hy_v3"),
    ("hy 4", "hy_v3"),
    ("longcat", "longcat"),
    ("apertus", "apertus"),
    ("solar open 2", "solar_open2"),
    ("solar pro 4", "solar_open2"),
    ("solar open", "solar"),
    ("inkling", "inkling"),
    ("plamo 3", "plamo3"),
    ("seed oss", "seed_oss"),
    ("dots", "dots"),
    ("gigachat 3.5", "gigachat35"),
    ("gigachat", "gigachat3"),
    ("muse", "muse"),
    ("beam 1", "beam"),
    ("step 3.5", "qwen3_coder"),
    ("step 3.7", "qwen3_coder"),
    ("step 5", "qwen3_coder"),
    ("step 3", "step3"),
    ("minicpm", "minicpm5"),
    ("k 2 horizon", "k2_horizon"),
    ("sarashina", "granite"),
    ("mimo", "qwen3_coder"),
    ("nanbeige", "qwen3_coder"),
    ("mistral 7 b instruct v 0.1", NONE),
    ("mistral 7 b instruct v 0.2", NONE),
    ("mistral small 3.2", "mistral_v11"),
    ("mistral medium 3", "mistral_v11"),
    ("mistral large 3", "mistral_v11"),
    ("ministral 3 b 2410", "mistral_json"),
    ("ministral 3", "mistral_v11"),
    ("magistral", "mistral_v11"),
    ("devstral", "mistral_v11"),
    ("voxtral", "mistral_v11"),
    ("mistral", "mistral_json"),
    ("mixtral", "mistral_json"),
    ("ministral", "mistral_json"),
    ("pixtral", "mistral_json"),
    ("codestral", "mistral_json"),
    ("qwen 3 coder", "qwen3_coder"),
    ("qwen 3.5", "qwen3_coder"),
    ("qwen 3.6", "qwen3_coder"),
    ("qwen 3.7", "qwen3_coder"),
    ("qwen 3.8", "qwen3_coder"),
    ("qwen", "hermes"),
    ("qwq", "hermes"),
    ("llama 4", "llama4_pythonic"),
    ("llama 3.2 11 b", "llama3_json"),
    ("llama 3.2 90 b", "llama3_json"),
    ("llama 3.2", "pythonic"),
    ("llama 3.1", "llama3_json"),
    ("llama 3.3", "llama3_json"),
    ("llama v 3.1", "llama3_json"),
    ("llama v 3.3", "llama3_json"),
    ("claude", "anthropic_xml"),
];

/// The name of the dialect that the model of this name was trained on, if its family is known and was taught one.
pub(super) fn dialect_of(model: &str) -> Option<&'static str> {
    let name = words(model);
    let from_each_word: Vec<&str> = name.match_indices(' ').map(|(at, _)| &name[at + 1..]).collect();
    let fits = |family: &str| from_each_word.iter().any(|words| words.starts_with(family));
    let family = FAMILIES.iter().find(|(family, _)| fits(family));
    family.map(|(_, dialect)| *dialect).filter(|dialect| *dialect != NONE)
}

/// The families of a dialect as patterns of names: `qwen 3 coder` → `*qwen*3*coder*`.
pub(super) fn patterns(dialect: &str) -> Vec<Text> {
    let families = FAMILIES.iter().filter(|(_, of)| *of == dialect);
    families.map(|(family, _)| format!("*{}*", family.replace(' ', "*")).into()).collect()
}

/// Does `name` fit `pattern`, in which `*` stands for any characters? Case does not count.
///
/// ```
/// assert!(callwright::fits("*gemma*", "google/Gemma-3-27b-it:free"));
/// assert!(!callwright::fits("gpt-4o", "gpt-4o-mini"));
/// ```
pub fn fits(pattern: &str, name: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let Some(rest) = parts.next().and_then(|head| name.strip_prefix(head)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    let middle = parts.try_fold(rest, |rest, part| rest.find(part).map(|at| &rest[at + part.len()..]));
    middle.is_some_and(|rest| rest.ends_with(last))
}

/// `Qwen/Qwen2.5-7B-Instruct` → ` qwen qwen 2.5 7 b instruct`; `llama-v3p1` → ` llama v 3.1`
fn words(model: &str) -> String {
    #[derive(PartialEq)]
    enum Last {
        Gap,
        Letter,
        Digit,
    }
    let mut words = String::with_capacity(model.len() + 8);
    let mut last = Last::Gap;
    let mut chars = model.chars().map(|c| c.to_ascii_lowercase()).peekable();
    while let Some(c) = chars.next() {
        let is_digit_next = chars.peek().is_some_and(char::is_ascii_digit);
        let now = match c {
            '0'..='9' => Last::Digit,
            // A point between digits is one of a version, and so is the `p` that stands for it.
            '.' | 'p' if last == Last::Digit && is_digit_next => {
                words.push('.');
                continue;
            }
            c if c.is_alphanumeric() => Last::Letter,
            _ => Last::Gap,
        };
        if now != Last::Gap {
            if now != last {
                words.push(' ');
            }
            words.push(c);
        }
        last = now;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (model, expected) in [
            ("Qwen/Qwen2.5-7B-Instruct", " qwen qwen 2.5 7 b instruct"),
            ("qwen2.5:7b", " qwen 2.5 7 b"),
            ("accounts/fireworks/models/llama-v3p1-8b", " accounts fireworks models llama v 3.1 8 b"),
            ("dots.llm1", " dots llm 1"),
            ("", ""),
        ] {
            assert_eq!(words(model), expected);
        }
    }

    #[test]
    fn families_write_what_there_is() {
        let dialects = crate::Dialects::default();
        for (family, dialect) in FAMILIES {
            assert!(*dialect == NONE || dialects.get(dialect).is_some(), "{family} {dialect}");
            assert_eq!(words(family).trim_start(), *family, "it is written as names are read");
        }
    }
}
