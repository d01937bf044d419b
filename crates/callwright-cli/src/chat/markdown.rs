//! Draws a model's words line by line as they come: headings, lists, emphasis, code and diffs in colour.
//!
//! A line is drawn when it is whole. One that may have begun something that its paragraph ends further down, `**so`, is held
//! back with those behind it until that is settled: what is drawn is never taken back.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::agent::paint::{Paint, Style};
use crate::harmless::harmless;

/// So many lines are held back at most, and so many bytes.
const HELD: usize = 12;
const HELD_BYTES: usize = 8192;

/// A text under way.
#[derive(Debug)]
pub(crate) struct Markdown {
    paint: Paint,
    line: String,
    /// Whole lines of a paragraph that are not drawn yet. They are harmless.
    held: Vec<String>,
    /// The fence that is open: its marks, and whether a diff is inside.
    fence: Option<(String, bool)>,
}

impl Markdown {
    pub(crate) fn new(paint: Paint) -> Markdown {
        Markdown { paint, line: String::new(), held: Vec::new(), fence: None }
    }

    /// Returns whether no line has begun.
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty() && self.held.is_empty()
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
                out.push_str(&self.whole(line.trim_end_matches('\n')));
            }
        }
        out
    }

    /// The text is over: what is left of it. Its last line has an end only if it had one.
    pub(crate) fn finish(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        let mut rest = if line.is_empty() { String::new() } else { self.whole(&line) };
        if !self.held.is_empty() {
            rest.push_str(&self.released());
            rest.push('\n');
        }
        if !line.is_empty() {
            rest.pop();
        }
        self.fence = None;
        rest
    }

    /// A line is whole: what can be drawn now, each line with its end.
    fn whole(&mut self, line: &str) -> String {
        let line = harmless(line).into_owned();
        let mut out = String::new();
        if !self.held.is_empty() && !continues(&line) {
            out = self.released() + "\n";
        }
        if self.held.is_empty()
            && let Some(drawn) = self.fenced(&line)
        {
            return out + &drawn + "\n";
        }
        self.held.push(line);
        if !self.is_open() {
            out.push_str(&self.released());
            out.push('\n');
        }
        out
    }

    /// A line that opens or closes a fence, or stands in one.
    fn fenced(&mut self, line: &str) -> Option<String> {
        let bare = line.trim_start();
        let marks = marks(bare);
        match &self.fence {
            Some((open, _))
                if open.len() <= marks.len() && marks.starts_with(open.as_str()) && bare.trim() == marks =>
            {
                self.fence = None;
                Some(self.paint.of(Style::Dim, line))
            }
            Some((_, is_diff)) => Some(self.code(line, *is_diff)),
            None if 3 <= marks.len() => {
                let label = bare.trim_start_matches(['`', '~']).trim();
                self.fence = Some((marks.to_owned(), matches!(label, "diff" | "patch")));
                Some(self.paint.of(Style::Dim, line))
            }
            None => None,
        }
    }

    /// Returns whether the next line may end something that began in the lines that are held.
    fn is_open(&self) -> bool {
        let Some(first) = self.held.first() else { return false };
        let bytes: usize = self.held.iter().map(String::len).sum();
        // A heading is one line; a quotation has its own marks on each.
        if HELD <= self.held.len() || HELD_BYTES < bytes || first.trim_start().starts_with(['#', '>']) {
            return false;
        }
        let text = joined(&self.held);
        let spans = spans(&text);
        // A letter in the next line, and a mark that can only end something.
        ["`", "``", "*", "**", "_", "__"].iter().any(|mark| spans < self::spans(&format!("{text}\nx{mark}")))
    }

    /// The lines that were held back, without an end behind the last one.
    fn released(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        self.prose(&held).unwrap_or_else(|| {
            let alone =
                |line: &String| self.prose(std::slice::from_ref(line)).unwrap_or_else(|| line.clone());
            held.iter().map(alone).collect::<Vec<_>>().join("\n")
        })
    }

    fn code(&self, line: &str, is_diff: bool) -> String {
        match line.chars().next() {
            Some('+') if is_diff => self.paint.of(Style::Green, line),
            Some('-') if is_diff => self.paint.of(Style::Red, line),
            Some('@') if is_diff => self.paint.of(Style::Cyan, line),
            _ => self.paint.of(Style::Code, line),
        }
    }

    /// Lines of a paragraph. What their marks do is drawn instead of them; what they are not is drawn as it is. None where
    /// they come to something that is not a paragraph.
    fn prose(&self, lines: &[String]) -> Option<String> {
        let text = joined(lines);
        // Four spaces are code to Markdown; to a model that nests a list they are depth.
        let mut depths = lines.iter().map(|line| &line[..line.len() - line.trim_start().len()]);
        let mut out = depths.next().unwrap_or_default().to_owned();
        let begin = out.len();
        let mut styles: Vec<Style> = Vec::new();
        let mut links: Vec<String> = Vec::new();
        for (event, at) in Parser::new(&text).into_offset_iter() {
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
                Event::Code(code) => {
                    // The parser makes one line of it.
                    let source = text.get(at).unwrap_or_default();
                    let mut parts = match source.contains('\n') {
                        true => source.trim_matches('`').split('\n'),
                        false => code.split('\n'),
                    };
                    out.push_str(&self.paint.of(Style::Code, &harmless(parts.next().unwrap_or_default())));
                    for part in parts {
                        out.push('\n');
                        out.push_str(depths.next()?);
                        out.push_str(&self.paint.of(Style::Code, &harmless(part)));
                    }
                }
                // An entity such as `&#27;` has become a character: again what a terminal would obey is taken out.
                Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                    out.push_str(&self.paint.all(&styles, &harmless(&text)));
                }
                Event::Rule => out.push_str(&self.paint.of(Style::Dim, &"─".repeat(40))),
                Event::SoftBreak | Event::HardBreak => {
                    out.push('\n');
                    out.push_str(depths.next()?);
                }
                _ => {}
            }
        }
        // A line that is nothing but marks, such as `#` or a definition of a link, is drawn as it is.
        (depths.next().is_none() && begin < out.len()).then_some(out)
    }
}

