//! One node: for a model's turn the text with what was done to it, and everything around it, tab by tab.

use callwright::value::Value;
use callwright_store::{Node, NodeKind, Session};
use callwright_view::answer::{accepted, answer, coerced, reason, refused, violated};
use maud::{Markup, html};

use super::act::act;
use super::copies;
use super::diff;
use super::layout::{duration, time};
use super::links::{self, Listing};
use super::messages;
use super::opened::Opened;
use super::report::{declares_tools, definition, list, number, pretty, pretty_text, span, text};
use super::spans::{Marks, is_native, marked};
use super::timeline::badge;
use super::visible::visible;
use super::what_if::{self, Conditions};

/// The views of a model's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Raw,
    Diff,
    Arguments,
    Feedback,
    Upstream,
    WhatIf,
    Curl,
    Case,
}

const TABS: [(Tab, &str, &str); 8] = [
    (Tab::Raw, "raw", "As written"),
    (Tab::Diff, "diff", "Changes"),
    (Tab::Arguments, "arguments", "Arguments"),
    (Tab::Upstream, "upstream", "Messages"),
    (Tab::Feedback, "feedback", "Feedback"),
    (Tab::WhatIf, "what-if", "What if"),
    (Tab::Curl, "curl", "curl"),
    (Tab::Case, "case", "Test case"),
];

impl Tab {
    /// The tab of this name; the first one where there is none.
    pub(crate) fn named(name: Option<&str>) -> Tab {
        TABS.iter().find(|(_, known, _)| Some(*known) == name).map_or(Tab::Raw, |(tab, ..)| *tab)
    }
}

/// A node on its page.
pub(crate) fn node(
    session: &Session,
    opened: &Opened,
    listing: &Listing,
    tab: Tab,
    conditions: &Conditions,
) -> Markup {
    let node = &opened.node;
    let at = node.number.to_string();
    html! {
        (heading(node))
        @if node.kind == NodeKind::ModelTurn {
            nav.tabs aria-label="Views of this node" {
                @for (other, name, title) in TABS {
                    a href={ (links::session(listing, &session.summary.id, &[("node", &at), ("tab", name)])) "#node" }
                        aria-current=[(other == tab).then_some("page")] { (title) }
                }
            }
            @match tab {
                Tab::Raw => (raw(&node.payload)),
                Tab::Diff => (diff::diff(&node.payload)),
                Tab::Arguments => (arguments(&node.payload, opened.request())),
                Tab::Feedback => (feedback(session, node)),
                Tab::Upstream => (upstream(opened)),
                Tab::WhatIf => (what_if::what_if(&session.summary.id, opened, listing, conditions)),
                Tab::Curl => (copies::curl(opened)),
                Tab::Case => (copies::cases(opened)),
            }
        } @else {
            (other(node))
        }
    }
}

/// A node in a file that stands alone: all that can be told without asking the gateway.
pub(crate) fn whole(session: &Session, opened: &Opened) -> Markup {
    let node = &opened.node;
    html! {
        (heading(node))
        @if node.kind == NodeKind::ModelTurn {
            (raw(&node.payload))
            details { summary { "Changes" } (diff::diff(&node.payload)) }
            details { summary { "Arguments" } (arguments(&node.payload, opened.request())) }
            details { summary { "Feedback" } (feedback(session, node)) }
            details { summary { "Messages" } (upstream(opened)) }
        } @else {
            (other(node))
        }
    }
}

fn heading(node: &Node) -> Markup {
    html! {
        h2 #node tabindex="-1" {
            (badge(&node.kind))
            @if let Some(name) = &node.name { " " code { (visible(name)) } }
            span.fact { "step " (node.number) } span.fact { (time(node.at)) }
        }
    }
}

fn raw(payload: &Value) -> Markup {
    html! {
        @if !text(payload, "error").is_empty() { p.problem { (visible(text(payload, "error"))) } }
        @for (n, choice) in list(payload, "choices").enumerate() {
            @if 0 < n { h3 { "Choice " (n + 1) } }
            (answer(choice, choice.get("report").unwrap_or(&Value::Null)))
        }
        @if list(payload, "choices").next().is_none() { p.empty { "No answer came." } }
    }
}

fn arguments(payload: &Value, request: &str) -> Markup {
    let is_declared = declares_tools(request);
    let request: Value = serde_json::from_str(request).unwrap_or_default();
    let reports = || list(payload, "choices").filter_map(|choice| choice.get("report"));
    let schema = |name: &str| definition(&request, name).map(|definition| pretty(&definition));
    html! {
        @for call in reports().flat_map(|report| list(report, "calls")) {
            h3 { span.badge.right { "fits" } " " code { (visible(text(call, "name"))) } }
            pre { (visible(&call.get("arguments").map(pretty).unwrap_or_default())) }
            @if list(call, "coercions").next().is_some() {
                p.label { "Given the type that the schema asks for:" }
                ul.edits { @for coercion in list(call, "coercions") { li { (coerced(coercion)) } } }
            }
            (definition_of(schema(text(call, "name")), is_declared))
        }
        @for refusal in reports().flat_map(|report| list(report, "refusals")) {
            h3 { (reason(text(refusal, "code"))) " " code { (visible(text(refusal, "name"))) } }
            pre { (visible(text(refusal, "block"))) }
            (violated(refusal))
            (definition_of(schema(text(refusal, "name")), is_declared))
        }
        @if reports().all(|report| list(report, "calls").chain(list(report, "refusals")).next().is_none()) {
            p.empty { "No call, so no arguments." }
        }
    }
}

