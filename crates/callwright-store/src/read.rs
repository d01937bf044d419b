//! Reads sessions, turns and nodes.

use std::collections::BTreeMap;

use sqlx::any::AnyRow;
use sqlx::{AnyPool, AssertSqlSafe, Row};

use crate::body::Body;
use crate::error::StoreError;
use crate::node::{Node, NodeKind};
use crate::owner::Reach;
use crate::pack::unpacked;
use crate::session::{Session, Summary};
use crate::store::Store;
use crate::turn::Turn;

/// The columns of a [`Summary`].
pub(crate) const SUMMARY: &str = "s.id, s.origin, s.title, s.created, s.updated, s.outcome, s.model, s.mode, s.dialect, \
                                  s.turns, s.nodes, s.repairs, s.refusals, s.tokens, s.faults, s.repeated, s.key, s.feedback_turns, \
                                  s.slowest_us";

const TURNS: &str = "SELECT id, number, request, at, outcome, model, upstream, mode, dialect, policy, streamed, status, \
                     attempts, first_byte_us, total_us, upstream_us, prompt_tokens, completion_tokens, repair_turns, \
                     repair_tokens, repairs, feedback_turns, surface FROM turns WHERE session = $1 ORDER BY number";

/// Those of a page of nodes, from the turn of the first one to that of the last one.
const TURNS_OF_PAGE: &str = "SELECT id, number, request, at, outcome, model, upstream, mode, dialect, policy, streamed, \
                             status, attempts, first_byte_us, total_us, upstream_us, prompt_tokens, completion_tokens, \
                             repair_turns, repair_tokens, repairs, feedback_turns, surface FROM turns WHERE session = $1 \
                             AND number >= (SELECT number FROM turns WHERE id = $2) \
                             AND number <= (SELECT number FROM turns WHERE id = $3) ORDER BY number";

const NODES: &str = "SELECT id, number, turn, kind, at, version, name, call, payload, body, answer, masked FROM nodes \
                     WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";

const OUTLINE: &str = "SELECT id, number, turn, kind, at, version, name, call, payload, CAST(NULL AS TEXT), CAST(NULL AS TEXT), masked FROM nodes \
                       WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";

const PARTS_OF_RUN: &str =
    "SELECT number, text FROM parts WHERE session = $1 AND number >= $2 AND number <= $3";

impl Store {
    /// A whole session; none where there is none of this name.
    ///
    /// # Errors
    /// The database refuses, or holds what cannot be read.
    pub async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        let (id, reach) = (id.to_owned(), self.reach());
        self.read(|pool| async move { whole(&pool, &id, &reach).await }).await
    }

    /// A part of a session, without the bodies of its requests: nodes behind the one numbered `after`, at most `most` of
    /// them, and their turns. Where nothing is said of `after` it is the last part.
    ///
    /// # Errors
    /// As [`Store::session`].
    pub async fn outline(
        &self,
        id: &str,
        after: Option<i64>,
        most: i64,
    ) -> Result<Option<Session>, StoreError> {
        let (id, reach) = (id.to_owned(), self.reach());
        self.read(move |pool| async move { part(&pool, &id, &reach, after, most).await }).await
    }

    /// One node of a session, and the whole body of its request.
    ///
    /// # Errors
    /// As [`Store::session`].
    pub async fn node(&self, id: &str, number: i64) -> Result<Option<(Node, Option<String>)>, StoreError> {
        let (id, reach) = (id.to_owned(), self.reach());
        self.read(move |pool| async move {
            let Some((_, key)) = summary(&pool, &id, &reach).await? else { return Ok(None) };
            let Some(node) = nodes(&pool, NODES, key, number.saturating_sub(1), 1).await?.pop() else {
                return Ok(None);
            };
            if node.number != number {
                return Ok(None);
            }
            let Some(body) = &node.body else { return Ok(Some((node, None))) };
            let mut parts = BTreeMap::new();
            for run in body.runs() {
                let query = sqlx::query(PARTS_OF_RUN).bind(key).bind(*run.start()).bind(*run.end());
                add_parts(&query.fetch_all(&pool).await?, &mut parts)?;
            }
            let text = body.text(&parts);
            Ok(Some((node, Some(text))))
        })
        .await
    }
}

async fn whole(pool: &AnyPool, id: &str, reach: &Reach) -> Result<Option<Session>, StoreError> {
    let Some((summary, key)) = summary(pool, id, reach).await? else { return Ok(None) };
    let turns = sqlx::query(TURNS).bind(key).fetch_all(pool).await?;
    let turns = turns.iter().map(turn_of).collect::<Result<_, sqlx::Error>>()?;
    let nodes = nodes(pool, NODES, key, 0, i64::MAX).await?;
    let mut parts = BTreeMap::new();
    if nodes.iter().any(|node| node.body.is_some()) {
        let rows = sqlx::query("SELECT number, text FROM parts WHERE session = $1").bind(key).fetch_all(pool);
        add_parts(&rows.await?, &mut parts)?;
    }
    Ok(Some(Session { summary, turns, nodes, parts }))
}

