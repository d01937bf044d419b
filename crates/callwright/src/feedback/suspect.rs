//! Finds the fault of a text and its place: from the repairs of the tolerant reader, or else from the stop of the
//! strict one.
//!
//! `{"code": "print("hello")"}`: the strict reader stops at `h`, the tolerant one escapes the quote in front of it.

use callwright_json::{Reading, Repair, RepairKind, Span, tally};

use super::json_loads::{Complaint, Stop, Token};
use super::trouble::Trouble;
use crate::policy::is_surrounding;

const JSON_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
const CLOSERS: [char; 2] = ['}', ']'];
/// Literals of other languages.
const FOREIGN: [&str; 5] = ["True", "False", "None", "nil", "undefined"];

/// Returns the fault that the repairs of a reading show, and its place. Wrapping counts only without other faults;
/// among several, the first counts. `None` if none of the repairs has a name.
pub(super) fn of_reading(stop: &Stop<'_>, reading: &Reading<'_>) -> Option<(Trouble, Span)> {
    let kinds = tally(&reading.repairs).into_iter().map(|(kind, _)| kind);
    let (around, within): (Vec<RepairKind>, Vec<RepairKind>) = kinds.partition(|kind| is_surrounding(*kind));
    let (trouble, at) = within.into_iter().chain(around).find_map(|kind| {
        let repairs: Vec<&Repair> = reading.repairs.iter().filter(|repair| repair.kind == kind).collect();
        Some((of_repairs(stop.text, kind, &repairs)?, first_run(&repairs)))
    })?;
    // The place of a string without end is its beginning.
    let open = stop.string().filter(|string| string.start < at.start && at.start <= string.end);
    Some(match (&trouble, open) {
        (Trouble::MissingQuote, Some(string)) => unclosed(stop, string),
        _ => (trouble, at),
    })
}

/// Returns the fault that `repairs`, all of one kind, show.
fn of_repairs(text: &str, kind: RepairKind, repairs: &[&Repair]) -> Option<Trouble> {
    let put = || repairs.iter().map(|repair| &*repair.put).collect::<String>();
    let replaced = || repairs.iter().map(|repair| repair.at.of(text)).collect::<String>();
    Some(match kind {
        RepairKind::DropCloser => Trouble::ExtraClosers(replaced()),
        RepairKind::AddCloser => Trouble::MissingClosers(put()),
        RepairKind::SwapBracket => Trouble::WrongCloser(put().chars().next()?),
        RepairKind::DropOpener => Trouble::ExtraOpener,
        RepairKind::AddQuote => Trouble::MissingQuote,
        RepairKind::EscapeQuote | RepairKind::JoinStrings => Trouble::BareQuote,
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
        RepairKind::SwapPunctuation if put().starts_with(',') => Trouble::MissingComma,
        // A colon that stands twice is not missing: `"a":: 1`.
        RepairKind::SwapPunctuation if put().starts_with(':') && !replaced().contains(':') => {
            Trouble::MissingColon
        }
        kind if is_surrounding(kind) => Trouble::Surroundings,
        _ => return None,
    })
}

/// Returns the bytes of the first of `repairs`, and of those that follow it without a gap.
fn first_run(repairs: &[&Repair]) -> Span {
    let mut places = repairs.iter().map(|repair| repair.at);
    let first = places.next().unwrap_or_default();
    places.fold(first, |run, at| if at.start == run.end { Span { end: at.end, ..run } } else { run })
}

