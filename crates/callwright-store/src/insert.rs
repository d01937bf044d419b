//! Writes a turn, nodes, and the sums of a session: masked and put into texts first, then as a few statements of a transaction
//! that others share.

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{HashMap, HashSet};

use sqlx::{AnyConnection, AssertSqlSafe, Row};

use crate::clock::now;
use crate::database::Kind;
use crate::fixes;
use crate::known::Known;
use crate::owner::own_name;
use crate::pack::pack;
use crate::parts::{PARTS, Parts};
use crate::profile;
use crate::ready::{Ready, ReadyNode};
use crate::rows::{Target, Value, insert, insert_returning};
use crate::session::Written;
use crate::session::{Change, SessionRef};
use crate::sums::Sums;
use crate::tables::{CALLS, FAULTS, NODES, REPEATED, SESSIONS, TURNS, call_row, turn_row};
use crate::turn::{Became, Fault, Turn};
use crate::words::sliced;

/// Writes these, many rows to a statement. Returns what was written of each, and how many bytes of texts that were. Nothing
/// is there before the transaction is committed.
pub(crate) async fn write_all(
    to: &mut AnyConnection,
    kind: Kind,
    all: &[&Ready],
    known: &mut Known,
) -> Result<(Vec<(Written, Change)>, u64), sqlx::Error> {
    let mut batch = Batch::default();
    for ready in all {
        batch.place(to, ready, known).await?;
    }
    batch.upsert_sessions(to).await?;
    batch.insert_turns(to).await?;
    batch.insert_nodes(to, kind).await?;
    for n in 0..batch.entries.len() {
        batch.insert_calls(to, n).await?;
    }
    let calls = std::mem::take(&mut batch.calls);
    insert(to, CALLS, calls).await?;
    batch.count_bytes(to).await?;
    std::mem::take(&mut batch.sums).write(to).await?;
    let bytes = batch.sessions.iter().map(|session| session.bytes).sum();
    let written = batch.entries.iter().map(|entry| entry.written(&batch.sessions)).collect();
    Ok((written, bytes))
}

/// The rows of one transaction.
#[derive(Default)]
struct Batch<'r> {
    sessions: Vec<Open<'r>>,
    entries: Vec<Entry<'r>>,
    /// Sessions by name, and the youngest by fingerprint.
    names: HashMap<String, usize>,
    fingerprints: HashMap<&'r str, usize>,
    sums: Sums,
    calls: Vec<Vec<Value>>,
    /// The keys of profiles.
    profiles: HashMap<[String; profile::NAMES], i64>,
}

/// A session that something is added to.
struct Open<'r> {
    name: String,
    owner: &'r str,
    fingerprint: Option<&'r str>,
    /// It is known not to be there yet.
    is_new: bool,
    added: Vec<&'r Ready>,
    n_turns: i64,
    n_nodes: i64,
    /// Given by the database: its key, and how many turns and nodes it had before.
    key: i64,
    turns_before: i64,
    nodes_before: i64,
    bytes: u64,
    repeated: i64,
}

/// A turn, or nodes, and their place.
struct Entry<'r> {
    ready: &'r Ready,
    session: usize,
    /// The nodes before it, where it is the first of its session.
    before: Vec<ReadyNode>,
    /// The number of turns and nodes of its session that are added before it.
    turn: i64,
    node: i64,
    /// The turn's number in the store, and the key of its profile.
    id: Option<i64>,
    profile: i64,
}

impl<'r> Entry<'r> {
    fn nodes(&self) -> impl Iterator<Item = &ReadyNode> + Clone {
        self.before.iter().chain(&self.ready.nodes)
    }

