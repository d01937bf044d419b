//! Templates: texts with slots, words in braces such as `{name}`.

use std::borrow::Cow;

/// Fills each word in braces with the text that `slot` gives for it; an unknown word stays, braces and all.
///
/// A text that fills a slot is not read again.
pub(crate) fn fill<'s>(template: &str, slot: impl Fn(&str) -> Option<Cow<'s, str>>) -> String {
    let mut out = String::with_capacity(template.len());
    for (text, word) in pieces(template) {
        out.push_str(text);
        match slot(word) {
            Some(put) => out.push_str(&put),
            None if word.is_empty() => {}
            None => out.extend(["{", word, "}"]),
        }
    }
    out
}

/// Returns the texts of a template, each with the word in braces behind it, `""` at the end: `a{b}c` →
/// `("a", "b"), ("c", "")`.
pub(crate) fn pieces(template: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = Some(template);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let slot = text.match_indices('{').find_map(|(at, _)| Some((at, word(text.get(at + 1..)?)?)));
        let Some((at, word)) = slot else { return Some((text, "")) };
        rest = text.get(at + word.len() + 2..);
        Some((text.get(..at)?, word))
    })
}

/// Returns the word before the closing brace: `name} and more` → `name`
fn word(text: &str) -> Option<&str> {
    let len = text.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
    let (word, behind) = text.split_at_checked(len)?;
    (0 < len && behind.starts_with('}')).then_some(word)
}
