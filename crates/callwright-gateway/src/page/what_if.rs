//! Reads a text that is kept again under another policy, finish reason or dialect. No model is asked.

use callwright::Policy;
use callwright::value::Value;
use callwright_view::WhatIf;
use callwright_view::answer::answer;
use callwright_view::try_it::{REASONS, choice};
use maud::{Markup, html};

use super::links::Listing;
use super::opened::Opened;
use super::report::{list, text};
use super::spans::is_unsure;
use super::visible::visible;
use super::words;

/// The changed conditions; those that are not set are as they were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    pub(crate) policy: Option<String>,
    pub(crate) finish_reason: Option<String>,
    pub(crate) dialect: Option<String>,
}

/// The form, and what would have become of each choice.
pub(crate) fn what_if(id: &str, opened: &Opened, listing: &Listing, conditions: &Conditions) -> Markup {
    let dialects = WhatIf::dialects();
    let dialects: Vec<&str> = dialects.iter().map(String::as_str).collect();
    let policies = Policy::ALL.map(Policy::name);
    html! {
        form.what-if method="get" action="/session#node" {
            input type="hidden" name="id" value=(id);
            input type="hidden" name="node" value=(opened.node.number);
            input type="hidden" name="tab" value="what-if";
            @for (name, value) in listing.pairs() { input type="hidden" name=(name) value=(value); }
            label { "Policy" (choice("as_policy", "auto", &policies, conditions.policy.as_deref())) }
            label { "finish_reason" (choice("as_finish", "as it was", &REASONS, conditions.finish_reason.as_deref())) }
            label { "Dialect" (choice("as_dialect", "any", &dialects, conditions.dialect.as_deref())) }
            button type="submit" { "Read again" }
        }
        p.hint { "The text that is kept is read again. No model is asked, and nothing is kept of it." }
        @for kept in list(&opened.node.payload, "choices") {
            (again(opened, kept, conditions))
        }
    }
}

fn again(opened: &Opened, kept: &Value, conditions: &Conditions) -> Markup {
    let native = list(kept, "native").map(|call| (text(call, "name"), text(call, "arguments")));
    let what_if = WhatIf {
        request: opened.request(),
        text: text(kept, "raw"),
        native: native.collect(),
        is_native: text(&opened.node.payload, "mode") == "native",
        asked: opened.node.payload.get("dialect").and_then(Value::as_str),
        policy: conditions.policy.as_deref().and_then(Policy::named).unwrap_or_default(),
        finish_reason: conditions
            .finish_reason
            .as_deref()
            .or(kept.get("finish_reason").and_then(Value::as_str)),
        dialect: conditions.dialect.as_deref(),
    };
    html! {
        @match what_if.report() {
            Err(error) => p.problem { "It cannot be read again: " (visible(&error.to_string())) },
            Ok(report) => {
                @let (then, now) = (gist(kept.get("report").unwrap_or(&Value::Null)), gist(&report));
                p #gist {
                    "Then: " strong { (visible(&then)) } ". Now: " strong { (visible(&now)) }
                    @if then == now { ". The same." } @else { ". That is another outcome." }
                }
                (answer(kept, &report))
            }
        }
    }
}

/// `run_code (spelling), refused: cut off, shown: fence`
fn gist(report: &Value) -> String {
    let accepted = list(report, "calls").map(|call| {
        let unsure = if is_unsure(call) { ", unsure" } else { "" };
        format!("{} ({}{unsure})", text(call, "name"), words::class(text(call, "class")))
    });
    let refused =
        list(report, "refusals").map(|refusal| format!("refused: {}", words::kind(text(refusal, "code"))));
    let shown = list(report, "shown").map(|shown| format!("shown: {}", text(shown, "by")));
    let all: Vec<String> = accepted.chain(refused).chain(shown).collect();
    if all.is_empty() { String::from("no call") } else { all.join(", ") }
}
