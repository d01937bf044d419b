//! Judges calls that are written as expressions: `f(a=1)`, `['f', a=1]`.

use callwright_json::{
    AnyValue, Class, Diagnostic, Parse, Problem, Reading, Repair, RepairKind, Span, Start, is_arguments,
};

use super::{Attempt, Case, Judged, anew, listed};
use crate::check;
use crate::dialect::Sign;
use crate::payload::{self, Payload};
use crate::scan::bare;
use crate::scan::opener::Delimiter;
use crate::tools::Tool;
use crate::tools::names::leading_name;
use crate::verdict::{Reason, ShapeError, Verdict};

impl<'a> Case<'a, '_> {
    /// Judges a call expression: `f(…)`.
    pub(super) fn call(&self, name: Span, at: usize) -> Judged {
        let written = name.of(self.text);
        let Some(tool) = self.names.resolve(written) else {
            let is_told = || self.has_sibling || self.is_misnamed(at);
            return match self.ends.end.filter(|_| is_told() && is_arguments(self.text, at)) {
                Some(end) => self.refused(
                    Some(written),
                    Reason::unknown_tool(written, self.names.tools()),
                    Span::new(at, end),
                ),
                None => Judged::Text(None),
            };
        };
        let guide = tool.schema().guide();
        // The backslashes of Markdown: `f(a\_b=1)`
        if let Some(end) = self.ends.end.or(self.ends.left)
            && let Some(piece) = self.text.get(at..end).filter(|piece| piece.contains("\\_"))
        {
            let plain = ["_", "*", "[", "]", "#", "<", ">"]
                .iter()
                .fold(piece.to_owned(), |text, sign| text.replace(&format!("\\{sign}"), sign));
            let read = payload::read(Start::Arguments, &plain, 0, guide, self.options(false));
            if let Some(reading) = payload::settled_object(&read.parse) {
                let (kind, at) = (RepairKind::DropBackslash, Span::new(at, end));
                return self.one(self.rewritten(tool, written, reading, kind, at), end);
            }
        }
        let payload = payload::read(Start::Arguments, self.text, at, guide, self.options(self.cut));
        let repairs = payload.parse.settled().map_or(&[][..], |reading| &reading.repairs);
        let before = self.text.get(..name.start as usize).unwrap_or("");
        let bare = bare::values(self.text, repairs);
        // `the loop calls f(x, y)` mentions a call, and behind a blank stand words: `[read (optional)]`.
        let is_apart = self.set_off && !self.text[name.end as usize..].starts_with(' ');
        if !bare.is_empty() && !is_apart && !self.opener.is_distinct() {
            return Judged::Text(None);
        }
        let nested = bare.iter().any(|value| value.is_expression(tool) || value.is_variable(before))
            || self.keys_are_torn(repairs, tool)
            || is_unreadable(&payload.parse) && is_arguments(self.text, at);
        if nested {
            if !self.set_off && !self.opener.is_distinct() {
                return Judged::Text(None);
            }
            let end = self.ends.end.unwrap_or(payload.end).max(payload.end);
            let reason = Reason::Shape(ShapeError::Expression);
            return self.refused(Some(tool.name()), reason, Span::new(at, end));
        }
        if let Some(judged) = self.unusual_arguments(tool, written, &payload, at) {
            return judged;
        }
        self.arguments(tool, written, self.undoubted(payload), at)
    }

    /// Returns whether the whole answer, or a fence for calls, holds a call that a declared tool takes, but for its
    /// name.
    fn is_misnamed(&self, at: usize) -> bool {
        let is_fence = self.opener.record.sign == Some(Sign::FencedCall);
        let read = || payload::read(Start::Arguments, self.text, at, &AnyValue, self.options(false));
        (self.alone || is_fence)
            && payload::settled_object(&read().parse).is_some_and(|reading| self.are_taken(reading.value()))
    }

    /// Judges an argument list that only makes sense in another spelling: `f('a=1')`, `'f(a=1')`.
    fn unusual_arguments(
        &self,
        tool: &Tool,
        written: &str,
        payload: &Payload<'_>,
        at: usize,
    ) -> Option<Judged> {
        let guide = tool.schema().guide();
        let fits = |reading: &Reading<'_>| check::fit(tool, reading.value().raw()).is_ok();
        if payload.parse.settled().is_some_and(fits) {
            return None;
        }
        let end = self.ends.end.or(self.ends.left)?;
        let inside = self.text.get(at + 1..end.checked_sub(1)?)?;
        // `['f(a=1')]`: the quote and the parenthesis changed places.
        let exchanged = || match self.opener.delimiters.last() {
            Some(&Delimiter::Quote(mark)) => inside.strip_suffix(char::from(mark)),
            _ => None,
        };
        let (source, kind) = match listed::keywords(inside, tool, self.options(false)) {
            Some(source) => (source, RepairKind::SwapSyntax),
            None => (format!("({})", exchanged()?), RepairKind::AddCloser),
        };
        let read = payload::read(Start::Arguments, &source, 0, guide, self.options(false));
        let reading = payload::settled_object(&read.parse).filter(|reading| fits(reading))?;
        Some(self.one(self.rewritten(tool, written, reading, kind, Span::new(at, end)), end))
    }

    /// Judges a call that is written as a list: `['f', a=1]`, `('f', 'a=1')`.
    pub(super) fn listed(&self, name: Span, at: usize) -> Judged {
        let written = name.of(self.text);
        let Some(tool) = self.names.resolve(written) else { return Judged::Text(None) };
        let Some(end) = self.ends.end else {
            return if self.attempt == Attempt::Last { Judged::Text(None) } else { Judged::Unclear };
        };
        let inside = self.text.get(name.end as usize..end.saturating_sub(1)).unwrap_or("");
        let arguments = inside.split_once(',').map_or("", |(_, arguments)| arguments.trim());
        let source = listed::keywords(arguments, tool, self.options(false))
            .unwrap_or_else(|| format!("({arguments})"));
        let read = payload::read(Start::Arguments, &source, 0, tool.schema().guide(), self.options(false));
        let Some(reading) = payload::settled_object(&read.parse) else {
            return self.broken(Span::new(at, end), Some(written), &Parse::default());
        };
        self.one(self.rewritten(tool, written, reading, RepairKind::SwapSyntax, Span::new(at, end)), end)
    }

    /// Returns the verdict on a call whose arguments were read from a text other than the answer's own.
    pub(super) fn rewritten(
        &self,
        tool: &Tool,
        written: &str,
        reading: &Reading<'_>,
        kind: RepairKind,
        at: Span,
    ) -> Option<Verdict> {
        let inferred =
            reading.repairs.iter().map(|repair| repair.kind).filter(|kind| kind.class() == Class::Inferred);
        let put = reading.value().raw();
        self.verdict(tool, written, put, anew(kind, at, put, inferred), at)
    }

    /// Returns whether an argument that was read without a key has one with a slip in it: `f(p"th="x")`, `f(path""x")`.
    fn keys_are_torn(&self, repairs: &[Repair], tool: &Tool) -> bool {
        let assigns = |at: usize| self.text.get(..at).is_some_and(|before| before.ends_with('='));
        let is_key = |at: usize| {
            let rest = self.text.get(at..).unwrap_or("");
            let (key, behind) = rest.split_at(leading_name(rest).len());
            tool.declares(key) && behind.starts_with(['"', '\''])
        };
        let of = |kind| repairs.iter().filter(move |repair| repair.kind == kind).map(|repair| repair.at);
        let escapes = || of(RepairKind::EscapeQuote).any(|quote| assigns(quote.start as usize));
        let mut added = of(RepairKind::AddKey).peekable();
        added.peek().is_some() && (escapes() || added.any(|key| is_key(key.end as usize)))
    }
}

/// Returns whether there is no reading, though nothing is missing at the end.
fn is_unreadable(parse: &Parse<'_>) -> bool {
    let is_whole = |d: &Diagnostic| matches!(d.problem, Problem::Unreadable | Problem::Ambiguous);
    parse.readings.is_empty() && parse.diagnostics.iter().all(is_whole)
}
