//! Gives up states that others have left far behind.
//!
//! The search takes states in the order of their costs. In a list whose elements each need an edit,
//! `[{"a: 1}, {"a: 2}, …]`, every odd reading of the first elements is cheaper than the right reading of the
//! last, and would be tried first.
//!
//! A state that costs more than another one in the same container, and stands less far, finds nothing that
//! the other does not. The other may still be mistaken, as a few more edits show.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Cost, Search, State, levels};

/// The cost by which a state may exceed one that stands farther on: two or three edits.
const LAG: Cost = Cost::units(12);

/// The places at which states reached a key or value, with their costs, by the container's signature.
#[derive(Default)]
pub(super) struct Reached {
    /// Notes that are not sorted yet: most texts end before any state lags.
    noted: Vec<(u64, u32, Cost)>,
    /// The places behind all others of their signature, so that costs rise with the places.
    farthest: BTreeMap<(u64, u32), Cost>,
}

impl Reached {
    /// Notes a state between tokens; no earlier one was dearer.
    pub(super) fn note(&mut self, signature: u64, at: u32, cost: Cost) {
        self.noted.push((signature, at, cost));
    }

    /// Returns the least cost of a state that reached `at`, or farther, in a container of `signature`.
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
    /// Returns whether other states came farther, for much less, in a container around `state`.
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
