//! Rust as tokens: in goes a file, out come its words and signs with their lines, without comments and tests.

/// A word, a sign, or a literal.
#[derive(Clone, Copy)]
pub(super) struct Token<'t> {
    /// The word or the sign; `""` for each literal in quotes.
    pub(super) text: &'t str,
    pub(super) first_line: usize,
    pub(super) last_line: usize,
}

impl Token<'_> {
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Signs of two characters.
const PAIRS: [&str; 5] = ["::", "->", "=>", "&&", "||"];

/// The tokens of a file, without those of items behind `#[cfg(test)]`.
pub(super) fn tokens(file: &str) -> Vec<Token<'_>> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let all = all(file);
    let mut kept = Vec::with_capacity(all.len());
    let mut rest = all.as_slice();
    while let Some((token, behind)) = rest.split_first() {
        if rest.iter().map(|token| token.text).take(TEST.len()).eq(TEST) {
            rest = behind_item(&rest[TEST.len()..]);
        } else {
            kept.push(*token);
            rest = behind;
        }
    }
    kept
}

fn all(file: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(c) = file[at..].chars().next() {
        let rest = &file[at..];
        let until = |end: &str| rest.find(end).map_or(rest.len(), |found| found + end.len());
        let (text, len) = match literal(rest) {
            Some(len) => (Some("\"\""), len),
            None if c.is_whitespace() => (None, c.len_utf8()),
            None if rest.starts_with("//") => (None, until("\n")),
            None if rest.starts_with("/*") => (None, until("*/")),
            None => {
                let len = word_or_sign(rest);
                (Some(&rest[..len]), len)
            }
        };
        let last_line = line + rest[..len].matches('\n').count();
        tokens.extend(text.map(|text| Token { text, first_line: line, last_line }));
        (at, line) = (at + len, last_line);
    }
    tokens
}

/// The length of the word or the sign at the start of `rest`.
fn word_or_sign(rest: &str) -> usize {
    let is_in_word = |c: char| c.is_alphanumeric() || c == '_';
    match rest.len() - rest.trim_start_matches(is_in_word).len() {
        0 if PAIRS.iter().any(|pair| rest.starts_with(pair)) => 2,
        0 => rest.chars().next().map_or(0, char::len_utf8),
        len => len,
    }
}

/// The length of the literal in quotes at the start of `rest`: `'c'`, `b"text"`, `r#"text"#`.
fn literal(rest: &str) -> Option<usize> {
    let quoted = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let before = rest.len() - quoted.len();
    if let Some(raw) = quoted.strip_prefix('r') {
        let hashes = &raw[..raw.len() - raw.trim_start_matches('#').len()];
        let inner = raw[hashes.len()..].strip_prefix('"')?;
        let closer = format!("\"{hashes}");
        return Some(rest.len() - inner.len() + inner.find(&closer)? + closer.len());
    }
    let quote = quoted.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = &quoted[1..];
    let mut is_escaped = false;
    let end = inner.find(|c| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    })?;
    // A lifetime has no quote behind its first letter.
    let is_letter = inner[..end].chars().count() == 1 || inner.starts_with('\\');
    (quote == '"' || is_letter).then_some(before + 1 + end + 1)
}

/// What stands behind the item at the start of `tokens`: behind its `;` or `,`, or the bracket that closes its body.
fn behind_item<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let mut depth = 0usize;
    for (n, token) in (1..).zip(tokens) {
        match token.text {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" if depth == 0 => return &tokens[n - 1..],
            "}" if depth == 1 => return &tokens[n..],
            "}" | ")" | "]" => depth -= 1,
            ";" | "," if depth == 0 => return &tokens[n..],
            _ => {}
        }
    }
    &[]
}
