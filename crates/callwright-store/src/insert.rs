//! What is written for a turn, for nodes, for the end of a session: masked and put into texts first, then as a few
//! statements of a transaction that others share.

use std::collections::{HashMap, HashSet};

use sqlx::{AnyConnection, Row};

use crate::clock::now;
use crate::database::Kind;
use crate::fixes;
use crate::parts::Parts;
use crate::ready::{Ready, ReadyNode};
use crate::rows::{Target, Value, insert, insert_returning};
use crate::session::{Change, SessionRef};
use crate::sums::Sums;
use crate::turn::{Became, Call, Fault, Turn};
use crate::words::sliced;
use crate::writer::Written;

/// What the writes of one transaction have in common.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) sums: Sums,
    /// How many bytes of texts were written.
    pub(crate) bytes: u64,
    /// The keys of profiles.
    profiles: HashMap<[String; 4], i64>,
}

impl Ready {
    /// Writes it, but for the sums of `batch`. Nothing is there before the transaction is committed.
    pub(crate) async fn write(
        &self,
        to: &mut AnyConnection,
        kind: Kind,
        batch: &mut Batch,
    ) -> Result<(Written, Change), sqlx::Error> {
        let (name, fingerprint, key) = self.find_session(to).await?;
        let nodes: Vec<&ReadyNode> = match key {
            None => self.before.iter().chain(&self.nodes).collect(),
            Some(_) => self.nodes.iter().collect(),
        };
        let (key, n_turns, n_nodes) = self.upsert_session(to, &name, fingerprint, nodes.len()).await?;
        let turn = match &self.turn {
            Some(turn) => {
                let profile = batch.profile(to, turn).await?;
                Some(Placed { id: insert_turn(to, key, n_turns, profile, turn).await?, profile, turn })
            }
            None => None,
        };
        let mut bytes = 0;
        let first = n_nodes - nodes.len() as i64;
        let mut rows = Vec::with_capacity(nodes.len());
        let mut parts = Parts::default();
        for (number, node) in (first + 1..).zip(&nodes) {
            let body = match &node.body {
                None => None,
                Some(text) => Some(parts.kept(to, key, text).await?),
            };
            bytes += node.payload.len() + body.as_ref().map_or(0, String::len) + node.answer_len();
            rows.push(node.row(key, turn.map(|turn| turn.id), number, body));
        }
        bytes += parts.write(to, key).await?;
        let written = insert_returning(to, NODES, rows).await?;
        let mut ids: Vec<(i64, i64)> = written
            .iter()
            .map(|row| Ok((row.try_get(1)?, row.try_get(0)?)))
            .collect::<Result<_, sqlx::Error>>()?;
        ids.sort_unstable();
        let found = ids.iter().zip(&nodes).map(|((_, id), node)| (*id, node.words.as_str()));
        insert_words(to, kind, found).await?;
        let mut n_repeated = 0;
        if let Some(placed) = turn {
            batch.sums.turn(placed.turn);
            self.calls.iter().for_each(|call| batch.sums.call(placed.turn, call));
            insert(to, CALLS, self.calls.iter().map(|call| call_row(call, placed)).collect()).await?;
            n_repeated = self.insert_faults(to, key, placed, &mut batch.sums).await?;
            fixes::write_turn(to, key, n_turns, self, placed.turn).await?;
        } else {
            fixes::write_nodes(to, key, self).await?;
        }
        sqlx::query("UPDATE sessions SET bytes = bytes + $1, repeated = repeated + $2 WHERE key = $3")
            .bind(bytes as i64)
            .bind(n_repeated)
            .bind(key)
            .execute(&mut *to)
            .await?;
        batch.bytes += bytes as u64;
        let numbers = ids.iter().map(|(number, _)| *number).collect();
        let turn = turn.map(|placed| placed.id);
        let change = Change { session: name.clone(), what: "added", turn, nodes: n_nodes };
        Ok((Written { session: name, turn, numbers }, change))
    }

    /// The session's name, its fingerprint, and its key where it is there already.
    async fn find_session(
        &self,
        to: &mut AnyConnection,
    ) -> Result<(String, Option<String>, Option<i64>), sqlx::Error> {
        match &self.session {
            SessionRef::Named(name) => {
                let query = sqlx::query("SELECT key FROM sessions WHERE id = $1").bind(name.as_str());
                let key = query.fetch_optional(to).await?.map(|row| row.try_get(0)).transpose()?;
                Ok((name.clone(), None, key))
            }
            SessionRef::Conversation { fingerprint, begins: true, name } => {
                Ok((name.clone(), Some(fingerprint.clone()), None))
            }
            SessionRef::Conversation { fingerprint, begins: false, name } => {
                let sql = "SELECT id, key FROM sessions WHERE fingerprint = $1 ORDER BY key DESC LIMIT 1";
                let found = sqlx::query(sql).bind(fingerprint.as_str()).fetch_optional(to).await?;
                match found {
                    Some(row) => Ok((row.try_get(0)?, Some(fingerprint.clone()), Some(row.try_get(1)?))),
                    None => Ok((name.clone(), Some(fingerprint.clone()), None)),
                }
            }
        }
    }

