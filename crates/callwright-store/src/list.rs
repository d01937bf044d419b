//! Lists sessions, the youngest first, page by page.
//!
//! A filter asks for something that happened in a turn; a session is listed by its youngest turn, or node, that fits.
//! Those are walked from the youngest on, a bounded range at a time, however many there are.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use sqlx::{AnyPool, AssertSqlSafe, Row};

use crate::database::Kind;
use crate::error::StoreError;
use crate::filter::Filter;
use crate::hits::{Hits, Width, listed};
use crate::owner::Reach;
use crate::read::{SUMMARY, summary_of};
use crate::session::Summary;
use crate::store::Store;

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The sessions.
    pub sessions: Vec<Summary>,
    /// The place where the list goes on; none at its end.
    pub next: Option<String>,
}

/// The most sessions of a page.
pub(crate) const MOST: usize = 200;
/// After so many steps a page ends, full or not.
const STEPS: usize = 48;

impl Store {
    /// A page of at most `most` sessions that fit `filter`, from where `after`, the [`Page::next`] of another one,
    /// points; from the youngest on where there is none, or none that can be read.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn sessions(
        &self,
        filter: Filter,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, StoreError> {
        let (filter, most) = (filter.given(), most.clamp(1, MOST));
        let (kind, reach) = (self.database().kind, self.reach());
        let after = after.map(str::to_owned);
        self.read(move |pool| async move {
            if filter.is_empty() {
                return youngest(&pool, &reach, after.as_deref(), most).await;
            }
            let Some(hits) = Hits::of(kind, &filter, &reach) else {
                return Ok(Page { sessions: Vec::new(), next: None });
            };
            let after = after.and_then(|after| after.strip_prefix('n')?.parse().ok());
            fitting(&pool, &hits, &reach, after, most).await
        })
        .await
    }
}

/// The statement for a page of all sessions.
pub(crate) fn youngest_of(reach: &Reach) -> String {
    format!(
        "SELECT {SUMMARY} FROM sessions s WHERE (s.updated, s.key) < ($1, $2){} \
         ORDER BY s.updated DESC, s.key DESC LIMIT $3",
        reach.sql("s")
    )
}

async fn youngest(
    pool: &AnyPool,
    reach: &Reach,
    after: Option<&str>,
    most: usize,
) -> Result<Page, StoreError> {
    let place = |after: &str| {
        let (updated, key) = after.strip_prefix('u')?.split_once('.')?;
        Some((updated.parse().ok()?, key.parse().ok()?))
    };
    let (updated, key): (i64, i64) = after.and_then(place).unwrap_or((i64::MAX, i64::MAX));
    let query = sqlx::query(AssertSqlSafe(youngest_of(reach)));
    let rows = query.bind(updated).bind(key).bind(most as i64 + 1).fetch_all(pool).await?;
    let mut found = rows.iter().map(summary_of).collect::<Result<Vec<_>, sqlx::Error>>()?;
    let is_more = most < found.len();
    found.truncate(most);
    let last = found.last().filter(|_| is_more);
    let next = last.map(|(summary, key)| format!("u{}.{key}", summary.updated));
    Ok(Page { sessions: found.into_iter().map(|(summary, _)| summary).collect(), next })
}

async fn fitting(
    pool: &AnyPool,
    hits: &Hits,
    reach: &Reach,
    after: Option<i64>,
    most: usize,
) -> Result<Page, StoreError> {
    let end = Page { sessions: Vec::new(), next: None };
    let Some(range) = hits.range(pool).await? else { return Ok(end) };
    let mut below = after.unwrap_or(i64::MAX).min(range.end);
    let (mut keys, mut seen, mut width) = (Vec::new(), HashSet::new(), Width::default());
    for _ in 0..STEPS {
        if below <= range.start {
            return Ok(Page { sessions: summaries(pool, &keys, reach).await?, ..end });
        }
        let mut found = hits.below(pool, below, width).await?;
        (below, width) = (found.below, width.after(&found));
        found.hits.retain(|hit| seen.insert(hit.session));
        if let Some(after) = after {
            // Those were on an earlier page, for a younger hit.
            let sessions: Vec<i64> = found.hits.iter().map(|hit| hit.session).collect();
            let given = hits.since(pool, &sessions, after).await?;
            found.hits.retain(|hit| !given.contains(&hit.session));
        }
        for hit in found.hits {
            if keys.len() == most {
                // It goes on with this one.
                let next = Some(format!("n{}", hit.number + 1));
                return Ok(Page { sessions: summaries(pool, &keys, reach).await?, next });
            }
            keys.push(hit.session);
        }
    }
    Ok(Page { sessions: summaries(pool, &keys, reach).await?, next: Some(format!("n{below}")) })
}

/// Returns the keys of the youngest sessions that fit, at most `most`, and whether those are all.
pub(crate) async fn fitting_keys(
    pool: &AnyPool,
    kind: Kind,
    filter: &Filter,
    reach: &Reach,
    most: usize,
) -> Result<(Vec<i64>, bool), StoreError> {
    if filter.is_empty() {
        let rows = sqlx::query(AssertSqlSafe(keys_of(reach, most + 1))).fetch_all(pool).await?;
        let mut keys = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
        let is_all = keys.len() <= most;
        keys.truncate(most);
        return Ok((keys, is_all));
    }
    let Some(hits) = Hits::of(kind, filter, reach) else { return Ok((Vec::new(), true)) };
    let Some(range) = hits.range(pool).await? else { return Ok((Vec::new(), true)) };
    let (mut below, mut width) = (range.end, Width::default());
    let (mut keys, mut seen) = (Vec::new(), HashSet::new());
    for _ in 0..STEPS {
        if below <= range.start || most < keys.len() {
            break;
        }
        let found = hits.below(pool, below, width).await?;
        (below, width) = (found.below, width.after(&found));
        keys.extend(found.hits.iter().map(|hit| hit.session).filter(|session| seen.insert(*session)));
    }
    let is_all = below <= range.start && keys.len() <= most;
    keys.truncate(most);
    Ok((keys, is_all))
}

/// The statement for the keys of the youngest sessions.
pub(crate) fn keys_of(reach: &Reach, most: usize) -> String {
    let own = reach.sql("s");
    format!("SELECT s.key FROM sessions s WHERE 1 = 1{own} ORDER BY s.updated DESC, s.key DESC LIMIT {most}")
}

/// Of these sessions, in this order, those that are still there.
async fn summaries(pool: &AnyPool, keys: &[i64], reach: &Reach) -> Result<Vec<Summary>, StoreError> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let (keys_in, own) = (listed(keys), reach.sql("s"));
    let sql = format!("SELECT {SUMMARY} FROM sessions s WHERE s.key IN ({keys_in}){own}");
    let rows = sqlx::query(AssertSqlSafe(sql)).persistent(false).fetch_all(pool).await?;
    let found = rows.iter().map(|row| summary_of(row).map(|(summary, key)| (key, summary)));
    let mut found = found.collect::<Result<HashMap<i64, Summary>, sqlx::Error>>()?;
    Ok(keys.iter().filter_map(|key| found.remove(key)).collect())
}
