//! Templates: texts with words in braces, `{name}`, for which something is put.

use std::borrow::Cow;

/// `template` with what `slot` says for each word in braces; a word that it does not know stays, braces and all.
///
/// What is put in is not looked at again.
pub(super) fn fill<'s>(template: &str, slot: impl Fn(&str) -> Option<Cow<'s, str>>) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(brace) = rest.find('{') {
        let (before, from) = rest.split_at(brace);
        out.push_str(before);
        match from.get(1..).and_then(word).and_then(|word| slot(word).map(|put| (word, put))) {
            Some((word, put)) => {
                out.push_str(&put);
                rest = from.get(word.len() + 2..).unwrap_or("");
            }
            None => {
                out.push('{');
                rest = from.get(1..).unwrap_or("");
            }
        }
    }
    out.push_str(rest);
    out
}

/// `name} and more` → `name`
fn word(text: &str) -> Option<&str> {
    let len = text.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
    (text.as_bytes().get(len) == Some(&b'}')).then(|| text.get(..len)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_are_slots() {
        let filled = |template: &str| {
            fill(template, |word| match word {
                "a" => Some(Cow::Borrowed("{b}")),
                "b" => Some(Cow::Borrowed("2")),
                _ => None,
            })
        };
        for (template, expected) in [
            ("{a}{b}", "{b}2"),
            ("{{a}: {b}}", "{{b}: 2}"),
            ("{c} {...} {\"a\": 1} {} {a", "{c} {...} {\"a\": 1} {} {a"),
            ("{a-b}{é}{", "{a-b}{é}{"),
        ] {
            assert_eq!(filled(template), expected, "{template}");
        }
    }
}
