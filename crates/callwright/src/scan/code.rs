//! Calls in code that a model shows, or wants run: `for c in cities:⏎    f(city=c)`. Nothing runs code here, so what such a
//! call would do is not known.

/// So much of a text is looked at, in bytes: its end.
const MAX_BACK: usize = 4096;

/// What begins a statement that other ones stand in.
const BLOCKS: &[&str] = &[
    "for", "while", "if", "elif", "else", "def", "async", "try", "except", "finally", "with", "class",
    "match", "case",
];

/// Does what stands behind `before` stand in a block, `for c in cities:⏎    `?
pub(super) fn is_in_block(before: &str) -> bool {
    let mut lines = tail(before).rsplit('\n');
    let own = lines.next().unwrap_or("");
    let depth = indent(own);
    if depth == 0 {
        return false;
    }
    let outer = lines.find(|line| {
        let said = line.trim();
        !said.is_empty() && !said.starts_with('#') && indent(line) < depth
    });
    let outer = outer.unwrap_or("").trim();
    let word = outer.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    outer.ends_with(':') && BLOCKS.contains(&word)
}

/// Is the fence that is open behind `before` one of tool code, which is there to be run?
pub(super) fn is_tool_code(before: &str) -> bool {
    let before = tail(before);
    before.rfind("```").is_some_and(|at| before[at..].starts_with("```tool_code"))
}

/// Does `before` give `word` a value: `word = …` at the beginning of a line, `for word in …`?
pub(super) fn binds(before: &str, word: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    if word.is_empty() || !word.chars().all(is_name) || word.starts_with(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let before = tail(before);
    before.match_indices(word).any(|(at, _)| {
        let (front, behind) = (&before[..at], &before[at + word.len()..]);
        if front.ends_with(is_name) || behind.starts_with(is_name) {
            return false;
        }
        let line = front.rsplit('\n').next().unwrap_or("");
        let behind = behind.trim_start_matches(' ');
        let is_assigned = behind.starts_with('=') && !behind.starts_with("==");
        let is_statement = matches!(line.trim(), "" | "let" | "const" | "var");
        let loops = || line.rsplit_once("for ").is_some_and(|(_, names)| !names.contains(" in "));
        is_assigned && is_statement || behind.starts_with("in ") && loops()
    })
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn tail(text: &str) -> &str {
    let from = text.len().saturating_sub(MAX_BACK);
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(from);
    text.get(from..).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_told_by_what_it_stands_under() {
        for before in [
            "for c in cities:\n    ",
            "```python\nif x:\n    a = 1\n\n    # and\n    print(",
            "def f():\n\treturn ",
            "try:\n  for c in d:\n    ",
        ] {
            assert!(is_in_block(before), "{before}");
        }
        for before in
            ["", "for c in cities:\n", "  ", "Weather:\n    ", "x = [\n    ", "for each city:\n    a\nb\n"]
        {
            assert!(!is_in_block(before), "{before}");
        }
    }

    #[test]
    fn a_variable_is_told_from_a_word() {
        for (before, word) in [
            ("c = 'Paris'\n", "c"),
            ("  c='Paris'\n", "c"),
            ("const c = 1;\n", "c"),
            ("for c in x:\n", "c"),
            ("for i, c in x:\n", "c"),
            ("[f(c) for c in x]", "c"),
        ] {
            assert!(binds(before, word), "{before}");
        }
        for (before, word) in [
            ("", "c"),
            ("f(c='Paris')\n", "c"),
            ("if c == 1:\n", "c"),
            ("abc = 1\n", "c"),
            ("for x in c:\n", "c"),
            ("It is in Paris", "It"),
            ("Live in Paris", "New York"),
        ] {
            assert!(!binds(before, word), "{before}");
        }
    }
}