fn add_parts(rows: &[AnyRow], parts: &mut BTreeMap<i64, String>) -> Result<(), sqlx::Error> {
    for row in rows {
        parts.insert(row.try_get(0)?, unpacked(row, 1)?.unwrap_or_default());
    }
    Ok(())
}

async fn part(
    pool: &AnyPool,
    id: &str,
    reach: &Reach,
    after: Option<i64>,
    most: i64,
) -> Result<Option<Session>, StoreError> {
    let Some((summary, key)) = summary(pool, id, reach).await? else { return Ok(None) };
    let after = after.unwrap_or_else(|| summary.nodes.saturating_sub(most).max(0));
    let nodes = nodes(pool, OUTLINE, key, after, most).await?;
    // Turns come in the order of their nodes.
    let mut ids = nodes.iter().filter_map(|node| node.turn);
    let turns = match ids.next() {
        Some(first) => {
            let last = ids.next_back().unwrap_or(first);
            let rows = sqlx::query(TURNS_OF_PAGE).bind(key).bind(first).bind(last).fetch_all(pool).await?;
            rows.iter().map(turn_of).collect::<Result<_, sqlx::Error>>()?
        }
        None => Vec::new(),
    };
    Ok(Some(Session { summary, turns, nodes, parts: BTreeMap::new() }))
}

async fn summary(pool: &AnyPool, id: &str, reach: &Reach) -> Result<Option<(Summary, i64)>, StoreError> {
    let sql = format!("SELECT {SUMMARY} FROM sessions s WHERE s.id = $1{}", reach.sql("s"));
    for name in reach.names(id) {
        let query = sqlx::query(AssertSqlSafe(sql.clone())).bind(name);
        if let Some(row) = query.fetch_optional(pool).await? {
            return Ok(Some(summary_of(&row)?));
        }
    }
    Ok(None)
}

/// The summary of a row with the columns of [`SUMMARY`], and the session's key.
pub(crate) fn summary_of(row: &AnyRow) -> Result<(Summary, i64), sqlx::Error> {
    let summary = Summary {
        id: row.try_get(0)?,
        origin: row.try_get(1)?,
        title: row.try_get(2)?,
        created: row.try_get(3)?,
        updated: row.try_get(4)?,
        outcome: row.try_get(5)?,
        model: row.try_get(6)?,
        mode: row.try_get(7)?,
        dialect: row.try_get(8)?,
        turns: row.try_get(9)?,
        nodes: row.try_get(10)?,
        repairs: row.try_get(11)?,
        feedback_turns: row.try_get(17)?,
        refusals: row.try_get(12)?,
        tokens: row.try_get(13)?,
        faults: row.try_get(14)?,
        repeated: row.try_get(15)?,
        slowest_us: row.try_get(18)?,
    };
    Ok((summary, row.try_get(16)?))
}

fn turn_of(row: &AnyRow) -> Result<Turn, sqlx::Error> {
    let is_streamed: i64 = row.try_get(10)?;
    Ok(Turn {
        id: row.try_get(0)?,
        number: row.try_get(1)?,
        request: row.try_get(2)?,
        at: row.try_get(3)?,
        outcome: row.try_get(4)?,
        model: row.try_get(5)?,
        upstream: row.try_get(6)?,
        mode: row.try_get(7)?,
        dialect: row.try_get(8)?,
        policy: row.try_get(9)?,
        streamed: is_streamed != 0,
        status: row.try_get(11)?,
        attempts: row.try_get(12)?,
        first_byte_us: row.try_get(13)?,
        total_us: row.try_get(14)?,
        upstream_us: row.try_get(15)?,
        prompt_tokens: row.try_get(16)?,
        completion_tokens: row.try_get(17)?,
        repair_turns: row.try_get(18)?,
        repair_tokens: row.try_get(19)?,
        repairs: row.try_get(20)?,
        feedback_turns: row.try_get(21)?,
        surface: row.try_get(22)?,
    })
}

async fn nodes(
    pool: &AnyPool,
    sql: &'static str,
    key: i64,
    after: i64,
    most: i64,
) -> Result<Vec<Node>, StoreError> {
    let rows = sqlx::query(sql).bind(key).bind(after).bind(most).fetch_all(pool).await?;
    rows.iter().map(node_of).collect()
}

fn node_of(row: &AnyRow) -> Result<Node, StoreError> {
    let (kind, payload): (String, String) = (row.try_get(3)?, unpacked(row, 8)?.unwrap_or_default());
    let body = unpacked(row, 9)?;
    let unreadable = |error: serde_json::Error| StoreError::Unreadable(error.to_string());
    let is_masked: i64 = row.try_get(11)?;
    let body = body.map(|body| serde_json::from_str::<Body>(&body)).transpose().map_err(unreadable)?;
    Ok(Node {
        id: row.try_get(0)?,
        number: row.try_get(1)?,
        turn: row.try_get(2)?,
        kind: NodeKind::named(&kind),
        at: row.try_get(4)?,
        version: row.try_get(5)?,
        name: row.try_get(6)?,
        call: row.try_get(7)?,
        payload: serde_json::from_str(&payload).map_err(unreadable)?,
        masked: is_masked != 0,
        body,
        answer: unpacked(row, 10)?,
    })
}