/// The lines of a paragraph, each from its first letter on.
fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| line.trim_start()).collect::<Vec<_>>().join("\n")
}

/// Returns whether this line is a further one of a paragraph.
fn continues(line: &str) -> bool {
    let bare = line.trim_start();
    marks(bare).len() < 3 && matches!(Parser::new(bare).next(), Some(Event::Start(Tag::Paragraph)))
}

/// The marks of a fence that a line begins with.
fn marks(bare: &str) -> &str {
    let first = bare.chars().next().filter(|first| matches!(first, '`' | '~'));
    first.map_or("", |first| &bare[..bare.len() - bare.trim_start_matches(first).len()])
}

/// Measures how much in a text is emphasis or code.
fn spans(text: &str) -> usize {
    let is_span =
        |event: &Event<'_>| matches!(event, Event::Start(Tag::Strong | Tag::Emphasis) | Event::Code(_));
    Parser::new(text).filter(is_span).count()
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
    fn what_goes_on_in_the_next_line_is_drawn_in_both() {
        let (bold, code, off) = ("\u{1b}[1m", "\u{1b}[36m", "\u{1b}[0m");
        for (text, looks) in [
            ("a **b\nc** d\n", format!("a {bold}b{off}\n{bold}c{off} d\n")),
            ("a `b\n  c` d", format!("a {code}b{off}\n  {code}c{off} d")),
            ("- **a\n  b**\n- c\n", format!("• {bold}a{off}\n  {bold}b{off}\n• c\n")),
            ("*a\nb\nc*\n", format!("{i}a{off}\n{i}b{off}\n{i}c{off}\n", i = "\u{1b}[3m")),
            // Nothing goes on behind an empty line, a heading, an item, a fence or the end.
            ("a **b\n\nc** d\n", String::from("a **b\n\nc** d\n")),
            ("**a\n# b\n", format!("**a\n\u{1b}[36;1mb{off}\n")),
            ("- *a\n- b*\n", String::from("• *a\n• b*\n")),
            ("**a\n```\nb**\n```\n", format!("**a\n\u{1b}[2m```{off}\n{code}b**{off}\n\u{1b}[2m```{off}\n")),
            ("`a", String::from("`a")),
            ("`a\n", String::from("`a\n")),
            // What becomes something else is drawn line by line.
            ("**a\n===\n", String::from("**a\n===\n")),
        ] {
            assert_eq!(drawn(text, true), looks, "{text:?}");
            assert_eq!(drawn(text, false), text);
        }
    }

    #[test]
    fn no_line_waits_without_a_reason_and_none_for_ever() {
        let mut markdown = Markdown::new(Paint { is_on: true });
        assert_eq!(markdown.feed("2 * 3, a_b_c\n"), "2 * 3, a_b_c\n");
        assert_eq!(markdown.feed("it is **not\n"), "");
        assert!(!markdown.is_empty());
        let lines: String = (1..HELD).map(|_| "so\n").collect();
        assert_eq!(markdown.feed(&lines), format!("it is **not\n{lines}"));
        assert!(markdown.is_empty());
        assert_eq!(markdown.feed(&format!("**{}\n", "x".repeat(HELD_BYTES))).len(), HELD_BYTES + 3);
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
