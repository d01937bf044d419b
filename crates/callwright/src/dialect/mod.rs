//! Dialects: the ways in which models mark their calls, as data.
//!
//! A dialect is a [`Record`]: which markers open a call, which close it, where the name stands. Behind any of
//! them a JSON-like value or call expressions are taken, as models mix them up. Adding a dialect is adding a
//! record to [`ALL`]; code belongs to the payload grammars.

mod records;

pub(crate) use records::{ALL, REASONING, TURNS};

/// One way of writing calls.
#[derive(Debug)]
pub(crate) struct Record {
    /// The name in reports and in [`Context::dialect`](crate::Context::dialect).
    pub(crate) name: &'static str,
    /// What opens a call, in lower case; matched whatever the case. The first one is the proper spelling, the
    /// others are what models write for it.
    pub(crate) open: &'static [&'static str],
    /// What closes it. Any closing tag does after a complete payload; these also end a broken one.
    pub(crate) close: &'static [&'static str],
    /// Where the tool's name stands.
    pub(crate) name_at: NameAt,
    /// How sure an opener makes it that a call follows.
    pub(crate) anchor: Anchor,
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
    let rest = text.as_bytes().get(at..)?;
    ALL.iter()
        .flat_map(|record| record.open.iter().map(move |open| (record, *open)))
        .filter(|(_, open)| starts_with_any_case(rest, open))
        .max_by_key(|(_, open)| open.len())
        .map(|(record, open)| (record, open.len()))
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
