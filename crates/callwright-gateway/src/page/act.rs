//! The acts of an agent, as its journal tells them: its intents, its effects, and their results.

use callwright::value::Value;
use callwright_store::{Node, NodeKind};
use maud::{Markup, html};

use super::layout::duration;
use super::report::{pretty, pretty_text, text};
use super::visible::visible;

/// Tells a node of this subject in one line; `None` for another one.
pub(crate) fn told(node: &Node) -> Option<String> {
    let payload = &node.payload;
    match node.kind {
        NodeKind::Intent => Some(text(payload, "arguments").to_owned()),
        NodeKind::Effect => Some(format!("{} {}", outcome(payload).1, time_of(payload))),
        _ => None,
    }
}

/// The node whole; none of another subject.
pub(crate) fn act(node: &Node) -> Option<Markup> {
    let payload = &node.payload;
    match node.kind {
        NodeKind::Intent => Some(html! {
            p.label { "This was about to begin:" }
            pre data-copy="" { (visible(&pretty_text(text(payload, "arguments")))) }
        }),
        NodeKind::Effect => Some(html! {
            @let (class, word) = outcome(payload);
            p { span.badge.(class) { (word) } " " (time_of(payload)) }
        }),
        NodeKind::ToolResult => Some(html! {
            @if payload.pointer("/run/finished").and_then(Value::as_str) == Some("error") {
                p { span.badge.refused { "error" } }
            }
            pre data-copy="" { (visible(&pretty_text(text(payload, "text")))) }
        }),
        NodeKind::Note => Some(html! {
            pre { (visible(text(payload, "text"))) }
            @if let Some(settings) = payload.pointer("/run/settings/settings") {
                p.label { "What holds for the run:" }
                pre { (visible(&pretty(settings))) }
            }
        }),
        _ => None,
    }
}

/// Tells the result of a call, as a class and a word.
fn outcome(payload: &Value) -> (&'static str, &'static str) {
    match payload.get("ok").and_then(Value::as_bool) {
        Some(true) => ("right", "done"),
        // The program was ended while it ran.
        _ if text(payload, "outcome") == "unknown" => ("refused", "not known"),
        _ => ("refused", "failed"),
    }
}

/// A call that nobody knows the end of has taken no time that could be told.
fn time_of(payload: &Value) -> String {
    let seconds = payload.get("seconds").and_then(Value::as_f64).unwrap_or_default();
    // What a dump says may be anything: the cast ends at the bounds.
    if 0.0 < seconds { format!("after {}", duration((seconds * 1e6) as u64)) } else { String::new() }
}
