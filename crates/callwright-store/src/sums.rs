//! Counts of whole hours and days, kept beside what they count: statistics add up a few of them and look at no turn.
//!
//! All changes of a transaction are gathered first and written in one order: two writers never wait for each other.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::{AnyConnection, Row};

use crate::rows::{Target, Value, insert};
use crate::turn::{Call, Turn};

/// The lengths of time that counts are kept for, in milliseconds.
pub(crate) const HOUR: i64 = 3_600_000;
pub(crate) const DAY: i64 = 24 * HOUR;

/// Changes of the counts.
#[derive(Default)]
pub(crate) struct Sums {
    calls: Changes<5, 1>,
    turns: Changes<1, 4>,
    faults: Changes<3, 2>,
}

impl Sums {
    /// One turn of an owner more.
    pub(crate) fn turn(&mut self, owner: &str, turn: &Turn) {
        let tokens = turn.prompt_tokens + turn.completion_tokens;
        let counts = [1, turn.repair_turns, tokens, turn.repair_tokens];
        add(&mut self.turns, owner, turn.at, [turn.outcome.clone()], counts);
    }

    /// One call of a turn more.
    pub(crate) fn call(&mut self, owner: &str, turn: &Turn, call: &Call) {
        let Call { tool, dialect, became } = call;
        let of = [&turn.model, &turn.mode, dialect, tool].map(String::clone);
        let [model, mode, dialect, tool] = of;
        add(&mut self.calls, owner, turn.at, [model, mode, dialect, tool, became.name().to_owned()], [1]);
    }

    /// One fault of a turn more.
    pub(crate) fn fault(&mut self, owner: &str, turn: &Turn, kind: &str, is_repeated: bool) {
        let of = [kind.to_owned(), turn.policy.clone(), turn.mode.clone()];
        add(&mut self.faults, owner, turn.at, of, [1, i64::from(is_repeated)]);
    }

    /// All that goes with a session: the same with a minus.
    pub(crate) async fn without(
        &mut self,
        from: &mut AnyConnection,
        session: i64,
    ) -> Result<(), sqlx::Error> {
        let owner = sqlx::query("SELECT owner FROM sessions WHERE key = $1").bind(session);
        let owner = owner.fetch_optional(&mut *from).await?;
        let owner: String = owner.map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
        for row in sqlx::query(TURNS_OF).bind(session).fetch_all(&mut *from).await? {
            let n = |column: usize| row.try_get::<i64, _>(column).map(|n| -n);
            add(&mut self.turns, &owner, row.try_get(0)?, [row.try_get(1)?], [n(2)?, n(3)?, n(4)?, n(5)?]);
        }
        for row in sqlx::query(CALLS_OF).bind(session).fetch_all(&mut *from).await? {
            let of = [row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?, row.try_get(5)?];
            add(&mut self.calls, &owner, row.try_get(0)?, of, [-row.try_get::<i64, _>(6)?]);
        }
        for row in sqlx::query(FAULTS_OF).bind(session).fetch_all(&mut *from).await? {
            let of = [row.try_get(1)?, row.try_get(2)?, row.try_get(3)?];
            let counts = [-row.try_get::<i64, _>(4)?, -row.try_get::<i64, _>(5)?];
            add(&mut self.faults, &owner, row.try_get(0)?, of, counts);
        }
        Ok(())
    }

    /// Writes the changes.
    pub(crate) async fn write(self, to: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let Sums { calls, turns, faults } = self;
        write(to, CALLS, NO_CALLS, calls).await?;
        write(to, TURNS, NO_TURNS, turns).await?;
        write(to, FAULTS, NO_FAULTS, faults).await
    }
}

type Changes<const K: usize, const N: usize> = BTreeMap<(i64, String, i64, [String; K]), [i64; N]>;

