//! What is wrong with a text that should be JSON, in words for the model and for a person.

use callwright_json::{Repair, RepairKind, Span, tally};

use crate::policy::is_surrounding;

/// What is wrong with a text that should be JSON. The stable name for programs is [`Trouble::code`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// Closing brackets too many, as they stand: `}}`.
    ExtraClosers(String),
    /// Closing brackets that are missing, in the order in which they belong there: `]}`.
    MissingClosers(String),
    /// A closing bracket of the wrong sort; this one is needed.
    WrongCloser(char),
    /// An opening bracket too many.
    ExtraOpener,
    /// A string without closing quote, and the closing brackets that are missing besides.
    UnclosedString(String),
    /// A quote inside a string that is not escaped, so that it ends the string.
    BareQuote,
    /// A quote is missing here.
    MissingQuote,
    /// Quotes of another sort than `"`.
    ForeignQuotes,
    /// A comma too many.
    ExtraComma,
    /// No comma between two values.
    MissingComma,
    /// No colon between key and value.
    MissingColon,
    /// No value where one is needed.
    MissingValue,
    /// A key without quotes.
    BareKey,
    /// A text without quotes.
    BareText,
    /// A word or number of another language: `True`, `.5`.
    ForeignLiteral,
    /// A raw line break or other control character inside a string.
    RawControl,
    /// A backslash that begins no JSON escape.
    BadEscape,
    /// A comment.
    Comment,
    /// Text or markup around the JSON.
    Surroundings,
    /// More than one value.
    SeveralValues,
    /// The end in the middle of a value; the closing brackets that are missing besides.
    Cut(String),
    /// No JSON at all.
    NoJson,
    /// Something else.
    Other,
}

