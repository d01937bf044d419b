//! What is written for a turn, for nodes, for the end of a session: masked and put into texts first, then as a few
//! statements of a transaction that others share.

use std::collections::{HashMap, HashSet};

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row};

use crate::body::{Body, Cut, cut};
use crate::clock::now;
use crate::database::Kind;
use crate::mask::Mask;
use crate::node::{NODE_VERSION, NewNode};
use crate::session::{Change, SessionRef};
use crate::turn::{Became, Call, Fault, NewTurn, Turn};
use crate::words::words;
use crate::writer::Written;

/// The longest title, in bytes.
const TITLE: usize = 160;
/// The longest name of a session, in bytes.
const NAME: usize = 200;

/// What is to be written, ready for the database.
pub(crate) struct Ready {
    session: SessionRef,
    origin: &'static str,
    title: String,
    turn: Option<Turn>,
    nodes: Vec<ReadyNode>,
    before: Vec<ReadyNode>,
    calls: Vec<Call>,
    faults: Vec<Fault>,
}

struct ReadyNode {
    kind: String,
    name: Option<String>,
    call: Option<String>,
    payload: String,
    body: Option<String>,
    words: String,
    at: i64,
}

/// A value of a row.
enum Value {
    Int(i64),
    MaybeInt(Option<i64>),
    Text(String),
    MaybeText(Option<String>),
}

impl Ready {
    pub(crate) fn turn(new: NewTurn, mask: &Mask) -> Ready {
        let NewTurn { session, origin, title, mut turn, nodes, before, mut calls, mut faults } = new;
        let t = &mut turn;
        for text in [
            &mut t.request,
            &mut t.outcome,
            &mut t.model,
            &mut t.upstream,
            &mut t.mode,
            &mut t.dialect,
            &mut t.policy,
        ] {
            clean(text, mask);
        }
        calls
            .iter_mut()
            .flat_map(|call| [&mut call.tool, &mut call.dialect])
            .for_each(|text| clean(text, mask));
        let texts = |fault: &mut Fault| {
            [&mut fault.kind, &mut fault.tool, &mut fault.place]
                .into_iter()
                .for_each(|text| clean(text, mask));
        };
        faults.iter_mut().for_each(texts);
        let at = if turn.at == 0 { now() } else { turn.at };
        let turn = Turn { at, ..bounded(turn) };
        let node = |node| ReadyNode::of(node, at, mask);
        Ready {
            session: named(session, mask),
            origin,
            title: titled(title, mask),
            nodes: nodes.into_iter().map(node).collect(),
            before: before.into_iter().map(node).collect(),
            calls,
            faults,
            turn: Some(turn),
        }
    }

    pub(crate) fn nodes(session: String, nodes: Vec<NewNode>, mask: &Mask) -> Ready {
        let at = now();
        let first = nodes.iter().find(|node| node.kind == crate::node::NodeKind::User);
        let title = first.map_or_else(String::new, |node| node.words.clone());
        Ready {
            session: named(SessionRef::Named(session), mask),
            origin: "agent",
            title: titled(title, mask),
            turn: None,
            nodes: nodes.into_iter().map(|node| ReadyNode::of(node, at, mask)).collect(),
            before: Vec::new(),
            calls: Vec::new(),
            faults: Vec::new(),
        }
    }

