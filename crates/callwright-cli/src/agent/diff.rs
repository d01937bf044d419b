//! The change of a file by a call, planned or done: a diff in colour.

use std::fmt::Write;

use callwright_agent::shown;
use similar::{ChangeTag, TextDiff};

use super::paint::{Paint, Style};

/// The number of equal lines around a change.
const CONTEXT: usize = 3;
/// The most lines of one diff.
const MAX_LINES: usize = 200;
/// A longer text is not compared: it would take long, and nobody reads it.
const MAX: usize = 512 << 10;

/// The changes from one text to another, with `path` above them; nothing where there are none.
pub(crate) fn diff(path: &str, before: &str, after: &str, paint: Paint) -> String {
    if before == after {
        return String::new();
    }
    let path = shown(path);
    if MAX < before.len() + after.len() {
        return format!("{path}: {} bytes before, {} after\n", before.len(), after.len());
    }
    let mut out = paint.of(Style::Bold, &path) + "\n";
    let text = TextDiff::from_lines(before, after);
    let mut n_lines = 0;
    for group in text.grouped_ops(CONTEXT) {
        if let (Some(first), Some(last)) = (group.first(), group.last()) {
            let (old, new) = (
                first.old_range().start..last.old_range().end,
                first.new_range().start..last.new_range().end,
            );
            let head = format!("@@ -{},{} +{},{} @@", old.start + 1, old.len(), new.start + 1, new.len());
            let _ = writeln!(out, "{}", paint.of(Style::Cyan, &head));
        }
        for change in group.iter().flat_map(|op| text.iter_changes(op)) {
            n_lines += 1;
            if MAX_LINES < n_lines {
                continue;
            }
            let line = shown(change.value().trim_end_matches('\n'));
            let line = match change.tag() {
                ChangeTag::Insert => paint.of(Style::Green, &format!("+{line}")),
                ChangeTag::Delete => paint.of(Style::Red, &format!("-{line}")),
                ChangeTag::Equal => format!(" {line}"),
            };
            let _ = writeln!(out, "{line}");
        }
    }
    if MAX_LINES < n_lines {
        let _ = writeln!(out, "… {} more lines", n_lines - MAX_LINES);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_stand_between_what_stays() {
        let plain = Paint { is_on: false };
        let before = "a\nb\nc\nd\ne\nf\n";
        let golden = "f.txt\n@@ -1,5 +1,6 @@\n a\n-b\n+B\n+\u{27e8}U+001B\u{27e9}x\n c\n d\n e\n";
        assert_eq!(diff("f.txt", before, "a\nB\n\u{1b}x\nc\nd\ne\nf\n", plain), golden);
        assert_eq!(diff("f.txt", before, before, plain), "");
        assert_eq!(diff("n", "", "a\n", plain), "n\n@@ -1,0 +1,1 @@\n+a\n");
        let colored = diff("f", "a\n", "b\n", Paint { is_on: true });
        assert!(colored.contains("\u{1b}[31m-a\u{1b}[0m\n\u{1b}[32m+b\u{1b}[0m\n"), "{colored:?}");
        let long: String = (0..500).map(|n| format!("{n}\n")).collect();
        assert!(diff("l", "", &long, plain).ends_with("… 300 more lines\n"));
    }
}
