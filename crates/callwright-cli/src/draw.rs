//! Draws for a person what happened, as a compiler would: the text, the places that were repaired under a
//! caret with the reason, then the calls, or what the model should be told.
//!
//! Everything that a model wrote is made [harmless](crate::harmless) first.

mod excerpt;
mod session;
mod words;

use std::fmt::Write;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer};
use callwright::{
    Acceptance, Candidate, Coercion, Feedback, Healed, Outcome, Reason, Refusal, Trouble, Verdict,
};
use callwright_json::{Class, Repair, Span, class_of};

use crate::door;
use crate::harmless::harmless;
use excerpt::{Excerpt, Mark};

/// Draws, in colour or not.
#[derive(Clone, Copy)]
pub(crate) struct Pen {
    color: bool,
}

/// Of equal repairs, this many are shown.
const SHOWN: usize = 3;

impl Pen {
    pub(crate) fn new(color: bool) -> Pen {
        Pen { color }
    }

    /// Draws the outcome of a model's answer; `origin` says where `text` comes from.
    pub(crate) fn outcome(self, text: &str, outcome: &Outcome, origin: &str) -> String {
        let mut out = String::new();
        for (number, verdict) in (1..).zip(&outcome.verdicts) {
            if 1 < number {
                out.push('\n');
            }
            match verdict {
                Verdict::Accepted(call) => self.accepted(&mut out, text, call, number, origin),
                Verdict::Refused(refusal) => self.refused(&mut out, refusal, number),
            }
        }
        if outcome.verdicts.is_empty() {
            self.line(&mut out, Level::NOTE, "no call in this text", Vec::new());
        }
        for shown in &outcome.shown {
            self.line(&mut out, Level::NOTE, &words::shown(shown.name.as_deref(), &shown.by), Vec::new());
        }
        if !outcome.text.trim().is_empty() {
            out.push('\n');
            self.heading(&mut out, "text");
            indent(&mut out, outcome.text.trim());
        }
        out
    }

    /// Draws the texts that look like calls, where no tools are declared.
    pub(crate) fn candidates(self, found: &[Candidate]) -> String {
        let mut out = String::new();
        let title = match found.len() {
            0 => String::from("nothing looks like a call"),
            1 => String::from(
                "1 candidate: no tools are declared, so it is not a call; --tools FILE declares them",
            ),
            n => format!(
                "{n} candidates: no tools are declared, so none is a call; --tools FILE declares them"
            ),
        };
        self.line(&mut out, Level::NOTE, &title, Vec::new());
        for (number, candidate) in (1..).zip(found) {
            let name = candidate.name.as_deref().unwrap_or("no name");
            let Span { start, end } = candidate.span;
            let problem = candidate.problem.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            out.push('\n');
            self.heading(
                &mut out,
                &format!("{number}. {name} ({}, bytes {start}..{end}){problem}", candidate.dialect),
            );
            indent(&mut out, &pretty(&candidate.arguments));
        }
        out
    }

    /// Draws the outcome of a text that was to be repaired.
    pub(crate) fn healing(self, text: &str, healed: Result<&Healed, &Reason>, origin: &str) -> String {
        let mut out = String::new();
        match healed {
            Ok(healed) => {
                let class = class_of(&healed.repairs);
                let class = if healed.coercions.is_empty() { class } else { class.max(Class::Inferred) };
                let title = done(class, &healed.repairs, &healed.coercions);
                self.line(&mut out, repaired(class), &title, marks(text, origin, &healed.repairs));
                self.coercions(&mut out, &healed.coercions);
            }
            Err(reason) => {
                let feedback = door::why(text, reason);
                let title = door::sentence(&feedback);
                self.line(
                    &mut out,
                    Level::ERROR.with_name("not repaired"),
                    &title,
                    suspects(origin, &feedback),
                );
                readings(&mut out, &feedback);
            }
        }
        out
    }

