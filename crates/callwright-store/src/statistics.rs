//! Counts what became of calls: by model, mode, dialect and tool, and over time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::{AnyPool, Row};

use crate::clock::now;
use crate::store::{Store, StoreError};
use crate::turn::Became;

/// The time that is looked at, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Range {
    /// From here on; from the beginning where it is not given.
    pub since: Option<i64>,
    /// Up to here, exclusive; until now where it is not given.
    pub until: Option<i64>,
}

/// What became of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// What they have in common: a model, a tool; of a time the milliseconds since 1970 at which it begins.
    pub name: String,
    /// Right as they were written.
    pub right: i64,
    /// Mended.
    pub healed: i64,
    /// Right after the model was asked again.
    pub corrected: i64,
    /// Refused for good.
    pub refused: i64,
}

/// What repairs cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// How many requests there were.
    pub turns: i64,
    /// How many further questions put calls right, or tried to.
    pub repair_turns: i64,
    /// The tokens of all questions and answers.
    pub tokens: i64,
    /// The tokens of the further ones.
    pub repair_tokens: i64,
}

/// How often models make an error again that they made before in the same session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepeatRate {
    /// The policy that held: what is healed in silence is not learned from.
    pub policy: String,
    /// How the tools reached the models.
    pub mode: String,
    /// All errors.
    pub errors: i64,
    /// Those that repeat an earlier one.
    pub repeated: i64,
    /// The share of the latter.
    pub repeat_error_rate: f64,
}

/// All that is counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// All calls.
    pub calls: Counts,
    /// By the model that was asked for.
    pub by_model: Vec<Counts>,
    /// By how the tools reached it.
    pub by_mode: Vec<Counts>,
    /// By the dialect that the call was written in.
    pub by_dialect: Vec<Counts>,
    /// By tool.
    pub by_tool: Vec<Counts>,
    /// Over time, in steps of [`Statistics::step`].
    pub over_time: Vec<Counts>,
    /// The steps of time, in milliseconds.
    pub step: i64,
    /// How turns ended, and how many did so.
    pub outcomes: BTreeMap<String, i64>,
    /// What was wrong most often, and how often.
    pub errors: Vec<(String, i64)>,
    /// What repairs cost.
    pub spent: Spent,
    /// How often errors were repeated.
    pub repeated: Vec<RepeatRate>,
}

/// So many groups are told, those with the most calls.
const GROUPS: usize = 30;
/// So many kinds of errors are told.
const ERRORS: i64 = 20;
/// Time is cut into about as many steps.
const STEPS: i64 = 48;
/// The steps that people know: a minute to a month.
const KNOWN: [i64; 9] =
    [60_000, 300_000, 900_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000, 604_800_000, 2_592_000_000];

const CALLS: &str = "SELECT model, mode, dialect, tool, became, (at - $1) / $2 AS step, COUNT(*) FROM calls \
                     WHERE at >= $1 AND at < $3 GROUP BY 1, 2, 3, 4, 5, 6";
const TURNS: &str = "SELECT outcome, COUNT(*), CAST(SUM(repair_turns) AS BIGINT), \
                     CAST(SUM(prompt_tokens + completion_tokens) AS BIGINT), CAST(SUM(repair_tokens) AS BIGINT) \
                     FROM turns WHERE at >= $1 AND at < $2 GROUP BY outcome";
const FAULTS: &str = "SELECT kind, COUNT(*) FROM faults WHERE at >= $1 AND at < $2 GROUP BY kind \
                      ORDER BY 2 DESC, kind LIMIT $3";
const REPEATED: &str = "SELECT policy, mode, COUNT(*), CAST(SUM(repeated) AS BIGINT) FROM faults \
                        WHERE at >= $1 AND at < $2 GROUP BY policy, mode ORDER BY policy, mode";

impl Store {
    /// Counts what happened in `range`.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn statistics(&self, range: Range) -> Result<Statistics, StoreError> {
        self.read(move |pool| async move { counted(&pool, range).await }).await
    }
}

