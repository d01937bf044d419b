//! The nodes of a session, turn by turn, each with the sign, the colour and the word of its kind.

use callwright::value::Value;
use callwright_relay::AttemptReason;
use callwright_store::{Node, NodeKind, Session, Turn};
use maud::{Markup, html};

use super::act;
use super::chart;
use super::layout::{ago, duration};
use super::links::{self, Listing};
use super::report::{list, text};
use super::sessions::{count, grouped, outcome, title};
use super::visible::visible;

/// So many nodes of a session stand on a page.
pub(super) const NODES: i64 = 200;

/// Of a node so many characters are told.
const TOLD: usize = 140;

/// The sign, class and word of a kind.
pub(crate) fn kind(kind: &NodeKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        NodeKind::System => ("⚙", "said", "system"),
        NodeKind::User => ("●", "said", "user"),
        NodeKind::Assistant => ("◆", "model", "assistant"),
        NodeKind::ModelTurn => ("✦", "model", "model turn"),
        NodeKind::Reasoning => ("…", "said", "reasoning"),
        NodeKind::ToolCall => ("✓", "right", "tool call"),
        NodeKind::Repaired => ("✚", "repaired", "repaired"),
        NodeKind::ValidationError => ("⚠", "retried", "validation error"),
        NodeKind::Refused => ("✕", "refused", "refused"),
        NodeKind::GaveUp => ("■", "refused", "gave up"),
        NodeKind::ToolResult => ("↩", "said", "tool result"),
        NodeKind::Intent => ("◇", "model", "intent"),
        NodeKind::Effect => ("◈", "right", "effect"),
        NodeKind::Note => ("✎", "said", "note"),
        _ => ("·", "said", "other"),
    }
}

/// A kind as a sign and a word.
pub(crate) fn badge(of: &NodeKind) -> Markup {
    let (sign, class, word) = kind(of);
    html! {
        span.kind.{ (class) } { span.sign aria-hidden="true" { (sign) } (word) }
        @if let NodeKind::Other(name) = of { " " (visible(name)) }
    }
}

/// The middle of a page of a session: what it is, what can be done with it, its nodes.
pub(crate) fn middle(session: &Session, listing: &Listing, node: Option<i64>, actions: &Markup) -> Markup {
    let summary = &session.summary;
    html! {
        section.timeline aria-label="Timeline" {
            div #facts {
                h1 { (visible(&title(summary))) }
                p.facts {
                    (outcome(&summary.outcome))
                    @if summary.origin == "agent" { span.fact { "agent" } }
                    (fact("model", &summary.model)) (fact("mode", &summary.mode)) (fact("dialect", &summary.dialect))
                    span.fact { (count(summary.turns, "request")) }
                    span.fact { (count(summary.repairs, "repair")) }
                    @if 0 < summary.feedback_turns { span.fact { (summary.feedback_turns) " with feedback" } }
                    span.fact { (grouped(summary.tokens)) " tokens" }
                    span.fact { (ago(summary.updated)) }
                }
                p.id { code data-copy="Copy id" { (visible(&summary.id)) } }
            }
            (actions)
            div #timeline { (timeline(session, listing, node)) }
        }
    }
}

/// `mode prompt`; nothing where there is no value.
fn fact(name: &str, value: &str) -> Markup {
    html! { @if !value.is_empty() { span.fact { @if !name.is_empty() { span.name { (name) } " " } (visible(value)) } } }
}

/// All nodes as links to themselves.
fn timeline(session: &Session, listing: &Listing, opened: Option<i64>) -> Markup {
    let id = &session.summary.id;
    let first = session.nodes.first().map_or(1, |first| first.number);
    let slowest = session.turns.iter().map(|turn| turn.total_us).max().unwrap_or_default();
    html! {
        @if 1 < first {
            @let from = (first - 1 - NODES).max(0).to_string();
            a.more href=(links::session(listing, id, &[("from", &from)])) { "Earlier nodes" }
        }
        ol #nodes.nodes {
            @for (n, node) in session.nodes.iter().enumerate() {
                @let before = n.checked_sub(1).and_then(|n| session.nodes.get(n));
                @if let Some(turn) = begins(session, before, node) { li.turn { (heading(turn, slowest)) } }
                li {
                    a.node href={ (links::session(listing, id, &[("node", &node.number.to_string())])) "#node" }
                        aria-current=[(opened == Some(node.number)).then_some("true")] {
                        (badge(&node.kind))
                        @if let Some(name) = &node.name { " " code { (visible(name)) } }
                        span.told { (visible(&told(node))) }
                    }
                }
            }
        }
        @if let Some(last) = session.nodes.last().filter(|last| last.number < session.summary.nodes) {
            a.more href=(links::session(listing, id, &[("from", &last.number.to_string())])) { "Later nodes" }
        }
    }
}

/// The turn that begins with this node.
fn begins<'s>(session: &'s Session, before: Option<&Node>, node: &Node) -> Option<&'s Turn> {
    let turn = node.turn?;
    let is_same = before.is_some_and(|before| before.turn == Some(turn));
    session.turns.iter().find(|other| !is_same && other.id == turn)
}

fn heading(turn: &Turn, slowest: i64) -> Markup {
    html! {
        span.number { "Request " (turn.number) } (outcome(&turn.outcome))
        (fact("", &turn.model)) (fact("surface", &turn.surface))
        span.fact title="From its arrival to the last byte; the bar is as long as this is of the slowest request here" {
            (duration(turn.total_us.unsigned_abs()))
        }
        span.fact { (ago(turn.at)) }
        (chart::share(turn.total_us, slowest))
    }
}

/// Tells a node in one line.
fn told(node: &Node) -> String {
    let payload = &node.payload;
    let whole = match &node.kind {
        NodeKind::ModelTurn => {
            let choice = payload.get("choices").and_then(|choices| choices.get(0));
            let raw = choice.map(|choice| text(choice, "raw")).unwrap_or_default();
            let mut said: Vec<String> = vec![raw.trim().to_owned(), text(payload, "error").to_owned()];
            said.extend(choice.into_iter().flat_map(|choice| list(choice, "native")).map(native));
            if text(payload, "why") == AttemptReason::OtherModel.name() {
                said.insert(0, format!("{}, the second model:", text(payload, "model")));
            }
            said.retain(|said| !said.is_empty());
            said.join(" ")
        }
        NodeKind::ValidationError | NodeKind::Refused => text(payload, "message").to_owned(),
        NodeKind::ToolCall | NodeKind::Repaired => {
            payload.get("arguments").map(ToString::to_string).unwrap_or_default()
        }
        _ => act::told(node).unwrap_or_else(|| text(payload, "text").to_owned()),
    };
    let mut line: String = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((at, _)) = line.char_indices().nth(TOLD) {
        line.truncate(at);
        line.push('…');
    }
    line
}

/// `get_weather({"city": "Paris"})`
fn native(call: &Value) -> String {
    format!("{}({})", text(call, "name"), text(call, "arguments"))
}