    /// Returns its key, and how many turns and nodes it has with these.
    async fn upsert_session(
        &self,
        to: &mut AnyConnection,
        name: &str,
        fingerprint: Option<String>,
        n_nodes: usize,
    ) -> Result<(i64, i64, i64), sqlx::Error> {
        let blank = Turn::default();
        let turn = self.turn.as_ref().unwrap_or(&blank);
        let at = self.turn.as_ref().map_or_else(now, |turn| turn.at);
        let n_refused = self.calls.iter().filter(|call| call.became == Became::Refused).count();
        let row = sqlx::query(SESSION)
            .bind(name)
            .bind(fingerprint)
            .bind(self.origin)
            .bind(self.title.as_str())
            .bind(at)
            .bind(turn.outcome.as_str())
            .bind(turn.model.as_str())
            .bind(turn.mode.as_str())
            .bind(turn.dialect.as_str())
            .bind(i64::from(self.turn.is_some()))
            .bind(n_nodes as i64)
            .bind(turn.repairs)
            .bind(n_refused as i64)
            .bind(turn.prompt_tokens + turn.completion_tokens)
            .bind(self.faults.len() as i64)
            .bind(turn.feedback_turns)
            .fetch_one(to)
            .await?;
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    }

    /// Returns how many of them repeat one that was there before.
    async fn insert_faults(
        &self,
        to: &mut AnyConnection,
        session: i64,
        placed: Placed<'_>,
        sums: &mut Sums,
    ) -> Result<i64, sqlx::Error> {
        let Placed { id, profile, turn } = placed;
        let (mut rows, mut seen, mut n_repeated) = (Vec::new(), HashSet::new(), 0);
        for fault in &self.faults {
            let Fault { kind, tool, place } = fault;
            let mut is_repeated = !seen.insert((kind, tool, place));
            if !is_repeated {
                let query = sqlx::query(REPEATED).bind(session).bind(kind.as_str()).bind(tool.as_str());
                is_repeated = query.bind(place.as_str()).fetch_optional(&mut *to).await?.is_some();
            }
            n_repeated += i64::from(is_repeated);
            sums.fault(turn, kind, is_repeated);
            let texts = [kind, tool, place, &turn.model, &turn.mode, &turn.policy];
            let mut row = vec![Value::Int(id), Value::Int(session), Value::Int(profile), Value::Int(turn.at)];
            row.extend(texts.map(|text| Value::Text(text.clone())));
            row.push(Value::Int(i64::from(is_repeated)));
            rows.push(row);
        }
        insert(to, FAULTS, rows).await?;
        Ok(n_repeated)
    }
}

/// A turn that has been written.
#[derive(Clone, Copy)]
struct Placed<'t> {
    id: i64,
    profile: i64,
    turn: &'t Turn,
}

impl Batch {
    /// The key of what a turn has in common with others.
    async fn profile(&mut self, to: &mut AnyConnection, turn: &Turn) -> Result<i64, sqlx::Error> {
        let of = [&turn.outcome, &turn.model, &turn.mode, &turn.dialect].map(String::clone);
        if let Some(key) = self.profiles.get(&of) {
            return Ok(*key);
        }
        let bound =
            |sql: &'static str| of.iter().fold(sqlx::query(sql), |query, text| query.bind(text.clone()));
        let key = match bound(PROFILE).fetch_optional(&mut *to).await? {
            Some(row) => row.try_get(0)?,
            // Another process may be writing the same one.
            None => bound(NEW_PROFILE).fetch_one(&mut *to).await?.try_get(0)?,
        };
        self.profiles.insert(of, key);
        Ok(key)
    }
}

/// Puts the words of nodes where they are searched.
pub(crate) async fn insert_words(
    to: &mut AnyConnection,
    kind: Kind,
    nodes: impl Iterator<Item = (i64, &str)>,
) -> Result<(), sqlx::Error> {
    let (columns, values): (_, &'static [&'static str]) = match kind {
        Kind::Sqlite => ("rowid, words", &["?", "?"]),
        Kind::Postgres => ("node, words", &["?", "array_to_tsvector(string_to_array(?, ' '))"]),
    };
    let target = Target { table: "search", columns, values, then: "" };
    let found = nodes.filter(|(_, words)| !words.is_empty());
    let row = |(id, words): (i64, &str)| vec![Value::Int(id), Value::Text(sliced(words, id))];
    insert(to, target, found.map(row).collect()).await
}

