//! Counts what became of calls: by model, mode, dialect and tool, and over time.
//!
//! Whole hours and days were counted when they were written; only what is left of the first and the last hour, and a
//! time too short for hours, is counted anew.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AnyPool, AssertSqlSafe, Row};

use crate::clock::now;
use crate::error::StoreError;
use crate::fixes::{self, FixRate};
use crate::latency::{self, Latency};
use crate::owner::Reach;
use crate::store::Store;
use crate::sums::{DAY, HOUR};
use crate::turn::Became;

/// The time that is counted, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Range {
    /// From here on; from the beginning where it is not given.
    pub since: Option<i64>,
    /// Up to here, exclusive; until now where it is not given.
    pub until: Option<i64>,
}

/// The fates of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Their common trait: a model, a tool; of a time the milliseconds since 1970 at which it begins.
    pub name: String,
    /// Right as they were written.
    pub passed: i64,
    /// Repaired.
    pub repaired: i64,
    /// Right after the model was asked again.
    pub retried: i64,
    /// Refused for good.
    pub refused: i64,
}

/// The price of repairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// The number of requests.
    pub turns: i64,
    /// The number of further questions that put calls right, or tried to.
    pub repair_turns: i64,
    /// The tokens of all questions and answers.
    pub tokens: i64,
    /// The tokens of the further ones.
    pub repair_tokens: i64,
}

/// The rate at which models make an error again that they made before in the same session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepeatRate {
    /// The policy that held: what is repaired in silence is not learned from.
    pub policy: String,
    /// The way by which the tools reached the models.
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
    /// The ends of turns, each with its number.
    pub outcomes: BTreeMap<String, i64>,
    /// The most frequent errors, each with its number.
    pub errors: Vec<(String, i64)>,
    /// The price of repairs.
    pub spent: Spent,
    /// The rates of repeated errors.
    pub repeated: Vec<RepeatRate>,
    /// The time that the last requests of each model took.
    pub latency: Vec<Latency>,
    /// The time in which models fixed what they were told of.
    pub fixed: Vec<FixRate>,
}

/// So many groups are told, those with the most calls.
const GROUPS: usize = 30;
/// So many kinds of errors are told.
const ERRORS: usize = 20;
/// Time is cut into about as many steps.
const STEPS: i64 = 48;
/// The steps that people know: a minute to a month.
const KNOWN: [i64; 9] =
    [60_000, 300_000, 900_000, 3_600_000, 10_800_000, 43_200_000, 86_400_000, 604_800_000, 2_592_000_000];

/// The columns that calls are grouped by, each by itself: all at once there are as many groups as ways to combine them, and to
/// read those takes longer than to count again.
const GROUPED: [&str; 4] = ["model", "mode", "dialect", "tool"];
const TURNS: &str = "outcome, COUNT(*), CAST(SUM(repair_turns) AS BIGINT), \
                     CAST(SUM(prompt_tokens + completion_tokens) AS BIGINT), CAST(SUM(repair_tokens) AS BIGINT)";
const TURN_SUMS: &str = "outcome, CAST(SUM(turns) AS BIGINT), CAST(SUM(repair_turns) AS BIGINT), \
                         CAST(SUM(tokens) AS BIGINT), CAST(SUM(repair_tokens) AS BIGINT)";
const FAULTS: &str = "kind, policy, mode, COUNT(*), CAST(SUM(repeated) AS BIGINT)";
const FAULT_SUMS: &str = "kind, policy, mode, CAST(SUM(faults) AS BIGINT), CAST(SUM(repeated) AS BIGINT)";
const CALLS: &str = "became, COUNT(*)";
const CALL_SUMS: &str = "became, CAST(SUM(calls) AS BIGINT)";

/// The statement that counts what is in a table, or in its sums where a span is given: of the time `$1..$2`, by the first
/// `n_groups` columns.
fn select((columns, table): (&str, &str), n_groups: usize, span: Option<i64>, reach: &Reach) -> String {
    let of = match span {
        Some(span) => format!("span = {span} AND owner = '{}'", reach.counted()),
        None => format!("1 = 1{}", reach.sql(table)),
    };
    let groups: Vec<String> = (1..=n_groups).map(|n| n.to_string()).collect();
    let groups = groups.join(", ");
    format!("SELECT {columns} FROM {table} WHERE {of} AND at >= $1 AND at < $2 GROUP BY {groups}")
}

/// All statements that count a whole hour, or what is left of one.
#[cfg(test)]
pub(crate) fn counting(reach: &Reach) -> Vec<String> {
    vec![
        select((TURNS, "turns"), 1, None, reach),
        select((TURN_SUMS, "turn_sums"), 1, Some(HOUR), reach),
        select((FAULTS, "faults"), 3, None, reach),
        select((FAULT_SUMS, "fault_sums"), 3, Some(HOUR), reach),
        select((CALLS, "calls"), 1, None, reach),
        select((CALL_SUMS, "call_sums"), 1, Some(HOUR), reach),
        latency::last(reach),
        fixes::all(reach),
    ]
}

