//! The answers of the tables to a reader of JSON.

use std::ops::ControlFlow;

use callwright_json::{Guide, Kinds, MAX_SLOTS, Member, Place, Value};

use super::check::walk;
use super::guide::{ANY, NEVER, SchemaGuide};

impl Guide for SchemaGuide {
    fn root(&self) -> Place {
        Place(self.root)
    }

    fn kinds(&self, place: Place) -> Kinds {
        let kinds = self.entry(place).kinds;
        // `5.0` is a whole number too.
        if kinds.has(Kinds::INTEGER) { kinds.or(Kinds::FRACTION) } else { kinds }
    }

    fn member(&self, place: Place, key: &str) -> Member {
        let entry = self.entry(place);
        let Some((i, _, &at)) = entry.members.get_full(key) else {
            return entry.additional.map_or(Member::Forbidden, |at| Member::Open(Place(at)));
        };
        match u8::try_from(i) {
            _ if at == NEVER => Member::Forbidden,
            Ok(slot) if i < MAX_SLOTS => Member::Declared(slot, Place(at)),
            Ok(_) | Err(_) => Member::Open(Place(at)),
        }
    }

    fn name(&self, place: Place, slot: u8) -> Option<&str> {
        let slot = usize::from(slot);
        let (name, at) = self.entry(place).members.get_index(slot)?;
        (slot < MAX_SLOTS && *at != NEVER).then_some(name)
    }

    fn slots(&self, place: Place) -> usize {
        self.entry(place).members.len().min(MAX_SLOTS)
    }

    fn required(&self, place: Place) -> u128 {
        self.entry(place).required
    }

    fn element(&self, place: Place, index: usize) -> Place {
        let entry = self.entry(place);
        Place(entry.prefix.get(index).copied().unwrap_or(entry.element))
    }

    fn longest(&self, place: Place) -> Option<usize> {
        let entry = self.entry(place);
        entry.strings.as_ref().map(|_| entry.longest)
    }

    fn admits(&self, place: Place, text: &str) -> bool {
        let strings = self.entry(place).strings.as_ref();
        strings.is_none_or(|strings| strings.binary_search_by(|s| (**s).cmp(text)).is_ok())
    }

    fn takes_all(&self, place: Place) -> bool {
        place.0 == ANY
    }

    fn has_one_form(&self, place: Place) -> bool {
        self.entry(place).is_disjoint
    }

    fn fits(&self, place: Place, value: Value<'_>) -> bool {
        walk(self, place.0, value, &mut |_| ControlFlow::Break(())).is_continue()
    }
}
