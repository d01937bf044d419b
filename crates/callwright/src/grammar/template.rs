//! Templates: texts with words in braces, `{name}`, for which something is put.

use std::borrow::Cow;

/// `template` with what `slot` says for each word in braces; a word that it does not know stays, braces and all.
///
/// What is put in is not looked at again.
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

/// The texts of a template, each with the word in braces behind it, `""` at the end: `a{b}c` → `("a", "b"), ("c", "")`.
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

/// `name} and more` → `name`
fn word(text: &str) -> Option<&str> {
    let len = text.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
    let (word, behind) = text.split_at_checked(len)?;
    (0 < len && behind.starts_with('}')).then_some(word)
}
