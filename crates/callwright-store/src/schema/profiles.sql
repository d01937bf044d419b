-- What turns have in common, each combination once: a filter chooses combinations, and each of them is walked by
-- number.
CREATE TABLE profiles (
    key {KEY},
    outcome TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    UNIQUE (outcome, model, mode, dialect)
);
INSERT INTO profiles (outcome, model, mode, dialect) SELECT DISTINCT outcome, model, mode, dialect FROM turns;

ALTER TABLE turns ADD COLUMN profile BIGINT NOT NULL DEFAULT 0;
UPDATE turns SET profile = (
    SELECT key FROM profiles p
    WHERE p.outcome = turns.outcome AND p.model = turns.model AND p.mode = turns.mode AND p.dialect = turns.dialect
);
CREATE INDEX turns_profile ON turns (profile, id, session);
DROP INDEX turns_outcome;
DROP INDEX turns_model;
DROP INDEX turns_mode;
DROP INDEX turns_dialect;

ALTER TABLE faults ADD COLUMN profile BIGINT NOT NULL DEFAULT 0;
UPDATE faults SET profile = (SELECT profile FROM turns WHERE turns.id = faults.turn);
DROP INDEX faults_kind;
CREATE INDEX faults_kind ON faults (kind, profile, turn, session);

-- Questions that told a model of its errors.
ALTER TABLE sessions ADD COLUMN feedback_turns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE turns ADD COLUMN feedback_turns BIGINT NOT NULL DEFAULT 0;

-- What came from an upstream, as it came, where that is wanted.
ALTER TABLE nodes ADD COLUMN answer TEXT;

-- Counts of whole hours and days, in the transaction that writes or deletes what they count. `span` is the length of
-- the time, `at` where it begins, both in milliseconds.
CREATE TABLE call_sums (
    span BIGINT NOT NULL,
    at BIGINT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    tool TEXT NOT NULL,
    became TEXT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (span, at, model, mode, dialect, tool, became)
){CLUSTERED};
CREATE TABLE turn_sums (
    span BIGINT NOT NULL,
    at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    turns BIGINT NOT NULL,
    repair_turns BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    repair_tokens BIGINT NOT NULL,
    PRIMARY KEY (span, at, outcome)
){CLUSTERED};
CREATE TABLE fault_sums (
    span BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    policy TEXT NOT NULL,
    mode TEXT NOT NULL,
    faults BIGINT NOT NULL,
    repeated BIGINT NOT NULL,
    PRIMARY KEY (span, at, kind, policy, mode)
){CLUSTERED};
INSERT INTO call_sums
    SELECT s.span, c.at - c.at % s.span, c.model, c.mode, c.dialect, c.tool, c.became, COUNT(*)
    FROM calls c CROSS JOIN (SELECT 3600000 AS span UNION ALL SELECT 86400000) s
    GROUP BY 1, 2, 3, 4, 5, 6, 7;
INSERT INTO turn_sums
    SELECT s.span, t.at - t.at % s.span, t.outcome, COUNT(*), SUM(t.repair_turns),
        SUM(t.prompt_tokens + t.completion_tokens), SUM(t.repair_tokens)
    FROM turns t CROSS JOIN (SELECT 3600000 AS span UNION ALL SELECT 86400000) s
    GROUP BY 1, 2, 3;
INSERT INTO fault_sums
    SELECT s.span, f.at - f.at % s.span, f.kind, f.policy, f.mode, COUNT(*), SUM(f.repeated)
    FROM faults f CROSS JOIN (SELECT 3600000 AS span UNION ALL SELECT 86400000) s
    GROUP BY 1, 2, 3, 4, 5;