impl Store {
    /// Counts what happened in `range`.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn statistics(&self, range: Range) -> Result<Statistics, StoreError> {
        let reach = self.reach();
        self.read(move |pool| async move { counted(&pool, range, &reach).await }).await
    }
}

async fn counted(pool: &AnyPool, range: Range, reach: &Reach) -> Result<Statistics, StoreError> {
    let until = range.until.unwrap_or_else(|| now() + 1);
    let since = match range.since {
        Some(since) => since,
        None => {
            let begin = "SELECT MIN(at) FROM turn_sums WHERE span = $1 AND owner = $2";
            let begin = sqlx::query(begin).bind(HOUR).bind(reach.counted().to_owned());
            let first: Option<i64> = begin.fetch_one(pool).await?.try_get(0)?;
            first.unwrap_or(until)
        }
    };
    // A range that nobody can mean must not run over.
    let (since, until) = (since.clamp(0, i64::MAX / 2), until.clamp(0, i64::MAX / 2));
    let since = since.min(until);
    let step = step_of(until - since);
    let mut adding = Adding { begin: since - since.rem_euclid(step), step, ..Adding::default() };
    for part in parts(since, until, step) {
        adding.part(pool, part, reach).await?;
    }
    let mut fixed = fixes::counted(pool, since, until, reach).await?;
    fixed.truncate(GROUPS);
    let mut latency = latency::measured(pool, since, until, reach).await?;
    latency.truncate(GROUPS);
    Ok(Statistics { latency, fixed, ..adding.done() })
}

/// The length of a step, for a time of this length: one that people know, or else whole days.
fn step_of(time: i64) -> i64 {
    let known = KNOWN.into_iter().find(|step| time <= step * STEPS);
    known.unwrap_or_else(|| (time / STEPS / DAY + 1) * DAY)
}

/// A part of the time, and what it is counted from: the length of what was summed up; none for each single turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    span: Option<i64>,
    from: i64,
    to: i64,
}

/// Cuts a time at hours and days, as far as steps are not shorter.
fn parts(since: i64, until: i64, step: i64) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut cut = |span, from, to| parts.extend((from < to).then_some(Part { span, from, to }));
    let inside = |from: i64, to: i64, span: i64| {
        let (first, last) = (from + (-from).rem_euclid(span), to - to.rem_euclid(span));
        (span <= step && first < last).then_some((first, last))
    };
    let Some((first, last)) = inside(since, until, HOUR) else {
        cut(None, since, until);
        return parts;
    };
    cut(None, since, first);
    match inside(first, last, DAY) {
        Some((first_day, last_day)) => {
            cut(Some(HOUR), first, first_day);
            cut(Some(DAY), first_day, last_day);
            cut(Some(HOUR), last_day, last);
        }
        None => cut(Some(HOUR), first, last),
    }
    cut(None, last, until);
    parts
}

/// The counts so far.
#[derive(Default)]
struct Adding {
    begin: i64,
    step: i64,
    calls: Counts,
    groups: [BTreeMap<String, Counts>; 4],
    times: BTreeMap<i64, Counts>,
    outcomes: BTreeMap<String, i64>,
    spent: Spent,
    errors: BTreeMap<String, i64>,
    repeated: BTreeMap<(String, String), (i64, i64)>,
}

impl Adding {
    async fn part(&mut self, pool: &AnyPool, part: Part, reach: &Reach) -> Result<(), sqlx::Error> {
        let Part { span, from, to } = part;
        let (turns, faults) = match span {
            Some(_) => ((TURN_SUMS, "turn_sums"), (FAULT_SUMS, "fault_sums")),
            None => ((TURNS, "turns"), (FAULTS, "faults")),
        };
        let turns = sqlx::query(AssertSqlSafe(select(turns, 1, span, reach))).bind(from).bind(to);
        let faults = sqlx::query(AssertSqlSafe(select(faults, 3, span, reach))).bind(from).bind(to);
        self.calls(pool, part, reach).await?;
        turns.fetch_all(pool).await?.iter().try_for_each(|row| self.turns(row))?;
        faults.fetch_all(pool).await?.iter().try_for_each(|row| self.faults(row))
    }

    async fn calls(
        &mut self,
        pool: &AnyPool,
        Part { span, from, to }: Part,
        reach: &Reach,
    ) -> Result<(), sqlx::Error> {
        let statement = |group: &str| {
            let (counts, table) = if span.is_some() { (CALL_SUMS, "call_sums") } else { (CALLS, "calls") };
            select((&format!("{group}, {counts}"), table), 2, span, reach)
        };
        let time = statement("(at - $3) / $4");
        let query = sqlx::query(AssertSqlSafe(time)).bind(from).bind(to).bind(self.begin).bind(self.step);
        for row in query.fetch_all(pool).await? {
            let Some((became, count)) = became(&row)? else { continue };
            self.calls.add(became, count);
            let at = self.begin + row.try_get::<i64, _>(0)? * self.step;
            let name = at.to_string();
            self.times.entry(at).or_insert_with(|| Counts { name, ..Counts::default() }).add(became, count);
        }
        for (column, groups) in GROUPED.into_iter().zip(&mut self.groups) {
            let query = sqlx::query(AssertSqlSafe(statement(column))).bind(from).bind(to);
            for row in query.fetch_all(pool).await? {
                let Some((became, count)) = became(&row)? else { continue };
                let name: String = row.try_get(0)?;
                let counts =
                    groups.entry(name.clone()).or_insert_with(|| Counts { name, ..Counts::default() });
                counts.add(became, count);
            }
        }
        Ok(())
    }

