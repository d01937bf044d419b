//! Draws the fates of calls: over time, by model, dialect, mode and tool; the errors, and the price of repairs.

use callwright_store::{Counts, FixRate, Latency, Statistics};
use maud::{Markup, html};

use super::chart;
use super::layout::duration;
use super::links;
use super::sessions::grouped;
use super::visible::visible;
use super::words;

/// A time that can be looked at: its name in the address, its word, its length in milliseconds.
const TIMES: [(&str, &str, i64); 4] = [
    ("hour", "Last hour", 3_600_000),
    ("day", "Last day", 86_400_000),
    ("week", "Last week", 604_800_000),
    ("", "All", 0),
];

/// From when on the time of this name is, seen from `now`; none stands for all.
pub(crate) fn since(name: Option<&str>, now: i64) -> Option<i64> {
    let found = TIMES.iter().find(|(known, ..)| Some(*known) == name && !known.is_empty());
    found.map(|(.., length)| now - length)
}

/// The page of statistics.
pub(crate) fn statistics(counted: &Statistics, time: Option<&str>) -> Markup {
    let groups = [
        ("By model", &counted.by_model),
        ("By dialect", &counted.by_dialect),
        ("By mode", &counted.by_mode),
        ("By tool", &counted.by_tool),
    ];
    html! {
        main #counted.statistics {
            h1 { "Statistics" }
            nav.tabs aria-label="Time" {
                @for (name, word, _) in TIMES {
                    a href=(links::href("/statistics", &[("time", name)]))
                        aria-current=[(time.unwrap_or_default() == name).then_some("page")] { (word) }
                }
            }
            (explained("Each call that a model made, once, by what became of it."))
            dl.tiles {
                @for (class, word, n) in chart::parts(&counted.calls) {
                    div.(class) { dt { (word) } dd { (grouped(n)) " " small { (share(n, counted.calls.total())) } } }
                }
            }
            section { h2 { "Over time" } (chart::columns(&counted.over_time, counted.step)) }
            div.groups {
                @for (title, group) in groups { section { h2 { (title) } (table(group)) } }
            }
            section.latency {
                h2 { "How long requests take" }
                (explained("From the arrival of a request to the first and to the last byte of its answer. Half of the requests took \
                    at most the time under p50, 19 of 20 at most that under p95."))
                (latency(&counted.latency))
            }
            div.groups {
                section {
                    h2 { "What was wrong" }
                    (explained("How often each thing was wrong with a call as the model wrote it, repaired or not. Choose one to see where."))
                    (errors(&counted.errors))
                }
                section {
                    h2 { "What repairs cost" }
                    (explained("Further questions are those that the gateway asked by itself to get a right call; the client asked once."))
                    (spent(counted))
                }
                section {
                    h2 { "Errors made again" }
                    (explained("Of all errors, the share that repeats one that the same session had seen before: how little a model learns."))
                    (repeated(counted))
                }
                section {
                    h2 { "Errors that the model fixed" }
                    (explained("Of the errors that a model was told of, how many it had fixed after so many questions."))
                    (fixed(counted))
                }
                section {
                    h2 { "How requests ended" }
                    (explained("Each request once, by what became of all its calls together. Choose an outcome to see its sessions."))
                    (outcomes(counted))
                }
            }
        }
    }
}

/// Explains a statistic in a sentence.
fn explained(sentence: &str) -> Markup {
    html! { p.explained { (sentence) } }
}

fn latency(models: &[Latency]) -> Markup {
    let times = |of: &Latency| [of.first_byte_p50_us, of.first_byte_p95_us, of.p50_us, of.p95_us];
    html! {
        @if models.is_empty() { p.empty { "No requests." } } @else {
            div.scroll {
                table.counts.latency {
                    thead {
                        tr { th {} th { "" } th colspan="2" scope="colgroup" { "First byte" } th colspan="2" scope="colgroup" { "Last byte" } th {} }
                        tr { th scope="col" { "Model" } @for word in ["Requests", "p50", "p95", "p50", "p95", "Tokens"] { th scope="col" { (word) } } }
                    }
                    tbody {
                        @for of in models {
                            tr {
                                th scope="row" { (visible(named(&of.model))) }
                                td { (grouped(of.requests)) }
                                @for us in times(of) { td { (duration(us.unsigned_abs())) } }
                                td { (grouped(of.tokens)) }
                            }
                        }
                    }
                }
            }
            @if Latency::MEASURED <= models.iter().map(|of| of.requests).sum() {
                p.hint { "Measured at the last " (grouped(Latency::MEASURED)) " requests of this time." }
            }
        }
    }
}

