//! Finds the dialect that a model writes by the model's name, in a table of model families.
//!
//! Names come as people write them: `Qwen/Qwen2.5-7B-Instruct`, `qwen2.5:7b`, `qwen/qwen-2.5-7b-instruct:free`,
//! `Qwen2.5-7B-Instruct-Q4_K_M.gguf`. They are cut into words of letters and numbers first, so that all of these hold
//! the words `qwen 2.5`, which the pattern `*qwen*2.5*` asks for.

use crate::syntax::Text;

/// Marks a family that was taught no calls.
const NONE: &str = "";

/// Each dialect with the patterns of its families. A model's name fits if it holds the words in this order; the last
/// may begin a longer one. The first line that fits counts, so fine-tunes stand before their base models, and versions
/// before their family.
const FAMILIES: &[(&str, &[&str])] = &[
    ("functiongemma", &["*functiongemma*"]),
    ("hyperclova_x", &["*hyperclova*"]),
    ("openpangu", &["*openpangu*"]),
    ("functionary_v2", &["*functionary*small*v*2*", "*functionary*medium*v*2*"]),
    ("functionary_v31", &["*functionary*small*v*3.1*", "*functionary*medium*v*3.1*"]),
    ("functionary_v32", &["*functionary*"]),
    ("pythonic", &["*toolace*"]),
    ("deepseek_v31", &["*cogito*v*2*"]),
    ("hermes", &["*hermes*", "*deephermes*", "*xlam*", "*smollm*3*", "*bielik*"]),
    ("hermes", &["*trinity*", "*cogito*", "*granite*4*", "*exaone*4*", "*k*exaone*", "*reka*edge*"]),
    ("qwen3_coder", &["*nemotron*3*", "*step*3.5*", "*step*3.7*", "*step*5*", "*mimo*", "*nanbeige*"]),
    ("llama3_json", &["*nemotron*70*b*"]),
    ("nemotron_deci", &["*nemotron*"]),
    ("deepseek_v41", &["*deepseek*v*4.1*"]),
    ("deepseek_v4", &["*deepseek*v*4*"]),
    ("deepseek_v31", &["*deepseek*v*3.2*exp*", "*deepseek*v*3.1*", "*deepseek*chat*v*3.1*"]),
    ("deepseek_v32", &["*deepseek*v*3.2*"]),
    ("deepseek_v3", &["*deepseek*"]),
    ("phi4mini", &["*firefunction*", "*phi*4*mini*", "*phi*4*multimodal*"]),
    ("kimi_k3", &["*kimi*k*3*"]),
    ("kimi_k2", &["*kimi*"]),
    ("glm45", &["*glm*4.5*", "*glm*4.6*", "*ling*3*", "*laguna*", "*spark*2.5*"]),
    ("glm47", &["*glm*4.7*", "*glm*5*"]),
    ("chatglm3", &["*chatglm*3*"]),
    ("name_line", &["*glm*"]),
    ("iquest_q1", &["*iquest*"]),
    ("jamba", &["*minimax*m*1*", "*jamba*", "*hunyuan*a*13*b*"]),
    ("minimax_m3", &["*minimax*m*3*"]),
    ("minimax_m2", &["*minimax*"]),
    ("harmony", &["*gpt*oss*", "*llm*jp*4.1*"]),
    ("granite20b_fc", &["*granite*20*b*functioncalling*"]),
    ("granite", &["*granite*", "*sarashina*"]),
    ("gemma4", &["*gemma*4*"]),
    ("tool_code", &["*gemma*"]),
    ("cohere", &["*command*a*", "*command*r*7*b*"]),
    ("command_r_plus", &["*command*r*"]),
    ("lfm2", &["*lfm*"]),
    ("olmo3", &["*olmo*3*"]),
    ("internlm2", &["*internlm*", "*intern*s*"]),
    ("hy_v3", &["*hunyuan*", "*hy*3*", "*hy*4*"]),
    ("longcat_xml", &["*longcat*flash*thinking*2601*"]),
    ("longcat", &["*longcat*"]),
    ("apertus", &["*apertus*"]),
    ("solar_open2", &["*solar*open*2*", "*solar*pro*4*"]),
    ("solar", &["*solar*open*"]),
    ("inkling", &["*inkling*"]),
    ("plamo3", &["*plamo*3*"]),
    ("seed_oss", &["*seed*oss*"]),
    ("dots", &["*dots*"]),
    ("gigachat35", &["*gigachat*3.5*"]),
    ("gigachat3", &["*gigachat*"]),
    ("muse", &["*muse*"]),
    ("cwm", &["*cwm*"]),
    ("beam", &["*beam*1*"]),
    ("step3", &["*step*3*"]),
    ("minicpm5", &["*minicpm*"]),
    ("k2_horizon", &["*k*2*horizon*"]),
    (NONE, &["*mistral*7*b*instruct*v*0.1*", "*mistral*7*b*instruct*v*0.2*"]),
    ("mistral_json", &["*ministral*3*b*2410*"]),
    ("mistral_v11", &["*mistral*small*3.2*", "*mistral*medium*3*", "*mistral*large*3*"]),
    ("mistral_v11", &["*ministral*3*", "*magistral*", "*devstral*", "*voxtral*"]),
    ("mistral_json", &["*mistral*", "*mixtral*", "*ministral*", "*pixtral*", "*codestral*"]),
    ("qwen3_coder", &["*qwen*3*coder*", "*qwen*3.5*", "*qwen*3.6*", "*qwen*3.7*", "*qwen*3.8*", "*ornith*"]),
    ("hermes", &["*qwen*", "*qwq*"]),
    ("llama4_pythonic", &["*llama*4*"]),
    ("llama3_json", &["*llama*3.2*11*b*", "*llama*3.2*90*b*", "*llama*3.1*", "*llama*3.3*"]),
    ("llama3_json", &["*llama*v*3.1*", "*llama*v*3.3*"]),
    ("pythonic", &["*llama*3.2*"]),
    ("anthropic_xml", &["*claude*"]),
];