    fn written(&self, sessions: &[Open<'r>]) -> (Written, Change) {
        let (name, before) =
            sessions.get(self.session).map_or((String::new(), 0), |s| (s.name.clone(), s.nodes_before));
        let first = before + self.node;
        let nodes = first + self.nodes().count() as i64;
        let owner = self.ready.owner.clone();
        let change = Change { session: name.clone(), what: "added", turn: self.id, nodes, owner };
        (Written { session: name, turn: self.id, numbers: (first + 1..=nodes).collect() }, change)
    }
}

impl<'r> Batch<'r> {
    /// Finds the session of a turn or of nodes, and their place in it.
    async fn place(
        &mut self,
        to: &mut AnyConnection,
        ready: &'r Ready,
        known: &mut Known,
    ) -> Result<(), sqlx::Error> {
        let session = self.find_session(to, ready).await?;
        let Some(open) = self.sessions.get_mut(session) else { return Ok(()) };
        let is_first = open.is_new && open.added.is_empty();
        let before = if is_first && ready.has_before() { ready.before(known) } else { Vec::new() };
        let entry =
            Entry { ready, session, before, turn: open.n_turns, node: open.n_nodes, id: None, profile: 0 };
        open.n_turns += i64::from(ready.turn.is_some());
        open.n_nodes += entry.nodes().count() as i64;
        open.added.push(ready);
        self.entries.push(entry);
        Ok(())
    }

    async fn find_session(&mut self, to: &mut AnyConnection, ready: &'r Ready) -> Result<usize, sqlx::Error> {
        let (name, fingerprint, is_new) = match &ready.session {
            SessionRef::Named(name) => {
                let name = match ready.owner.as_str() {
                    "" => name.clone(),
                    owner => self.own_name(to, name, owner).await?,
                };
                if let Some(session) = self.names.get(&name) {
                    return Ok(*session);
                }
                // Nothing else hangs on whether it is there.
                let is_new = ready.has_before() && {
                    let query = sqlx::query("SELECT key FROM sessions WHERE id = $1").bind(name.as_str());
                    query.fetch_optional(to).await?.is_none()
                };
                (name, None, is_new)
            }
            SessionRef::Conversation { fingerprint, begins: true, name } => {
                (name.clone(), Some(fingerprint.as_str()), true)
            }
            SessionRef::Conversation { fingerprint, begins: false, name } => {
                if let Some(session) = self.fingerprints.get(fingerprint.as_str()) {
                    return Ok(*session);
                }
                let sql = "SELECT id FROM sessions WHERE fingerprint = $1 ORDER BY key DESC LIMIT 1";
                let found = sqlx::query(sql).bind(fingerprint.as_str()).fetch_optional(to).await?;
                let is_new = found.is_none();
                let name = found.map_or(Ok(name.clone()), |row| row.try_get(0))?;
                (name, Some(fingerprint.as_str()), is_new)
            }
        };
        let next = self.sessions.len();
        let session = *self.names.entry(name.clone()).or_insert(next);
        if let Some(fingerprint) = fingerprint {
            self.fingerprints.insert(fingerprint, session);
        }
        if session == next {
            self.sessions.push(Open::of(name, &ready.owner, fingerprint, is_new));
        }
        Ok(session)
    }

    /// The session that an owner means by a name: one of its own that is called so to the letter, as its conversations are
    /// that it gave no name, or else the one that it alone can have.
    async fn own_name(&self, to: &mut AnyConnection, name: &str, owner: &str) -> Result<String, sqlx::Error> {
        let is_own = match self.names.get(name).and_then(|n| self.sessions.get(*n)) {
            Some(open) => open.owner == owner,
            None => {
                let row = sqlx::query("SELECT owner FROM sessions WHERE id = $1").bind(name);
                let of = row.fetch_optional(to).await?.map(|row| row.try_get::<String, _>(0)).transpose()?;
                of.is_some_and(|of| of == owner)
            }
        };
        Ok(if is_own { name.to_owned() } else { own_name(name, owner) })
    }

    /// Writes the sessions, and learns their keys and how much was in them.
    async fn upsert_sessions(&mut self, to: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let rows = self.sessions.iter().map(Open::row).collect();
        for row in insert_returning(to, SESSIONS, rows).await? {
            let name: String = row.try_get(0)?;
            let Some(open) = self.names.get(&name).and_then(|n| self.sessions.get_mut(*n)) else { continue };
            open.key = row.try_get(1)?;
            open.turns_before = row.try_get::<i64, _>(2)? - open.n_turns;
            open.nodes_before = row.try_get::<i64, _>(3)? - open.n_nodes;
        }
        Ok(())
    }

