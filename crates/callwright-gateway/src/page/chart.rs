//! Stacked bars as SVG. Colours are classes, not values: the page's styles make them light or dark, which a chart
//! crate, whose colours stand in the drawing, cannot.

use callwright_store::Counts;
use maud::{Markup, html};

/// What became of calls, in the order in which bars are stacked: class, word, count.
pub(crate) fn parts(counts: &Counts) -> [(&'static str, &'static str, i64); 4] {
    [
        ("right", "right at first", counts.right),
        ("healed", "healed", counts.healed),
        ("corrected", "right after feedback", counts.corrected),
        ("refused", "refused", counts.refused),
    ]
}

/// One lying bar, as wide as `counts` is of `most`.
pub(crate) fn bar(counts: &Counts, most: i64) -> Markup {
    let scale = 100.0 / most.max(1) as f64;
    html! {
        svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            @for (class, from, size) in stacked(counts) {
                rect.(class) x=(round(from as f64 * scale)) y="0" width=(round(size as f64 * scale)) height="8" {}
            }
        }
    }
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 160.0;
/// The room for words below and beside the columns.
const BELOW: f64 = 18.0;
const LEFT: f64 = 40.0;

/// Columns over time; each of `columns` begins at its `name`, milliseconds since 1970, and is `step` wide.
pub(crate) fn columns(columns: &[Counts], step: i64) -> Markup {
    let at = |counts: &Counts| counts.name.parse::<i64>().unwrap_or_default();
    let (Some(first), Some(last)) = (columns.first().map(at), columns.last().map(at)) else {
        return html! { p.empty { "Nothing happened in this time." } };
    };
    let step = step.max(1);
    let n_steps = (last - first) / step + 1;
    let most = columns.iter().map(Counts::total).max().unwrap_or_default().max(1);
    let wide = ((WIDTH - LEFT) / n_steps as f64).min(60.0);
    let tall = HEIGHT - BELOW - 8.0;
    let y = |n: i64| 8.0 + tall * (1.0 - n as f64 / most as f64);
    html! {
        svg.columns viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label="Calls over time" {
            @for n in [0, most] {
                line.axis x1=(LEFT) x2=(WIDTH) y1=(round(y(n))) y2=(round(y(n))) {}
                text x=(LEFT - 6.0) y=(round(y(n) + 4.0)) text-anchor="end" { (n) }
            }
            @for counts in columns {
                @let x = LEFT + ((at(counts) - first) / step) as f64 * wide;
                g {
                    title {
                        (stamp(at(counts)))
                        @for (_, word, n) in parts(counts) { @if 0 < n { ", " (n) " " (word) } }
                    }
                    @for (class, from, size) in stacked(counts) {
                        rect.(class) x=(round(x + 1.0)) width=(round((wide - 2.0).max(1.0)))
                            y=(round(y(from + size))) height=(round(y(from) - y(from + size))) {}
                    }
                }
            }
            text x=(LEFT) y=(HEIGHT - 4.0) { (stamp(first)) }
            @if 4 < n_steps {
                text x=(round(LEFT + wide * n_steps as f64)) y=(HEIGHT - 4.0) text-anchor="end" { (stamp(last)) }
            }
        }
    }
}

/// Class, beginning and size of each part that there is.
fn stacked(counts: &Counts) -> impl Iterator<Item = (&'static str, i64, i64)> {
    let mut from = 0;
    parts(counts).into_iter().filter_map(move |(class, _, size)| {
        let begin = from;
        from += size;
        (0 < size).then_some((class, begin, size))
    })
}

fn round(n: f64) -> String {
    format!("{n:.2}")
}

/// `2026-11-22 08:34`
fn stamp(at: i64) -> String {
    callwright_store::rfc3339(at).chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_what_they_count() {
        let counts = Counts { name: String::new(), right: 2, healed: 1, corrected: 0, refused: 1 };
        assert_eq!(
            bar(&counts, 8).into_string(),
            "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
             <rect class=\"right\" x=\"0.00\" y=\"0\" width=\"25.00\" height=\"8\"></rect>\
             <rect class=\"healed\" x=\"25.00\" y=\"0\" width=\"12.50\" height=\"8\"></rect>\
             <rect class=\"refused\" x=\"37.50\" y=\"0\" width=\"12.50\" height=\"8\"></rect></svg>"
        );
        let at = |at: i64| Counts { name: at.to_string(), ..counts.clone() };
        let drawn = columns(&[at(0), at(60_000)], 60_000).into_string();
        assert_eq!(drawn.matches("<rect").count(), 6);
        assert!(drawn.contains("1970-01-01 00:01, 2 right at first, 1 healed, 1 refused"), "{drawn}");
        assert!(columns(&[], 1).into_string().contains("Nothing happened"));
    }
}
