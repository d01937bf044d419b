//! Checks values against a schema. The tables decide on the value as it was read, without building another; they ask
//! the validator only about demands that tables cannot express.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::ControlFlow;

use callwright_json::{Guide as _, Kind, Kinds, MAX_SLOTS, Place, Value};

use super::fits::{bits, has_type, keeps};
use super::guide::{ANY, Entry, SchemaGuide};
use super::message;
use super::schema::Schema;
#[cfg(feature = "full-schemas")]
use super::validator::Judgement;
use super::violation::{Checked, Fault, Sort, Violation};

/// Most violations in a list.
const MAX_VIOLATIONS: usize = 16;
/// Above this number of undeclared members, a hash map finds equal keys.
const FEW: usize = 12;

impl Schema {
    /// Returns the ways in which `value` does not fit; none if it fits.
    ///
    /// Besides what the schema demands, no key may stand twice in one object with different values (keyword
    /// `duplicate`), and no string may hold half a surrogate pair (keyword `surrogate`), at any depth. At most 16
    /// violations are listed.
    ///
    /// The work of a check is bounded for any schema: [`Schema::check_whole`] also says whether it sufficed.
    pub fn check(&self, value: Value<'_>) -> Vec<Violation> {
        self.check_whole(value).violations
    }

    /// Checks `value` as [`Schema::check`] does, and says whether the check covered the whole schema.
    ///
    /// A check may take steps in proportion to the length of the value, and some million besides: less than 50 ms and
    /// 16 MB for a value of 64 KB. A schema may demand more work, as a pattern that must be tried in countless ways.
    /// Then only the tables check the value.
    pub fn check_whole(&self, value: Value<'_>) -> Checked {
        let whole = |violations| Checked { violations, is_whole: true };
        // The validator decides instead of the tables; this check then covers only repeated keys and half surrogate
        // pairs. The same holds in an unknown language.
        let root = if self.is_known && self.is_by_tables() { self.guide.root } else { ANY };
        let faults = self.by_tables(root, value);
        if !faults.is_empty() {
            return whole(faults);
        }
        #[cfg(feature = "full-schemas")]
        if let Some(validator) = &self.validator {
            return match validator.judge(value, MAX_VIOLATIONS) {
                Judgement::Fits => whole(Vec::new()),
                Judgement::Not(violations) => whole(violations),
                Judgement::TooDear => {
                    let root = if self.is_known { self.guide.root } else { ANY };
                    Checked { violations: self.by_tables(root, value), is_whole: false }
                }
            };
        }
        whole(Vec::new())
    }

    /// Returns whether the tables decide.
    fn is_by_tables(&self) -> bool {
        #[cfg(feature = "full-schemas")]
        return self.validator.is_none();
        #[cfg(not(feature = "full-schemas"))]
        true
    }

