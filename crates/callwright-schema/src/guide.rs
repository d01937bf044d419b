//! A compiled schema as flat tables, for a reader while it reads, and for the check afterwards.

use std::cmp::Ordering;
use std::sync::Arc;

use indexmap::IndexMap;

use callwright_json::{Kinds, Place};

/// The place where anything may stand.
pub(super) const ANY: u32 = 0;
/// The place where nothing may stand.
pub(super) const NEVER: u32 = 1;

/// Tells a reader the values that a schema admits at each place. It errs on the permissive side in all but one point:
/// in a choice between objects (`anyOf`), a member that some of them declare must fit one of those.
#[derive(Clone, Debug)]
pub struct SchemaGuide {
    pub(super) entries: Arc<[Entry]>,
    pub(super) root: u32,
}

/// The knowledge about one place.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The types that may stand here; `INTEGER` without `FRACTION` takes whole numbers only.
    pub(super) kinds: Kinds,
    /// The declared members of an object, in the order of declaration, with the places of their values.
    pub(super) members: IndexMap<Box<str>, u32>,
    /// The members that must be there, one bit per number.
    pub(super) required: u128,
    /// The place of the value of an undeclared member; `None` if none may be there.
    pub(super) additional: Option<u32>,
    /// The schema speaks of members that it does not name: by a pattern, or of all others.
    pub(super) expects_others: bool,
    /// The places of the first elements of an array.
    pub(super) prefix: Box<[u32]>,
    /// The place of all further elements.
    pub(super) element: u32,
    /// The only strings that may stand here, sorted.
    pub(super) strings: Option<Box<[Box<str>]>>,
    /// The length of the longest of them, in bytes.
    pub(super) longest: usize,
    /// The other demands on a value, each for the types that it concerns.
    pub(super) rules: Box<[(Kinds, Rule)]>,
    /// There is only one form for each type. Otherwise the rules and members belong to one of several forms.
    pub(super) is_disjoint: bool,
    /// These tables decide exactly what may stand here (the members' and elements' own places apart).
    pub(super) is_exact: bool,
}

/// A demand on a value besides its type, its members and its elements.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    /// The value is one of these: their canonical texts, and the texts for people.
    OneOf {
        canonical: Box<[Box<str>]>,
        shown: Box<[Box<str>]>,
    },
    /// The value has so many characters, elements or members, at least or at most.
    Size(&'static Limit, u64),
    /// The value is a number on one side of this one, which is a decimal text.
    Bound(&'static Limit, Box<str>),
    UniqueItems,
    /// The value is a multiple of this divisor, which is greater than zero, as decimal text.
    MultipleOf(Box<str>),
}

/// A keyword that bounds a value on one side.
#[derive(Debug)]
pub(super) struct Limit {
    pub(super) name: &'static str,
    /// The types that it concerns.
    pub(super) about: Kinds,
    /// Returns whether a value that compares so with the limit keeps it.
    pub(super) keeps: fn(Ordering) -> bool,
    pub(super) demand: &'static str,
}

pub(super) static LIMITS: [Limit; 10] = [
    Limit { name: "minLength", about: Kinds::STRING, keeps: Ordering::is_ge, demand: "have at least" },
    Limit { name: "maxLength", about: Kinds::STRING, keeps: Ordering::is_le, demand: "have at most" },
    Limit { name: "minItems", about: Kinds::ARRAY, keeps: Ordering::is_ge, demand: "have at least" },
    Limit { name: "maxItems", about: Kinds::ARRAY, keeps: Ordering::is_le, demand: "have at most" },
    Limit { name: "minProperties", about: Kinds::OBJECT, keeps: Ordering::is_ge, demand: "have at least" },
    Limit { name: "maxProperties", about: Kinds::OBJECT, keeps: Ordering::is_le, demand: "have at most" },
    Limit { name: "minimum", about: Kinds::NUMBER, keeps: Ordering::is_ge, demand: "be at least" },
    Limit { name: "maximum", about: Kinds::NUMBER, keeps: Ordering::is_le, demand: "be at most" },
    Limit { name: "exclusiveMinimum", about: Kinds::NUMBER, keeps: Ordering::is_gt, demand: "be more than" },
    Limit { name: "exclusiveMaximum", about: Kinds::NUMBER, keeps: Ordering::is_lt, demand: "be less than" },
];

impl Entry {
    pub(super) fn any() -> Entry {
        Entry {
            kinds: Kinds::ANY,
            members: IndexMap::new(),
            required: 0,
            additional: Some(ANY),
            expects_others: false,
            prefix: Box::default(),
            element: ANY,
            strings: None,
            longest: 0,
            rules: Box::default(),
            is_disjoint: true,
            is_exact: true,
        }
    }

    pub(super) fn never() -> Entry {
        Entry { kinds: Kinds(0), ..Entry::any() }
    }
}

impl SchemaGuide {
    pub(super) fn entry(&self, place: Place) -> &Entry {
        // Places come from this guide; a place of another guide gets the answer of an unknown one.
        self.entries.get(place.0 as usize).unwrap_or(&self.entries[ANY as usize])
    }

    /// Returns the guide for a value that stands at `place`. It shares the tables.
    pub(super) fn at(&self, place: Place) -> SchemaGuide {
        SchemaGuide { entries: Arc::clone(&self.entries), root: place.0 }
    }

    /// Returns whether an object at `place` may have more members than the `used` ones. If some are declared, others
    /// are not expected.
    pub fn takes_more_members(&self, place: Place, used: impl Fn(&str) -> bool) -> bool {
        let entry = self.entry(place);
        let is_open = entry.members.is_empty() && entry.additional.is_some_and(|at| at != NEVER);
        is_open || entry.members.iter().any(|(name, at)| *at != NEVER && !used(name))
    }

    /// Returns whether the schema says that an object at `place` may have members that it does not name.
    pub fn expects_others(&self, place: Place) -> bool {
        self.entry(place).expects_others
    }

    /// Returns whether an object at `place` may have members that its schema does not name.
    pub fn takes_others(&self, place: Place) -> bool {
        self.entry(place).additional.is_some_and(|at| at != NEVER)
    }

    /// Returns whether an array at `place` may have more than `count` elements.
    pub fn takes_more_elements(&self, place: Place, count: usize) -> bool {
        let entry = self.entry(place);
        let is_full = |rule: &Rule| matches!(rule, Rule::Size(limit, most) if limit.name == "maxItems" && *most <= count as u64);
        entry.prefix.get(count).copied().unwrap_or(entry.element) != NEVER
            && !entry.rules.iter().any(|(_, rule)| is_full(rule))
    }

    /// Returns the names of the declared members of an object at `place`, in the order of declaration.
    pub fn names(&self, place: Place) -> impl Iterator<Item = &str> {
        self.entry(place).members.keys().map(|name| &**name)
    }
}
