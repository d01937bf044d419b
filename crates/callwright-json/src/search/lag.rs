//! Gives up states that others have left far behind.
//!
//! States are taken in the order of their costs. Where each element of a list needs an edit, `[{"a: 1}, {"a: 2}, …]`,
//! whatever else can be made of the first elements is cheaper than the right reading of the last one, and all of that
//! would be gone through first. Behind a dearer state that stands in the same container as a cheaper one, but less far,
//! nothing is left to be found that the cheaper one does not find, unless that one is mistaken: a few edits show it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Cost, Search, State, levels};

/// By how much a state may be dearer than one that stands farther on: two or three edits.
const LAG: Cost = Cost::units(12);

/// The places at which states came to a key or value, and what that cost, by the signature of the container.
#[derive(Default)]
pub(super) struct Reached {
    /// Noted, and not looked for yet: most texts are read before any state lags.
    noted: Vec<(u64, u32, Cost)>,
    /// Those only that lie behind all others of their signature, so that costs rise with the places.
    farthest: BTreeMap<(u64, u32), Cost>,
}

impl Reached {
    /// Takes note of a state between tokens; none before it was dearer.
    pub(super) fn note(&mut self, signature: u64, at: u32, cost: Cost) {
        self.noted.push((signature, at, cost));
    }

    /// The least cost of a state that came to `at`, or farther, in a container of `signature`.
    fn cost_behind(&self, signature: u64, at: u32) -> Option<Cost> {
        let (&(next, _), &cost) = self.farthest.range((signature, at)..).next()?;
        (next == signature).then_some(cost)
    }

    fn sort(&mut self) {
        let mut noted = core::mem::take(&mut self.noted);
        for (signature, at, cost) in noted.drain(..) {
            if self.cost_behind(signature, at).is_none() {
                self.farthest.insert((signature, at), cost);
            }
        }
        self.noted = noted;
    }
}

impl Search<'_, '_> {
    /// Returns whether others came farther, for much less, in one of the containers that `state` stands in.
    pub(super) fn lags(&mut self, state: &State) -> bool {
        if state.cost <= LAG {
            return false;
        }
        self.reached.sort();
        let n_containers = self.frame(state).map_or(0, |own| own.depth);
        self.fuel -= levels(self.reached.farthest.len()) * i64::from(n_containers);
        self.containers(state.frame)
            .filter_map(|own| self.reached.cost_behind(own.signature, state.at))
            .any(|cost| cost.plus(LAG) < state.cost)
    }
}
