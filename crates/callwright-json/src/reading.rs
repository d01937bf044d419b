//! The readings of a text, or the reason why there is not exactly one.

use alloc::{borrow::Cow, vec, vec::Vec};

use crate::scan::string_stop;
use crate::{Class, Kind, Repair, Span, Tree, Value, repair, strict};

/// All that a text can mean at the least cost.
#[derive(Clone, Debug, Default)]
pub struct Parse<'t> {
    /// None when the text is broken, one when it is settled, several when they tie.
    pub readings: Vec<Reading<'t>>,
    /// Why there is not exactly one reading.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'t> Parse<'t> {
    /// The reading, when there is exactly one.
    pub fn settled(&self) -> Option<&Reading<'t>> {
        match self.readings.as_slice() {
            [reading] => Some(reading),
            _ => None,
        }
    }

    pub(crate) fn of(reading: Reading<'t>) -> Parse<'t> {
        Parse { readings: vec![reading], diagnostics: Vec::new() }
    }

    /// Of readings that cost the same, those with different values.
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
    /// The value as strict JSON. Borrowed where the source is strict.
    pub text: Cow<'t, str>,
    /// The places of the values in `text`.
    pub tree: Tree,
    /// The edits of the source that make it so, in order, none overlapping.
    pub repairs: Vec<Repair>,
    /// The bytes of the source that the value takes.
    pub span: Span,
}

impl<'t> Reading<'t> {
    /// The value.
    pub fn value(&self) -> Value<'_> {
        self.tree.root(&self.text)
    }

    /// The worst class among the repairs.
    pub fn class(&self) -> Class {
        repair::class_of(&self.repairs)
    }

    /// The strings, keys included, whose bytes in `source`, the text that was read, are no string between two quotes of a
    /// sort: one of them is missing, or a third stands in it. Where they are in the source, in order.
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

    /// The places of the strings, keys included, in the source, in order.
    pub(crate) fn strings(&self) -> impl Iterator<Item = Span> {
        // What a place in the text has to be moved by to be the one in the source.
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

    /// Returns whether nothing but blanks, or a fence, stands around the value in `source`, the text that was read.
    pub fn is_whole(&self, source: &str) -> bool {
        let is_fence = |piece: Option<&str>| {
            let piece = piece.unwrap_or("").trim();
            piece.is_empty() || piece.starts_with("```") && piece.lines().count() == 1
        };
        let (before, behind) = (source.get(..self.span.start as usize), source.get(self.span.end as usize..));
        is_fence(before) && is_fence(behind)
    }

    /// The reading of a text that is strict JSON already.
    pub(crate) fn strict(text: &'t str, tree: Tree, span: Span) -> Reading<'t> {
        Reading { text: Cow::Borrowed(text), tree, repairs: Vec::new(), span }
    }

    /// The reading of `source` that `repairs` give at `span`; `None` if its edits do not give strict JSON.
    pub(crate) fn of(source: &'t str, span: Span, repairs: Vec<Repair>) -> Option<Reading<'t>> {
        let text = match repairs.as_slice() {
            [] => Cow::Borrowed(source.get(span.range())?),
            repairs => Cow::Owned(repair::apply_within(source, span, repairs)),
        };
        let tree = strict(&text).ok()?;
        Some(Reading { text, tree, repairs, span })
    }
}

/// Why a text has no settled reading.
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
    /// There is no value in it at all.
    NoValue,
    /// No way of reading it leads to a value that the guide admits.
    Unreadable,
    /// It ends inside a value; the span begins where that value, or the string that is open, begins.
    Truncated,
    /// It can be read in several ways that cost the same.
    Ambiguous,
    /// It holds several different values.
    SeveralValues,
    /// One key stands twice with different values.
    DuplicateKey,
    /// The end of a string may stand behind it as well, as a member of the object around it or otherwise: `"a", "b":: 1`,
    /// `"a" (note)`. The span is a quote in that string.
    SwallowedMember,
    /// It is nested too deeply, too long, or has too many readings to look at.
    Limit,
    /// It holds `NaN` or `Infinity`, which JSON does not have.
    NotANumber,
    /// It holds an escape whose meaning is open: `\$`, `` \` ``.
    OpenEscape,
}

/// The first place at which two lists of repairs differ.
fn first_difference(a: &[Repair], b: &[Repair]) -> Span {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let differing = [a.get(same), b.get(same)].into_iter().flatten();
    differing.map(|repair| repair.at).min().unwrap_or_default()
}

/// Returns whether `text` is a string between two quotes of a sort, and has no other one but behind a backslash.
fn is_quoted(text: &str) -> bool {
    let bytes = text.as_bytes();
    let Some(&mark) = bytes.first().filter(|byte| matches!(byte, b'"' | b'\'' | b'`')) else { return false };
    let mut at = string_stop(bytes, 1, mark);
    while bytes.get(at).is_some_and(|byte| *byte != mark) {
        at = string_stop(bytes, at + if bytes[at] == b'\\' { 2 } else { 1 }, mark);
    }
    at + 1 == text.len()
}
