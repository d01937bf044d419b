//! Markers with place holders: `[[call {name}]]`, `<k>{key}</k> <v>`.
//!
//! A pattern is compared with a text at one place, from left to right, once. A place holder takes the text up to the
//! fixed text behind it, on one line.

use callwright_json::Span;

use super::marks::fit;
use crate::dialect::problem::{DialectProblem, MAX_TEXT};
use crate::grammar::template::pieces;
use crate::syntax::{Incomplete, MAX_NAME, Seen, is_name_byte};

/// Most white space that a blank stands for.
const MAX_SPACE: usize = 64;

#[derive(Debug)]
enum Part {
    Fixed(Box<str>),
    Space,
    /// A place holder, by its word.
    Slot(&'static str),
}

/// A marker.
#[derive(Debug)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

/// A marker in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// The place behind the marker.
    pub(crate) end: usize,
    /// The tool's name, if the marker holds it.
    pub(crate) name: Option<Span>,
}

impl Pattern {
    /// Compiles `marker`, which may hold only place holders of these words.
    pub(crate) fn new(marker: &str, slots: &[&'static str]) -> Result<Pattern, DialectProblem> {
        if MAX_TEXT < marker.len() {
            return Err(DialectProblem::TooLarge);
        }
        let plain = marker.replace('｜', "|").replace('▁', "_");
        let mut parts: Vec<Part> = Vec::new();
        for (text, word) in pieces(plain.trim()) {
            for (n, fixed) in text.split(|c: char| c.is_ascii_whitespace()).enumerate() {
                if n != 0 && !matches!(parts.last(), Some(Part::Space)) {
                    parts.push(Part::Space);
                }
                if !fixed.is_empty() {
                    parts.push(Part::Fixed(fixed.into()));
                }
            }
            // No slot stands behind the last text.
            if word.is_empty() {
                break;
            }
            let known = slots.iter().find(|slot| **slot == word);
            let slot = *known.ok_or_else(|| DialectProblem::BadSlot(format!("{{{word}}}")))?;
            let solid = parts.iter().rev().find(|part| !matches!(part, Part::Space));
            let meets = matches!(solid, Some(Part::Slot(_)));
            let again = parts.iter().any(|part| matches!(part, Part::Slot(other) if *other == slot));
            if meets || again {
                return Err(DialectProblem::SlotsMeet(marker.to_owned()));
            }
            parts.push(Part::Slot(slot));
        }
        let pattern = Pattern { parts };
        if pattern.prefix().len() < 2 {
            return Err(DialectProblem::NotFixed(marker.to_owned()));
        }
        Ok(pattern)
    }

    /// Returns the beginning, up to the first place holder or blank.
    pub(crate) fn prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Fixed(fixed)) => fixed,
            Some(Part::Space | Part::Slot(_)) | None => "",
        }
    }

    /// Returns whether the marker has no place holders.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part, Part::Slot(_)))
    }

    /// Compares the marker with the text at `from`.
    pub(crate) fn at(&self, text: &str, from: usize) -> Seen<Found> {
        let bytes = text.as_bytes();
        let mut found = Found { end: from, ..Found::default() };
        for (n, part) in self.parts.iter().enumerate() {
            let rest = bytes.get(found.end..).unwrap_or(&[]);
            match part {
                Part::Fixed(fixed) => match fit(rest, fixed)? {
                    Some(len) => found.end += len,
                    None => return Ok(None),
                },
                Part::Space => {
                    let len = rest.iter().take(MAX_SPACE).take_while(|b| b.is_ascii_whitespace()).count();
                    if len == rest.len() {
                        return Err(Incomplete);
                    }
                    found.end += len;
                }
                Part::Slot(slot) => {
                    let behind = self.parts[n + 1..].iter().find_map(|part| match part {
                        Part::Fixed(fixed) => Some(&**fixed),
                        Part::Space | Part::Slot(_) => None,
                    });
                    let Some(end) = slot_end(bytes, found.end, behind)? else { return Ok(None) };
                    let Some(span) = value_of(slot, text, found.end, end) else { return Ok(None) };
                    found.name = found.name.or((*slot == "name").then_some(span));
                    found.end = end;
                }
            }
        }
        Ok(Some(found))
    }
}

