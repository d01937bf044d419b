//! The order of a list of sessions: by a column, up or down, page by page.
//!
//! Without a filter an index has the order, and a page is a short walk along it. With one, and where only an owner's sessions
//! are seen, the youngest that fit are put in order: no index knows those.

use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, AnyPool, AssertSqlSafe};

use crate::error::StoreError;
use crate::filter::Filter;
use crate::hits::listed;
use crate::list::{MOST, Page, fitting_keys};
use crate::owner::Reach;
use crate::read::{SUMMARY, summary_of};
use crate::session::Summary;
use crate::store::Store;
use crate::totals::COUNTED;

/// The column that a list is ordered by. Sessions that are equal in it stand by their age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// When something was last added.
    #[default]
    Updated,
    /// The model of the last turn.
    Model,
    /// The end of the last turn.
    Outcome,
    /// The number of turns.
    Turns,
    /// The number of edits that repaired calls.
    Repairs,
    /// The number of calls that were refused for good.
    Refusals,
    /// The time of the slowest request.
    Slowest,
    /// The tokens of all questions and answers.
    Tokens,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The column that it goes by.
    pub column: Column,
    /// The greatest, or youngest, comes first.
    pub is_descending: bool,
}

impl Column {
    /// All of them.
    pub const ALL: [Column; 8] = [
        Column::Updated,
        Column::Model,
        Column::Outcome,
        Column::Turns,
        Column::Repairs,
        Column::Refusals,
        Column::Slowest,
        Column::Tokens,
    ];

    /// Its stable name.
    pub fn name(self) -> &'static str {
        match self {
            Column::Updated => "updated",
            Column::Model => "model",
            Column::Outcome => "outcome",
            Column::Turns => "turns",
            Column::Repairs => "repairs",
            Column::Refusals => "refusals",
            Column::Slowest => "slowest",
            Column::Tokens => "tokens",
        }
    }

    /// That of this name.
    pub fn named(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.name() == name)
    }

    /// Returns whether it is ordered by letters rather than by size.
    pub fn is_text(self) -> bool {
        matches!(self, Column::Model | Column::Outcome)
    }

    fn sql(self) -> &'static str {
        if self == Column::Slowest { "slowest_us" } else { self.name() }
    }

    fn of(self, summary: &Summary) -> String {
        match self {
            Column::Updated => summary.updated.to_string(),
            Column::Model => summary.model.clone(),
            Column::Outcome => summary.outcome.clone(),
            Column::Turns => summary.turns.to_string(),
            Column::Repairs => summary.repairs.to_string(),
            Column::Refusals => summary.refusals.to_string(),
            Column::Slowest => summary.slowest_us.to_string(),
            Column::Tokens => summary.tokens.to_string(),
        }
    }
}

/// The youngest first.
impl Default for Order {
    fn default() -> Order {
        Order { column: Column::Updated, is_descending: true }
    }
}

impl Store {
    /// As [`Store::sessions`], in another order. Where a filter chooses, the youngest few thousand sessions that fit are
    /// ordered.
    ///
    /// # Errors
    /// The database refuses.
    pub async fn sorted(
        &self,
        filter: Filter,
        order: Order,
        after: Option<&str>,
        most: usize,
    ) -> Result<Page, StoreError> {
        if order == Order::default() {
            return self.sessions(filter, after, most).await;
        }
        let (filter, most) = (filter.given(), most.clamp(1, MOST));
        let (kind, after, reach) = (self.database().kind, after.map(str::to_owned), self.reach());
        self.read(move |pool| async move {
            let after = after.as_deref();
            if filter.is_empty() && reach.own().is_none() {
                return walked(&pool, order, after, most).await;
            }
            let keys = fitting_keys(&pool, kind, &filter, &reach, COUNTED).await?.0;
            among(&pool, &keys, &reach, order, after, most).await
        })
        .await
    }
}

async fn walked(pool: &AnyPool, order: Order, after: Option<&str>, most: usize) -> Result<Page, StoreError> {
    // The place is the last session of the page before: its key, and what it is ordered by.
    let place = after.and_then(|after| {
        let (key, value) = after.strip_prefix('v')?.split_once('.')?;
        let value = if order.column.is_text() { Ok(value.to_owned()) } else { Err(value.parse().ok()?) };
        Some((value, key.parse().ok()?))
    });
    let sql = AssertSqlSafe(walk(order, place.is_some()));
    let query = sqlx::query(sql).bind(most as i64 + 1);
    let query: Query<'_, Any, AnyArguments> = match place {
        None => query,
        Some((Ok(text), key)) => query.bind::<String>(text).bind::<i64>(key),
        Some((Err(number), key)) => query.bind::<i64>(number).bind::<i64>(key),
    };
    let rows = query.fetch_all(pool).await?;
    let mut found = rows.iter().map(summary_of).collect::<Result<Vec<_>, sqlx::Error>>()?;
    let is_more = most < found.len();
    found.truncate(most);
    let last = found.last().filter(|_| is_more);
    let next = last.map(|(summary, key)| format!("v{key}.{}", order.column.of(summary)));
    Ok(Page { sessions: found.into_iter().map(|(summary, _)| summary).collect(), next })
}

/// The statement for a page in this order.
pub(crate) fn walk(order: Order, goes_on: bool) -> String {
    let column = order.column.sql();
    let (sign, way) = if order.is_descending { ('<', "DESC") } else { ('>', "ASC") };
    let place = if goes_on { format!("WHERE (s.{column}, s.key) {sign} ($2, $3) ") } else { String::new() };
    format!("SELECT {SUMMARY} FROM sessions s {place}ORDER BY s.{column} {way}, s.key {way} LIMIT $1")
}

/// A page of these sessions in this order.
async fn among(
    pool: &AnyPool,
    keys: &[i64],
    reach: &Reach,
    order: Order,
    after: Option<&str>,
    most: usize,
) -> Result<Page, StoreError> {
    if keys.is_empty() {
        return Ok(Page { sessions: Vec::new(), next: None });
    }
    let before: i64 = after.and_then(|after| after.strip_prefix('o')?.parse().ok()).unwrap_or(0).max(0);
    let (column, way) = (order.column.sql(), if order.is_descending { "DESC" } else { "ASC" });
    let (keys_in, own) = (listed(keys), reach.sql("s"));
    let sql = format!(
        "SELECT {SUMMARY} FROM sessions s WHERE s.key IN ({keys_in}){own} \
         ORDER BY s.{column} {way}, s.key {way} LIMIT $1 OFFSET $2"
    );
    let query = sqlx::query(AssertSqlSafe(sql)).persistent(false).bind(most as i64 + 1).bind(before);
    let rows = query.fetch_all(pool).await?;
    let found = rows.iter().map(|row| summary_of(row).map(|(summary, _)| summary));
    let mut sessions = found.collect::<Result<Vec<_>, sqlx::Error>>()?;
    let is_more = most < sessions.len();
    sessions.truncate(most);
    let next = is_more.then(|| format!("o{}", before.saturating_add(most as i64)));
    Ok(Page { sessions, next })
}
