//! The diagnosis of a text that should be JSON: what a strict reader says, what is wrong, and a way to repair it.
//!
//! Where the tolerant reader is sure of one reading, its repairs are the diagnosis. Where it is not, the
//! place at which the strict reader stopped is followed back to a suspect. Strings are read as strings in
//! both, so a bracket or a quote inside one is never counted.

use callwright_json::{AnyValue, Options, Reading, RepairKind, Span, read_with, strict};

use super::drawing::{Position, draw, window};
use super::json_loads::{JsonLoadsError, scan};
use super::suspect::{completed, of_reading, of_stop};
use super::trouble::Trouble;

/// What is wrong with a text that `json.loads` does not take.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// What `json.loads` says.
    pub error: JsonLoadsError,
    /// What is wrong; where several things are, the one to begin with.
    pub trouble: Trouble,
    /// The suspect place, in bytes of the text.
    pub at: Span,
    /// What the text could be instead.
    pub fix: Option<Fix>,
}

/// A fixed text: always strict JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The whole fixed text.
    pub text: String,
    /// Is it the only way to read the text, whatever the schema? If not, it is an example.
    pub certain: bool,
}

/// Diagnoses `text`; `None` if `json.loads` takes it. A text that was `cut` off gets no fix: nobody knows
/// how it would have gone on.
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
    /// What the model should know, one sentence per line.
    pub fn hints(&self, text: &str) -> Vec<String> {
        self.trouble.hints(Position::of(text, self.at.range().start).offset)
    }

    /// For a person: the line of `text` with the suspect place, and carets under it with what is wrong there.
    pub fn drawing(&self, text: &str) -> String {
        draw(text, self.at, &self.trouble.label())
    }
}

impl Fix {
    /// What the tolerant reader made of a text, knowing no schema.
    fn of(reading: &Reading<'_>) -> Fix {
        let guessed = [RepairKind::AddQuote, RepairKind::EscapeQuote, RepairKind::QuoteValue];
        let certain = !reading.repairs.iter().any(|r| guessed.contains(&r.kind));
        Fix { text: reading.text.to_string(), certain }
    }

    /// The fixed text around the first change to `source`, on one line, at most about 100 characters.
    pub fn snippet(&self, source: &str) -> String {
        const BEFORE: usize = 30;
        const LEN: usize = 100;
        let same = self.text.chars().zip(source.chars()).take_while(|(a, b)| a == b).count();
        let start = if same < BEFORE + 10 { 0 } else { same - BEFORE };
        let (head, shown, tail) = window(&self.text, start, LEN);
        format!("{head}{}{tail}", shown.trim())
    }
}
