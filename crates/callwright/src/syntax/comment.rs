//! Comments, which models write between the pieces of a call: `// x⏎`, `# x⏎`, `/* x */`, `<!-- x -->`.

use super::marks::Fit;

/// The longest comment that is stepped over, in bytes.
pub(crate) const MAX_COMMENT: usize = 512;

/// How comments begin and end. The line break behind one is none of it.
const SORTS: [(&[u8], &[u8]); 4] = [(b"//", b"\n"), (b"#", b"\n"), (b"/*", b"*/"), (b"<!--", b"-->")];

/// Does `bytes` begin with a comment? One whose end has not come yet may grow.
pub(crate) fn comment(bytes: &[u8]) -> Fit {
    let Some((open, close)) = SORTS.iter().find(|(open, _)| bytes.starts_with(open)) else {
        let is_begun = !bytes.is_empty() && SORTS.iter().any(|(open, _)| open.starts_with(bytes));
        return if is_begun { Fit::Grows } else { Fit::No };
    };
    let inside = bytes.get(open.len()..bytes.len().min(MAX_COMMENT)).unwrap_or(&[]);
    match memchr::memmem::find(inside, close) {
        Some(len) if close == b"\n" => Fit::Is(open.len() + len),
        Some(len) => Fit::Is(open.len() + len + close.len()),
        None if bytes.len() < MAX_COMMENT => Fit::Grows,
        None => Fit::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_ends_with_its_own_mark() {
        let long = format!("// {}", "x".repeat(MAX_COMMENT));
        for (text, fit) in [
            ("// a\n{", Fit::Is(4)),
            ("# a\n", Fit::Is(3)),
            ("/* a\n */ b", Fit::Is(8)),
            ("<!-- a -->b", Fit::Is(10)),
            ("/", Fit::Grows),
            ("<!-", Fit::Grows),
            ("<!-- a --", Fit::Grows),
            ("// a", Fit::Grows),
            (&long, Fit::No),
            ("<a>", Fit::No),
            ("", Fit::No),
        ] {
            assert_eq!(comment(text.as_bytes()), fit, "{text}");
        }
    }
}
