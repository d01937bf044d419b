//! Cuts out of a text the parts that are worth drawing: whole lines where lines are short, and the
//! surroundings of each mark where a line runs over the page.

use annotate_snippets::{Annotation, AnnotationKind, Snippet};
use callwright_json::Span;

use crate::harmless::{Harmless, harmless};

/// A place in a text, and what is to be said about it.
pub(super) struct Mark {
    pub(super) at: Span,
    pub(super) kind: AnnotationKind,
    pub(super) label: String,
}

/// A part of a text with its marks.
pub(super) struct Excerpt {
    text: String,
    origin: String,
    line: usize,
    marks: Vec<(std::ops::Range<usize>, AnnotationKind, String)>,
}

/// A line of at most this many bytes is drawn whole.
const LINE: usize = 200;
/// Of a longer one, so many bytes before and after a mark.
const AROUND: usize = 60;

/// The excerpts of `text` that show all `marks`, in the order of the text.
pub(super) fn excerpts(text: &str, origin: &str, mut marks: Vec<Mark>) -> Vec<Excerpt> {
    let text = Harmless::of(text);
    marks.sort_by_key(|mark| mark.at);
    let mut windows: Vec<(std::ops::Range<usize>, Excerpt)> = Vec::new();
    for mark in marks {
        let at = text.range(mark.at);
        let window = window(&text.text, &at);
        match windows.last_mut() {
            Some((last, excerpt)) if window.start <= last.end => {
                last.end = last.end.max(window.end);
                excerpt.marks.push((at, mark.kind, mark.label));
            }
            _ => {
                let line = 1 + text.text.get(..window.start).map_or(0, |before| before.matches('\n').count());
                let marks = vec![(at, mark.kind, mark.label)];
                let excerpt =
                    Excerpt { text: String::new(), origin: harmless(origin).into_owned(), line, marks };
                windows.push((window, excerpt));
            }
        }
    }
    windows.into_iter().map(|(window, excerpt)| excerpt.cut(&text.text, window)).collect()
}

/// Returns the part of `text` around `at` that is shown.
fn window(text: &str, at: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let line_start = text.get(..at.start).and_then(|before| before.rfind('\n')).map_or(0, |n| n + 1);
    let line_end = text.get(at.end..).and_then(|after| after.find('\n')).map_or(text.len(), |n| at.end + n);
    let start = if line_start + LINE < at.start { at.start - AROUND } else { line_start };
    let end = if at.end + LINE < line_end { at.end + AROUND } else { line_end };
    text.floor_char_boundary(start)..text.ceil_char_boundary(end)
}

impl Excerpt {
    /// Takes `window` out of `text`, and the marks with it.
    fn cut(mut self, text: &str, window: std::ops::Range<usize>) -> Excerpt {
        let ahead = if window.start == 0 || text[..window.start].ends_with('\n') { "" } else { "…" };
        let behind =
            if window.end == text.len() || text[window.end..].starts_with('\n') { "" } else { "…" };
        self.text = format!("{ahead}{}{behind}", &text[window.clone()]);
        for (at, _, _) in &mut self.marks {
            // A mark over many lines ends with the first: arcs around them hide more than they show.
            let end = text[at.clone()].find('\n').map_or(at.end, |n| at.start + n);
            let shift = |offset: usize| offset - window.start + ahead.len();
            *at = shift(at.start)..shift(end);
        }
        // Where neighbours say the same, the last one says it for all.
        for n in 1..self.marks.len() {
            if self.marks[n].2.starts_with(&self.marks[n - 1].2) {
                self.marks[n - 1].2.clear();
            }
        }
        self
    }

    /// The excerpt in the renderer's form.
    pub(super) fn snippet(&self) -> Snippet<'_, Annotation<'_>> {
        let annotations = self.marks.iter().map(|(at, kind, label)| {
            let annotation = kind.span(at.clone());
            if label.is_empty() { annotation } else { annotation.label(label.as_str()) }
        });
        Snippet::source(self.text.as_str())
            .line_start(self.line)
            .path(self.origin.as_str())
            .annotations(annotations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(start: usize, end: usize) -> Mark {
        Mark { at: Span::new(start, end), kind: AnnotationKind::Primary, label: String::from("here") }
    }

    #[test]
    fn marks_stay_on_their_bytes() {
        let text = format!("{}\n{}é\u{1b}X{}", "first", "a".repeat(500), "b".repeat(900));
        let x = text.find('X').unwrap();
        let excerpts = excerpts(&text, "x", vec![mark(x, x + 1), mark(text.len(), text.len()), mark(0, 5)]);
        let seen: Vec<(usize, Vec<&str>)> = excerpts
            .iter()
            .map(|e| (e.line, e.marks.iter().map(|(at, _, _)| &e.text[at.clone()]).collect()))
            .collect();
        assert_eq!(seen, [(1, vec!["first"]), (2, vec!["X"]), (2, vec![""])]);
        assert!(excerpts.iter().all(|e| e.text.len() < 2 * LINE), "{:?}", excerpts[1].text);
    }

    #[test]
    fn marks_that_are_near_share_an_excerpt() {
        let excerpts = excerpts("{\"a\": 1,}}", "x", vec![mark(9, 10), mark(7, 8)]);
        assert_eq!(excerpts.len(), 1);
        assert_eq!(excerpts[0].marks.len(), 2);
    }

    #[test]
    fn a_mark_over_many_lines_ends_with_the_first() {
        let excerpts = excerpts("one\ntwo", "x", vec![mark(1, 6), mark(3, 4)]);
        let at: Vec<_> = excerpts[0].marks.iter().map(|(at, _, _)| at.clone()).collect();
        assert_eq!(at, [1..3, 3..3]);
    }

    #[test]
    fn spans_outside_the_text_are_drawn_at_its_end() {
        let excerpts = excerpts("{}", "x", vec![mark(7, 9)]);
        assert_eq!(excerpts[0].marks[0].0, 2..2);
    }
}
