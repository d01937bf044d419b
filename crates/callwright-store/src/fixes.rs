//! Counts how soon models fix what they are told of. An error begins with the first answer that has a call which is not right,
//! if the model is told of it; it is fixed by the first answer behind it whose calls are all right. It stays where the model
//! stops calling, or the user goes on to something else.

use std::collections::BTreeMap;

use serde::Serialize;
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, Row};

use crate::node::NodeKind;
use crate::owner::Reach;
use crate::ready::Ready;
use crate::rows::{Target, Value, insert};
use crate::turn::{Became, Turn};

/// The time in which a model fixes what it is told of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FixRate {
    /// The model that was asked for.
    pub model: String,
    /// The policy that held.
    pub policy: String,
    /// The errors that it was told of.
    pub errors: i64,
    /// Of these, those that were right after one more question, after at most two, and so on.
    pub fixed_within: [i64; FixRate::QUESTIONS],
}

impl FixRate {
    /// So many questions are told apart.
    pub const QUESTIONS: usize = 5;

    /// The share of errors that were right after at most so many questions; none where there were no errors, or nobody
    /// counted so far.
    pub fn share(&self, questions: usize) -> Option<f64> {
        let fixed = self.fixed_within.get(questions.checked_sub(1)?)?;
        (0 < self.errors).then(|| *fixed as f64 / self.errors as f64)
    }
}

/// Counts what a turn says of errors. `number` is its own in the session.
pub(crate) async fn write_turn(
    to: &mut AnyConnection,
    session: i64,
    number: i64,
    ready: &Ready,
    turn: &Turn,
) -> Result<(), sqlx::Error> {
    let is_any = |became: Became| ready.calls.iter().any(|call| call.became == became);
    let is_wrong = is_any(Became::Refused);
    let mut closed = 0;
    // Only where it goes on in the next turn can there be an open one.
    if ready.feeds_back && !is_wrong {
        let closing = match ready.calls.is_empty() {
            true => sqlx::query(STAYS).bind(session),
            false => sqlx::query(FIXED).bind(session).bind(number),
        };
        closed = closing.execute(&mut *to).await?.rows_affected();
    }
    let error = match is_wrong {
        true if ready.feeds_back => {
            let open = sqlx::query(OPEN).bind(session).fetch_optional(&mut *to).await?;
            open.is_none().then_some((0, 1))
        }
        // The model was asked again, and still did not fix it.
        true => (0 < turn.repair_turns).then_some((0, 0)),
        false => (is_any(Became::Retried) && closed == 0).then_some((turn.repair_turns.max(1), 0)),
    };
    let Some((questions, is_open)) = error else { return Ok(()) };
    let row = vec![
        Value::Int(session),
        Value::Int(number),
        Value::Int(turn.at),
        Value::Text(turn.model.clone()),
        Value::Text(turn.policy.clone()),
        Value::Int(questions),
        Value::Int(is_open),
    ];
    insert(to, FIXES, vec![row]).await
}

/// The user has spoken: what is open stays as it is.
pub(crate) async fn write_nodes(
    to: &mut AnyConnection,
    session: i64,
    ready: &Ready,
) -> Result<(), sqlx::Error> {
    if !ready.nodes.iter().any(|node| node.is(&NodeKind::User)) {
        return Ok(());
    }
    sqlx::query(STAYS).bind(session).execute(to).await.map(|_| ())
}

/// Counts the errors of a time, those with the most first.
pub(crate) async fn counted(
    pool: &AnyPool,
    since: i64,
    until: i64,
    reach: &Reach,
) -> Result<Vec<FixRate>, sqlx::Error> {
    let mut rates: BTreeMap<(String, String), FixRate> = BTreeMap::new();
    let query = sqlx::query(AssertSqlSafe(all(reach))).bind(since).bind(until);
    for row in query.fetch_all(pool).await? {
        let (model, policy): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let (questions, errors): (i64, i64) = (row.try_get(2)?, row.try_get(3)?);
        let rate = rates.entry((model.clone(), policy.clone())).or_insert_with(|| FixRate {
            model,
            policy,
            ..FixRate::default()
        });
        rate.errors += errors;
        let first = usize::try_from(questions).ok().and_then(|questions| questions.checked_sub(1));
        let within = first.and_then(|first| rate.fixed_within.get_mut(first..));
        within.into_iter().flatten().for_each(|fixed| *fixed += errors);
    }
    let mut rates: Vec<FixRate> = rates.into_values().collect();
    rates.sort_by_key(|rate| std::cmp::Reverse(rate.errors));
    Ok(rates)
}

const FIXES: Target = Target {
    table: "fixes",
    columns: "session, number, at, model, policy, questions, is_open",
    values: &["?"; 7],
    then: "",
};
const OPEN: &str = "SELECT id FROM fixes WHERE session = $1 AND is_open = 1 LIMIT 1";
const FIXED: &str =
    "UPDATE fixes SET questions = $2 - number, is_open = 0 WHERE session = $1 AND is_open = 1";
const STAYS: &str = "UPDATE fixes SET is_open = 0 WHERE session = $1 AND is_open = 1";

/// The statement for the errors of a time. Few of them are made: an owner is looked up for each.
pub(crate) fn all(reach: &Reach) -> String {
    let own = match reach.own() {
        Some(_) => {
            format!(" AND EXISTS (SELECT 1 FROM sessions s WHERE s.key = fixes.session{})", reach.sql("s"))
        }
        None => String::new(),
    };
    format!(
        "SELECT model, policy, questions, COUNT(*) FROM fixes WHERE at >= $1 AND at < $2{own} GROUP BY 1, 2, 3"
    )
}
