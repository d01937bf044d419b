//! Puts nodes that a former version wrote where they are searched, and counts what it did not count: some at a time, the
//! youngest first. Where it is interrupted it goes on later.

use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::database::{Database, Kind};
use crate::insert::insert_words;
use crate::node::{NodeKind, said};
use crate::pack::unpacked;
use crate::profile;
use crate::ready::marks_of;
use crate::words::words;

/// So many nodes at a time: a write that comes in between waits for them.
const STEP: i64 = 200;

/// Returns whether there is anything to be done.
pub(crate) async fn is_open(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    Ok(sqlx::query("SELECT below FROM unsearched").fetch_optional(connection).await?.is_some())
}

/// Does one step. Returns whether there is more to be done.
pub(crate) async fn step(database: &Database, connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    let mut transaction = database.begin(connection).await?;
    let below = match database.kind {
        Kind::Sqlite => "SELECT below FROM unsearched",
        // Another gateway may be at it.
        Kind::Postgres => "SELECT below FROM unsearched FOR UPDATE",
    };
    let Some(row) = sqlx::query(below).fetch_optional(&mut *transaction).await? else { return Ok(false) };
    let rows =
        sqlx::query(NODES).bind(row.try_get::<i64, _>(0)?).bind(STEP).fetch_all(&mut *transaction).await?;
    let mut nodes: Vec<(i64, String)> = Vec::with_capacity(rows.len());
    for row in &rows {
        let faults = match row.try_get::<Option<i64>, _>(4)? {
            Some(turn) => {
                let faults = sqlx::query("SELECT DISTINCT kind FROM faults WHERE turn = $1").bind(turn);
                let faults = faults.fetch_all(&mut *transaction).await?;
                faults.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?
            }
            None => Vec::new(),
        };
        nodes.push((row.try_get(0)?, words_of(row, &faults)?));
    }
    let mut fed_back: Vec<i64> = Vec::new();
    for row in &rows {
        let (kind, turn): (String, Option<i64>) = (row.try_get(1)?, row.try_get(4)?);
        if kind == NodeKind::ModelTurn.name()
            && is_feedback(&unpacked(row, 3)?.unwrap_or_default())
            && let Some(turn) = turn.filter(|turn| !fed_back.contains(turn))
        {
            fed_back.push(turn);
            count_feedback(&mut transaction, row.try_get(5)?, turn).await?;
        }
    }
    let lowest = nodes.last().map(|(id, _)| *id);
    // Words are taken in the order of nodes.
    nodes.reverse();
    let found = nodes.iter().map(|(id, words)| (*id, words.as_str()));
    insert_words(&mut transaction, database.kind, found).await?;
    let set = match lowest {
        Some(lowest) => format!("UPDATE unsearched SET below = {lowest}"),
        None => String::from("DELETE FROM unsearched"),
    };
    sqlx::query(AssertSqlSafe(set)).persistent(false).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(lowest.is_some())
}

/// Returns whether this question tells a model of its errors.
fn is_feedback(payload: &str) -> bool {
    let payload: callwright_value::Value = serde_json::from_str(payload).unwrap_or_default();
    payload.get("why").is_some_and(|why| why == "feedback")
}

/// Counts the questions of a turn that told the model of its errors, unless that has been done.
async fn count_feedback(connection: &mut AnyConnection, session: i64, turn: i64) -> Result<(), sqlx::Error> {
    let questions = sqlx::query(QUESTIONS).bind(turn).bind(NodeKind::ModelTurn.name());
    let mut count: i64 = 0;
    for row in questions.fetch_all(&mut *connection).await? {
        count += i64::from(is_feedback(&unpacked(&row, 0)?.unwrap_or_default()));
    }
    let update = sqlx::query("UPDATE turns SET feedback_turns = $1 WHERE id = $2 AND feedback_turns = 0");
    if update.bind(count).bind(turn).execute(&mut *connection).await?.rows_affected() != 0 {
        let update = sqlx::query("UPDATE sessions SET feedback_turns = feedback_turns + $1 WHERE key = $2");
        update.bind(count).bind(session).execute(&mut *connection).await?;
    }
    Ok(())
}

fn words_of(row: &AnyRow, faults: &[String]) -> Result<String, sqlx::Error> {
    let (kind, name): (String, Option<String>) = (row.try_get(1)?, row.try_get(2)?);
    let payload = unpacked(row, 3)?.unwrap_or_default();
    // What cannot be read is found by its name.
    let payload = serde_json::from_str(&payload).unwrap_or_default();
    let said = said(&NodeKind::named(&kind), &payload);
    let mut names: [Option<String>; profile::NAMES] = Default::default();
    for (column, value) in (6..).zip(&mut names) {
        *value = row.try_get(column)?;
    }
    let names = names.each_ref().map(Option::as_deref);
    let owner: Option<String> = row.try_get(6 + profile::NAMES)?;
    let owner = owner.as_deref().filter(|owner| !owner.is_empty());
    let marks = marks_of(names, faults.iter().map(String::as_str), owner);
    Ok(words([name.as_deref().unwrap_or_default(), said.as_str()].into_iter(), &marks))
}

const NODES: &str = "SELECT n.id, n.kind, n.name, n.payload, n.turn, n.session, t.outcome, t.model, t.mode, \
                     t.dialect, t.surface, t.owner FROM nodes n LEFT JOIN turns t ON t.id = n.turn WHERE n.id < $1 \
                     ORDER BY n.id DESC LIMIT $2";

const QUESTIONS: &str = "SELECT payload FROM nodes WHERE turn = $1 AND kind = $2";