/// Returns the end of a place holder that begins at `from`: before the text `behind`, or else with the word.
fn slot_end(bytes: &[u8], from: usize, behind: Option<&str>) -> Seen<usize> {
    for at in from..=from + MAX_NAME {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let byte = *rest.first().ok_or(Incomplete)?;
        let is_end = match behind {
            Some(_) if matches!(byte, b'\n' | b'\r') => return Ok(None),
            Some(behind) => fit(rest, behind)?.is_some(),
            None => !is_name_byte(byte),
        };
        if is_end {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Returns the value of a place holder of this `word` in `from..end`, if it can hold that.
fn value_of(word: &str, text: &str, from: usize, end: usize) -> Option<Span> {
    let whole = text.get(from..end)?;
    let value = whole.trim();
    let is_right = match word {
        "name" => !value.is_empty() && !value.contains(|c: char| c.is_whitespace()),
        "key" => !value.is_empty(),
        _ => true,
    };
    let start = from + (whole.len() - whole.trim_start().len());
    is_right.then(|| Span::new(start, start + value.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: &[&str] = &["name", "id", "key", "type"];

    fn show(marker: &str, text: &str) -> String {
        match Pattern::new(marker, ALL).unwrap().at(text, 0) {
            Ok(Some(found)) => {
                let of = |span: Option<Span>| span.map_or("-", |span| span.of(text));
                format!("{} {}", found.end, of(found.name))
            }
            Err(Incomplete) => "grows".into(),
            Ok(None) => "no".into(),
        }
    }

    #[test]
    fn a_place_holder_takes_what_stands_before_the_fixed_text_behind_it() {
        for (marker, text, expected) in [
            ("[[call {name}]]", "[[CALL  get_weather ]] x", "22 get_weather"),
            ("[[call {name}]]", "[[call get_weather]", "grows"),
            ("[[call {name}]]", "[[call get\nweather]]", "no"),
            ("[[call {name}]]", "[[call me now]]", "no"),
            ("@@{name}", "@@f.g{}", "5 f.g"),
            ("@@{name}", "@@f.g", "grows"),
            ("<|k|>{key}<|/k|> <v t={type}>", "<｜k｜>a b<|/k|>\n<v t=string>x", "31 -"),
            ("<q id={id}>{name}:", "<q id=>f:{}", "9 f"),
            ("{{", "{{", "2 -"),
        ] {
            assert_eq!(show(marker, text), expected, "{marker} {text}");
        }
        for (text, marker) in
            [("[[call get_weather]]", "[[call {name}]]"), ("<k>a</k> <v>", "<k>{key}</k> <v>")]
        {
            for cut in 1..text.len() {
                assert_eq!(show(marker, &text[..cut]), "grows", "{}", &text[..cut]);
            }
        }
    }

    #[test]
    fn what_would_fit_any_text_is_no_marker() {
        for (marker, problem) in [
            ("{name}", DialectProblem::NotFixed("{name}".into())),
            ("", DialectProblem::NotFixed(String::new())),
            ("<{name}>", DialectProblem::NotFixed("<{name}>".into())),
            ("[[{name} {id}]]", DialectProblem::SlotsMeet("[[{name} {id}]]".into())),
            ("[[{tool}]]", DialectProblem::BadSlot("{tool}".into())),
            ("[[{tool_name}]]", DialectProblem::BadSlot("{tool_name}".into())),
        ] {
            assert_eq!(Pattern::new(marker, ALL).unwrap_err(), problem, "{marker}");
        }
    }
}
