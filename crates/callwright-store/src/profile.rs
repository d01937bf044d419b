//! The *profile* of turns, a combination of a few names. Each combination is kept once, so that a filter chooses among few of
//! them and walks the turns of each.

use crate::filter::Filter;
use crate::turn::Turn;
use crate::words::Mark;

/// The number of names in a profile.
pub(crate) const NAMES: usize = 5;
/// The columns of a profile, in the tables `profiles` and `turns`, in the order of [`names`].
pub(crate) const COLUMNS: [&str; NAMES] = ["outcome", "model", "mode", "dialect", "surface"];
/// The marks by which nodes of a turn with such a name are found, in the order of [`names`].
pub(crate) const MARKS: [Mark; NAMES] =
    [Mark::Outcome, Mark::Model, Mark::Mode, Mark::Dialect, Mark::Surface];

/// The key of a profile that is there.
pub(crate) const FIND: &str = "SELECT key FROM profiles WHERE outcome = $1 AND model = $2 AND mode = $3 AND dialect = $4 AND surface = $5";
/// The key of one that may be there by now: another process may write it at the same time.
pub(crate) const ADD: &str = "INSERT INTO profiles (outcome, model, mode, dialect, surface) VALUES ($1, $2, $3, $4, $5) \
                              ON CONFLICT (outcome, model, mode, dialect, surface) DO UPDATE SET outcome = excluded.outcome \
                              RETURNING key";

/// The names of a turn.
pub(crate) fn names(turn: &Turn) -> [&str; NAMES] {
    let Turn { outcome, model, mode, dialect, surface, .. } = turn;
    [outcome, model, mode, dialect, surface].map(String::as_str)
}

/// The names that a filter asks for.
pub(crate) fn asked(filter: &Filter) -> [Option<&str>; NAMES] {
    let Filter { outcome, model, mode, dialect, surface, .. } = filter;
    [outcome, model, mode, dialect, surface].map(Option::as_deref)
}