async fn insert_turn(
    to: &mut AnyConnection,
    session: i64,
    number: i64,
    profile: i64,
    turn: &Turn,
) -> Result<i64, sqlx::Error> {
    let mut row = vec![Value::Int(session), Value::Int(number), Value::Int(profile)];
    row.push(Value::Text(turn.request.clone()));
    row.push(Value::Int(turn.at));
    let texts = [&turn.outcome, &turn.model, &turn.upstream, &turn.mode, &turn.dialect, &turn.policy];
    row.extend(texts.map(|text| Value::Text(text.clone())));
    let numbers = [
        i64::from(turn.streamed),
        turn.status,
        turn.attempts,
        turn.first_byte_us,
        turn.total_us,
        turn.upstream_us,
        turn.prompt_tokens,
        turn.completion_tokens,
        turn.repair_turns,
        turn.repair_tokens,
        turn.repairs,
        turn.feedback_turns,
    ];
    row.extend(numbers.map(Value::Int));
    let written = insert_returning(to, TURNS, vec![row]).await?;
    written.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)
}

fn call_row(call: &Call, placed: Placed<'_>) -> Vec<Value> {
    let Call { tool, dialect, became } = call;
    let Placed { id, turn, .. } = placed;
    vec![
        Value::Int(id),
        Value::Int(turn.at),
        Value::Text(tool.clone()),
        Value::Text(turn.model.clone()),
        Value::Text(turn.mode.clone()),
        Value::Text(dialect.clone()),
        Value::Text(became.name().to_owned()),
    ]
}

const SESSION: &str = "\
INSERT INTO sessions (id, fingerprint, origin, title, created, updated, outcome, model, mode, dialect, turns, nodes, \
repairs, refusals, tokens, faults, feedback_turns, repeated, bytes) \
VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, 0, 0) \
ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, \
title = CASE WHEN sessions.title = '' THEN excluded.title ELSE sessions.title END, \
outcome = CASE WHEN excluded.turns = 0 THEN sessions.outcome ELSE excluded.outcome END, \
model = CASE WHEN excluded.turns = 0 THEN sessions.model ELSE excluded.model END, \
mode = CASE WHEN excluded.mode = '' THEN sessions.mode ELSE excluded.mode END, \
dialect = CASE WHEN excluded.dialect = '' THEN sessions.dialect ELSE excluded.dialect END, \
turns = sessions.turns + excluded.turns, nodes = sessions.nodes + excluded.nodes, \
repairs = sessions.repairs + excluded.repairs, refusals = sessions.refusals + excluded.refusals, \
tokens = sessions.tokens + excluded.tokens, faults = sessions.faults + excluded.faults, \
feedback_turns = sessions.feedback_turns + excluded.feedback_turns \
RETURNING key, turns, nodes";

const REPEATED: &str =
    "SELECT id FROM faults WHERE session = $1 AND kind = $2 AND tool = $3 AND place = $4 LIMIT 1";

const PROFILE: &str =
    "SELECT key FROM profiles WHERE outcome = $1 AND model = $2 AND mode = $3 AND dialect = $4";
const NEW_PROFILE: &str = "INSERT INTO profiles (outcome, model, mode, dialect) VALUES ($1, $2, $3, $4) \
                           ON CONFLICT (outcome, model, mode, dialect) DO UPDATE SET outcome = excluded.outcome \
                           RETURNING key";

const TURNS: Target = Target {
    table: "turns",
    columns: "session, number, profile, request, at, outcome, model, upstream, mode, dialect, policy, streamed, status, \
              attempts, first_byte_us, total_us, upstream_us, prompt_tokens, completion_tokens, repair_turns, \
              repair_tokens, repairs, feedback_turns",
    values: &["?"; 23],
    then: "RETURNING id",
};

const NODES: Target = Target {
    table: "nodes",
    columns: "session, turn, number, kind, at, version, name, call, payload, body, answer",
    values: &["?"; 11],
    then: "RETURNING id, number",
};

const CALLS: Target = Target {
    table: "calls",
    columns: "turn, at, tool, model, mode, dialect, became",
    values: &["?"; 7],
    then: "",
};

const FAULTS: Target = Target {
    table: "faults",
    columns: "turn, session, profile, at, kind, tool, place, model, mode, policy, repeated",
    values: &["?"; 11],
    then: "",
};
