//! The diagnosis of a text that should be JSON: the words of a strict reader, the fault, and a way to repair it.
//!
//! If the tolerant reader is sure of one reading, its repairs are the diagnosis. If not, the search goes from the place
//! at which the strict reader stopped back to a suspect. Both read strings as strings, so a bracket or a quote inside
//! one never counts.

use callwright_json::{AnyValue, Options, Reading, RepairKind, Span, read_with, strict};

use super::drawing::{Position, draw, window};
use super::json_loads::{JsonLoadsError, scan};
use super::suspect::{completed, of_reading, of_stop};
use super::trouble::Trouble;

/// The fault of a text that `json.loads` does not take.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// The error of `json.loads`.
    pub error: JsonLoadsError,
    /// The fault; the first one to repair if there are several.
    pub trouble: Trouble,
    /// The suspect place, in bytes of the text.
    pub at: Span,
    /// The text in a form that is JSON.
    pub fix: Option<Fix>,
}

/// A fixed text: always strict JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The whole fixed text.
    pub text: String,
    /// The fix is the only way to read the text under any schema. If not, it is an example.
    pub certain: bool,
}

/// Diagnoses `text`; `None` if `json.loads` takes it. A text that was `cut` off gets no fix: nobody knows how it would
/// have gone on.
pub fn diagnose(text: &str, cut: bool) -> Option<Diagnosis> {
    let stop = scan(text).err()?;
    let parse = read_with(text, &AnyValue, &Options { cut, ..Options::default() });
    let read = parse.settled();
    let (trouble, at) = read.and_then(|reading| of_reading(&stop, reading)).unwrap_or_else(|| of_stop(&stop));
    let fix = match read {
        _ if cut => None,
        Some(reading) => Some(Fix::of(reading)),
        None => completed(&stop).filter(|text| strict(text).is_ok()).map(|text| Fix { text, certain: false }),
    };
    Some(Diagnosis { error: stop.error(), trouble, at, fix })
}

impl Diagnosis {
    /// Returns advice for the model, one sentence per line.
    pub fn hints(&self, text: &str) -> Vec<String> {
        self.trouble.hints(Position::of(text, self.at.range().start).offset)
    }

    /// Draws for a person: the line of `text` with the suspect place, and carets under it with the fault.
    pub fn drawing(&self, text: &str) -> String {
        draw(text, self.at, &self.trouble.label())
    }
}

impl Fix {
    /// Makes the fix from a reading without a schema.
    fn of(reading: &Reading<'_>) -> Fix {
        let guessed = [RepairKind::AddQuote, RepairKind::EscapeQuote, RepairKind::QuoteValue];
        let certain = !reading.repairs.iter().any(|r| guessed.contains(&r.kind));
        Fix { text: reading.text.to_string(), certain }
    }

    /// Returns the fixed text around the first change to `source`, on one line, at most about 100 characters.
    pub fn snippet(&self, source: &str) -> String {
        const BEFORE: usize = 30;
        const LEN: usize = 100;
        let same = self.text.chars().zip(source.chars()).take_while(|(a, b)| a == b).count();
        let start = if same < BEFORE + 10 { 0 } else { same - BEFORE };
        let (head, shown, tail) = window(&self.text, start, LEN);
        format!("{head}{}{tail}", shown.trim())
    }
}