fn share(n: i64, of: i64) -> String {
    if of == 0 { String::from("–") } else { format!("{:.1} %", 100.0 * n as f64 / of as f64) }
}

fn named(name: &str) -> &str {
    if name.is_empty() { "(none)" } else { name }
}

fn table(group: &[Counts]) -> Markup {
    let most = group.iter().map(Counts::total).max().unwrap_or_default();
    html! {
        @if group.is_empty() { p.empty { "No calls." } } @else {
            div.scroll {
                table.counts {
                    thead { tr { th { "" } th { "Calls" } th { "Valid" } th { "Repaired" } th { "Retried" } th { "Refused" } } }
                    tbody {
                        @for counts in group {
                            tr {
                                th scope="row" { (visible(named(&counts.name))) (chart::bar(counts, most)) }
                                td { (counts.total()) }
                                @for (_, _, n) in chart::parts(counts) { td { (n) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn errors(errors: &[(String, i64)]) -> Markup {
    html! {
        @if errors.is_empty() { p.empty { "Nothing." } } @else {
            table.counts {
                thead { tr { th { "Error" } th { "Times" } } }
                tbody {
                    @for (kind, n) in errors {
                        tr {
                            th scope="row" { a href=(links::href("/sessions", &[("error", kind)])) title=(visible(kind)) { (visible(words::kind(kind))) } }
                            td { (n) }
                        }
                    }
                }
            }
        }
    }
}

fn spent(counted: &Statistics) -> Markup {
    let spent = &counted.spent;
    html! {
        dl.facts {
            dt { "Requests" } dd { (grouped(spent.turns)) }
            dt { "Further questions" } dd { (grouped(spent.repair_turns)) }
            dt { "Tokens" } dd { (grouped(spent.tokens)) }
            dt { "Of these for repairs" } dd { (grouped(spent.repair_tokens)) " (" (share(spent.repair_tokens, spent.tokens)) ")" }
        }
    }
}

fn repeated(counted: &Statistics) -> Markup {
    html! {
        @if counted.repeated.is_empty() { p.empty { "No errors." } } @else {
            table.counts {
                thead { tr { th { "Policy, mode" } th { "Errors" } th { "Again" } th { "Rate" } } }
                tbody {
                    @for rate in &counted.repeated {
                        tr {
                            th scope="row" { (visible(&rate.policy)) ", " (visible(named(&rate.mode))) }
                            td { (rate.errors) } td { (rate.repeated) }
                            td { (format!("{:.1} %", 100.0 * rate.repeat_error_rate)) }
                        }
                    }
                }
            }
        }
    }
}

/// Of the errors that models were told of, how many were right after at most so many questions.
fn fixed(counted: &Statistics) -> Markup {
    html! {
        @if counted.fixed.is_empty() { p.empty { "No model was told of an error." } } @else {
            div.scroll {
                table.counts.fixed {
                    thead {
                        tr {
                            th { "Model, policy" } th { "Errors" }
                            @for questions in 1..=FixRate::QUESTIONS {
                                th { @if questions == 1 { "after 1" } @else { "≤ " (questions) } }
                            }
                        }
                    }
                    tbody {
                        @for rate in &counted.fixed {
                            tr {
                                th scope="row" { (visible(named(&rate.model))) ", " (visible(&rate.policy)) }
                                td { (rate.errors) }
                                @for fixed in rate.fixed_within { td { (share(fixed, rate.errors)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn outcomes(counted: &Statistics) -> Markup {
    html! {
        @if counted.outcomes.is_empty() { p.empty { "No requests." } } @else {
            table.counts {
                thead { tr { th { "Outcome" } th { "Requests" } } }
                tbody {
                    @for (outcome, n) in &counted.outcomes {
                        tr {
                            th scope="row" { a href=(links::href("/sessions", &[("outcome", outcome)])) { (visible(words::outcome(outcome))) } }
                            td { (n) }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_back_from_now() {
        assert_eq!(since(Some("hour"), 3_600_001), Some(1));
        for name in [None, Some(""), Some("year")] {
            assert_eq!(since(name, 5), None);
        }
        assert_eq!(share(1, 8), "12.5 %");
        assert_eq!(share(0, 0), "–");
    }
}