/// To the counts of all, whose owner is empty, and to the owner's.
fn add<const K: usize, const N: usize>(
    to: &mut Changes<K, N>,
    owner: &str,
    at: i64,
    of: [String; K],
    counts: [i64; N],
) {
    let owners = std::iter::once("").chain(Some(owner).filter(|owner| !owner.is_empty()));
    for (owner, span) in owners.flat_map(|owner| [(owner, HOUR), (owner, DAY)]) {
        let key = (span, owner.to_owned(), at - at.rem_euclid(span), of.clone());
        let sums = to.entry(key).or_insert([0; N]);
        sums.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
    }
}

async fn write<const K: usize, const N: usize>(
    to: &mut AnyConnection,
    into: Target,
    none: &'static str,
    changes: Changes<K, N>,
) -> Result<(), sqlx::Error> {
    // What becomes none is taken away: a store that is emptied is empty.
    let is_less = |(_, counts): &(_, &[i64; N])| counts.first().is_some_and(|n| *n < 0);
    let less = changes.iter().filter(is_less).map(|((span, owner, at, _), _)| (*span, owner.clone(), *at));
    let less: BTreeSet<(i64, String, i64)> = less.collect();
    let row = |((span, owner, at, of), counts): ((i64, String, i64, [String; K]), [i64; N])| {
        let mut row = vec![Value::Int(span), Value::Text(owner), Value::Int(at)];
        row.extend(of.into_iter().map(Value::Text));
        row.extend(counts.into_iter().map(Value::Int));
        row
    };
    insert(to, into, changes.into_iter().map(row).collect()).await?;
    for (span, owner, at) in less {
        sqlx::query(none).bind(span).bind(owner).bind(at).execute(&mut *to).await?;
    }
    Ok(())
}

const CALLS: Target = Target {
    table: "call_sums",
    columns: "span, owner, at, model, mode, dialect, tool, became, calls",
    values: &["?"; 9],
    then: "ON CONFLICT (span, owner, at, model, mode, dialect, tool, became) DO UPDATE SET \
           calls = call_sums.calls + excluded.calls",
};
const TURNS: Target = Target {
    table: "turn_sums",
    columns: "span, owner, at, outcome, turns, repair_turns, tokens, repair_tokens",
    values: &["?"; 8],
    then: "ON CONFLICT (span, owner, at, outcome) DO UPDATE SET turns = turn_sums.turns + excluded.turns, \
           repair_turns = turn_sums.repair_turns + excluded.repair_turns, \
           tokens = turn_sums.tokens + excluded.tokens, \
           repair_tokens = turn_sums.repair_tokens + excluded.repair_tokens",
};
const FAULTS: Target = Target {
    table: "fault_sums",
    columns: "span, owner, at, kind, policy, mode, faults, repeated",
    values: &["?"; 8],
    then: "ON CONFLICT (span, owner, at, kind, policy, mode) DO UPDATE SET \
           faults = fault_sums.faults + excluded.faults, repeated = fault_sums.repeated + excluded.repeated",
};

const NO_CALLS: &str = "DELETE FROM call_sums WHERE span = $1 AND owner = $2 AND at = $3 AND calls = 0";
const NO_TURNS: &str = "DELETE FROM turn_sums WHERE span = $1 AND owner = $2 AND at = $3 AND turns = 0";
const NO_FAULTS: &str = "DELETE FROM fault_sums WHERE span = $1 AND owner = $2 AND at = $3 AND faults = 0";

const TURNS_OF: &str = "SELECT at, outcome, CAST(1 AS BIGINT), repair_turns, prompt_tokens + completion_tokens, \
                        repair_tokens FROM turns WHERE session = $1";
const CALLS_OF: &str = "SELECT c.at, c.model, c.mode, c.dialect, c.tool, c.became, COUNT(*) FROM turns t \
                        JOIN calls c ON c.turn = t.id WHERE t.session = $1 GROUP BY 1, 2, 3, 4, 5, 6";
const FAULTS_OF: &str = "SELECT f.at, f.kind, f.policy, f.mode, COUNT(*), CAST(SUM(f.repeated) AS BIGINT) FROM turns t \
                         JOIN faults f ON f.turn = t.id WHERE t.session = $1 GROUP BY 1, 2, 3, 4";
