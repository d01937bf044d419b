//! A member that a string has swallowed.
//!
//! Where what follows a string does not fit its schema, `"times": "2"` for a number, a string that goes on beyond it
//! does: `"a "quoted" word", "times": "2"` would be one text. A value of the wrong type is the likelier mistake, and one
//! that is noticed.

use alloc::vec::Vec;

use crate::search::{Cost, Found};
use crate::{Guide, Kind, Member, Place, Reading, RepairKind, Span, Value};

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

/// Does a string of `reading` hold a key that the guide declares for the object which it stands in, and which has no
/// value there?
pub(crate) fn has_swallowed(reading: &Reading<'_>, guide: &dyn Guide) -> bool {
    let is_escaped = reading.repairs.iter().any(|repair| repair.kind == RepairKind::EscapeQuote);
    if !is_escaped {
        return false;
    }
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
                    if value.kind() == Kind::String {
                        if keys_in(value.raw()).any(is_missing) {
                            return true;
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
    false
}

/// What stands in a string like a key: `\"times\":`.
fn keys_in(raw: &str) -> impl Iterator<Item = &str> {
    let mut pieces = raw.split("\\\"").peekable();
    core::iter::from_fn(move || {
        loop {
            let piece = pieces.next()?;
            if pieces.peek().is_some_and(|behind| behind.trim_start().starts_with(':')) {
                return Some(piece);
            }
        }
    })
}