    /// Writes it. Nothing is there before the transaction is committed.
    pub(crate) async fn write(
        &self,
        to: &mut AnyConnection,
        kind: Kind,
    ) -> Result<(Written, Change), sqlx::Error> {
        let (name, fingerprint, key) = self.find_session(to).await?;
        let nodes: Vec<&ReadyNode> = match key {
            None => self.before.iter().chain(&self.nodes).collect(),
            Some(_) => self.nodes.iter().collect(),
        };
        let (key, n_turns, n_nodes) = self.upsert_session(to, &name, fingerprint, nodes.len()).await?;
        let turn = match &self.turn {
            Some(turn) => Some((insert_turn(to, key, n_turns, turn).await?, turn)),
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
            bytes += node.payload.len() + body.as_ref().map_or(0, String::len);
            rows.push(node.row(key, turn.map(|(id, _)| id), number, body));
        }
        bytes += parts.write(to, key).await?;
        let written = insert(to, NODES, rows, true).await?;
        let mut ids: Vec<(i64, i64)> = written
            .iter()
            .map(|row| Ok((row.try_get(1)?, row.try_get(0)?)))
            .collect::<Result<_, sqlx::Error>>()?;
        ids.sort_unstable();
        let found = ids.iter().zip(&nodes).filter(|(_, node)| !node.words.is_empty());
        let found =
            found.map(|((_, id), node)| vec![Value::Int(*id), Value::Text(node.words.clone())]).collect();
        insert(to, search(kind), found, false).await?;
        let mut n_repeated = 0;
        if let Some((id, turn)) = turn {
            insert(to, CALLS, self.calls.iter().map(|call| call_row(call, id, turn)).collect(), false)
                .await?;
            n_repeated = self.insert_faults(to, key, id, turn).await?;
        }
        sqlx::query("UPDATE sessions SET bytes = bytes + $1, repeated = repeated + $2 WHERE key = $3")
            .bind(bytes as i64)
            .bind(n_repeated)
            .bind(key)
            .execute(&mut *to)
            .await?;
        let numbers = ids.iter().map(|(number, _)| *number).collect();
        let turn = turn.map(|(id, _)| id);
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
            .fetch_one(to)
            .await?;
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    }

    /// Returns how many of them repeat one that was there before.
    async fn insert_faults(
        &self,
        to: &mut AnyConnection,
        session: i64,
        id: i64,
        turn: &Turn,
    ) -> Result<i64, sqlx::Error> {
        let (mut rows, mut seen, mut n_repeated) = (Vec::new(), HashSet::new(), 0);
        for fault in &self.faults {
            let Fault { kind, tool, place } = fault;
            let mut is_repeated = !seen.insert((kind, tool, place));
            if !is_repeated {
                let query = sqlx::query(REPEATED).bind(session).bind(kind.as_str()).bind(tool.as_str());
                is_repeated = query.bind(place.as_str()).fetch_optional(&mut *to).await?.is_some();
            }
            n_repeated += i64::from(is_repeated);
            rows.push(vec![
                Value::Int(id),
                Value::Int(session),
                Value::Int(turn.at),
                Value::Text(kind.clone()),
                Value::Text(tool.clone()),
                Value::Text(place.clone()),
                Value::Text(turn.model.clone()),
                Value::Text(turn.mode.clone()),
                Value::Text(turn.policy.clone()),
                Value::Int(i64::from(is_repeated)),
            ]);
        }
        insert(to, FAULTS, rows, false).await?;
        Ok(n_repeated)
    }
}

impl ReadyNode {
    fn of(new: NewNode, at: i64, mask: &Mask) -> ReadyNode {
        let NewNode { kind, name, call, mut payload, body, words: found, at: own } = new;
        mask.value(&mut payload);
        let cleaned = |text: Option<String>| {
            text.map(|mut text| {
                clean(&mut text, mask);
                text
            })
        };
        let (name, call, body) = (cleaned(name), cleaned(call), cleaned(body));
        let mut found = found;
        mask.text(&mut found);
        let words = words([name.as_deref().unwrap_or_default(), found.as_str()].into_iter());
        ReadyNode {
            kind: kind.name().to_owned(),
            name,
            call,
            payload: payload.to_string(),
            body,
            words,
            at: own.unwrap_or(at),
        }
    }

    fn row(&self, session: i64, turn: Option<i64>, number: i64, body: Option<String>) -> Vec<Value> {
        vec![
            Value::Int(session),
            Value::MaybeInt(turn),
            Value::Int(number),
            Value::Text(self.kind.clone()),
            Value::Int(self.at),
            Value::Int(NODE_VERSION),
            Value::MaybeText(self.name.clone()),
            Value::MaybeText(self.call.clone()),
            Value::Text(self.payload.clone()),
            Value::MaybeText(body),
        ]
    }
}

/// The parts of one session that are known, and those that are new.
#[derive(Default)]
struct Parts {
    known: Option<HashMap<String, i64>>,
    new: Vec<(i64, String, String)>,
}

