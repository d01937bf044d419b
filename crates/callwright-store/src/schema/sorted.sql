-- The slowest request of a session; and by each column that a table of sessions is sorted by, the sessions in order.
ALTER TABLE sessions ADD COLUMN slowest_us BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET slowest_us = COALESCE((SELECT MAX(total_us) FROM turns WHERE turns.session = sessions.key), 0);
CREATE INDEX sessions_model ON sessions (model, key);
CREATE INDEX sessions_outcome ON sessions (outcome, key);
CREATE INDEX sessions_turns ON sessions (turns, key);
CREATE INDEX sessions_repairs ON sessions (repairs, key);
CREATE INDEX sessions_refusals ON sessions (refusals, key);
CREATE INDEX sessions_slowest ON sessions (slowest_us, key);
CREATE INDEX sessions_tokens ON sessions (tokens, key);
-- How the turns of a session ended.
CREATE INDEX turns_outcomes ON turns (session, outcome);
