//! Shows the outcome of an answer: its text with its marks, then each call, refused call and shown call in words.

use callwright::value::Value;
use maud::{Markup, html};

use crate::report::{list, number, text};
use crate::spans::{Marks, is_unsure, marked};
use crate::visible::{in_line, visible};
use crate::words;

/// An answer with what `report` says of it. `choice` has its text as `raw`, its native calls as `native`, a list of `name`
/// and `arguments`, and perhaps a `finish_reason`.
pub fn answer(choice: &Value, report: &Value) -> Markup {
    let raw = text(choice, "raw");
    let marks = Marks::of(report, raw);
    html! {
        @if !raw.is_empty() { pre.raw { (marked(raw, &marks)) } }
        @for (n, native) in (1u64..).zip(list(choice, "native")) {
            p.label { "Native call " (n) ": " code { (visible(text(native, "name"))) } }
            pre.raw { (marked(text(native, "arguments"), &Marks::of_native(report, n))) }
        }
        @if !marks.is_empty() {
            p.legend {
                span.found { "a call" } " " span.found.unsure { "unsure" } " " span.found.refused { "refused" } " "
                span.found.shown { "shown" } " " del { "struck" } " " ins { "put in" }
                " " span.caret {} " first error"
            }
        }
        ul.verdicts {
            @for call in list(report, "calls") { li { (accepted(call)) } }
            @for refusal in list(report, "refusals") { li { (refused(refusal)) } }
            @for shown in list(report, "shown") { li { (shown_call(shown)) } }
        }
        @if list(report, "calls").chain(list(report, "refusals")).next().is_none() { p.empty { "No call in this text." } }
        @if !text(choice, "finish_reason").is_empty() {
            p.label { "finish_reason " code { (visible(text(choice, "finish_reason"))) } }
        }
    }
}

/// A call that is made, and what was done to it. `call` is a member of `calls` of a report.
pub fn accepted(call: &Value) -> Markup {
    html! {
        p {
            span.badge.right { "call " (number(call, "number")) } " " code { (visible(text(call, "name"))) }
            span.fact title="The dialect that it is written in" { (visible(text(call, "dialect"))) }
            span.fact title=(visible(text(call, "class"))) { (visible(words::class(text(call, "class")))) }
            @if call.get("open_end").and_then(Value::as_bool) == Some(true) { span.fact { "its end is open" } }
            @if call.get("unchecked").and_then(Value::as_bool) == Some(true) { span.fact { "not held against all of its schema" } }
            @if is_unsure(call) { span.fact { "unsure: it may be quoted rather than made" } }
        }
        (edits(call))
    }
}

/// A call that is a part of the text, and why.
fn shown_call(shown: &Value) -> Markup {
    html! {
        p {
            span.badge { "shown" } " " code { (visible(text(shown, "name"))) }
            span.fact { (visible(text(shown, "dialect"))) } " " (visible(text(shown, "message")))
        }
    }
}

/// Lists the edits of a call.
fn edits(call: &Value) -> Markup {
    html! {
        ul.edits {
            @for repair in list(call, "repairs") {
                li title=(visible(&words::because(repair))) {
                    span.change {
                        @if !text(repair, "before").is_empty() { del { (in_line(text(repair, "before"))) } }
                        @if !text(repair, "put").is_empty() { ins { (in_line(text(repair, "put"))) } }
                    }
                    (visible(words::kind(text(repair, "kind"))))
                }
            }
            @for coercion in list(call, "coercions") { li { (coerced(coercion)) } }
            @if !text(call, "renamed_from").is_empty() {
                li { "written as " code { (visible(text(call, "renamed_from"))) } }
            }
        }
    }
}

/// A value of another type that was taken for one of the declared type. `coercion` is a member of `coercions` of a call.
pub fn coerced(coercion: &Value) -> Markup {
    html! {
        span.change { del { (in_line(text(coercion, "from"))) } ins { (in_line(text(coercion, "to"))) } }
        "the type that the schema asks for, at " code { (visible(text(coercion, "pointer"))) }
    }
}

/// Why a call was refused, and what could be done. `refusal` is a member of `refusals` of a report.
pub fn refused(refusal: &Value) -> Markup {
    let place = refusal.get("position").filter(|place| place.is_object());
    let is_ambiguous = list(refusal, "readings").next().is_some();
    html! {
        p {
            (reason(text(refusal, "code")))
            @if !text(refusal, "name").is_empty() { " " code { (visible(text(refusal, "name"))) } }
            " " (visible(text(refusal, "message")))
            @if let Some(place) = place {
                span.fact { "line " (number(place, "line")) ", column " (number(place, "column")) }
            }
        }
        @for hint in list(refusal, "hints").filter_map(Value::as_str) { p.hint { (visible(hint)) } }
        @if is_ambiguous {
            div.readings {
                @for (n, reading) in (1u64..).zip(list(refusal, "readings").filter_map(Value::as_str)) {
                    figure { figcaption { "Reading " (n) } pre { (visible(reading)) } }
                }
            }
        }
        (violated(refusal))
    }
}

/// The reason of a refusal as a badge, its stable name as a tooltip.
pub fn reason(code: &str) -> Markup {
    html! { span.badge.refused title=(visible(code)) { (visible(words::kind(code))) } }
}

/// Lists the demands of the schema that a refused call does not keep, as a table.
pub fn violated(refusal: &Value) -> Markup {
    html! {
        @if list(refusal, "violations").next().is_some() {
            div.scroll {
                table {
                    thead { tr { th { "Where" } th { "What is wrong" } } }
                    tbody {
                        @for violation in list(refusal, "violations") {
                            @let pointer = text(violation, "pointer");
                            tr {
                                td { code { (visible(if pointer.is_empty() { "(all)" } else { pointer })) } }
                                td title=(visible(text(violation, "keyword"))) { (visible(text(violation, "message"))) }
                            }
                        }
                    }
                }
            }
        }
    }
}