/// Returns the name of the dialect that this model was trained on, if its family is known and was taught one.
pub(super) fn dialect_of(model: &str) -> Option<&'static str> {
    let name = words(model);
    let fits = |family: &&str| name.contains(family.trim_end_matches('*'));
    let line = FAMILIES.iter().find(|(_, families)| families.iter().any(fits));
    line.map(|(dialect, _)| *dialect).filter(|dialect| *dialect != NONE)
}

/// Returns the families of a dialect as patterns of names: `*qwen*3*coder*`.
pub(super) fn patterns(dialect: &str) -> Vec<Text> {
    let lines = FAMILIES.iter().filter(|(of, _)| *of == dialect);
    lines.flat_map(|(_, families)| *families).map(|family| Text::from(*family)).collect()
}

/// Returns whether `name` fits `pattern`: `*` stands for any characters, and case does not count.
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

/// Cuts a model's name into words: `Qwen/Qwen2.5-7B-Instruct` → `*qwen*qwen*2.5*7*b*instruct`; `llama-v3p1` →
/// `*llama*v*3.1`
fn words(model: &str) -> String {
    let mut words = String::with_capacity(model.len() + 8);
    let mut chars = model.chars().map(|c| c.to_ascii_lowercase()).peekable();
    // `Some(true)` within a word of digits, `None` in a gap.
    let mut in_digits = None;
    while let Some(c) = chars.next() {
        // A point between digits belongs to a version, and so does the `p` that replaces it.
        if matches!(c, '.' | 'p') && in_digits == Some(true) && chars.peek().is_some_and(char::is_ascii_digit)
        {
            words.push('.');
            continue;
        }
        let is_digit = c.is_alphanumeric().then(|| c.is_ascii_digit());
        if is_digit.is_some() && is_digit != in_digits {
            words.push('*');
        }
        words.extend(is_digit.map(|_| c));
        in_digits = is_digit;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for (model, expected) in [
            ("Qwen/Qwen2.5-7B-Instruct", "*qwen*qwen*2.5*7*b*instruct"),
            ("qwen2.5:7b", "*qwen*2.5*7*b"),
            ("accounts/fireworks/models/llama-v3p1-8b", "*accounts*fireworks*models*llama*v*3.1*8*b"),
            ("dots.llm1", "*dots*llm*1"),
            ("", ""),
        ] {
            assert_eq!(words(model), expected);
        }
    }

    #[test]
    fn families_write_what_there_is() {
        let dialects = crate::Dialects::default();
        for (dialect, families) in FAMILIES {
            assert!(*dialect == NONE || dialects.get(dialect).is_some(), "{dialect}");
            for family in *families {
                assert_eq!(words(family) + "*", *family, "it is written as names are read");
            }
        }
    }
}
