//! Comments that models write between the pieces of a call: `// x⏎`, `# x⏎`, `/* x */`, `<!-- x -->`.

use crate::syntax::{Incomplete, Seen};

/// Longest comment that is skipped, in bytes.
const MAX_COMMENT: usize = 512;

/// The beginning and the end of each sort of comment. The line break behind a comment stays outside.
const SORTS: [(&[u8], &[u8]); 4] = [(b"//", b"\n"), (b"#", b"\n"), (b"/*", b"*/"), (b"<!--", b"-->")];

/// Returns the length of the comment at the start of `bytes`. A comment without its end may grow.
pub(crate) fn comment(bytes: &[u8]) -> Seen<usize> {
    let Some((open, close)) = SORTS.iter().find(|(open, _)| bytes.starts_with(open)) else {
        let is_begun = !bytes.is_empty() && SORTS.iter().any(|(open, _)| open.starts_with(bytes));
        return if is_begun { Err(Incomplete) } else { Ok(None) };
    };
    let inside = bytes.get(open.len()..bytes.len().min(MAX_COMMENT)).unwrap_or(&[]);
    match memchr::memmem::find(inside, close) {
        Some(len) if close == b"\n" => Ok(Some(open.len() + len)),
        Some(len) => Ok(Some(open.len() + len + close.len())),
        None if bytes.len() < MAX_COMMENT => Err(Incomplete),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_ends_with_its_own_mark() {
        let long = format!("// {}", "x".repeat(MAX_COMMENT));
        for (text, fit) in [
            ("// a\n{", Ok(Some(4))),
            ("# a\n", Ok(Some(3))),
            ("/* a\n */ b", Ok(Some(8))),
            ("<!-- a -->b", Ok(Some(10))),
            ("/", Err(Incomplete)),
            ("<!-", Err(Incomplete)),
            ("<!-- a --", Err(Incomplete)),
            ("// a", Err(Incomplete)),
            (&long, Ok(None)),
            ("<a>", Ok(None)),
            ("", Ok(None)),
        ] {
            assert_eq!(comment(text.as_bytes()), fit, "{text}");
        }
    }
}