    fn accepted(self, out: &mut String, text: &str, call: &Acceptance, number: usize, origin: &str) {
        let done = match call.class() {
            // Its markup may still be wrong: that is the dialect's matter, and changes no value.
            Class::Exact => String::from("arguments exactly as written"),
            class => done(class, &call.repairs, &call.coercions),
        };
        let title = format!("call {number}, `{}` ({}): {done}", call.name, call.dialect);
        let marks = marks(text, origin, &call.repairs);
        self.line(out, repaired(call.class()), &title, marks);
        if let Some(from) = &call.renamed_from {
            let _ = writeln!(out, "  the model wrote the name as `{}`", harmless(from));
        }
        self.coercions(out, &call.coercions);
        if call.unsure {
            let _ = writeln!(out, "  {}", words::UNSURE);
        }
        if call.unchecked {
            let _ = writeln!(out, "  {}", words::UNCHECKED);
        }
        out.push('\n');
        self.heading(out, &call.name);
        indent(out, &pretty(&call.arguments));
    }

    fn refused(self, out: &mut String, refusal: &Refusal, number: usize) {
        let feedback = refusal.feedback();
        let name = refusal.name.as_ref().map(|name| format!(", `{name}`")).unwrap_or_default();
        let title = format!("call {number}{name} ({}): {}", refusal.dialect, door::sentence(&feedback));
        let origin = format!("call {number}");
        self.line(out, Level::ERROR.with_name("refused"), &title, suspects(&origin, &feedback));
        readings(out, &feedback);
        out.push('\n');
        self.heading(out, "what the model is told");
        indent(out, &feedback.message_to_model());
    }

    fn coercions(self, out: &mut String, coercions: &[Coercion]) {
        for Coercion { pointer, from, to } in coercions {
            let _ = writeln!(out, "  {}: {} became {}", harmless(pointer), harmless(from), harmless(to));
        }
    }

    /// One message with the excerpts that it is about.
    fn line(self, out: &mut String, level: Level<'_>, title: &str, excerpts: Vec<Excerpt>) {
        let renderer = if self.color { Renderer::styled() } else { Renderer::plain() };
        let title = harmless(title);
        let mut group = Group::with_title(level.primary_title(&*title));
        for excerpt in &excerpts {
            group = group.element(excerpt.snippet());
        }
        out.push_str(&renderer.render(&[group]));
        out.push('\n');
    }

    pub(crate) fn heading(self, out: &mut String, text: &str) {
        let text = harmless(text);
        let _ = if self.color { writeln!(out, "\u{1b}[1m{text}\u{1b}[0m") } else { writeln!(out, "{text}") };
    }
}

/// `2 repairs (R1)`, or that there was nothing to do.
fn done(class: Class, repairs: &[Repair], coercions: &[Coercion]) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let what = match (repairs.len(), coercions.len()) {
        (0, 0) if class == Class::Exact => return String::from("exactly as written"),
        (0, 0) => String::from("another name"),
        (n, 0) => count(n, "repair"),
        (0, n) => count(n, "coercion"),
        (n, m) => format!("{} and {}", count(n, "repair"), count(m, "coercion")),
    };
    format!("{what} ({})", words::class(class))
}

fn repaired(class: Class) -> Level<'static> {
    match class {
        Class::Exact => Level::NOTE.with_name("valid"),
        Class::Lossless | Class::Inferred => Level::WARNING.with_name("repaired"),
    }
}

/// The places that were repaired. Equal repairs beyond the first few are counted, not shown.
fn marks(text: &str, origin: &str, repairs: &[Repair]) -> Vec<Excerpt> {
    let mut marks = Vec::new();
    for (kind, count) in callwright_json::tally(repairs) {
        let alike = repairs.iter().filter(|repair| repair.kind == kind);
        for (nth, repair) in (1..).zip(alike.take(SHOWN)) {
            let mut label = words::repair(kind, &repair.put);
            if nth == SHOWN && SHOWN < count {
                let _ = write!(label, " …and {} more like it", count - SHOWN);
            }
            marks.push(Mark { at: repair.at, kind: AnnotationKind::Primary, label });
        }
    }
    excerpt::excerpts(text, origin, marks)
}

/// The suspect place, or the whole block where there is none.
fn suspects(origin: &str, feedback: &Feedback) -> Vec<Excerpt> {
    let mark = match feedback.at {
        Some(at) => {
            let label = feedback.trouble.as_ref().map_or_else(|| String::from("here"), Trouble::label);
            Mark { at, kind: AnnotationKind::Primary, label }
        }
        None => Mark { at: Span::at(0), kind: AnnotationKind::Visible, label: String::new() },
    };
    excerpt::excerpts(&feedback.block, origin, vec![mark])
}

