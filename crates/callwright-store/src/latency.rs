//! The time that requests take, by model: the middle, and the bound of all but a twentieth.
//!
//! The last requests of a time are measured, a bounded number: how long it took last is what is asked, and those say it
//! exactly.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::{AnyPool, AssertSqlSafe, Row};

use crate::owner::Reach;

/// The time that the requests of a model took, in microseconds, from their arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// The model that was asked for.
    pub model: String,
    /// The number of requests that were measured.
    pub requests: i64,
    /// Half of them were answered within this time.
    pub p50_us: i64,
    /// Of twenty, nineteen were.
    pub p95_us: i64,
    /// The first byte of half of them came within this time.
    pub first_byte_p50_us: i64,
    /// That of nineteen of twenty did.
    pub first_byte_p95_us: i64,
    /// The tokens of their questions and answers.
    pub tokens: i64,
}

impl Latency {
    /// So many requests of a time are measured, the last ones.
    pub const MEASURED: i64 = 10_000;
}

/// The statement for the last requests of a time.
pub(crate) fn last(reach: &Reach) -> String {
    format!(
        "SELECT model, total_us, first_byte_us, prompt_tokens + completion_tokens FROM turns \
         WHERE at >= $1 AND at < $2{} ORDER BY at DESC LIMIT $3",
        reach.sql("turns")
    )
}

/// Each model of the time, the one with the most requests first.
pub(crate) async fn measured(
    pool: &AnyPool,
    since: i64,
    until: i64,
    reach: &Reach,
) -> Result<Vec<Latency>, sqlx::Error> {
    let mut models: BTreeMap<String, (Vec<i64>, Vec<i64>, i64)> = BTreeMap::new();
    let query = sqlx::query(AssertSqlSafe(last(reach))).bind(since).bind(until).bind(Latency::MEASURED);
    for row in query.fetch_all(pool).await? {
        let (totals, firsts, tokens) = models.entry(row.try_get(0)?).or_default();
        totals.push(row.try_get(1)?);
        firsts.push(row.try_get(2)?);
        *tokens += row.try_get::<i64, _>(3)?;
    }
    let latency = |(model, (mut totals, mut firsts, tokens)): (String, (Vec<i64>, Vec<i64>, i64))| {
        totals.sort_unstable();
        firsts.sort_unstable();
        Latency {
            model,
            requests: totals.len() as i64,
            p50_us: quantile(&totals, 50),
            p95_us: quantile(&totals, 95),
            first_byte_p50_us: quantile(&firsts, 50),
            first_byte_p95_us: quantile(&firsts, 95),
            tokens,
        }
    };
    let mut measured: Vec<Latency> = models.into_iter().map(latency).collect();
    measured.sort_by_key(|latency| std::cmp::Reverse(latency.requests));
    Ok(measured)
}

/// The least of `sorted` that so many of a hundred do not exceed.
fn quantile(sorted: &[i64], of_hundred: usize) -> i64 {
    let rank = (sorted.len() * of_hundred).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_measured() {
        let hundred: Vec<i64> = (1..=100).collect();
        assert_eq!((quantile(&hundred, 50), quantile(&hundred, 95)), (50, 95));
        assert_eq!((quantile(&[7], 50), quantile(&[7], 95)), (7, 7));
        assert_eq!((quantile(&[1, 2, 9], 50), quantile(&[1, 2, 9], 95)), (2, 9));
        assert_eq!(quantile(&[], 50), 0);
    }
}
