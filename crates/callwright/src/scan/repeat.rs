//! Recognises repeated calls. The same call in another dialect, or again behind prose and without marks, explains the
//! first one. A list may hold a call twice, and a call that the model marks again is made again.
//!
//! Arguments are compared only if calls stand at two places: they have to be spelt alike first, which costs more than
//! reading them.

use std::borrow::Cow;
use std::collections::HashMap;

use callwright_json::strict;

use crate::verdict::{Acceptance, Verdict};

/// The place of a call.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    pub(super) dialect: Cow<'static, str>,
    /// The dialect has marks that stand for nothing else.
    pub(super) is_marked: bool,
    /// The number of times that prose stood between calls before it.
    pub(super) block: usize,
    /// The number of times that all markup around calls was closed before it.
    pub(super) group: usize,
}

impl Spot {
    /// Returns whether the two stand in one row of calls of one dialect, or are marked as calls in the same way.
    fn is_alike(&self, other: &Spot) -> bool {
        self.dialect == other.dialect && (self.is_marked || self.block == other.block)
    }

    /// Returns whether the two stand in one list. A list whose elements have less markup than its beginning has them in
    /// two dialects.
    fn is_beside(&self, other: &Spot) -> bool {
        self.is_alike(other) || self.block == other.block && self.group == other.group
    }
}

/// The accepted calls so far.
#[derive(Debug, Default)]
pub(super) struct Made {
    /// The spot of the first call, as long as all others stand in a row with it.
    only: Option<Spot>,
    /// The calls that were not compared with others yet: the number of each one's verdict, and its spot.
    fresh: Vec<(usize, Spot)>,
    /// The other calls by their names and arguments, each with the spot of the first one.
    first: HashMap<(String, String), Spot>,
}

impl Made {
    /// Returns whether `verdict`, at `spot`, accepts a call that was made before at another spot. `verdicts` are all
    /// verdicts so far.
    pub(super) fn has(&mut self, verdict: &Verdict, spot: &Spot, verdicts: &[Verdict]) -> bool {
        let Verdict::Accepted(call) = verdict else { return false };
        let is_first = self.fresh.is_empty() && self.first.is_empty();
        if is_first || self.only.as_ref().is_some_and(|only| only.is_alike(spot)) {
            return false;
        }
        for (n, spot) in self.fresh.drain(..) {
            if let Some(Verdict::Accepted(made)) = verdicts.get(n) {
                self.first.entry(spelt_alike(made)).or_insert(spot);
            }
        }
        self.first.get(&spelt_alike(call)).is_some_and(|first| !first.is_beside(spot))
    }

    /// Notes an accepted call, whose verdict is the `n`th.
    pub(super) fn add(&mut self, spot: Spot, n: usize) {
        match self.fresh.is_empty() && self.first.is_empty() {
            true => self.only = Some(spot.clone()),
            false => drop(self.only.take_if(|only| !only.is_alike(&spot))),
        }
        self.fresh.push((n, spot));
    }
}

/// Returns the name of the tool, and the arguments in the spelling that equal ones share.
fn spelt_alike(call: &Acceptance) -> (String, String) {
    let arguments = strict(&call.arguments).map(|tree| tree.root(&call.arguments).canonical());
    (call.name.clone(), arguments.unwrap_or_else(|_| call.arguments.clone()))
}
