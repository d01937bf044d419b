//! Deletes what is too old or too much: a session as a whole, the oldest first.

use sqlx::{AnyConnection, AssertSqlSafe, Executor, Row};

use crate::clock::now;
use crate::config::Retention;
use crate::database::{Database, Kind};
use crate::hits::listed;
use crate::owner::Reach;
use crate::sums::{DAY, Sums};

/// So many sessions are deleted at a time: others want to write in between.
const STEP: i64 = 50;

/// Deletes a session that is called so, where `reach` sees it. Returns its name and its owner; none where there was none.
pub(crate) async fn delete(
    database: &Database,
    connection: &mut AnyConnection,
    session: &str,
    reach: &Reach,
) -> Result<Option<(String, String)>, sqlx::Error> {
    let sql = format!("SELECT key, owner FROM sessions s WHERE s.id = $1{}", reach.sql("s"));
    for name in reach.names(session) {
        let found = sqlx::query(AssertSqlSafe(sql.clone())).bind(name.as_str()).persistent(false);
        let Some(row) = found.fetch_optional(&mut *connection).await? else { continue };
        let n_deleted = remove(database, connection, &[row.try_get(0)?]).await?;
        return Ok((0 < n_deleted).then_some((name, row.try_get(1)?)));
    }
    Ok(None)
}

/// Deletes what `retention` does not allow. Returns the number of sessions.
pub(crate) async fn sweep(
    database: &Database,
    connection: &mut AnyConnection,
    retention: Retention,
) -> Result<u64, sqlx::Error> {
    let mut n_deleted = 0;
    if 0 < retention.days {
        let before = now() - i64::from(retention.days) * DAY;
        loop {
            let rows = sqlx::query(OLD).bind(before).bind(STEP).fetch_all(&mut *connection).await?;
            let keys = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
            if keys.is_empty() {
                break;
            }
            n_deleted += remove(database, connection, &keys).await?;
        }
    }
    if 0 < retention.bytes {
        let most = i64::try_from(retention.bytes).unwrap_or(i64::MAX);
        let mut bytes: i64 = sqlx::query(BYTES).fetch_one(&mut *connection).await?.try_get(0)?;
        while most < bytes {
            let mut keys: Vec<i64> = Vec::new();
            for row in sqlx::query(OLDEST).bind(STEP).fetch_all(&mut *connection).await? {
                if bytes <= most {
                    break;
                }
                bytes -= row.try_get::<i64, _>(1)?;
                keys.push(row.try_get(0)?);
            }
            if keys.is_empty() {
                break;
            }
            n_deleted += remove(database, connection, &keys).await?;
        }
    }
    if 0 < n_deleted {
        shrink(database.kind, connection).await?;
    }
    Ok(n_deleted)
}

/// Deletes sessions, and what they count for. Returns how many there were.
async fn remove(
    database: &Database,
    connection: &mut AnyConnection,
    sessions: &[i64],
) -> Result<u64, sqlx::Error> {
    let mut transaction = database.begin(connection).await?;
    let (mut sums, mut n_deleted) = (Sums::default(), 0);
    if database.kind == Kind::Postgres {
        // Nobody adds to them, or deletes them, between counting and deleting.
        let lock =
            format!("SELECT key FROM sessions WHERE key IN ({}) ORDER BY key FOR UPDATE", listed(sessions));
        sqlx::query(AssertSqlSafe(lock)).persistent(false).fetch_all(&mut *transaction).await?;
    }
    for session in sessions {
        sums.without(&mut transaction, *session).await?;
        let deleted = sqlx::query("DELETE FROM sessions WHERE key = $1").bind(session);
        n_deleted += deleted.execute(&mut *transaction).await?.rows_affected();
    }
    sums.write(&mut transaction).await?;
    transaction.commit().await?;
    Ok(n_deleted)
}

/// Gives room back to the system. Postgres does so by itself.
async fn shrink(kind: Kind, connection: &mut AnyConnection) -> Result<(), sqlx::Error> {
    if kind == Kind::Sqlite {
        // Words that are deleted leave their places first when their parts of the index are merged.
        connection.execute("INSERT INTO search (search, rank) VALUES ('merge', 2000)").await?;
        connection.execute("PRAGMA incremental_vacuum").await?;
        // Pages leave the file when they are written back into it. A reader may be in the way: then it is later.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await?;
    }
    Ok(())
}

const OLD: &str = "SELECT key FROM sessions WHERE updated < $1 ORDER BY updated, key LIMIT $2";
const OLDEST: &str = "SELECT key, bytes FROM sessions ORDER BY updated, key LIMIT $1";
// Postgres sums up in a type that has no place here.
const BYTES: &str = "SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM sessions";
