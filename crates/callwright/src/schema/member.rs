//! What can be said of one member of an object before the rest of the object is there.

use std::ops::ControlFlow;

use callwright_json::{Kinds, Place, Value};

use super::Schema;
use super::check::walk;

impl Schema {
    /// Is an object that fits known by its members alone: each fits its own place, and the required ones are there?
    /// Only then do the answers below stand whatever follows.
    pub(crate) fn judges_members_alone(&self) -> bool {
        let root = self.guide.entry(Place(self.guide.root));
        self.is_exact && root.rules.iter().all(|(about, _)| !about.meets(Kinds::OBJECT))
    }

    /// Does `value`, which stands at `place`, fit as it is?
    pub(crate) fn fits_at(&self, place: Place, value: Value<'_>) -> bool {
        walk(&self.guide, place.0, value, &mut |_| ControlFlow::Break(())).is_continue()
    }

    /// May any string at all stand at `place`?
    pub(crate) fn takes_any_string(&self, place: Place) -> bool {
        let entry = self.guide.entry(place);
        let is_free = entry.rules.iter().all(|(about, _)| !about.meets(Kinds::STRING));
        entry.kinds.meets(Kinds::STRING) && entry.strings.is_none() && is_free
    }
}
