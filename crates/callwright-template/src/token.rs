//! Markup in pieces that are never torn: `<tool_call>`, `[ARGS]`, a word, a single sign.

/// The pairs of brackets that a marker may stand in.
const PAIRS: &[(char, char)] = &[
    ('<', '>'),
    ('[', ']'),
    ('⟦', '⟧'),
    ('⟨', '⟩'),
    ('⟪', '⟫'),
    ('「', '」'),
    ('『', '』'),
    ('【', '】'),
    ('《', '》'),
    ('〈', '〉'),
    ('«', '»'),
    ('‹', '›'),
    ('❮', '❯'),
];
/// The longest marker, in bytes.
const MAX_MARKER: usize = 128;

/// The pieces of `text`.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = marker(rest, first).unwrap_or_else(|| match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        });
        let (token, behind) = rest.split_at(len);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// The length of the marker that `text` begins with.
fn marker(text: &str, first: char) -> Option<usize> {
    let (open, close) = PAIRS.iter().find(|(open, _)| *open == first)?;
    // `[[call f]]`
    let twice = text[first.len_utf8()..].starts_with(first);
    for (at, c) in text.char_indices().skip(1 + usize::from(twice)) {
        let end = at + c.len_utf8();
        if c == *close && (!twice || text[end..].starts_with(c)) {
            let end = if twice { end + c.len_utf8() } else { end };
            return (first.len_utf8() < at && end <= MAX_MARKER).then_some(end);
        }
        let is_value = matches!(c, '{' | '(') || *open == '[' && matches!(c, '"' | '\'' | ',');
        if c == *open || c == '\n' || is_value || MAX_MARKER < end {
            return None;
        }
    }
    None
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The number of bytes that `a` and `b` have in common at their beginning, in whole pieces.
pub(crate) fn common_prefix(a: &str, b: &str) -> usize {
    let pairs = tokens(a).into_iter().zip(tokens(b));
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum()
}

/// The number of bytes that they have in common at their end.
pub(crate) fn common_suffix(a: &str, b: &str) -> usize {
    let (a, b) = (tokens(a), tokens(b));
    let pairs = a.iter().rev().zip(b.iter().rev());
    pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_whole() {
        let text = "<|a▁b|>f\n[ARGS][{\"x\": [1]}]⟦do⟧<invoke name=\"f\">[[call f]]a < b";
        let expected = [
            "<|a▁b|>",
            "f",
            "\n",
            "[ARGS]",
            "[",
            "{",
            "\"",
            "x",
            "\"",
            ":",
            " ",
            "[1]",
            "}",
            "]",
            "⟦do⟧",
            "<invoke name=\"f\">",
            "[[call f]]",
            "a",
            " ",
            "<",
            " ",
            "b",
        ];
        assert_eq!(tokens(text), expected);
        assert_eq!(common_prefix("<think>a", "<tool>a"), 0);
        assert_eq!(common_suffix("x><end>\n", "y><end>\n"), ">".len() + "<end>\n".len());
    }
}
