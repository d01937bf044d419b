//! The readings of a text, or the reason for having none or several.

use alloc::{borrow::Cow, vec, vec::Vec};

use crate::scan::string_stop;
use crate::{Class, Kind, Repair, Span, Tree, Value, repair, strict};

/// All meanings of a text at the least cost.
#[derive(Clone, Debug, Default)]
pub struct Parse<'t> {
    /// The readings: none of a broken text, one of a settled text, several that tie.
    pub readings: Vec<Reading<'t>>,
    /// The reasons for having no reading, or several.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'t> Parse<'t> {
    /// Returns the reading, if there is exactly one.
    pub fn settled(&self) -> Option<&Reading<'t>> {
        match self.readings.as_slice() {
            [reading] => Some(reading),
            _ => None,
        }
    }

    pub(crate) fn of(reading: Reading<'t>) -> Parse<'t> {
        Parse { readings: vec![reading], diagnostics: Vec::new() }
    }

    /// Keeps those of equally cheap readings that have different values.
    pub(crate) fn of_ties(readings: Vec<Reading<'t>>) -> Parse<'t> {
        let mut distinct: Vec<Reading<'t>> = Vec::with_capacity(1);
        for reading in readings {
            if !distinct.iter().any(|other| other.value().same_as(reading.value())) {
                distinct.push(reading);
            }
        }
        match distinct.as_slice() {
            [] => Parse::broken(Problem::Unreadable, Span::at(0)),
            [only] => match only.value().conflict() {
                Some(key) => {
                    Parse::broken(Problem::DuplicateKey, Span::at((key.start + only.span.start) as usize))
                }
                None => Parse { readings: distinct, diagnostics: Vec::new() },
            },
            [first, second, ..] => {
                let at = first_difference(&first.repairs, &second.repairs);
                let diagnostics = vec![Diagnostic { problem: Problem::Ambiguous, at }];
                Parse { readings: distinct, diagnostics }
            }
        }
    }

    pub(crate) fn broken(problem: Problem, at: Span) -> Parse<'t> {
        Parse { readings: Vec::new(), diagnostics: vec![Diagnostic { problem, at }] }
    }
}

/// One way to read a text.
#[derive(Clone, Debug)]
pub struct Reading<'t> {
    /// The value as strict JSON, borrowed where the source is strict.
    pub text: Cow<'t, str>,
    /// The places of the values in `text`.
    pub tree: Tree,
    /// The edits that turn the source into `text`, in order and without overlaps.
    pub repairs: Vec<Repair>,
    /// The bytes of the source that hold the value.
    pub span: Span,
}

impl<'t> Reading<'t> {
    /// Returns the value.
    pub fn value(&self) -> Value<'_> {
        self.tree.root(&self.text)
    }

    /// Returns the worst class among the repairs.
    pub fn class(&self) -> Class {
        repair::class_of(&self.repairs)
    }

    /// Returns the strings, keys included, that are badly quoted in `source`, the text that was read: a quote
    /// is missing, or a third one stands in the string. The spans are places in the source, in order.
    ///
    /// ```
    /// use callwright_json::{AnyValue, read};
    ///
    /// let text = r#"{"a": "b", "c": "say "hi" now"}"#;
    /// let parse = read(text, &AnyValue);
    /// let spans = parse.settled().unwrap().repaired_strings(text);
    /// assert_eq!(spans.iter().map(|span| span.of(text)).collect::<Vec<_>>(), [r#""say "hi" now""#]);
    /// ```
    pub fn repaired_strings(&self, source: &str) -> Vec<Span> {
        self.strings().filter(|span| !is_quoted(span.of(source))).collect()
    }

    /// Returns the places of the strings, keys included, in the source, in order.
    pub(crate) fn strings(&self) -> impl Iterator<Item = Span> {
        // The distance between a place in the text and its place in the source.
        let mut shift = i64::from(self.span.start);
        let mut repairs = self.repairs.iter().peekable();
        let mut in_source = move |at: u32| {
            while let Some(repair) = repairs.next_if(|r| i64::from(r.at.start) < i64::from(at) + shift) {
                shift += repair.at.len() as i64 - repair.put.len() as i64;
            }
            usize::try_from(i64::from(at) + shift).unwrap_or(0)
        };
        let strings = self.tree.nodes.iter().filter(|node| node.kind == Kind::String);
        strings.map(move |node| Span::new(in_source(node.span.start), in_source(node.span.end)))
    }

    /// Returns whether only blanks, or a fence, surround the value in `source`, the text that was read.
    pub fn is_whole(&self, source: &str) -> bool {
        let is_fence = |piece: Option<&str>| {
            let piece = piece.unwrap_or("").trim();
            piece.is_empty() || piece.starts_with("```") && piece.lines().count() == 1
        };
        let (before, behind) = (source.get(..self.span.start as usize), source.get(self.span.end as usize..));
        is_fence(before) && is_fence(behind)
    }

    /// Makes the reading of a text that is already strict JSON.
    pub(crate) fn strict(text: &'t str, tree: Tree, span: Span) -> Reading<'t> {
        Reading { text: Cow::Borrowed(text), tree, repairs: Vec::new(), span }
    }

    /// Makes the reading that `repairs` give of `source` at `span`; `None` if they do not give strict JSON.
    pub(crate) fn of(source: &'t str, span: Span, repairs: Vec<Repair>) -> Option<Reading<'t>> {
        let text = match repairs.as_slice() {
            [] => Cow::Borrowed(source.get(span.range())?),
            repairs => Cow::Owned(repair::apply_within(source, span, repairs)),
        };
        let tree = strict(&text).ok()?;
        Some(Reading { text, tree, repairs, span })
    }
}

/// The reason why a text has no settled reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The problem.
    pub problem: Problem,
    /// The suspect place in the source.
    pub at: Span,
}

/// A problem of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// The text has no value.
    NoValue,
    /// No reading leads to a value that the guide admits.
    Unreadable,
    /// The text ends inside a value; the span begins at that value, or at its open string.
    Truncated,
    /// The text has several readings of the same cost.
    Ambiguous,
    /// The text holds several different values.
    SeveralValues,
    /// One key has two different values.
    DuplicateKey,
    /// A string may have taken in text that follows it, such as a member of the object around it:
    /// `"a", "b":: 1`, `"a" (note)`. The span is a quote in that string.
    SwallowedMember,
    /// The text is nested too deeply, is too long, or has too many readings.
    Limit,
    /// The text holds `NaN` or `Infinity`, which JSON does not have.
    NotANumber,
    /// The text holds an escape with an uncertain meaning: `\$`, `` \` ``.
    OpenEscape,
}

/// Returns the first place at which two lists of repairs differ.
fn first_difference(a: &[Repair], b: &[Repair]) -> Span {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let differing = [a.get(same), b.get(same)].into_iter().flatten();
    differing.map(|repair| repair.at).min().unwrap_or_default()
}

/// Returns whether `text` is a string between two equal quotes, with any inner ones behind a backslash.
fn is_quoted(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(&mark) = bytes.first().filter(|byte| matches!(byte, b'"' | b'\'' | b'`')) else { return false };
    let mut at = string_stop(bytes, 1, mark);
    while bytes.get(at).is_some_and(|byte| *byte != mark) {
        at = string_stop(bytes, at + if bytes[at] == b'\\' { 2 } else { 1 }, mark);
    }
    at + 1 == text.len()
}