/// Returns the fault at the stop of the strict reader, by the token that it needed and the text there.
pub(super) fn of_stop(stop: &Stop<'_>) -> (Trouble, Span) {
    let (text, at) = (stop.text, stop.at);
    let rest = text.get(at..).unwrap_or("");
    let end = text.trim_end_matches(JSON_SPACE).len();
    let here = |trouble, len: usize| (trouble, Span::new(at, at + len));
    if let Some(string) = stop.string().filter(|string| has_swallowed(stop, *string)) {
        return unclosed(stop, string);
    }
    let Some(next) = rest.chars().next() else {
        let trouble = match stop.complaint {
            _ if end == 0 => Trouble::NoJson,
            Complaint::Comma => Trouble::MissingClosers(stop.closers()),
            _ => Trouble::Cut(stop.closers()),
        };
        return (trouble, Span::at(end));
    };
    match (stop.complaint, next, stop.before) {
        (Complaint::Control, ..) => here(Trouble::RawControl, 1),
        (Complaint::UnicodeEscape, ..) => (Trouble::BadEscape, Span::new(at - 1, at)),
        (Complaint::Escape, ..) | (Complaint::Value | Complaint::Key, '\\', _) => here(Trouble::BadEscape, 1),
        (Complaint::ExtraData, '}' | ']', _) => {
            let behind = rest.trim_start_matches(|c| CLOSERS.contains(&c) || JSON_SPACE.contains(&c));
            let run = rest.get(..rest.len() - behind.len()).unwrap_or("").trim_end();
            here(Trouble::ExtraClosers(run.matches(CLOSERS).collect()), run.len())
        }
        (Complaint::ExtraData, '{' | '[' | ',', _) => here(Trouble::SeveralValues, 1),
        (Complaint::ExtraData, ..) => here(Trouble::Surroundings, end - at),
        (_, _, Token::Start) => match rest.find(['{', '[']) {
            Some(len) => here(Trouble::Surroundings, len),
            None => here(Trouble::NoJson, 0),
        },
        (_, '`', _) if rest.starts_with("```") => {
            here(Trouble::Surroundings, rest.lines().next().unwrap_or("").len())
        }
        (Complaint::Comma, '}' | ']', _) | (_, '}' | ']', Token::Opener) => of_closer(stop, next),
        (_, '}' | ']', Token::Comma(comma)) => (Trouble::ExtraComma, Span::new(comma, comma + 1)),
        (Complaint::Value, ',', Token::Comma(_) | Token::Opener) | (Complaint::Key, ',', _) => {
            here(Trouble::ExtraComma, 1)
        }
        (Complaint::Value | Complaint::Colon, ',' | '}' | ']', _) => here(Trouble::MissingValue, 0),
        (Complaint::Colon, _, Token::String(key)) => (Trouble::MissingColon, Span { start: key.end, ..key }),
        (Complaint::Comma, _, Token::String(string))
            if next != '"' || stop.is_in_object() && !is_key(rest) =>
        {
            (Trouble::BareQuote, Span { start: string.end - 1, ..string })
        }
        (Complaint::Comma, '"', _) => here(Trouble::MissingComma, 0),
        (Complaint::Key, '{', _) => here(Trouble::ExtraOpener, 1),
        (Complaint::Key, ..) if is_name(next) => {
            here(Trouble::BareKey, rest.find(|c| !is_name(c)).unwrap_or(rest.len()))
        }
        (Complaint::Value, ..) if is_name(next) || next == '+' => {
            let word = rest.split([',', '}', ']', '"', '\n']).next().unwrap_or(rest).trim_end();
            let is_text = next.is_alphabetic() && !FOREIGN.contains(&word);
            here(if is_text { Trouble::BareText } else { Trouble::ForeignLiteral }, word.len())
        }
        (Complaint::Value | Complaint::Key, '\'' | '`' | '‘' | '’' | '“' | '”' | '„' | '«', _) => {
            here(Trouble::ForeignQuotes, next.len_utf8())
        }
        _ => here(Trouble::Other, 0),
    }
}

/// Returns whether `string` has swallowed the text behind it: `"a": "x, "b": 1`, `"a: "x"`, `"x⏎"b": 1`.
fn has_swallowed(stop: &Stop<'_>, string: Span) -> bool {
    let rest = stop.text.get(stop.at..).unwrap_or("");
    match stop.complaint {
        Complaint::Unterminated => true,
        Complaint::Control => rest.trim_start().starts_with('"'),
        Complaint::Comma | Complaint::Colon => {
            !rest.starts_with('"')
                && string.of(stop.text).trim_end_matches('"').trim_end().ends_with([',', ':'])
        }
        _ => false,
    }
}

/// Returns the fault of a closing bracket that does not belong to the innermost open one.
fn of_closer(stop: &Stop<'_>, closer: char) -> (Trouble, Span) {
    let (closers, at) = (stop.closers(), stop.at);
    match closers.split_once(closer) {
        // {"a": [1, 2}: an outer bracket is closed, so the inner ones are missing.
        Some((inner, _)) => (Trouble::MissingClosers(inner.to_owned()), Span::at(at)),
        None => (Trouble::WrongCloser(closers.chars().next().unwrap_or('}')), Span::new(at, at + 1)),
    }
}

/// Returns the fault of a `string` without end.
fn unclosed(stop: &Stop<'_>, string: Span) -> (Trouble, Span) {
    let is_open = stop.complaint == Complaint::Unterminated;
    let missing = if is_open { before_closers(stop).1 } else { String::new() };
    (Trouble::UnclosedString(missing), Span { end: string.start + 1, ..string })
}

/// Returns the start of the closing brackets at the end of `text` that close open ones, and the brackets that are
/// missing in front of them.
fn before_closers(stop: &Stop<'_>) -> (usize, String) {
    let mut missing = stop.closers();
    let mut before = stop.text.trim_end_matches(JSON_SPACE);
    while let Some(inner) = missing.chars().next_back().and_then(|closer| before.strip_suffix(closer)) {
        missing.pop();
        before = inner.trim_end_matches(JSON_SPACE);
    }
    (before.len(), missing)
}

/// Returns the text with its last string ended before the closing brackets at its end, and with the missing ones.
/// `None` if it has another fault.
pub(super) fn completed(stop: &Stop<'_>) -> Option<String> {
    let text = stop.text;
    if stop.complaint == Complaint::Comma && stop.at == text.len() {
        return Some(format!("{}{}", text.trim_end_matches(JSON_SPACE), stop.closers()));
    }
    let string = stop.string().filter(|_| stop.complaint != Complaint::Colon)?.range();
    let (end, missing) = before_closers(stop);
    let (head, body) = text.get(..end)?.split_at_checked(string.start + 1)?;
    let mut fixed = head.to_owned();
    let mut is_escaped = false;
    for c in body.chars() {
        if c == '"' && !is_escaped {
            fixed.push('\\');
        }
        is_escaped = c == '\\' && !is_escaped;
        fixed.push(c);
    }
    Some(format!("{fixed}\"{missing}{}", text.get(end..)?))
}

/// Returns whether `rest` begins with a key and its colon.
fn is_key(rest: &str) -> bool {
    let mut parts = rest.splitn(3, '"').skip(2);
    parts.next().is_some_and(|behind| behind.trim_start_matches(JSON_SPACE).starts_with(':'))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '.')
}