    fn turns(&mut self, row: &AnyRow) -> Result<(), sqlx::Error> {
        let n_turns: i64 = row.try_get(1)?;
        *self.outcomes.entry(row.try_get(0)?).or_default() += n_turns;
        self.spent.turns += n_turns;
        self.spent.repair_turns += row.try_get::<i64, _>(2)?;
        self.spent.tokens += row.try_get::<i64, _>(3)?;
        self.spent.repair_tokens += row.try_get::<i64, _>(4)?;
        Ok(())
    }

    fn faults(&mut self, row: &AnyRow) -> Result<(), sqlx::Error> {
        let (errors, again): (i64, i64) = (row.try_get(3)?, row.try_get(4)?);
        *self.errors.entry(row.try_get(0)?).or_default() += errors;
        let rate = self.repeated.entry((row.try_get(1)?, row.try_get(2)?)).or_default();
        *rate = (rate.0 + errors, rate.1 + again);
        Ok(())
    }

    fn done(self) -> Statistics {
        let Adding { step, calls, groups, times, outcomes, spent, errors, repeated, .. } = self;
        let [by_model, by_mode, by_dialect, by_tool] = groups.map(most);
        let mut errors: Vec<(String, i64)> = errors.into_iter().collect();
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        errors.truncate(ERRORS);
        let rate = |((policy, mode), (errors, repeated)): ((String, String), (i64, i64))| RepeatRate {
            policy,
            mode,
            errors,
            repeated,
            repeat_error_rate: repeated as f64 / errors as f64,
        };
        Statistics {
            calls,
            by_model,
            by_mode,
            by_dialect,
            by_tool,
            over_time: times.into_values().collect(),
            step,
            outcomes,
            errors,
            spent,
            repeated: repeated.into_iter().map(rate).collect(),
            latency: Vec::new(),
            fixed: Vec::new(),
        }
    }
}

impl Counts {
    /// Of all kinds.
    pub fn total(&self) -> i64 {
        self.passed + self.repaired + self.retried + self.refused
    }

    fn add(&mut self, became: Became, count: i64) {
        *match became {
            Became::Passed => &mut self.passed,
            Became::Repaired => &mut self.repaired,
            Became::Retried => &mut self.retried,
            Became::Refused => &mut self.refused,
        } += count;
    }
}

/// Reads a fate of calls and their number; `None` for one that a later version knows.
fn became(row: &AnyRow) -> Result<Option<(Became, i64)>, sqlx::Error> {
    let became: String = row.try_get(1)?;
    Ok(Became::named(&became).zip(Some(row.try_get(2)?)))
}

/// The groups with the most calls.
fn most(groups: BTreeMap<String, Counts>) -> Vec<Counts> {
    let mut groups: Vec<Counts> = groups.into_values().collect();
    groups.sort_by_key(|counts| std::cmp::Reverse(counts.total()));
    groups.truncate(GROUPS);
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_from_whole_days_and_hours() {
        let told = |since, until, step| {
            let part = |part: Part| match part.span {
                None => format!("{}..{}", part.from, part.to),
                Some(span) => {
                    let name = if span == HOUR { 'h' } else { 'd' };
                    format!("{name}{}..{name}{}", part.from / span, part.to / span)
                }
            };
            parts(since, until, step).into_iter().map(part).collect::<Vec<_>>().join(" ")
        };
        let (minute, until) = (60_000, 2 * DAY + HOUR + 5);
        assert_eq!(told(5, HOUR + 5, minute), format!("5..{}", HOUR + 5));
        // No hour is whole in it.
        assert_eq!(told(5, HOUR + 5, HOUR), format!("5..{}", HOUR + 5));
        assert_eq!(told(0, until, HOUR), format!("h0..h49 {}..{until}", until - 5));
        assert_eq!(told(0, until, DAY), format!("d0..d2 h48..h49 {}..{until}", until - 5));
        assert_eq!(told(HOUR, DAY, 7 * DAY), "h1..h24");
        assert_eq!(told(7, 7, DAY), "");
        for time in [0, 1, DAY, 49 * DAY, 4_000 * DAY, i64::MAX / 2] {
            let step = step_of(time);
            assert!(
                time / step <= STEPS && (step < HOUR || step % HOUR == 0) && (step < DAY || step % DAY == 0)
            );
        }
    }
}