    async fn insert_turns(&mut self, to: &mut AnyConnection) -> Result<(), sqlx::Error> {
        let mut rows = Vec::new();
        let mut places: HashMap<(i64, i64), usize> = HashMap::new();
        for n in 0..self.entries.len() {
            let Some(Entry { ready, session, turn: before, .. }) = self.entries.get(n) else { continue };
            let (ready, Some(turn)) = (*ready, &ready.turn) else { continue };
            let Some(Open { key, turns_before, .. }) = self.sessions.get(*session) else { continue };
            let (key, number) = (*key, turns_before + before + 1);
            let profile = self.profile(to, turn).await?;
            if let Some(entry) = self.entries.get_mut(n) {
                entry.profile = profile;
            }
            rows.push(turn_row(key, number, profile, &ready.owner, turn));
            places.insert((key, number), n);
        }
        for row in insert_returning(to, TURNS, rows).await? {
            let place = (row.try_get(1)?, row.try_get(2)?);
            if let Some(entry) = places.get(&place).and_then(|n| self.entries.get_mut(*n)) {
                entry.id = Some(row.try_get(0)?);
            }
        }
        Ok(())
    }

    async fn insert_nodes(&mut self, to: &mut AnyConnection, kind: Kind) -> Result<(), sqlx::Error> {
        let (mut nodes, mut new_parts) = (Vec::new(), Vec::new());
        let mut parts: HashMap<i64, Parts> = HashMap::new();
        let mut words: HashMap<(i64, i64), &str> = HashMap::new();
        for entry in &self.entries {
            let Some(open) = self.sessions.get_mut(entry.session) else { continue };
            for (number, node) in (open.nodes_before + entry.node + 1..).zip(entry.nodes()) {
                let body = match &node.body {
                    None => Value::MaybeText(None),
                    Some(body) => {
                        let parts = match parts.entry(open.key) {
                            Occupied(there) => there.into_mut(),
                            Vacant(free) if open.nodes_before == 0 => free.insert(Parts::default()),
                            Vacant(free) => free.insert(Parts::of(to, open.key).await?),
                        };
                        let n_before = new_parts.len();
                        let body = parts.kept(open.key, body, &mut new_parts);
                        let added = new_parts.get(n_before..).unwrap_or_default();
                        open.bytes +=
                            added.iter().filter_map(|row| Some(row.last()?.len() as u64)).sum::<u64>();
                        pack(kind, body)
                    }
                };
                open.bytes += (node.len() + body.len()) as u64;
                nodes.push(node.row(open.key, entry.id, number, body));
                words.insert((open.key, number), &node.words);
            }
        }
        insert(to, PARTS, new_parts).await?;
        let mut found: Vec<(i64, &str)> = Vec::new();
        for row in insert_returning(to, NODES, nodes).await? {
            let place = (row.try_get(1)?, row.try_get(2)?);
            if let Some(words) = words.get(&place) {
                found.push((row.try_get(0)?, words));
            }
        }
        found.sort_unstable();
        insert_words(to, kind, found.into_iter()).await
    }

    /// Inserts the calls of a turn, and the sums that follow from them.
    async fn insert_calls(&mut self, to: &mut AnyConnection, n: usize) -> Result<(), sqlx::Error> {
        let Some(Entry { ready, session, id, profile, turn: before, .. }) = self.entries.get(n) else {
            return Ok(());
        };
        let (ready, Some(open)) = (*ready, self.sessions.get_mut(*session)) else { return Ok(()) };
        let (Some(turn), Some(id)) = (&ready.turn, *id) else {
            return fixes::write_nodes(to, open.key, ready).await;
        };
        let placed = Placed { id, profile: *profile, turn };
        self.sums.turn(&ready.owner, turn);
        ready.calls.iter().for_each(|call| self.sums.call(&ready.owner, turn, call));
        self.calls.extend(ready.calls.iter().map(|call| call_row(call, id, &ready.owner, turn)));
        open.repeated += ready.insert_faults(to, open.key, placed, &mut self.sums).await?;
        fixes::write_turn(to, open.key, open.turns_before + before + 1, ready, turn).await
    }

