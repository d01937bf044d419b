//! The tables that a turn goes into: the statement for each, and its rows in the order of the statement's columns.

use crate::rows::{Target, Value};
use crate::turn::{Call, Turn};

/// The statement that adds to sessions, or makes them.
pub(crate) const SESSIONS: Target = Target {
    table: "sessions",
    columns: "id, owner, fingerprint, origin, title, created, updated, outcome, model, mode, dialect, turns, nodes, repairs, \
              refusals, tokens, faults, feedback_turns, slowest_us, repeated, bytes",
    values: &["?"; 21],
    then: "ON CONFLICT (id) DO UPDATE SET updated = excluded.updated, \
           title = CASE WHEN sessions.title = '' THEN excluded.title ELSE sessions.title END, \
           outcome = CASE WHEN excluded.turns = 0 THEN sessions.outcome ELSE excluded.outcome END, \
           model = CASE WHEN excluded.turns = 0 THEN sessions.model ELSE excluded.model END, \
           mode = CASE WHEN excluded.mode = '' THEN sessions.mode ELSE excluded.mode END, \
           dialect = CASE WHEN excluded.dialect = '' THEN sessions.dialect ELSE excluded.dialect END, \
           turns = sessions.turns + excluded.turns, nodes = sessions.nodes + excluded.nodes, \
           repairs = sessions.repairs + excluded.repairs, refusals = sessions.refusals + excluded.refusals, \
           tokens = sessions.tokens + excluded.tokens, faults = sessions.faults + excluded.faults, \
           feedback_turns = sessions.feedback_turns + excluded.feedback_turns, \
           slowest_us = CASE WHEN sessions.slowest_us < excluded.slowest_us THEN excluded.slowest_us \
           ELSE sessions.slowest_us END \
           RETURNING id, key, turns, nodes",
};

/// Asks whether a session has made an error before.
pub(crate) const REPEATED: &str =
    "SELECT id FROM faults WHERE session = $1 AND kind = $2 AND tool = $3 AND place = $4 LIMIT 1";

pub(crate) const TURNS: Target = Target {
    table: "turns",
    columns: "session, number, profile, owner, request, at, outcome, model, upstream, mode, dialect, policy, streamed, status, \
              attempts, first_byte_us, total_us, upstream_us, prompt_tokens, completion_tokens, repair_turns, \
              repair_tokens, repairs, feedback_turns, surface",
    values: &["?"; 25],
    then: "RETURNING id, session, number",
};

pub(crate) const NODES: Target = Target {
    table: "nodes",
    columns: "session, turn, number, kind, at, version, name, call, payload, masked, body, answer",
    values: &["?"; 12],
    then: "RETURNING id, session, number",
};

pub(crate) const CALLS: Target = Target {
    table: "calls",
    columns: "turn, owner, at, tool, model, mode, dialect, became",
    values: &["?"; 8],
    then: "",
};

pub(crate) const FAULTS: Target = Target {
    table: "faults",
    columns: "turn, session, profile, owner, at, kind, tool, place, model, mode, policy, repeated",
    values: &["?"; 12],
    then: "",
};

/// A turn of an owner as a row of [`TURNS`].
pub(crate) fn turn_row(session: i64, number: i64, profile: i64, owner: &str, turn: &Turn) -> Vec<Value> {
    let mut row = vec![Value::Int(session), Value::Int(number), Value::Int(profile)];
    row.push(Value::Text(owner.to_owned()));
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
    row.push(Value::Text(turn.surface.clone()));
    row
}

/// A call of the turn with this number in the store, as a row of [`CALLS`].
pub(crate) fn call_row(call: &Call, id: i64, owner: &str, turn: &Turn) -> Vec<Value> {
    let Call { tool, dialect, became } = call;
    vec![
        Value::Int(id),
        Value::Text(owner.to_owned()),
        Value::Int(turn.at),
        Value::Text(tool.clone()),
        Value::Text(turn.model.clone()),
        Value::Text(turn.mode.clone()),
        Value::Text(dialect.clone()),
        Value::Text(became.name().to_owned()),
    ]
}