fn definition_of(schema: Option<String>, is_declared: bool) -> Markup {
    html! {
        @match schema {
            Some(schema) => details { summary { "The tool as it was declared" } pre { (visible(&schema)) } },
            None if is_declared => p.empty { "No tool of this name was declared." },
            None => p.empty { "The tools stand in the words of the request." },
        }
    }
}

/// Shows the words to the model after this turn: errors of the same attempt, and questions about calls that are unsure.
fn feedback(session: &Session, node: &Node) -> Markup {
    let attempt = number(&node.payload, "attempt");
    let is_told = |other: &&Node| {
        (matches!(other.kind, NodeKind::ValidationError | NodeKind::Refused) || is_confirmed(other))
            && other.turn == node.turn
            && number(&other.payload, "attempt") == attempt
    };
    let errors: Vec<&Node> = session.nodes.iter().filter(is_told).collect();
    html! {
        @for error in &errors { (told(error)) }
        @if errors.is_empty() { p.empty { "There was nothing to tell the model." } }
    }
}

/// Returns whether the model was asked whether it means this call.
fn is_confirmed(call: &Node) -> bool {
    text(&call.payload, "next") == "confirm"
}

fn told(error: &Node) -> Markup {
    html! {
        p {
            @match text(&error.payload, "next") {
                "feedback" => "This went to the model as its next turn:",
                "confirm" => "The model was asked whether it means this call:",
                "reask" => "The model was asked again, without a trace of the error. It could have been told:",
                "" => "The client was told, and nobody asked again:",
                next => { "Next was asked: " (visible(next)) ". The model could have been told:" }
            }
        }
        pre data-copy="" { (visible(text(&error.payload, "text"))) }
    }
}

fn upstream(opened: &Opened) -> Markup {
    let payload = &opened.node.payload;
    let usage = payload.get("usage").unwrap_or(&Value::Null);
    let shown = |member: &str| visible(text(payload, member)).into_owned();
    html! {
        dl.facts {
            dt { "Upstream" } dd { (shown("upstream")) }
            dt { "Model" } dd { (shown("model")) }
            dt { "Mode" } dd { (shown("mode")) @if !text(payload, "dialect").is_empty() { ", " (shown("dialect")) } }
            dt { "Asked" } dd { (shown("why")) ", attempt " (number(payload, "attempt")) }
            dt { "Status" } dd { @match number(payload, "status") { 0 => "none", status => (status) } }
            dt { "Time" } dd { (duration(number(payload, "duration_us"))) }
            dt { "Tokens" }
            dd { (number(usage, "prompt_tokens")) " + " (number(usage, "completion_tokens")) }
        }
        @if !text(payload, "error").is_empty() { p.problem { (shown("error")) } }
        @match &opened.body {
            Some(body) => {
                h3 { "What was sent" }
                (messages::request(body))
                details { summary { "The request as it was sent" } pre data-copy="" { (visible(&pretty_text(body))) } }
            },
            None => p.empty { "The request was not kept." },
        }
        h3 { "What came back" }
        @for choice in list(payload, "choices") { (messages::choice(choice)) }
        @match &opened.node.answer {
            Some(answer) => details {
                @let came = number(payload, "answer_bytes");
                summary { "The answer as it came" }
                @if (answer.len() as u64) < came { p.label { "The first " (answer.len()) " of " (came) " bytes:" } }
                pre data-copy="" { (visible(&pretty_text(answer))) }
            },
            None => details {
                summary { "The answer as it was read" }
                p.label { code { "store.answers" } " keeps it as it came:" }
                @for choice in list(payload, "choices") {
                    pre data-copy="" { (visible(&pretty(&without_report(choice)))) }
                }
            },
        }
    }
}

fn without_report(choice: &Value) -> Value {
    let mut came = choice.clone();
    if let Some(members) = came.as_object_mut() {
        members.remove("report");
    }
    came
}

/// Any other node: a text, a call, an error.
fn other(node: &Node) -> Markup {
    let payload = &node.payload;
    html! {
        @match node.kind {
            NodeKind::ToolCall | NodeKind::Repaired => {
                (accepted(payload))
                p.label { "The arguments that were sent to the client:" }
                pre data-copy="" { (visible(&payload.get("arguments").map(pretty).unwrap_or_default())) }
                @if is_confirmed(node) { (told(node)) }
            },
            NodeKind::ValidationError | NodeKind::Refused => {
                @let place = span(payload.get("position").and_then(|place| place.get("at")));
                @let caret = place.map(|at| (at.start, text(payload, "message").to_owned()));
                @let marks = Marks { carets: caret.into_iter().collect(), ..Marks::default() };
                (refused(payload))
                p.label { @if is_native(payload) { "The arguments as they came:" } @else { "The call as it was written:" } }
                pre.raw { (marked(text(payload, "block"), &marks)) }
                (told(node))
            },
            _ => @if let Some(act) = act(node) { (act) } @else {
                @if !text(payload, "text").is_empty() { pre { (visible(text(payload, "text"))) } }
                (messages::calls(payload))
                @if text(payload, "text").is_empty() && payload.get("tool_calls").is_none() {
                    pre { (visible(&pretty(payload))) }
                }
            },
        }
        @if let Some(call) = &node.call { p.label { "Call id " code { (visible(call)) } } }
    }
}
