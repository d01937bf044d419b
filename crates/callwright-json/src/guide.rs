//! The questions of a reader to a schema, without any schema language.

/// A place in a schema: "the value of `path`", "an element of `labels`". The guide gives out the numbers.
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
    /// A number without fraction.
    pub const INTEGER: Kinds = Kinds(8);
    /// Any number.
    pub const NUMBER: Kinds = Kinds(12);
    /// A string.
    pub const STRING: Kinds = Kinds(16);
    /// An array.
    pub const ARRAY: Kinds = Kinds(32);
    /// An object.
    pub const OBJECT: Kinds = Kinds(64);
    /// All of them.
    pub const ANY: Kinds = Kinds(127);

    /// Returns whether all of `other` are in `self`.
    pub fn has(self, other: Kinds) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether at least one of `other` is in `self`.
    pub fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets together.
    pub fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }
}

/// The meaning of a key in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A declared member: its number among the declared ones (below [`MAX_SLOTS`]), and where its value stands.
    Declared(u8, Place),
    /// Not declared, but allowed.
    Open(Place),
    /// Not allowed.
    Forbidden,
}

/// Answers what may stand where. All answers may err on the permissive side; a check comes afterwards.
pub trait Guide {
    /// The place of the whole value.
    fn root(&self) -> Place;

    /// The types that may stand at `place`.
    fn kinds(&self, place: Place) -> Kinds;

    /// The meaning of `key` in an object at `place`.
    fn member(&self, place: Place, key: &str) -> Member;

    /// The name of the declared member `slot` of an object at `place`, in the order of declaration.
    fn name(&self, place: Place, slot: u8) -> Option<&str>;

    /// The most slots of an object at `place`: none at or behind this number has a name.
    fn slots(&self, _: Place) -> usize {
        MAX_SLOTS
    }

    /// The declared members, one bit per slot, that an object at `place` must have.
    fn required(&self, place: Place) -> u128;

    /// The place of element `index` of an array at `place`.
    fn element(&self, place: Place, index: usize) -> Place;

    /// The length in bytes of the longest string that may stand at `place`; `None` where any string may, so that nobody has to
    /// ask [`Guide::admits`]. A longer one is never unescaped: each quote of a long text may be its end.
    fn longest(&self, _: Place) -> Option<usize> {
        Some(usize::MAX)
    }

    /// Returns whether the string `text` may stand at `place`, where strings may. (An `enum` or a `const` says no.)
    fn admits(&self, place: Place, text: &str) -> bool;
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
}