    /// Returns the faults of `value` at the place `root`, by the tables.
    fn by_tables(&self, root: u32, value: Value<'_>) -> Vec<Violation> {
        let mut faults: Vec<Fault<'_, '_>> = Vec::new();
        let _ = walk(&self.guide, root, value, &mut |fault| {
            let behind = faults.partition_point(|before| before.value.span() <= fault.value.span());
            faults.insert(behind, fault);
            if faults.len() < MAX_VIOLATIONS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        faults.iter().map(|fault| message::of_fault(value, fault)).collect()
    }
}

/// Judges one member of an object before the rest of the object is there.
impl Schema {
    /// Returns whether the members of an object decide alone: each fits its own place, and the required ones are there.
    /// Only then [`Schema::fits_at`] and [`Schema::takes_any_string`] hold whatever follows.
    pub fn judges_members_alone(&self) -> bool {
        let root = self.guide.entry(Place(self.guide.root));
        self.is_exact && root.rules.iter().all(|(about, _)| !about.meets(Kinds::OBJECT))
    }

    /// Returns whether `value` fits `place`, a place of [`Schema::guide`], as far as the tables say.
    pub fn fits_at(&self, place: Place, value: Value<'_>) -> bool {
        self.guide.fits(place, value)
    }

    /// Returns whether any string at all may stand at `place`.
    pub fn takes_any_string(&self, place: Place) -> bool {
        let entry = self.guide.entry(place);
        let is_free = entry.rules.iter().all(|(about, _)| !about.meets(Kinds::STRING));
        entry.kinds.meets(Kinds::STRING) && entry.strings.is_none() && is_free
    }
}

/// Checks `value` at the place `root`, and all values within it. `on_fault` may end the walk.
pub(super) fn walk<'v, 'g>(
    guide: &'g SchemaGuide,
    root: u32,
    value: Value<'v>,
    on_fault: &mut impl FnMut(Fault<'v, 'g>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    // Halves of surrogate pairs are rare: a fast search spares a look into every string. In a short text, a search for
    // one byte is faster than for two.
    let has_escapes = value.raw().contains('\\') && value.raw().contains("\\u");
    let mut todo: Vec<(Value<'v>, u32)> = Vec::with_capacity(16);
    todo.push((value, root));
    while let Some((value, at)) = todo.pop() {
        let place = Place(at);
        let entry = guide.entry(place);
        let mut report = |value, sort| on_fault(Fault { value, place, entry, sort });
        if !has_type(value, entry.kinds) {
            report(value, Sort::Type)?;
            continue;
        }
        // With several forms for one type, each has its own rules and members, and a value need keep only one form's.
        let rules = if entry.is_disjoint { &*entry.rules } else { &[] };
        for (about, rule) in rules {
            if about.meets(bits(value.kind())) && !keeps(value, rule) {
                report(value, Sort::Rule(rule))?;
            }
        }
        match value.kind() {
            Kind::Null | Kind::Bool | Kind::Number => {}
            Kind::String => {
                if has_escapes && value.has_lone_surrogate() {
                    report(value, Sort::Surrogate)?;
                }
            }
            Kind::Array => {
                for (i, element) in value.elements().enumerate() {
                    todo.push((element, entry.prefix.get(i).copied().unwrap_or(entry.element)));
                }
            }
            Kind::Object => members(value, entry, has_escapes, &mut todo, &mut report)?,
        }
    }
    ControlFlow::Continue(())
}

/// Checks the members of an object, and the missing ones; it adds their values to `todo`.
fn members<'v, 'g>(
    value: Value<'v>,
    entry: &'g Entry,
    has_escapes: bool,
    todo: &mut Vec<(Value<'v>, u32)>,
    report: &mut impl FnMut(Value<'v>, Sort<'v, 'g>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut seen: u128 = 0;
    let mut others: Vec<(Cow<'v, str>, Value<'v>)> = Vec::new();
    for (key, member) in value.members() {
        if has_escapes && key.has_lone_surrogate() {
            report(value, Sort::Surrogate)?;
        }
        let name = key.as_str().unwrap_or_default();
        match entry.members.get_full(&*name) {
            Some((i, _, &at)) => {
                todo.push((member, if entry.is_disjoint { at } else { ANY }));
                if MAX_SLOTS <= i {
                    others.push((name, member));
                } else if seen & 1 << i == 0 {
                    seen |= 1 << i;
                } else if value.get(&name).is_some_and(|first| !first.same_as(member)) {
                    report(member, Sort::Duplicate(name))?;
                }
            }
            None => match entry.additional {
                Some(at) => {
                    todo.push((member, at));
                    others.push((name, member));
                }
                None => report(member, Sort::Unknown(name))?,
            },
        }
    }
    if entry.required & !seen != 0 {
        report(value, Sort::Missing(entry.required & !seen))?;
    }
    for (name, member) in differing(others) {
        report(member, Sort::Duplicate(name))?;
    }
    ControlFlow::Continue(())
}

/// Returns the members whose key stood before with another value.
fn differing<'v>(members: Vec<(Cow<'v, str>, Value<'v>)>) -> Vec<(Cow<'v, str>, Value<'v>)> {
    if members.len() <= FEW {
        let has_twin = |i: usize| members[..i].iter().any(|(name, _)| *name == members[i].0);
        if !(1..members.len()).any(has_twin) {
            return Vec::new();
        }
    }
    let mut first: HashMap<Cow<'v, str>, Value<'v>> = HashMap::new();
    let mut differing = Vec::new();
    for (name, member) in members {
        match first.get(&name) {
            None => drop(first.insert(name, member)),
            Some(other) if other.same_as(member) => {}
            Some(_) => differing.push((name, member)),
        }
    }
    differing
}
