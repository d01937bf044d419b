//! The list of sessions, and the form that chooses among them.

use callwright_store::{Filter, Page, Summary};
use maud::{Markup, html};

use super::layout::time;
use super::links;
use super::visible::visible;

const OUTCOMES: [&str; 9] =
    ["passed", "healed", "corrected", "refused", "invalid", "breaker", "upstream-error", "cut", "hung-up"];
const MODES: [&str; 2] = ["native", "prompt"];

/// The list beside an opened session, or alone.
pub(crate) fn list(page: &Page, filter: &Filter, opened: Option<&str>, is_filtered: bool) -> Markup {
    html! {
        section.list aria-label="Sessions" {
            @if is_filtered { (form(filter)) }
            div #sessions {
                @if page.sessions.is_empty() {
                    p.empty { "No session fits." }
                }
                ol {
                    @for summary in &page.sessions {
                        li { (row(summary, filter, opened == Some(&summary.id))) }
                    }
                }
                @if let Some(next) = &page.next {
                    @let query: Vec<(&str, &str)> = [("after", next.as_str())].into_iter().chain(links::pairs(filter)).collect();
                    a.more href=(links::href("/sessions", &query)) { "Older sessions" }
                }
            }
        }
    }
}

fn row(summary: &Summary, filter: &Filter, is_open: bool) -> Markup {
    let title = if summary.title.trim().is_empty() { &summary.id } else { &summary.title };
    let title: String = title.chars().take(160).collect();
    html! {
        a.session href=(links::session(filter, &summary.id, &[])) aria-current=[is_open.then_some("true")] {
            span.title { (visible(&title)) }
            span.facts {
                (outcome(&summary.outcome))
                span.model { (visible(&summary.model)) }
                span { (count(summary.turns, "turn")) }
                @if 0 < summary.repairs {
                    span.repairs { (count(summary.repairs, "repair")) }
                }
                @if 0 < summary.refusals { span.refusals { (summary.refusals) " refused" } }
            }
            span.when { (time(summary.updated)) }
        }
    }
}

/// `1 turn`, `2 turns`
pub(crate) fn count(n: i64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// An outcome as a badge.
pub(crate) fn outcome(name: &str) -> Markup {
    // A class is never taken from a text.
    let class = match name {
        "passed" => "badge right",
        "healed" => "badge healed",
        "corrected" => "badge corrected",
        "refused" | "invalid" | "breaker" => "badge refused",
        "" => return html! { span.badge { "open" } },
        _ => "badge",
    };
    html! { span class=(class) { (visible(name)) } }
}

fn form(filter: &Filter) -> Markup {
    let given = |value: &Option<String>| value.clone().unwrap_or_default();
    let is_any = *filter == Filter::default();
    html! {
        form.filter method="get" action="/sessions" {
            label.wide { "Words" input type="search" name="text" value=(visible(&given(&filter.text))); }
            details open[!is_any] {
                summary { "Filters" }
                div.fields {
                    label { "Outcome" (choice("outcome", &OUTCOMES, filter.outcome.as_deref())) }
                    label { "Mode" (choice("mode", &MODES, filter.mode.as_deref())) }
                    label { "Model" input name="model" value=(visible(&given(&filter.model))); }
                    label { "Dialect" input name="dialect" value=(visible(&given(&filter.dialect))); }
                    label { "Error" input name="error" placeholder="drop-closer" value=(visible(&given(&filter.error))); }
                }
            }
            div.actions {
                button type="submit" { "Filter" }
                @if !is_any { a href="/sessions" { "All sessions" } }
            }
        }
    }
}

fn choice(name: &str, options: &[&str], chosen: Option<&str>) -> Markup {
    html! {
        select name=(name) {
            option value="" { "any" }
            @for option in options {
                option value=(option) selected[chosen == Some(option)] { (option) }
            }
        }
    }
}
