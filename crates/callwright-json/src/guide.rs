//! The reader's questions to a schema, in no schema language.

use crate::Value;

/// A place in a schema: "the value of `path`", "an element of `labels`". The guide assigns the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place(pub u32);

/// The most members of one object that a guide can number; further ones are `Open`.
pub const MAX_SLOTS: usize = 128;

/// A set of JSON types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kinds(pub u8);

impl Kinds {
    /// `null`.
    pub const NULL: Kinds = Kinds(1);
    /// `true`, `false`.
    pub const BOOL: Kinds = Kinds(2);
    /// A number with a fraction or an exponent.
    pub const FRACTION: Kinds = Kinds(4);
    /// A number without a fraction.
    pub const INTEGER: Kinds = Kinds(8);
    /// Any number.
    pub const NUMBER: Kinds = Kinds(12);
    /// A string.
    pub const STRING: Kinds = Kinds(16);
    /// An array.
    pub const ARRAY: Kinds = Kinds(32);
    /// An object.
    pub const OBJECT: Kinds = Kinds(64);
    /// All types.
    pub const ANY: Kinds = Kinds(127);

    /// Returns whether all types of `other` are in `self`.
    pub fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether at least one type of `other` is in `self`.
    pub fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the union of both sets.
    pub fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// The meaning of a key in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A declared member: its number among the declared ones (below [`MAX_SLOTS`]), and the place of its
    /// value.
    Declared(u8, Place),
    /// Not declared, but allowed.
    Open(Place),
    /// Not allowed.
    Forbidden,
}

/// A schema's answers about the values at its places. Each answer may be too permissive, as a check follows.
pub trait Guide {
    /// Returns the place of the whole value.
    fn root(&self) -> Place;

    /// Returns the types that may stand at `place`.
    fn kinds(&self, place: Place) -> Kinds;

    /// Returns the meaning of `key` in an object at `place`.
    fn member(&self, place: Place, key: &str) -> Member;

    /// Returns the name of the declared member `slot` of an object at `place`, in the order of declaration.
    fn name(&self, place: Place, slot: u8) -> Option<&str>;

    /// Returns the number of slots of an object at `place`: no slot from this number on has a name.
    fn slots(&self, _: Place) -> usize {
        MAX_SLOTS
    }

    /// Returns the required members of an object at `place`, one bit per slot.
    fn required(&self, place: Place) -> u128;

    /// Returns the place of element `index` of an array at `place`.
    fn element(&self, place: Place, index: usize) -> Place;

    /// Returns the length in bytes of the longest string at `place`; `None` where any string may stand, which
    /// makes [`Guide::admits`] needless. The reader never unescapes a longer string: each quote of a long
    /// text may be its end.
    fn longest(&self, _: Place) -> Option<usize> {
        Some(usize::MAX)
    }

    /// Returns whether the string `text` may stand at `place`, where strings may. (An `enum` or a `const`
    /// refuses others.)
    fn admits(&self, place: Place, text: &str) -> bool;

    /// Returns whether any value at all may stand at `place`.
    fn takes_all(&self, _: Place) -> bool {
        false
    }

    /// Returns whether an object or an array at `place` has one form, so that its members are judged one by one.
    fn has_one_form(&self, _: Place) -> bool {
        true
    }

    /// Returns whether `value` fits `place` as it stands, with all values in it.
    fn fits(&self, _: Place, _: Value<'_>) -> bool {
        true
    }
}

/// The guide that knows nothing: any value may stand anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyValue;

impl Guide for AnyValue {
    fn root(&self) -> Place {
        Place(0)
    }
    fn kinds(&self, _: Place) -> Kinds {
        Kinds::ANY
    }
    fn member(&self, _: Place, _: &str) -> Member {
        Member::Open(Place(0))
    }
    fn name(&self, _: Place, _: u8) -> Option<&str> {
        None
    }
    fn slots(&self, _: Place) -> usize {
        0
    }
    fn required(&self, _: Place) -> u128 {
        0
    }
    fn element(&self, _: Place, _: usize) -> Place {
        Place(0)
    }
    fn longest(&self, _: Place) -> Option<usize> {
        None
    }
    fn admits(&self, _: Place, _: &str) -> bool {
        true
    }
    fn takes_all(&self, _: Place) -> bool {
        true
    }
}