impl Parts {
    /// A body as it is kept, as JSON.
    async fn kept(
        &mut self,
        to: &mut AnyConnection,
        session: i64,
        text: &str,
    ) -> Result<String, sqlx::Error> {
        let cuts = cut(text);
        if self.known.is_none() && cuts.iter().any(|cut| cut.is_part) {
            let rows =
                sqlx::query("SELECT hash, number FROM parts WHERE session = $1").bind(session).fetch_all(to);
            let known = rows
                .await?
                .iter()
                .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
                .collect::<Result<_, sqlx::Error>>()?;
            self.known = Some(known);
        }
        let body = Body::of(&cuts, |n| Ok::<i64, sqlx::Error>(self.number(&cuts[n])))?;
        Ok(serde_json::to_string(&body).unwrap_or_default())
    }

    fn number(&mut self, cut: &Cut<'_>) -> i64 {
        let known = self.known.get_or_insert_default();
        let hash = cut.hash();
        if let Some(number) = known.get(&hash) {
            return *number;
        }
        let number = known.len() as i64 + 1;
        known.insert(hash.clone(), number);
        self.new.push((number, hash, cut.text.to_owned()));
        number
    }

    /// Returns how many bytes were new.
    async fn write(self, to: &mut AnyConnection, session: i64) -> Result<usize, sqlx::Error> {
        let bytes = self.new.iter().map(|(_, _, text)| text.len()).sum();
        let row = |(number, hash, text)| {
            vec![Value::Int(session), Value::Int(number), Value::Text(hash), Value::Text(text)]
        };
        insert(to, PARTS, self.new.into_iter().map(row).collect(), false).await?;
        Ok(bytes)
    }
}

async fn insert_turn(
    to: &mut AnyConnection,
    session: i64,
    number: i64,
    turn: &Turn,
) -> Result<i64, sqlx::Error> {
    let mut row = vec![Value::Int(session), Value::Int(number), Value::Text(turn.request.clone())];
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
    ];
    row.extend(numbers.map(Value::Int));
    let written = insert(to, TURNS, vec![row], true).await?;
    written.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)
}

fn call_row(call: &Call, id: i64, turn: &Turn) -> Vec<Value> {
    let Call { tool, dialect, became } = call;
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

/// A table and the columns that rows are given for.
#[derive(Clone, Copy)]
struct Target {
    table: &'static str,
    columns: &'static str,
    /// How each value is written, `?` being its number.
    values: &'static [&'static str],
    returning: &'static str,
}

const SESSION: &str = "\
INSERT INTO sessions (id, fingerprint, origin, title, created, updated, outcome, model, mode, dialect, turns, nodes, \
repairs, refusals, tokens, faults, repeated, bytes) \
VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 0, 0) \
ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, \
title = CASE WHEN sessions.title = '' THEN excluded.title ELSE sessions.title END, \
outcome = CASE WHEN excluded.turns = 0 THEN sessions.outcome ELSE excluded.outcome END, \
model = CASE WHEN excluded.turns = 0 THEN sessions.model ELSE excluded.model END, \
mode = CASE WHEN excluded.mode = '' THEN sessions.mode ELSE excluded.mode END, \
dialect = CASE WHEN excluded.dialect = '' THEN sessions.dialect ELSE excluded.dialect END, \
turns = sessions.turns + excluded.turns, nodes = sessions.nodes + excluded.nodes, \
repairs = sessions.repairs + excluded.repairs, refusals = sessions.refusals + excluded.refusals, \
tokens = sessions.tokens + excluded.tokens, faults = sessions.faults + excluded.faults \
RETURNING key, turns, nodes";

const REPEATED: &str =
    "SELECT id FROM faults WHERE session = $1 AND kind = $2 AND tool = $3 AND place = $4 LIMIT 1";

const TURNS: Target = Target {
    table: "turns",
    columns: "session, number, request, at, outcome, model, upstream, mode, dialect, policy, streamed, status, \
              attempts, first_byte_us, total_us, upstream_us, prompt_tokens, completion_tokens, repair_turns, \
              repair_tokens, repairs",
    values: &["?"; 21],
    returning: "id",
};

const NODES: Target = Target {
    table: "nodes",
    columns: "session, turn, number, kind, at, version, name, call, payload, body",
    values: &["?"; 10],
    returning: "id, number",
};

const CALLS: Target = Target {
    table: "calls",
    columns: "turn, at, tool, model, mode, dialect, became",
    values: &["?"; 7],
    returning: "",
};

