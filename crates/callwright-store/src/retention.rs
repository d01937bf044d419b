//! Deletes what is too old or too much: a session as a whole, the oldest first.

use sqlx::{AnyConnection, Executor, Row};

use crate::clock::now;
use crate::config::Retention;
use crate::database::Kind;

const DAY: i64 = 86_400_000;
/// So many sessions are deleted at a time: others want to write in between.
const STEP: i64 = 50;

/// Deletes a session. Returns whether there was one.
pub(crate) async fn delete(connection: &mut AnyConnection, session: &str) -> Result<bool, sqlx::Error> {
    let deleted = sqlx::query("DELETE FROM sessions WHERE id = $1").bind(session).execute(connection).await?;
    Ok(0 < deleted.rows_affected())
}

/// Deletes what `retention` does not allow. Returns the number of sessions.
pub(crate) async fn sweep(
    connection: &mut AnyConnection,
    kind: Kind,
    retention: Retention,
) -> Result<u64, sqlx::Error> {
    let mut n_deleted = 0;
    if 0 < retention.days {
        let before = now() - i64::from(retention.days) * DAY;
        let sql = "DELETE FROM sessions WHERE key IN \
                   (SELECT key FROM sessions WHERE updated < $1 ORDER BY updated, key LIMIT $2)";
        loop {
            let deleted = sqlx::query(sql).bind(before).bind(STEP).execute(&mut *connection).await?;
            n_deleted += deleted.rows_affected();
            if deleted.rows_affected() == 0 {
                break;
            }
        }
    }
    if 0 < retention.bytes {
        let most = i64::try_from(retention.bytes).unwrap_or(i64::MAX);
        // Postgres sums up in a type that has no place here.
        let sql = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM sessions";
        let mut bytes: i64 = sqlx::query(sql).fetch_one(&mut *connection).await?.try_get(0)?;
        while most < bytes {
            let oldest = "SELECT key, bytes FROM sessions ORDER BY updated, key LIMIT $1";
            let rows = sqlx::query(oldest).bind(STEP).fetch_all(&mut *connection).await?;
            if rows.is_empty() {
                break;
            }
            for row in rows {
                if bytes <= most {
                    break;
                }
                let (key, its): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
                let delete = sqlx::query("DELETE FROM sessions WHERE key = $1").bind(key);
                n_deleted += delete.execute(&mut *connection).await?.rows_affected();
                bytes -= its;
            }
        }
    }
    if kind == Kind::Sqlite && 0 < n_deleted {
        // The file gets smaller.
        connection.execute("PRAGMA incremental_vacuum").await?;
    }
    Ok(n_deleted)
}