async fn counted(pool: &AnyPool, range: Range) -> Result<Statistics, StoreError> {
    let until = range.until.unwrap_or_else(|| now() + 1);
    let since = match range.since {
        Some(since) => since.min(until),
        None => {
            let row =
                sqlx::query("SELECT COALESCE(MIN(at), $1) FROM calls").bind(until).fetch_one(pool).await?;
            row.try_get::<i64, _>(0)?.min(until)
        }
    };
    let step =
        KNOWN.into_iter().find(|step| until - since <= step * STEPS).unwrap_or((until - since) / STEPS + 1);
    // Steps begin where an hour or a day does.
    let begin = since - since.rem_euclid(step);
    let mut statistics = Statistics { step, ..Statistics::default() };
    let mut groups: [BTreeMap<String, Counts>; 4] = Default::default();
    let mut times: BTreeMap<i64, Counts> = BTreeMap::new();
    let rows = sqlx::query(CALLS).bind(begin.max(since)).bind(step).bind(until).fetch_all(pool).await?;
    for row in &rows {
        let became: String = row.try_get(4)?;
        let Some(became) = Became::named(&became) else { continue };
        let count: i64 = row.try_get(6)?;
        statistics.calls.add(became, count);
        for (column, group) in groups.iter_mut().enumerate() {
            let name: String = row.try_get(column)?;
            let counts = group.entry(name.clone()).or_insert_with(|| Counts { name, ..Counts::default() });
            counts.add(became, count);
        }
        let at = begin + row.try_get::<i64, _>(5)? * step;
        let name = at.to_string();
        times.entry(at).or_insert_with(|| Counts { name, ..Counts::default() }).add(became, count);
    }
    let [by_model, by_mode, by_dialect, by_tool] = groups.map(most);
    statistics.over_time = times.into_values().collect();
    for row in sqlx::query(TURNS).bind(since).bind(until).fetch_all(pool).await? {
        let n_turns: i64 = row.try_get(1)?;
        statistics.outcomes.insert(row.try_get(0)?, n_turns);
        let spent = &mut statistics.spent;
        spent.turns += n_turns;
        spent.repair_turns += row.try_get::<i64, _>(2)?;
        spent.tokens += row.try_get::<i64, _>(3)?;
        spent.repair_tokens += row.try_get::<i64, _>(4)?;
    }
    for row in sqlx::query(FAULTS).bind(since).bind(until).bind(ERRORS).fetch_all(pool).await? {
        statistics.errors.push((row.try_get(0)?, row.try_get(1)?));
    }
    for row in sqlx::query(REPEATED).bind(since).bind(until).fetch_all(pool).await? {
        let (errors, repeated): (i64, i64) = (row.try_get(2)?, row.try_get(3)?);
        let repeat_error_rate = repeated as f64 / errors as f64;
        let (policy, mode) = (row.try_get(0)?, row.try_get(1)?);
        statistics.repeated.push(RepeatRate { policy, mode, errors, repeated, repeat_error_rate });
    }
    Ok(Statistics { by_model, by_mode, by_dialect, by_tool, ..statistics })
}

impl Counts {
    /// Of all kinds.
    pub fn total(&self) -> i64 {
        self.right + self.healed + self.corrected + self.refused
    }

    fn add(&mut self, became: Became, count: i64) {
        *match became {
            Became::Right => &mut self.right,
            Became::Healed => &mut self.healed,
            Became::Corrected => &mut self.corrected,
            Became::Refused => &mut self.refused,
        } += count;
    }
}

/// The groups with the most calls.
fn most(groups: BTreeMap<String, Counts>) -> Vec<Counts> {
    let mut groups: Vec<Counts> = groups.into_values().collect();
    groups.sort_by_key(|counts| std::cmp::Reverse(counts.total()));
    groups.truncate(GROUPS);
    groups
}
