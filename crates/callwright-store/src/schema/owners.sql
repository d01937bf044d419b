-- What only this store can make hashes with: whoever sees one cannot try out what it is of.
CREATE TABLE seal (key TEXT NOT NULL);
INSERT INTO seal (key) VALUES ({RANDOM});

-- Whose it is, as a hash of a client's key; empty where no client's key made it. Nothing is indexed of those: whoever may
-- see them sees all.
ALTER TABLE sessions ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE turns ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE calls ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE faults ADD COLUMN owner TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_owner ON sessions (owner, updated, key) WHERE owner <> '';
CREATE INDEX turns_owner ON turns (owner, profile, id, session) WHERE owner <> '';
CREATE INDEX turns_owner_at ON turns (owner, at) WHERE owner <> '';
CREATE INDEX faults_owner ON faults (owner, kind, profile, turn, session) WHERE owner <> '';
-- This was a hash that anybody can make of what was said first.
UPDATE sessions SET fingerprint = NULL WHERE fingerprint IS NOT NULL;

-- Was a secret masked in the payload? Of a node that was there before nobody knows: it may have been.
ALTER TABLE nodes ADD COLUMN masked BIGINT NOT NULL DEFAULT 1;

-- Counts of all, whose owner is empty, and beside them of each owner.
ALTER TABLE call_sums RENAME TO call_sums_of_all;
CREATE TABLE call_sums (
    span BIGINT NOT NULL,
    owner TEXT NOT NULL,
    at BIGINT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    tool TEXT NOT NULL,
    became TEXT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (span, owner, at, model, mode, dialect, tool, became)
){CLUSTERED};
INSERT INTO call_sums SELECT span, '', at, model, mode, dialect, tool, became, calls FROM call_sums_of_all;
DROP TABLE call_sums_of_all;
ALTER TABLE turn_sums RENAME TO turn_sums_of_all;
CREATE TABLE turn_sums (
    span BIGINT NOT NULL,
    owner TEXT NOT NULL,
    at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    turns BIGINT NOT NULL,
    repair_turns BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    repair_tokens BIGINT NOT NULL,
    PRIMARY KEY (span, owner, at, outcome)
){CLUSTERED};
INSERT INTO turn_sums SELECT span, '', at, outcome, turns, repair_turns, tokens, repair_tokens FROM turn_sums_of_all;
DROP TABLE turn_sums_of_all;
ALTER TABLE fault_sums RENAME TO fault_sums_of_all;
CREATE TABLE fault_sums (
    span BIGINT NOT NULL,
    owner TEXT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    policy TEXT NOT NULL,
    mode TEXT NOT NULL,
    faults BIGINT NOT NULL,
    repeated BIGINT NOT NULL,
    PRIMARY KEY (span, owner, at, kind, policy, mode)
){CLUSTERED};
INSERT INTO fault_sums SELECT span, '', at, kind, policy, mode, faults, repeated FROM fault_sums_of_all;
DROP TABLE fault_sums_of_all;
