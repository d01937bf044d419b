//! Sessions as a table that can be ordered, with what they come to above it; and as the list beside an opened one.

use callwright_store::{Column, Filter, Page, Summary, Totals};
use maud::{Markup, html};

use super::layout::{ago, duration};
use super::links::{self, Listing};
use super::visible::visible;
use super::words;

/// The columns: what they go by, their word, and what they tell in a sentence.
const COLUMNS: [(Column, &str, &str); 8] = [
    (Column::Updated, "Last request", "When something was last added"),
    (Column::Outcome, "Outcome", "How the last request ended"),
    (Column::Model, "Model", "The model of the last request"),
    (Column::Turns, "Requests", "How many requests the session has"),
    (Column::Repairs, "Repairs", "How many edits repaired its calls"),
    (Column::Refusals, "Refused", "How many of its calls were refused for good"),
    (Column::Slowest, "Slowest", "The time of its slowest request, from arrival to the last byte"),
    (Column::Tokens, "Tokens", "The tokens of all questions and answers"),
];

/// The page of all sessions.
pub(crate) fn table(page: &Page, totals: &Totals, listing: &Listing) -> Markup {
    html! {
        main.sessions {
            h1.hidden { "Sessions" }
            (search(listing))
            div #sessions {
                (chips(totals, listing))
                (sums(totals))
                @if page.sessions.is_empty() { (none(listing)) } @else {
                    div.scroll {
                        table.rows {
                            caption.hidden { "Sessions; the heads of the columns order them" }
                            thead { tr {
                                @for (column, word, means) in COLUMNS {
                                    (head(listing, column, word, means))
                                    @if column == Column::Updated { th scope="col" { "Session" } }
                                }
                            } }
                            tbody { @for summary in &page.sessions { (row(summary, listing)) } }
                        }
                    }
                }
                (pages(page, listing))
            }
        }
    }
}

/// The list beside an opened session.
pub(crate) fn list(page: &Page, listing: &Listing, opened: &str) -> Markup {
    html! {
        section.list aria-label="Sessions" {
            p.back { a href=(listing.href()) { "← All sessions" } }
            div #sessions {
                ol {
                    @for summary in &page.sessions { li { (card(summary, listing, opened == summary.id)) } }
                }
                (pages(page, listing))
            }
        }
    }
}