const FAULTS: Target = Target {
    table: "faults",
    columns: "turn, session, at, kind, tool, place, model, mode, policy, repeated",
    values: &["?"; 10],
    returning: "",
};

const PARTS: Target =
    Target { table: "parts", columns: "session, number, hash, text", values: &["?"; 4], returning: "" };

fn search(kind: Kind) -> Target {
    let (columns, values): (_, &'static [&'static str]) = match kind {
        Kind::Sqlite => ("rowid, words", &["?", "?"]),
        Kind::Postgres => ("node, words", &["?", "array_to_tsvector(string_to_array(?, ' '))"]),
    };
    Target { table: "search", columns, values, returning: "" }
}

/// So many rows go into one statement. Few sizes: statements are kept.
const SIZES: [usize; 3] = [16, 4, 1];

async fn insert(
    to: &mut AnyConnection,
    into: Target,
    rows: Vec<Vec<Value>>,
    is_returning: bool,
) -> Result<Vec<AnyRow>, sqlx::Error> {
    let mut written = Vec::new();
    let mut left = rows.len();
    let mut rows = rows.into_iter();
    while 0 < left {
        let size = SIZES.into_iter().find(|size| *size <= left).unwrap_or(1);
        let mut query = sqlx::query(AssertSqlSafe(into.statement(size)));
        for value in rows.by_ref().take(size).flatten() {
            query = value.bound(query);
        }
        match is_returning {
            true => written.extend(query.fetch_all(&mut *to).await?),
            false => {
                query.execute(&mut *to).await?;
            }
        }
        left -= size;
    }
    Ok(written)
}

impl Target {
    fn statement(&self, n_rows: usize) -> String {
        let Target { table, columns, values, returning } = self;
        let mut sql = format!("INSERT INTO {table} ({columns}) VALUES ");
        let mut number = 0;
        for row in 0..n_rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for (n, value) in values.iter().enumerate() {
                number += 1;
                if 0 < n {
                    sql.push_str(", ");
                }
                sql.push_str(&value.replace('?', &format!("${number}")));
            }
            sql.push(')');
        }
        if !returning.is_empty() {
            sql.push_str(" RETURNING ");
            sql.push_str(returning);
        }
        sql
    }
}

impl Value {
    fn bound(self, query: Query<'_, Any, AnyArguments>) -> Query<'_, Any, AnyArguments> {
        match self {
            Value::Int(number) => query.bind(number),
            Value::MaybeInt(number) => query.bind(number),
            Value::Text(text) => query.bind(text),
            Value::MaybeText(text) => query.bind(text),
        }
    }
}

fn named(session: SessionRef, mask: &Mask) -> SessionRef {
    let cut = |mut name: String| {
        clean(&mut name, mask);
        name.truncate(name.floor_char_boundary(NAME));
        name
    };
    match session {
        SessionRef::Named(name) => SessionRef::Named(cut(name)),
        SessionRef::Conversation { fingerprint, begins, name } => {
            SessionRef::Conversation { fingerprint: cut(fingerprint), begins, name: cut(name) }
        }
    }
}

fn titled(mut title: String, mask: &Mask) -> String {
    // Cut afterwards, or half a secret would be left.
    clean(&mut title, mask);
    let line: Vec<&str> = title.split_whitespace().collect();
    let mut title = line.join(" ");
    title.truncate(title.floor_char_boundary(TITLE));
    title
}

/// Upstreams count tokens as they like: sums of what they say must not run over.
fn bounded(mut turn: Turn) -> Turn {
    let t = &mut turn;
    for number in [
        &mut t.status,
        &mut t.attempts,
        &mut t.first_byte_us,
        &mut t.total_us,
        &mut t.upstream_us,
        &mut t.prompt_tokens,
        &mut t.completion_tokens,
        &mut t.repair_turns,
        &mut t.repair_tokens,
        &mut t.repairs,
    ] {
        *number = (*number).clamp(0, 1 << 40);
    }
    turn
}

/// Masks a text; what no database takes is replaced.
fn clean(text: &mut String, mask: &Mask) {
    mask.text(text);
    if text.contains('\0') {
        *text = text.replace('\0', "\u{1a}");
    }
}
