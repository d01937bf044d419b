//! The nodes of a session, turn by turn, each with the sign, the colour and the word of its kind.

use callwright_store::{Filter, Node, NodeKind, Session, Turn};
use maud::{Markup, html};

use super::NODES;
use super::act;
use super::layout::{duration, time};
use super::links;
use super::report::text;
use super::sessions::{count, outcome};
use super::visible::visible;

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
        NodeKind::Healed => ("✚", "healed", "healed"),
        NodeKind::ValidationError => ("⚠", "corrected", "validation error"),
        NodeKind::Refused => ("✕", "refused", "refused"),
        NodeKind::Breaker => ("⏻", "refused", "breaker"),
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
pub(crate) fn middle(session: &Session, filter: &Filter, node: Option<i64>, actions: &Markup) -> Markup {
    let summary = &session.summary;
    html! {
        section.timeline aria-label="Timeline" {
            div #facts {
                h1 { (visible(if summary.title.trim().is_empty() { &summary.id } else { &summary.title })) }
                p.facts {
                    (outcome(&summary.outcome))
                    @if summary.origin == "agent" { span.fact { "agent" } }
                    span.fact { (visible(&summary.model)) }
                    @if !summary.mode.is_empty() { span.fact { (visible(&summary.mode)) } }
                    @if !summary.dialect.is_empty() { span.fact { (visible(&summary.dialect)) } }
                    span.fact { (count(summary.turns, "turn")) }
                    span.fact { (count(summary.repairs, "repair")) }
                    @if 0 < summary.feedback_turns { span.fact { (summary.feedback_turns) " for feedback" } }
                    span.fact { (summary.tokens) " tokens" }
                }
                p.id { code { (visible(&summary.id)) } }
            }
            (actions)
            div #timeline { (timeline(session, filter, node)) }
        }
    }
}

/// All nodes as links to themselves.
fn timeline(session: &Session, filter: &Filter, opened: Option<i64>) -> Markup {
    let id = &session.summary.id;
    let first = session.nodes.first().map_or(1, |first| first.number);
    html! {
        @if 1 < first {
            @let from = (first - 1 - NODES).max(0).to_string();
            a.more href=(links::session(filter, id, &[("from", &from)])) { "Earlier nodes" }
        }
        ol #nodes.nodes {
            @for (n, node) in session.nodes.iter().enumerate() {
                @let before = n.checked_sub(1).and_then(|n| session.nodes.get(n));
                @if let Some(turn) = begins(session, before, node) { li.turn { (heading(turn)) } }
                li {
                    a.node href={ (links::session(filter, id, &[("node", &node.number.to_string())])) "#node" }
                        aria-current=[(opened == Some(node.number)).then_some("true")] {
                        (badge(&node.kind))
                        @if let Some(name) = &node.name { " " code { (visible(name)) } }
                        span.told { (visible(&told(node))) }
                    }
                }
            }
        }
        @if let Some(last) = session.nodes.last().filter(|last| last.number < session.summary.nodes) {
            a.more href=(links::session(filter, id, &[("from", &last.number.to_string())])) { "Later nodes" }
        }
    }
}

/// The turn that begins with this node.
fn begins<'s>(session: &'s Session, before: Option<&Node>, node: &Node) -> Option<&'s Turn> {
    let turn = node.turn?;
    let is_same = before.is_some_and(|before| before.turn == Some(turn));
    session.turns.iter().find(|other| !is_same && other.id == turn)
}

fn heading(turn: &Turn) -> Markup {
    html! {
        span.number { "Turn " (turn.number) } (outcome(&turn.outcome))
        span.fact { (visible(&turn.model)) }
        span.fact { (duration(turn.total_us.unsigned_abs())) }
        span.fact { (time(turn.at)) }
    }
}

/// What a node is about, in one line.
fn told(node: &Node) -> String {
    let payload = &node.payload;
    let whole = match &node.kind {
        NodeKind::ModelTurn => {
            let choice = payload.get("choices").and_then(|choices| choices.get(0));
            let raw = choice.map(|choice| text(choice, "raw")).unwrap_or_default();
            match raw.trim() {
                "" => text(payload, "error").to_owned(),
                raw => raw.to_owned(),
            }
        }
        NodeKind::ValidationError | NodeKind::Refused => text(payload, "message").to_owned(),
        NodeKind::ToolCall | NodeKind::Healed => {
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