/// `1 turn`, `2 turns`
pub(crate) fn count(n: i64, what: &str) -> String {
    format!("{} {what}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// `1234567` → `1,234,567`
pub(crate) fn grouped(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = String::from(if n < 0 { "-" } else { "" });
    for (at, digit) in digits.chars().enumerate() {
        if 0 < at && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The title of a session; its id where nobody said anything.
pub(crate) fn title(summary: &Summary) -> String {
    let title = if summary.title.trim().is_empty() { &summary.id } else { &summary.title };
    title.chars().take(160).collect()
}

/// An outcome as a badge, its meaning as a tooltip.
pub(crate) fn outcome(name: &str) -> Markup {
    let (class, means) = meaning(name);
    html! {
        span.badge.(class) title=[(!means.is_empty()).then_some(means)] {
            @if name.is_empty() { "open" } @else { (visible(words::outcome(name))) }
        }
    }
}

/// The class of an outcome, which is never taken from a text, and what it means.
fn meaning(name: &str) -> (&'static str, &'static str) {
    match name {
        "passed" => ("right", "Every call was right as the model wrote it, or there was none"),
        "repaired" => ("repaired", "A call was repaired, in the only way there is"),
        "retried" => ("retried", "The model was asked again, and its next answer was right"),
        "refused" => ("refused", "A call could neither be repaired nor retried, and did not go out"),
        "invalid" => ("refused", "The content is not the JSON that was asked for"),
        "rejected" => ("refused", "The request could not be used"),
        "gave-up" => ("refused", "Gave up: the model made the same error over and over"),
        "upstream-error" => ("refused", "The upstream gave no answer"),
        "cut" => ("plain", "The answer ended before it was complete"),
        "hung-up" => ("plain", "The client left before the answer was complete"),
        "" => ("plain", "Nothing has ended yet"),
        _ => ("plain", ""),
    }
}

/// One field for all: words, and names behind `model:` and the like. What was chosen by name can be taken away.
fn search(listing: &Listing) -> Markup {
    let given = listing.filter.text.clone().unwrap_or_default();
    html! {
        form.search method="get" action="/sessions" role="search" {
            @for (name, value) in listing.pairs().into_iter().filter(|(name, _)| !matches!(*name, "text" | "after")) {
                input type="hidden" name=(name) value=(value);
            }
            label {
                span.hidden { "Search sessions" }
                input type="search" name="text" value=(visible(&given)) placeholder="Search words, or model:… error:… mode:native surface:messages";
            }
            button type="submit" { "Search" }
        }
        @let chosen = chosen(&listing.filter);
        @if !chosen.is_empty() {
            p.chosen {
                @for (name, value, without) in chosen {
                    a.chip href=(listing.choosing(without).href()) title={ "Take away " (name) ":" (visible(&value)) } {
                        (name) ": " strong { (visible(if name == "error" { words::kind(&value) } else { &value })) } span aria-hidden="true" { " ×" }
                        span.hidden { ", take away" }
                    }
                }
                a href="/sessions" { "Show all sessions" }
            }
        }
    }
}

/// Returns the choices beside the outcome: name, value, and the filter without it.
fn chosen(filter: &Filter) -> Vec<(&'static str, String, Filter)> {
    let members = filter.members().into_iter().filter(|(name, _)| *name != "outcome");
    let chosen = members.filter_map(|(name, value)| {
        let mut without = filter.clone();
        links::set(&mut without, name, None);
        Some((if name == "text" { "words" } else { name }, value.clone()?, without))
    });
    chosen.collect()
}

/// Shows the outcomes of requests, each a link to the sessions in which one ended so.
fn chips(totals: &Totals, listing: &Listing) -> Markup {
    let outcome = listing.filter.outcome.as_deref();
    let with =
        |outcome: Option<String>| listing.choosing(Filter { outcome, ..listing.filter.clone() }).href();
    // A chosen outcome that no session has is there to be taken away.
    let absent = outcome.filter(|name| totals.outcomes.iter().all(|(other, _)| other != name));
    let absent = absent.map(|name| (name.to_owned(), 0));
    html! {
        nav.chips aria-label="Outcomes" {
            a.chip href=(with(None)) aria-current=[outcome.is_none().then_some("true")] { "All outcomes" }
            @for (name, n) in totals.outcomes.iter().cloned().chain(absent) {
                @let (class, means) = meaning(&name);
                @let is_chosen = outcome == Some(&name);
                a.chip.(class) href=(with(Some(name.clone()).filter(|_| !is_chosen)))
                    title=[(!means.is_empty()).then_some(means)] aria-current=[is_chosen.then_some("true")] {
                    (visible(words::outcome(&name))) " " span.n { (grouped(n)) @if !totals.outcomes_are_all { "+" } }
                }
            }
        }
    }
}

/// Shows the sums of the sessions.
fn sums(totals: &Totals) -> Markup {
    let sums = [
        ("Sessions", totals.sessions, "sessions"),
        ("Requests", totals.turns, "turns"),
        ("Repairs", totals.repairs, "repairs"),
        ("Refused", totals.refusals, "refusals"),
        ("Tokens", totals.tokens, "tokens"),
    ];
    html! {
        dl.sums {
            @for (word, n, name) in sums { div { dt { (word) } dd data-sum=(name) { (grouped(n)) @if !totals.is_all { "+" } } } }
        }
        @if !totals.is_all {
            p.hint { "These sums are of the youngest " (grouped(totals.sessions)) " sessions that fit; there are more." }
        }
    }
}

fn none(listing: &Listing) -> Markup {
    html! {
        div.empty-page {
            @if listing.filter == Filter::default() {
                h2 { "Nothing was asked yet" }
                p { "Send a request through this gateway, and it stands here: what the model wrote, and what was done to it." }
                p { a href="/try" { "Try it without a model" } }
            } @else {
                h2 { "No session fits" }
                p { a href="/sessions" { "Show all sessions" } }
            }
        }
    }
}

fn head(listing: &Listing, column: Column, word: &str, means: &str) -> Markup {
    let order = listing.order;
    let (sort, sign) = match order.column == column {
        true if order.is_descending => ("descending", " ↓"),
        true => ("ascending", " ↑"),
        false => ("none", ""),
    };
    html! {
        th scope="col" aria-sort=(sort) class=(class(column)) {
            a href=(listing.by(column).href()) title=(means) { (word) span aria-hidden="true" { (sign) } }
        }
    }
}

/// The class of a column's cells: numbers stand to the right; on a narrow screen some columns are not there.
fn class(column: Column) -> &'static str {
    match column {
        Column::Updated => "when",
        Column::Outcome => "ended",
        Column::Model => "model",
        Column::Repairs => "number repairs",
        Column::Refusals => "number refusals",
        Column::Turns => "number turns",
        Column::Slowest => "number slowest",
        Column::Tokens => "number tokens",
    }
}

fn row(summary: &Summary, listing: &Listing) -> Markup {
    let cell = |column: Column| {
        html! {
            td class=(class(column)) {
                @match column {
                    Column::Updated => (ago(summary.updated)),
                    Column::Outcome => (outcome(&summary.outcome)),
                    Column::Model => (visible(&summary.model)),
                    Column::Turns => (grouped(summary.turns)),
                    Column::Repairs => (found("repairs", summary.repairs)),
                Column::Refusals => (found("refusals", summary.refusals)),
                Column::Slowest => (took(summary)),
                    Column::Tokens => (grouped(summary.tokens)),
                }
            }
        }
    };
    html! {
        tr data-turns=(summary.turns) data-repairs=(summary.repairs) data-refusals=(summary.refusals) data-tokens=(summary.tokens) {
            @for (column, ..) in COLUMNS {
                (cell(column))
                @if column == Column::Updated {
                    th scope="row" {
                        // The whole row is this link.
                        a.session href=(links::session(listing, &summary.id, &[])) title=(visible(&summary.id)) {
                            (visible(&title(summary)))
                        }
                        span.under {
                            @if summary.origin == "agent" { "agent · " }
                            (visible(&summary.model)) " · " (count(summary.turns, "request")) " · " (took(summary))
                        }
                    }
                }
            }
        }
    }
}

/// A number that is of note where it is not 0.
fn found(class: &str, n: i64) -> Markup {
    html! { span.(if n == 0 { "zero" } else { class }) { (grouped(n)) } }
}

/// The time of the slowest request; a dash where none was timed.
fn took(summary: &Summary) -> String {
    if summary.slowest_us <= 0 { String::from("–") } else { duration(summary.slowest_us.unsigned_abs()) }
}

fn card(summary: &Summary, listing: &Listing, is_open: bool) -> Markup {
    html! {
        a.session.card href=(links::session(listing, &summary.id, &[])) aria-current=[is_open.then_some("true")] {
            span.title { (visible(&title(summary))) }
            span.facts {
                (outcome(&summary.outcome))
                span.model { (visible(&summary.model)) }
                @if 0 < summary.repairs { span.repairs { (count(summary.repairs, "repair")) } }
                @if 0 < summary.refusals { span.refusals { (summary.refusals) " refused" } }
                span.when { (ago(summary.updated)) }
            }
        }
    }
}

/// The way on, and back to the beginning.
fn pages(page: &Page, listing: &Listing) -> Markup {
    html! {
        @if page.next.is_some() || listing.after.is_some() {
            nav.pages aria-label="Pages of the list" {
                @if listing.after.is_some() {
                    a href=(Listing { after: None, ..listing.clone() }.href()) { "First page" }
                }
                @if page.next.is_some() {
                    a.more href=(Listing { after: page.next.clone(), ..listing.clone() }.href()) { "More sessions" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (n, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (-1_234_567, "-1,234,567"), (12_345, "12,345")]
        {
            assert_eq!(grouped(n), text);
        }
        assert_eq!((count(1, "turn"), count(2_000, "turn")), ("1 turn".into(), "2,000 turns".into()));
    }
}
