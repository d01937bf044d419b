//! What a model says, drawn line by line as it comes: headings, lists, emphasis, code and diffs in colour.
//!
//! A line is drawn when it is whole. Only what a line says of itself counts, and whether it stands in a fence: a text
//! that is still being written has no other structure yet.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::paint::{Paint, Style};
use crate::harmless::harmless;

/// A text under way.
#[derive(Debug)]
pub(crate) struct Markdown {
    paint: Paint,
    line: String,
    /// The fence that is open: its marks, and whether a diff is inside.
    fence: Option<(String, bool)>,
}

impl Markdown {
    pub(crate) fn new(paint: Paint) -> Markdown {
        Markdown { paint, line: String::new(), fence: None }
    }

    /// Has no line begun?
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty()
    }

    /// Takes the next piece, and returns what can be drawn now.
    ///
    /// Without colour that is the piece itself, made harmless.
    pub(crate) fn feed(&mut self, piece: &str) -> String {
        if !self.paint.is_on {
            return harmless(piece).into_owned();
        }
        let mut out = String::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                out.push_str(&self.drawn(line.trim_end_matches('\n')));
                out.push('\n');
            }
        }
        out
    }

    /// The text is over: what is left of it, without a line end.
    pub(crate) fn finish(&mut self) -> String {
        self.fence = None;
        let line = std::mem::take(&mut self.line);
        if line.is_empty() { line } else { self.drawn(&line) }
    }

    fn drawn(&mut self, line: &str) -> String {
        let line = harmless(line);
        let bare = line.trim_start();
        let marks: String = bare.chars().take_while(|c| *c == '`').collect();
        let tildes: String = bare.chars().take_while(|c| *c == '~').collect();
        let marks = if marks.is_empty() { tildes } else { marks };
        match &self.fence {
            Some((open, _))
                if open.len() <= marks.len() && marks.starts_with(open.as_str()) && bare.trim() == marks =>
            {
                self.fence = None;
                return self.paint.of(Style::Dim, &line);
            }
            Some((_, is_diff)) => return self.code(&line, *is_diff),
            None if 3 <= marks.len() => {
                let label = bare.trim_start_matches(['`', '~']).trim();
                self.fence = Some((marks, matches!(label, "diff" | "patch")));
                return self.paint.of(Style::Dim, &line);
            }
            None => {}
        }
        // Four spaces are code to Markdown; to a model that nests a list they are depth.
        let depth = line.len() - bare.len();
        format!("{}{}", &line[..depth], self.prose(bare))
    }

    fn code(&self, line: &str, is_diff: bool) -> String {
        match line.chars().next() {
            Some('+') if is_diff => self.paint.of(Style::Green, line),
            Some('-') if is_diff => self.paint.of(Style::Red, line),
            Some('@') if is_diff => self.paint.of(Style::Cyan, line),
            _ => self.paint.of(Style::Code, line),
        }
    }

    /// One line outside a fence. What its marks do is drawn instead of them; what they are not is drawn as it is.
    fn prose(&self, line: &str) -> String {
        let mut out = String::new();
        let mut styles: Vec<Style> = Vec::new();
        let mut links: Vec<String> = Vec::new();
        for event in Parser::new(line) {
            match event {
                Event::Start(Tag::Heading { .. }) => styles.push(Style::Cyan),
                Event::Start(Tag::Strong) => styles.push(Style::Bold),
                Event::Start(Tag::Emphasis) => styles.push(Style::Italic),
                Event::Start(Tag::List(Some(number))) => out.push_str(&format!("{number}. ")),
                Event::Start(Tag::List(None)) => out.push_str("• "),
                Event::Start(Tag::BlockQuote(_)) => {
                    out.push_str(&self.paint.of(Style::Dim, "│ "));
                    styles.push(Style::Dim);
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    links.push(dest_url.into_string());
                }
                Event::End(
                    TagEnd::Heading(_) | TagEnd::Strong | TagEnd::Emphasis | TagEnd::BlockQuote(_),
                ) => {
                    styles.pop();
                }
                Event::End(TagEnd::Link | TagEnd::Image) => {
                    let to = links.pop().unwrap_or_default();
                    out.push_str(&self.paint.of(Style::Dim, &format!(" <{}>", harmless(&to))));
                }
                Event::Code(text) => out.push_str(&self.paint.of(Style::Code, &harmless(&text))),
                // An entity such as `&#27;` has become a character: again what a terminal would obey is taken out.
                Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                    out.push_str(&self.paint.all(&styles, &harmless(&text)));
                }
                Event::Rule => out.push_str(&self.paint.of(Style::Dim, &"─".repeat(40))),
                Event::SoftBreak | Event::HardBreak => out.push(' '),
                _ => {}
            }
        }
        // A line that is nothing but marks, such as `#` or a definition of a link.
        if out.is_empty() { line.to_owned() } else { out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, is_on: bool) -> String {
        let mut markdown = Markdown::new(Paint { is_on });
        let mut out = String::new();
        // Byte by byte: a line is drawn once, wherever it was cut.
        for c in text.chars() {
            out.push_str(&markdown.feed(&c.to_string()));
        }
        out + &markdown.finish()
    }

    #[test]
    fn marks_become_colour() {
        for (text, looks) in [
            ("# Plan\n", "\u{1b}[36;1mPlan\u{1b}[0m\n"),
            ("a **b** `c` *d*", "a \u{1b}[1mb\u{1b}[0m \u{1b}[36mc\u{1b}[0m \u{1b}[3md\u{1b}[0m"),
            ("- one\n    - two\n2. three", "• one\n    • two\n2. three"),
            (
                "```rust\nlet a = *b;\n```\nx",
                "\u{1b}[2m```rust\u{1b}[0m\n\u{1b}[36mlet a = *b;\u{1b}[0m\n\u{1b}[2m```\u{1b}[0m\nx",
            ),
            (
                "~~~diff\n+a\n-b\n c\n~~~",
                "\u{1b}[2m~~~diff\u{1b}[0m\n\u{1b}[32m+a\u{1b}[0m\n\u{1b}[31m-b\u{1b}[0m\n\u{1b}[36m c\u{1b}[0m\n\u{1b}[2m~~~\u{1b}[0m",
            ),
            ("[a](http://b)", "a\u{1b}[2m <http://b>\u{1b}[0m"),
            ("2 * 3 * 4, a_b_c, <T>, #", "2 * 3 * 4, a_b_c, <T>, #"),
        ] {
            assert_eq!(drawn(text, true), looks, "{text}");
            assert_eq!(drawn(text, false), text);
        }
    }

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile =
            "a\u{1b}[2Jb &#27;[2J `\u{9b}2J` [x](http://\u{7}) \u{202e}\n```\n\u{1b}]0;x\u{7}\n```\n";
        let plain = drawn(hostile, false);
        assert!(!plain.contains(|c: char| c.is_control() && c != '\n'), "{plain:?}");
        // In colour only our own sequences are left, which end in `m`.
        let colored = drawn(hostile, true);
        for part in colored.split('\u{1b}').skip(1) {
            let end = part.find('m').expect("a sequence of ours");
            assert!(part[1..end].chars().all(|c| c.is_ascii_digit() || c == ';'), "{colored:?}");
        }
        assert!(!colored.contains(['\u{9b}', '\u{202e}', '\u{7}']), "{colored:?}");
    }
}
