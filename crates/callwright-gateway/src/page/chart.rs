//! Stacked bars as SVG. Colours are classes, not values: the page's styles make them light or dark, which a chart
//! crate, whose colours stand in the drawing, cannot.

use callwright_store::{Counts, rfc3339};
use maud::{Markup, html};

use super::sessions::{count, grouped};

/// The fates of calls, in the order in which bars are stacked: class, word, count.
pub(crate) fn parts(counts: &Counts) -> [(&'static str, &'static str, i64); 4] {
    [
        ("right", "passed", counts.passed),
        ("repaired", "repaired", counts.repaired),
        ("retried", "retried", counts.retried),
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

/// One lying bar in one colour, as long as `n` is of `most`.
pub(crate) fn share(n: i64, most: i64) -> Markup {
    let width = 100.0 * n.max(0) as f64 / most.max(1) as f64;
    html! {
        svg.bar viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" {
            rect.plain x="0" y="0" width=(round(width)) height="8" {}
        }
    }
}

/// Explains the colours.
pub(crate) fn legend() -> Markup {
    html! {
        ul.colours aria-label="Colours" {
            @for (class, word, _) in parts(&Counts::default()) {
                li { svg.swatch.(class) viewBox="0 0 8 8" aria-hidden="true" { rect.(class) width="8" height="8" {} } (word) }
            }
        }
    }
}

/// The drawing stretches with the page; words stand beside it, in letters of one size on every screen.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 100.0;
/// A time that has just begun is not one column as wide as the page.
const FEWEST: i64 = 24;

/// Columns over time; each of `columns` begins at its `name`, milliseconds since 1970, and is `step` wide.
pub(crate) fn columns(columns: &[Counts], step: i64) -> Markup {
    let at = |counts: &Counts| counts.name.parse::<i64>().unwrap_or_default();
    let (Some(first), Some(last)) = (columns.first().map(at), columns.last().map(at)) else {
        return html! { p.empty { "Nothing happened in this time." } };
    };
    let step = step.max(1);
    let n_steps = ((last - first) / step + 1).max(FEWEST);
    // What happened last stands at the right end.
    let first = last - (n_steps - 1) * step;
    let most = columns.iter().map(Counts::total).max().unwrap_or_default().max(1);
    let wide = WIDTH / n_steps as f64;
    let y = |n: i64| HEIGHT * (1.0 - n as f64 / most as f64);
    html! {
        figure.chart {
            (legend())
            div.plot {
                div.y { span { (grouped(most)) " calls" } @if 1 < most { span { (grouped(most / 2)) } } span { "0" } }
                svg.columns viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-label={ "Calls over time, from " (stamp(first)) " to " (stamp(last + step)) } {
                    @for n in [0, most / 2, most] { line.axis x1="0" x2=(WIDTH) y1=(round(y(n))) y2=(round(y(n))) {} }
                    @for counts in columns {
                        @let x = ((at(counts) - first) / step) as f64 * wide;
                        g {
                            title {
                                (stamp(at(counts)))
                                @for (_, word, n) in parts(counts) { @if 0 < n { ", " (n) " " (word) } }
                            }
                            @for (class, from, size) in stacked(counts) {
                                rect.(class) x=(round(x + 0.1 * wide)) width=(round(0.8 * wide))
                                    y=(round(y(from + size))) height=(round(y(from) - y(from + size))) {}
                            }
                        }
                    }
                }
                div.x { @for at in [first, first + (n_steps / 2) * step, last + step] { time datetime=(rfc3339(at)) { (stamp(at)) } } }
            }
            figcaption { "Calls by when their request ended, in steps of " (length(step)) "; times are UTC." }
        }
    }
}

/// `300000` ms → `5 minutes`
fn length(ms: i64) -> String {
    match ms {
        ms if ms % 86_400_000 == 0 => count(ms / 86_400_000, "day"),
        ms if ms % 3_600_000 == 0 => count(ms / 3_600_000, "hour"),
        ms => count(ms / 60_000, "minute"),
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
    rfc3339(at).chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_what_they_count() {
        let counts = Counts { name: String::new(), passed: 2, repaired: 1, retried: 0, refused: 1 };
        assert_eq!(
            bar(&counts, 8).into_string(),
            "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" aria-hidden=\"true\">\
             <rect class=\"right\" x=\"0.00\" y=\"0\" width=\"25.00\" height=\"8\"></rect>\
             <rect class=\"repaired\" x=\"25.00\" y=\"0\" width=\"12.50\" height=\"8\"></rect>\
             <rect class=\"refused\" x=\"37.50\" y=\"0\" width=\"12.50\" height=\"8\"></rect></svg>"
        );
        let at = |at: i64| Counts { name: at.to_string(), ..counts.clone() };
        let drawn = columns(&[at(0), at(60_000)], 60_000).into_string();
        assert_eq!(drawn.matches("<g>").count(), 2);
        assert!(drawn.contains("1970-01-01 00:01, 2 passed, 1 repaired, 1 refused"), "{drawn}");
        assert!(
            drawn.contains("in steps of 1 minute;") && drawn.contains("<span>4 calls</span><span>2</span>"),
            "{drawn}"
        );
        assert_eq!(length(3 * 86_400_000), "3 days");
        assert!(columns(&[], 1).into_string().contains("Nothing happened"));
    }
}