    async fn count_bytes(&self, to: &mut AnyConnection) -> Result<(), sqlx::Error> {
        for sessions in self.sessions.chunks(COUNTED) {
            let row = |open: &Open<'_>| format!("({}, {}, {})", open.key, open.bytes, open.repeated);
            let rows: Vec<String> = sessions.iter().map(row).collect();
            let sql = format!(
                "UPDATE sessions SET bytes = bytes + v.column2, repeated = repeated + v.column3 FROM (VALUES {}) v \
                 WHERE key = v.column1",
                rows.join(", ")
            );
            sqlx::query(AssertSqlSafe(sql)).persistent(false).execute(&mut *to).await?;
        }
        Ok(())
    }

    /// The key of what a turn has in common with others.
    async fn profile(&mut self, to: &mut AnyConnection, turn: &Turn) -> Result<i64, sqlx::Error> {
        let of = profile::names(turn).map(str::to_owned);
        if let Some(key) = self.profiles.get(&of) {
            return Ok(*key);
        }
        let bound =
            |sql: &'static str| of.iter().fold(sqlx::query(sql), |query, text| query.bind(text.clone()));
        let key = match bound(profile::FIND).fetch_optional(&mut *to).await? {
            Some(row) => row.try_get(0)?,
            None => bound(profile::ADD).fetch_one(&mut *to).await?.try_get(0)?,
        };
        self.profiles.insert(of, key);
        Ok(key)
    }
}

/// So many sessions are counted with one statement.
const COUNTED: usize = 256;

impl<'r> Open<'r> {
    fn of(name: String, owner: &'r str, fingerprint: Option<&'r str>, is_new: bool) -> Open<'r> {
        Open {
            name,
            owner,
            fingerprint,
            is_new,
            added: Vec::new(),
            n_turns: 0,
            n_nodes: 0,
            key: 0,
            turns_before: 0,
            nodes_before: 0,
            bytes: 0,
            repeated: 0,
        }
    }

    /// Returns its additions, as a row.
    fn row(&self) -> Vec<Value> {
        let at = |ready: &&Ready| ready.turn.as_ref().map_or_else(now, |turn| turn.at);
        let turns = || self.added.iter().filter_map(|ready| ready.turn.as_ref());
        let last = |of: fn(&Turn) -> &String| turns().map(of).next_back().cloned().unwrap_or_default();
        let last_said = |of: fn(&Turn) -> &String| {
            turns().map(of).rfind(|text| !text.is_empty()).cloned().unwrap_or_default()
        };
        let sum = |of: fn(&Turn) -> i64| Value::Int(turns().map(of).sum());
        let titles = self.added.iter().map(|ready| &ready.title);
        let calls = self.added.iter().flat_map(|ready| &ready.calls);
        let n_refused = calls.filter(|call| call.became == Became::Refused).count();
        let n_faults: usize = self.added.iter().map(|ready| ready.faults.len()).sum();
        vec![
            Value::Text(self.name.clone()),
            Value::Text(self.owner.to_owned()),
            Value::MaybeText(self.fingerprint.map(str::to_owned)),
            Value::Text(self.added.first().map_or("", |ready| ready.origin).to_owned()),
            Value::Text(titles.into_iter().find(|title| !title.is_empty()).cloned().unwrap_or_default()),
            Value::Int(self.added.first().map_or_else(now, at)),
            Value::Int(self.added.last().map_or_else(now, at)),
            Value::Text(last(|turn| &turn.outcome)),
            Value::Text(last(|turn| &turn.model)),
            Value::Text(last_said(|turn| &turn.mode)),
            Value::Text(last_said(|turn| &turn.dialect)),
            Value::Int(self.n_turns),
            Value::Int(self.n_nodes),
            sum(|turn| turn.repairs),
            Value::Int(n_refused as i64),
            sum(|turn| turn.prompt_tokens + turn.completion_tokens),
            Value::Int(n_faults as i64),
            sum(|turn| turn.feedback_turns),
            Value::Int(turns().map(|turn| turn.total_us).max().unwrap_or_default()),
            Value::Int(0),
            Value::Int(0),
        ]
    }
}

impl Ready {
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
            sums.fault(&self.owner, turn, kind, is_repeated);
            let texts = [kind, tool, place, &turn.model, &turn.mode, &turn.policy];
            let mut row = vec![Value::Int(id), Value::Int(session), Value::Int(profile)];
            row.extend([Value::Text(self.owner.clone()), Value::Int(turn.at)]);
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
