//! A call as it was written, and as it was read: the same bytes before and after the edits.

use std::ops::Range;

use callwright::value::Value;
use maud::{Markup, html};

use super::report::{list, number, pretty, span, text};
use super::spans::{Marks, is_native, marked, repaired};
use super::visible::visible;

/// Each accepted call of a model's turn, and how a refused one could be repaired.
pub(crate) fn diff(payload: &Value) -> Markup {
    let answers =
        || list(payload, "choices").map(|choice| (choice, choice.get("report").unwrap_or(&Value::Null)));
    let is_any =
        answers().any(|(_, report)| list(report, "calls").chain(list(report, "refusals")).next().is_some());
    html! {
        @for (choice, report) in answers() {
            @for call in list(report, "calls") {
                @let (source, marks, at) = source(choice, report, call);
                h3 { "Call " (number(call, "number")) ": " code { (visible(text(call, "name"))) } }
                @if marks.edits.is_empty() {
                    p.empty { "Nothing was changed: it went out as it was written." }
                } @else {
                    p.label { "As written" }
                    pre.raw { (marked(source.get(at.clone()).unwrap_or_default(), &marks.moved(&at))) }
                    p.label { "As it was read" }
                    pre.raw.after { (visible(&repaired(source, &marks, at))) }
                }
                p.label { "The arguments that went out" }
                pre { (visible(&call.get("arguments").map(pretty).unwrap_or_default())) }
            }
            @for refusal in list(report, "refusals") {
                h3 { "Refused: " code { (visible(text(refusal, "name"))) } }
                p.label { "As written" }
                pre.raw { (visible(text(refusal, "block"))) }
                @if let Some(fix) = refusal.get("fix").filter(|fix| fix.is_object()) {
                    @let is_certain = fix.get("certain").and_then(Value::as_bool) == Some(true);
                    p.label { @if is_certain { "The only way to repair it" } @else { "One way to repair it" } }
                    pre.raw.after { (visible(text(fix, "text"))) }
                }
            }
        }
        @if !is_any { p.empty { "No call, so nothing to repair." } }
    }
}

/// The text that a call stands in, what was done to that text, and where the call is.
fn source<'c>(choice: &'c Value, report: &Value, call: &Value) -> (&'c str, Marks, Range<usize>) {
    let n = number(call, "number");
    if is_native(call) {
        let at = usize::try_from(n.saturating_sub(1)).unwrap_or(usize::MAX);
        let source =
            list(choice, "native").nth(at).map(|native| text(native, "arguments")).unwrap_or_default();
        return (source, Marks::of_native(report, n), 0..source.len());
    }
    let raw = text(choice, "raw");
    let mut marks = Marks::of(report, raw);
    let at = span(call.get("span")).unwrap_or(0..raw.len());
    marks.found.clear();
    marks.carets.clear();
    marks.edits.retain(|edit| at.start <= edit.at.start && edit.at.end <= at.end);
    (raw, marks, at)
}
