//! The sums of the sessions of a list, and the number of those with a turn that ended in each way.
//!
//! A bounded number is counted, the youngest; the result says whether those are all.

use sqlx::{AnyPool, AssertSqlSafe, Row};

use crate::database::Kind;
use crate::error::StoreError;
use crate::filter::Filter;
use crate::hits::listed;
use crate::list::fitting_keys;
use crate::owner::Reach;
use crate::store::Store;

/// The sums of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of sessions.
    pub sessions: i64,
    /// Their turns.
    pub turns: i64,
    /// The edits that repaired their calls.
    pub repairs: i64,
    /// Their calls that were refused for good.
    pub refusals: i64,
    /// The tokens of all questions and answers.
    pub tokens: i64,
    /// Those are all of them, not only the youngest.
    pub is_all: bool,
    /// The ends of turns, each with the number of sessions in which one ended so. Whatever outcome is asked for, all are told:
    /// those are the others to choose from.
    pub outcomes: Vec<(String, i64)>,
    /// The sessions behind [`Totals::outcomes`] are all that there are.
    pub outcomes_are_all: bool,
}

/// So many sessions are looked at.
pub(crate) const COUNTED: usize = 4096;

impl Store {
    /// Adds up the sessions that fit `filter`.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn totals(&self, filter: Filter) -> Result<Totals, StoreError> {
        let filter = filter.given();
        let (kind, reach) = (self.database().kind, self.reach());
        self.read(move |pool| async move {
            let any_outcome = Filter { outcome: None, ..filter.clone() };
            let mut among = Among::of(&pool, kind, &filter, &reach).await?;
            let mut totals = among.sums(&pool).await?;
            if filter != any_outcome {
                among = Among::of(&pool, kind, &any_outcome, &reach).await?;
            }
            totals.outcomes = among.outcomes(&pool).await?;
            totals.outcomes_are_all = among.is_all;
            Ok(totals)
        })
        .await
    }
}

/// The sessions that are counted.
struct Among {
    /// Their keys, as what stands behind `IN`.
    keys: String,
    is_all: bool,
}

impl Among {
    async fn of(pool: &AnyPool, kind: Kind, filter: &Filter, reach: &Reach) -> Result<Among, StoreError> {
        let (keys, is_all) = fitting_keys(pool, kind, filter, reach, COUNTED).await?;
        // A list of none is no SQL; no session has the key 0.
        Ok(Among { keys: format!("(0{}{})", if keys.is_empty() { "" } else { ", " }, listed(&keys)), is_all })
    }

    async fn sums(&self, pool: &AnyPool) -> Result<Totals, StoreError> {
        let sum = |column: &str| format!("CAST(COALESCE(SUM({column}), 0) AS BIGINT)");
        let [turns, repairs, refusals, tokens] = ["turns", "repairs", "refusals", "tokens"].map(sum);
        let sql = format!(
            "SELECT COUNT(*), {turns}, {repairs}, {refusals}, {tokens} FROM sessions WHERE key IN {}",
            self.keys
        );
        let row = sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_one(pool).await?;
        Ok(Totals {
            sessions: row.try_get(0)?,
            turns: row.try_get(1)?,
            repairs: row.try_get(2)?,
            refusals: row.try_get(3)?,
            tokens: row.try_get(4)?,
            is_all: self.is_all,
            ..Totals::default()
        })
    }

    async fn outcomes(&self, pool: &AnyPool) -> Result<Vec<(String, i64)>, StoreError> {
        let sql = format!(
            "SELECT outcome, COUNT(DISTINCT session) FROM turns WHERE session IN {} GROUP BY outcome ORDER BY 2 DESC, 1",
            self.keys
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_all(pool).await?;
        let counted = rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
        Ok(counted.collect::<Result<_, sqlx::Error>>()?)
    }
}