impl Trouble {
    /// The stable, kebab-case name.
    pub fn code(&self) -> &'static str {
        match self {
            Trouble::ExtraClosers(_) => "extra-closers",
            Trouble::MissingClosers(_) => "missing-closers",
            Trouble::WrongCloser(_) => "wrong-closer",
            Trouble::ExtraOpener => "extra-opener",
            Trouble::UnclosedString(_) => "unclosed-string",
            Trouble::BareQuote => "bare-quote",
            Trouble::MissingQuote => "missing-quote",
            Trouble::ForeignQuotes => "foreign-quotes",
            Trouble::ExtraComma => "extra-comma",
            Trouble::MissingComma => "missing-comma",
            Trouble::MissingColon => "missing-colon",
            Trouble::MissingValue => "missing-value",
            Trouble::BareKey => "bare-key",
            Trouble::BareText => "bare-text",
            Trouble::ForeignLiteral => "foreign-literal",
            Trouble::RawControl => "raw-control",
            Trouble::BadEscape => "bad-escape",
            Trouble::Comment => "comment",
            Trouble::Surroundings => "surroundings",
            Trouble::SeveralValues => "several-values",
            Trouble::Cut(_) => "cut",
            Trouble::NoJson => "no-json",
            Trouble::Other => "other",
        }
    }

    /// What the model should know, one sentence per line. `position` counts the characters before the
    /// suspect place.
    pub(super) fn hints(&self, position: usize) -> Vec<String> {
        let hint = match self {
            // The count says what to do, and where is said above it: the wording that models were taught
            // with stays as it is.
            Trouble::ExtraClosers(closers) => {
                format!("You have {} extra {}", closers.len(), closing(closers))
            }
            Trouble::MissingClosers(closers) => missing(closers),
            Trouble::WrongCloser(wanted) => {
                format!("The closing bracket at position {position} must be {wanted}")
            }
            Trouble::ExtraOpener => format!("The opening bracket at position {position} is one too many"),
            Trouble::UnclosedString(_) => {
                format!(
                    "Unmatched quotes detected: the string that begins at position {position} is never closed"
                )
            }
            Trouble::BareQuote => format!(
                "Unmatched quotes detected: the quote at position {position} ends its string too early; \
                 write \\\" for a quote inside a string"
            ),
            Trouble::MissingQuote => {
                format!("Unmatched quotes detected: a quote is missing at position {position}")
            }
            Trouble::ForeignQuotes => {
                format!(
                    "Put keys and strings in double quotes: the quote at position {position} is another one"
                )
            }
            Trouble::ExtraComma => format!("Remove the comma at position {position}"),
            Trouble::MissingComma => format!("A comma is missing at position {position}"),
            Trouble::MissingColon => format!("A colon is missing at position {position}"),
            Trouble::MissingValue => format!("A value is missing at position {position}"),
            Trouble::BareKey => format!("Put the key at position {position} in double quotes"),
            Trouble::BareText => format!("Put the text at position {position} in double quotes"),
            Trouble::ForeignLiteral => {
                format!(
                    "JSON has only true, false, null and decimal numbers: change the word at position {position}"
                )
            }
            Trouble::RawControl => format!(
                "Write \\n for a line break and \\t for a tab inside a string: there is a raw one at position {position}"
            ),
            Trouble::BadEscape => {
                format!(
                    "The backslash at position {position} begins no JSON escape: write \\\\ for a backslash"
                )
            }
            Trouble::Comment => format!("JSON has no comments: remove the one at position {position}"),
            Trouble::Surroundings => format!("Send only the JSON: remove the text at position {position}"),
            Trouble::SeveralValues => {
                format!("Send one JSON value per call: a second one begins at position {position}")
            }
            Trouble::Cut(_) => String::from("The JSON ends before it is complete"),
            Trouble::NoJson => String::from("There is no JSON here: send the call as one JSON object"),
            Trouble::Other => format!("Write valid JSON from position {position} on"),
        };
        let mut hints = vec![hint];
        if let Trouble::UnclosedString(closers) | Trouble::Cut(closers) = self
            && !closers.is_empty()
        {
            hints.push(missing(closers));
        }
        hints
    }

    /// A few words to stand under a caret.
    pub fn label(&self) -> String {
        let label = match self {
            Trouble::ExtraClosers(closers) if closers.len() == 1 => "one closing bracket too many",
            Trouble::ExtraClosers(closers) => return format!("{} closing brackets too many", closers.len()),
            Trouble::MissingClosers(closers) => return format!("`{closers}` is missing here"),
            Trouble::WrongCloser(wanted) => return format!("`{wanted}` is needed here"),
            Trouble::ExtraOpener => "one opening bracket too many",
            Trouble::UnclosedString(_) => "this string is never closed",
            Trouble::BareQuote => "this quote ends the string too early",
            Trouble::MissingQuote => "a quote is missing here",
            Trouble::ForeignQuotes => "JSON has only double quotes",
            Trouble::ExtraComma => "one comma too many",
            Trouble::MissingComma => "a comma is missing here",
            Trouble::MissingColon => "a colon is missing here",
            Trouble::MissingValue => "a value is missing here",
            Trouble::BareKey => "this key needs double quotes",
            Trouble::BareText => "this text needs double quotes",
            Trouble::ForeignLiteral => "JSON does not have this word or number",
            Trouble::RawControl => "a raw control character inside a string",
            Trouble::BadEscape => "this backslash begins no JSON escape",
            Trouble::Comment => "JSON has no comments",
            Trouble::Surroundings => "this is not part of the JSON",
            Trouble::SeveralValues => "a second value begins here",
            Trouble::Cut(_) => "the text ends here, in the middle of a value",
            Trouble::NoJson => "no JSON here",
            Trouble::Other => "not valid JSON from here on",
        };
        String::from(label)
    }

    /// Whether it is about where a string begins or ends.
    pub(super) fn is_about_quotes(&self) -> bool {
        matches!(self, Trouble::BareQuote | Trouble::MissingQuote | Trouble::UnclosedString(_))
    }

    /// What the repairs of a settled reading say was wrong, and where. Wrapping counts only where nothing
    /// else was wrong; of several things, the first is told.
    pub(super) fn of_repairs(text: &str, repairs: &[Repair]) -> Option<(Trouble, Span)> {
        let kinds: Vec<RepairKind> = tally(repairs).into_iter().map(|(kind, _)| kind).collect();
        let (outer, inner): (Vec<RepairKind>, Vec<RepairKind>) =
            kinds.into_iter().partition(|&kind| is_surrounding(kind));
        let named = |kind| Some((Trouble::of_kind(kind, text, repairs)?, first_run(kind, repairs)));
        inner.into_iter().chain(outer).find_map(named)
    }

    fn of_kind(kind: RepairKind, text: &str, repairs: &[Repair]) -> Option<Trouble> {
        let same = || repairs.iter().filter(|r| r.kind == kind);
        let put = || same().map(|r| &*r.put).collect::<String>();
        Some(match kind {
            RepairKind::DropCloser => Trouble::ExtraClosers(same().map(|r| r.at.of(text)).collect()),
            RepairKind::AddCloser => Trouble::MissingClosers(put()),
            RepairKind::SwapBracket => Trouble::WrongCloser(put().chars().next()?),
            RepairKind::DropOpener => Trouble::ExtraOpener,
            RepairKind::AddQuote => Trouble::MissingQuote,
            RepairKind::EscapeQuote => Trouble::BareQuote,
            RepairKind::SwapQuote => Trouble::ForeignQuotes,
            RepairKind::DropComma => Trouble::ExtraComma,
            RepairKind::AddComma => Trouble::MissingComma,
            RepairKind::AddColon => Trouble::MissingColon,
            RepairKind::QuoteKey => Trouble::BareKey,
            RepairKind::QuoteValue => Trouble::BareText,
            RepairKind::SwapLiteral => Trouble::ForeignLiteral,
            RepairKind::EscapeControl => Trouble::RawControl,
            RepairKind::EscapeBackslash | RepairKind::DropBackslash | RepairKind::SwapEscape => {
                Trouble::BadEscape
            }
            RepairKind::DropComment => Trouble::Comment,
            RepairKind::DropRepeat => Trouble::SeveralValues,
            RepairKind::DropProse | RepairKind::DropFence | RepairKind::DropThink | RepairKind::DropTag => {
                Trouble::Surroundings
            }
            _ => return None,
        })
    }
}

/// The bytes of the first repair of this kind, and of those that follow it without a gap.
fn first_run(kind: RepairKind, repairs: &[Repair]) -> Span {
    let mut run = repairs.iter().filter(|r| r.kind == kind).map(|r| r.at);
    let first = run.next().unwrap_or_default();
    run.fold(first, |run, at| if at.start == run.end { Span { end: at.end, ..run } } else { run })
}

/// `}}` → `closing braces }`
fn closing(closers: &str) -> String {
    match closers.chars().next() {
        Some('}') if closers.chars().all(|c| c == '}') => String::from("closing braces }"),
        Some(']') if closers.chars().all(|c| c == ']') => String::from("closing brackets ]"),
        _ => format!("closing brackets {closers}"),
    }
}

fn missing(closers: &str) -> String {
    format!("You're missing {} {}", closers.len(), closing(closers))
}
