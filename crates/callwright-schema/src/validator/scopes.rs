//! The meaning of dynamic names at a place to which a schema is applied.

use std::collections::HashMap;

use super::fuel::Fuel;
use super::program::NodeId;

/// Price of a new scope besides its names.
const SCOPE: usize = 16;

/// The dynamic scopes of a check: the node that each dynamic name means. Only the outermost resource with a name
/// counts, so two ways to one schema differ only if they give a name another meaning.
pub(super) struct Scopes {
    all: Vec<Vec<Option<NodeId>>>,
    known: HashMap<Vec<Option<NodeId>>, u32>,
    entered: HashMap<(u32, usize), u32>,
}

impl Scopes {
    pub(super) fn new(n_names: usize) -> Scopes {
        Scopes { all: vec![vec![None; n_names]], known: HashMap::new(), entered: HashMap::new() }
    }

    pub(super) fn bound(&self, scope: u32, name: u32) -> Option<NodeId> {
        self.all.get(scope as usize)?.get(name as usize).copied().flatten()
    }

    /// Returns the scope `scope` with the names of `resource` that have no meaning yet.
    pub(super) fn enter(
        &mut self,
        scope: u32,
        resource: usize,
        own: &[(u32, NodeId)],
        fuel: &mut Fuel,
    ) -> Option<u32> {
        if own.is_empty() {
            return Some(scope);
        }
        if let Some(&known) = self.entered.get(&(scope, resource)) {
            return Some(known);
        }
        let mut bound = self.all.get(scope as usize)?.clone();
        fuel.take(SCOPE + bound.len())?;
        for (name, node) in own {
            if let Some(place) = bound.get_mut(*name as usize) {
                place.get_or_insert(*node);
            }
        }
        let next = u32::try_from(self.all.len()).ok()?;
        let inner = *self.known.entry(bound.clone()).or_insert(next);
        if inner == next {
            self.all.push(bound);
        }
        self.entered.insert((scope, resource), inner);
        Some(inner)
    }
}
