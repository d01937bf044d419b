//! A member that a string has swallowed.
//!
//! Where what follows a string does not fit its schema, `"times": "2"` for a number, a string that goes on beyond it
//! does: `"a "quoted" word", "times": "2"` would be one text. A value of the wrong type is the likelier mistake, and one
//! that is noticed.

use alloc::vec::Vec;

use crate::search::{Cost, Found};
use crate::{Guide, Kind, Member, Place, Reading, Repair, RepairKind, Span, Value};

/// What a way to read a text costs, and the bytes that it reads.
pub(crate) type Price = Option<(Cost, Span)>;

/// The price of the readings that a search found, all of one text.
pub(crate) fn price(found: &[Found]) -> Price {
    let cost = found.iter().map(|one| one.cost).min()?;
    found.first().map(|one| (cost, one.span))
}

/// Of two ways to read one text, is `plain`, which lets values be of the wrong type, the one that was meant? Where a
/// string of the `fitting` one swallows a member: if it is the cheaper way to read the same bytes.
pub(crate) fn is_meant(fitting: Price, plain: Price) -> bool {
    matches!((fitting, plain), (Some((dear, all)), Some((cheap, same))) if cheap < dear && all == same)
}

/// A key in a string that may be a member of the object around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Swallowed {
    /// `"a {\"times\": 2} b"`: it may as well belong to what the text quotes.
    Quoted,
    /// `"a\", \"times\":: 2"`: it stands where a member would.
    Bare,
}

/// Does a string of `reading` hold a key that the guide declares for the object which it stands in, and which has no
/// value there?
pub(crate) fn swallowed(reading: &Reading<'_>, guide: &dyn Guide) -> Option<Swallowed> {
    let is_quote = |repair: &Repair| matches!(repair.kind, RepairKind::EscapeQuote | RepairKind::AddQuote);
    if !reading.repairs.iter().any(is_quote) {
        return None;
    }
    let mut found = None;
    let mut open: Vec<(Value<'_>, Place)> = alloc::vec![(reading.value(), guide.root())];
    while let Some((value, place)) = open.pop() {
        match value.kind() {
            Kind::Object => {
                let members = || value.members().filter_map(|(key, value)| Some((key.as_str()?, value)));
                let is_missing = |key: &str| {
                    matches!(guide.member(place, key), Member::Declared(..))
                        && members().all(|(known, _)| known != key)
                };
                for (key, value) in members() {
                    if let Some(text) = value.as_str() {
                        if begins_anew(&text, &key) {
                            return Some(Swallowed::Bare);
                        }
                        for (_, how) in keys_in(&text).filter(|(key, _)| is_missing(key)) {
                            if how == Swallowed::Bare {
                                return Some(how);
                            }
                            found = Some(how);
                        }
                    } else if let Member::Declared(_, place) | Member::Open(place) = guide.member(place, &key)
                    {
                        open.push((value, place));
                    }
                }
            }
            Kind::Array => {
                open.extend(value.elements().enumerate().map(|(n, value)| (value, guide.element(place, n))));
            }
            Kind::String | Kind::Number | Kind::Bool | Kind::Null => {}
        }
    }
    found
}

/// Does the value of `key` begin with the key: `path"src"`, `path=="src"`?
fn begins_anew(text: &str, key: &str) -> bool {
    let behind = text.trim_start().strip_prefix(key).map(str::trim_start);
    !key.is_empty() && behind.is_some_and(|behind| behind.starts_with(['"', '\'', '=', ':']))
}

/// What stands in a `text` like a key: `"times":`, `: "times"`, `, times=`.
fn keys_in(text: &str) -> impl Iterator<Item = (&str, Swallowed)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut at, mut depth) = (0, 0_usize);
    core::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let first = rest.chars().next()?;
            let how = if depth == 0 { Swallowed::Bare } else { Swallowed::Quoted };
            let before = text.get(..at)?.trim_end().chars().next_back();
            let len = match first {
                '"' | '\'' => rest.get(1..)?.find(first).map(|len| len + 2),
                _ if is_word(first) => Some(rest.find(|c| !is_word(c)).unwrap_or(rest.len())),
                _ => None,
            };
            let Some(len) = len else {
                match first {
                    '{' | '[' => depth += 1,
                    '}' | ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at += first.len_utf8();
                continue;
            };
            let word = rest.get(..len)?;
            let behind = rest.get(len..)?.trim_start().chars().next();
            if is_word(first) {
                at += len;
                if before == Some(',') && matches!(behind, Some('=' | ':')) {
                    return Some((word, how));
                }
            } else {
                // The other quote may open the next word.
                at += 1;
                if behind == Some(':') || before == Some(':') {
                    return Some((word.get(1..len - 1)?, how));
                }
            }
        }
    })
}
