//! Dialects: the ways in which models mark their calls, as data.
//!
//! A dialect is a [`Record`]: which markers open a call, which close it, where the name stands. Behind any of
//! them a JSON-like value or call expressions are taken, as models mix them up. Adding a dialect is adding a
//! record to [`ALL`]; code belongs to the payload grammars.

pub(crate) mod marks;
mod records;

pub(crate) use records::{ALL, RESULT_LABEL, RESULTS, TURNS, WORD_OPENERS};
use records::{REASONING, SPEECH};

/// The name of the dialect of calls that an upstream made natively, which stand in no text.
pub(crate) const NATIVE: &str = "native";

/// One way of writing calls.
#[derive(Debug)]
pub(crate) struct Record {
    /// The name in reports and in [`Context::dialect`](crate::Context::dialect).
    pub(crate) name: &'static str,
    /// What opens a call, in lower case and ASCII; matched whatever the case, and whatever bars and blanks the
    /// tokenizer has (`｜`, `▁`). The first one is the proper spelling, or the group's; then come the parts that may
    /// stand alone, and what models write instead.
    pub(crate) open: &'static [&'static str],
    /// What closes it. Any closing tag does after a complete payload; these also end a broken one.
    pub(crate) close: &'static [&'static str],
    /// Where the tool's name stands.
    pub(crate) name_at: NameAt,
    /// How sure an opener makes it that a call follows.
    pub(crate) anchor: Anchor,
    /// What the arguments are written in.
    pub(crate) grammar: Grammar,
}

impl Record {
    /// A record of JSON without markers, to be filled in.
    const fn new(name: &'static str, name_at: NameAt, anchor: Anchor) -> Record {
        Record { name, open: &[], close: &[], name_at, anchor, grammar: Grammar::Json }
    }

    const fn open(self, open: &'static [&'static str]) -> Record {
        Record { open, ..self }
    }

    const fn close(self, close: &'static [&'static str]) -> Record {
        Record { close, ..self }
    }

    const fn grammar(self, grammar: Grammar) -> Record {
        Record { grammar, ..self }
    }
}

/// Where the tool's name stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameAt {
    /// In the payload.
    Payload,
    /// In the opener, behind the marker: `<function=f>`.
    Opener,
    /// It is the tag: `<f>`.
    Tag,
    /// Somewhere between the opener and the payload, among other words and tokens:
    /// `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{…}`.
    Header,
}

/// What the arguments are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    /// JSON, or whatever else models put in its place: call expressions, tags.
    Json,
    /// Tags around raw text.
    Tags {
        /// Is one line break at each end of a value the markup's?
        trim: bool,
    },
    /// Objects with bare keys, whose strings stand between two of these marks.
    Relaxed(&'static str),
}

/// How sure an opener makes it that a call follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Anchor {
    /// Nothing is sure before the payload names a declared tool.
    Weak,
    /// Only calls begin like this: what cannot be read is a refusal, not prose.
    Distinct,
}

/// The record of a dialect that has no opener of its own, by name.
pub(crate) fn named(name: &str) -> &'static Record {
    ALL.iter().find(|record| record.name == name).unwrap_or(&ALL[0])
}

/// The longest opener that `text` has at `at`: its record and its length, the name in it excluded.
pub(crate) fn opener_at(text: &str, at: usize) -> Option<(&'static Record, usize)> {
    marks::opener(text.as_bytes().get(at..)?)
}

/// Does a closing mark of any dialect stand at `at`?
pub(crate) fn is_closer(text: &str, at: usize) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    let mut marks = ALL.iter().flat_map(|record| record.close.iter());
    marks.any(|mark| matches!(marks::fit(rest, mark), marks::Fit::Is(_)))
}

/// Could `text[at..]`, all of which is there so far, still grow into an opener?
pub(crate) fn may_grow_into_opener(text: &str, at: usize) -> bool {
    marks::may_grow(text.as_bytes().get(at..).unwrap_or(&[]))
}

/// Could `text[at..]`, all of which is there so far, still grow into one of `markers`?
pub(crate) fn may_grow_into<'m>(text: &str, at: usize, mut markers: impl Iterator<Item = &'m str>) -> bool {
    let rest = text.as_bytes().get(at..).unwrap_or(&[]);
    markers.any(|marker| rest.len() < marker.len() && starts_with_any_case(marker.as_bytes(), rest))
}

/// Does `bytes` begin with `start`, whatever the case of its ASCII letters?
pub(crate) fn starts_with_any_case(bytes: &[u8], start: impl AsRef<[u8]>) -> bool {
    let start = start.as_ref();
    bytes.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_that_are_words_are_named() {
        let openers = ALL.iter().flat_map(|record| record.open.iter().copied());
        let mut words = openers.filter(|open| open.starts_with(char::is_alphanumeric));
        assert!(words.all(|word| WORD_OPENERS.contains(&word)));
    }
}