fn readings(out: &mut String, feedback: &Feedback) {
    for (number, reading) in (1..).zip(&feedback.readings) {
        let _ = writeln!(out, "  reading {number}: {}", harmless(reading));
    }
}

/// The arguments with one member per line; numbers keep their text.
fn pretty(arguments: &str) -> String {
    let value: Option<callwright::value::Value> = serde_json::from_str(arguments).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    pretty.unwrap_or_else(|| arguments.to_owned())
}

pub(crate) fn indent(out: &mut String, text: &str) {
    for line in harmless(text).lines() {
        let _ = if line.is_empty() { writeln!(out) } else { writeln!(out, "  {line}") };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use callwright_json::RepairKind;

    fn call(repairs: Vec<Repair>) -> Outcome {
        Outcome {
            verdicts: vec![Verdict::Accepted(Acceptance {
                id: None,
                name: String::from("run_code"),
                arguments: String::from(r#"{"code": "print(1)", "n": 1.50}"#),
                dialect: "json".into(),
                span: Span::at(0),
                repairs,
                renamed_from: None,
                coercions: Vec::new(),
                beside_prose: None,
                unsure: false,
                is_apart: false,
                open_end: false,
                unchecked: false,
            })],
            ..Outcome::default()
        }
    }

    fn repair(kind: RepairKind, at: usize, put: &str) -> Repair {
        Repair { kind, at: Span::new(at, at + 1), put: put.to_owned().into() }
    }

    #[test]
    fn the_repaired_place_stands_over_its_reason() {
        let text = r#"{"tool": "run_code", "arguments": {"code": "print(1)", "n": 1.50}}}"#;
        let outcome = call(vec![repair(RepairKind::DropCloser, text.len() - 1, "")]);
        let drawn = Pen::new(false).outcome(text, &outcome, "answer.txt");
        let caret = drawn.lines().position(|line| line.ends_with("^ a closing bracket too many")).unwrap();
        let lines: Vec<&str> = drawn.lines().collect();
        assert!(lines[caret - 1].ends_with("1.50}}}"), "{drawn}");
        assert_eq!(lines[caret].find('^'), lines[caret - 1].rfind('}'), "{drawn}");
        assert!(drawn.contains("answer.txt:1"), "{drawn}");
        assert!(drawn.contains("    \"n\": 1.50\n"), "numbers keep their text: {drawn}");
    }

    #[test]
    fn equal_repairs_are_folded() {
        let text = "x".repeat(80);
        let repairs = (0..39).map(|n| repair(RepairKind::EscapeQuote, 2 * n, "\\\"")).collect();
        let drawn = Pen::new(false).outcome(&text, &call(repairs), "-");
        assert_eq!(drawn.matches('^').count(), SHOWN, "{drawn}");
        assert!(drawn.contains("…and 36 more like it"), "{drawn}");
    }

    #[test]
    fn nothing_that_a_model_wrote_reaches_the_terminal_raw() {
        let text = "\u{1b}[2J\u{202e}{\u{9b}1m}\u{7}";
        let mut outcome = call(vec![repair(RepairKind::DropProse, 0, "\u{1b}[31m")]);
        outcome.text = String::from("\u{1b}]0;title\u{7}");
        outcome.verdicts.push(Verdict::Refused(Refusal {
            id: None,
            name: Some(String::from("\u{1b}[1m")),
            dialect: "json".into(),
            number: 2,
            span: Span::at(0),
            block: String::from(text),
            reason: Reason::UnknownTool { nearest: vec![String::from("\u{9b}5m")], declared: Vec::new() },
        }));
        let drawn = Pen::new(false).outcome(text, &outcome, "\u{1b}[7m");
        let raw: Vec<char> = drawn.chars().filter(|c| c.is_control() && *c != '\n').collect();
        assert_eq!(raw, [], "{drawn:?}");
        assert!(!drawn.contains('\u{202e}'));
    }

    #[test]
    fn colour_is_only_where_it_is_asked_for() {
        let outcome = call(vec![repair(RepairKind::DropCloser, 1, "")]);
        assert!(Pen::new(true).outcome("{}}", &outcome, "-").contains("\u{1b}["));
        assert!(!Pen::new(false).outcome("{}}", &outcome, "-").contains('\u{1b}'));
    }
}
