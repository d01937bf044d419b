//! Draws a session that was kept: each node, and of what a model wrote the places that were repaired.

use std::collections::HashMap;
use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Level};
use callwright::value::Value;
use callwright_json::{RepairKind, Span};
use callwright_store::{Node, NodeKind, Session, rfc3339};

use super::excerpt::{self, Mark};
use super::{Pen, SHOWN, indent, words};
use crate::harmless::harmless;

/// Of a long text, so much is shown.
const TEXT: usize = 4000;

impl Pen {
    /// All of a session.
    pub(crate) fn session(self, session: &Session) -> String {
        let mut out = String::new();
        let summary = &session.summary;
        self.heading(&mut out, &format!("{}  {}", summary.id, summary.title));
        let _ = writeln!(
            out,
            "{} to {}, {} turns, {} nodes, {} repairs, {} refused, {} tokens",
            rfc3339(summary.created),
            rfc3339(summary.updated),
            summary.turns,
            summary.nodes,
            summary.repairs,
            summary.refusals,
            summary.tokens
        );
        let turns: HashMap<_, _> = session.turns.iter().map(|turn| (turn.id, turn)).collect();
        let mut turn = None;
        for node in &session.nodes {
            if node.turn != turn
                && let Some(turn) = node.turn.and_then(|id| turns.get(&id))
            {
                out.push('\n');
                let facts = [&turn.outcome, &turn.model, &turn.mode, &turn.surface];
                let facts: Vec<&str> =
                    facts.into_iter().map(String::as_str).filter(|fact| !fact.is_empty()).collect();
                let title = format!("turn {}: {}", turn.number, facts.join(", "));
                self.heading(&mut out, &title);
            }
            turn = node.turn;
            self.node(&mut out, node);
        }
        out
    }

    fn node(self, out: &mut String, node: &Node) {
        let name = node.name.as_deref().map(|name| format!(" {name}")).unwrap_or_default();
        out.push('\n');
        self.heading(out, &format!("{:>4}  {}{name}", node.number, node.kind));
        match node.kind {
            NodeKind::ModelTurn => self.model_turn(out, &node.payload),
            NodeKind::ToolCall | NodeKind::Repaired => {
                indent(out, &serde_json::to_string_pretty(&node.payload["arguments"]).unwrap_or_default());
            }
            NodeKind::Intent | NodeKind::Effect | NodeKind::Other(_) => {
                indent(out, &serde_json::to_string_pretty(&node.payload).unwrap_or_default());
            }
            _ => indent(out, cut(text(&node.payload, "text"))),
        }
    }

    fn model_turn(self, out: &mut String, payload: &Value) {
        let number = |pointer: &str| payload.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        let line = format!(
            "attempt {} ({}): {} at {}, {}, {:.1} s, {} + {} tokens",
            number("/attempt"),
            text(payload, "why"),
            text(payload, "model"),
            text(payload, "upstream"),
            text(payload, "mode"),
            number("/duration_us") as f64 / 1e6,
            number("/usage/prompt_tokens"),
            number("/usage/completion_tokens"),
        );
        indent(out, &line);
        let error = text(payload, "error");
        if !error.is_empty() {
            indent(out, &format!("error: {error}"));
        }
        for choice in payload["choices"].as_array().into_iter().flatten() {
            self.choice(out, choice);
        }
    }

    fn choice(self, out: &mut String, choice: &Value) {
        let raw = text(choice, "raw");
        if !raw.is_empty() {
            indent(out, cut(raw));
        }
        let native = choice["native"].as_array().map_or(&[][..], Vec::as_slice);
        for call in native {
            indent(out, cut(&format!("{}({})", text(call, "name"), text(call, "arguments"))));
        }
        for call in choice["report"]["calls"].as_array().into_iter().flatten() {
            let number = call["number"].as_u64().unwrap_or(0) as usize;
            // Native calls come first, each with a text of its own.
            let of = native.get(number.wrapping_sub(1)).map_or(raw, |call| text(call, "arguments"));
            self.call(out, call, number, of);
        }
        for refusal in choice["report"]["refusals"].as_array().into_iter().flatten() {
            self.refusal(out, refusal);
        }
        for shown in choice["report"]["shown"].as_array().into_iter().flatten() {
            let line = words::shown(shown["name"].as_str(), &text(shown, "message"));
            self.line(out, Level::NOTE, &line, Vec::new());
        }
    }

    fn call(self, out: &mut String, call: &Value, number: usize, text_of: &str) {
        let class = text(call, "class");
        let (level, done) = match class {
            "R0" => (Level::NOTE.with_name("valid"), String::from("exactly as written")),
            class => (Level::WARNING.with_name("repaired"), class.to_owned()),
        };
        let title = format!("call {number}, `{}` ({}): {done}", text(call, "name"), text(call, "dialect"));
        self.line(out, level, &title, excerpt::excerpts(text_of, &format!("call {number}"), repairs(call)));
        if let Some(from) = call["renamed_from"].as_str() {
            let _ = writeln!(out, "  the model wrote the name as `{}`", harmless(from));
        }
        for coercion in call["coercions"].as_array().into_iter().flatten() {
            let part = |key: &str| harmless(text(coercion, key)).into_owned();
            let _ = writeln!(out, "  {}: {} became {}", part("pointer"), part("from"), part("to"));
        }
        if call["unsure"] == true {
            let _ = writeln!(out, "  {}", words::UNSURE);
        }
        if call["unchecked"] == true {
            let _ = writeln!(out, "  {}", words::UNCHECKED);
        }
    }

    fn refusal(self, out: &mut String, refusal: &Value) {
        let name = refusal["name"].as_str().map(|name| format!(", `{name}`")).unwrap_or_default();
        let title = format!("call {}{name}: {}", refusal["number"], text(refusal, "message"));
        let at = span(&refusal["position"]["at"]);
        let marks = at.map(|at| Mark { at, kind: AnnotationKind::Primary, label: String::from("here") });
        let excerpts = excerpt::excerpts(text(refusal, "block"), "call", marks.into_iter().collect());
        self.line(out, Level::ERROR.with_name("refused"), &title, excerpts);
        for (number, reading) in (1..).zip(refusal["readings"].as_array().into_iter().flatten()) {
            let _ = writeln!(out, "  reading {number}: {}", harmless(reading.as_str().unwrap_or_default()));
        }
    }
}

/// The places that were repaired; equal repairs beyond the first few are left out.
fn repairs(call: &Value) -> Vec<Mark> {
    let mut marks: Vec<(&str, Mark)> = Vec::new();
    for repair in call["repairs"].as_array().into_iter().flatten() {
        let code = text(repair, "kind");
        let Some(at) = span(&repair["at"]) else { continue };
        if SHOWN <= marks.iter().filter(|(kind, _)| *kind == code).count() {
            continue;
        }
        let kind = RepairKind::ALL.iter().find(|kind| kind.code() == code);
        let label = kind.map_or_else(|| code.to_owned(), |kind| words::repair(*kind, text(repair, "put")));
        marks.push((code, Mark { at, kind: AnnotationKind::Primary, label }));
    }
    marks.into_iter().map(|(_, mark)| mark).collect()
}

/// `[8, 9]`. A dump may say anything.
fn span(at: &Value) -> Option<Span> {
    let offset = |n: usize| usize::try_from(at.get(n)?.as_u64()?).ok().filter(|at| *at <= u32::MAX as usize);
    let (start, end) = (offset(0)?, offset(1)?);
    (start <= end).then(|| Span::new(start, end))
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(TEXT.min(text.len()))).unwrap_or(text)
}
