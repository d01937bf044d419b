CREATE TABLE sessions (
    key {KEY},
    id TEXT NOT NULL UNIQUE,
    fingerprint TEXT,
    origin TEXT NOT NULL,
    title TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    turns BIGINT NOT NULL,
    nodes BIGINT NOT NULL,
    repairs BIGINT NOT NULL,
    refusals BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    faults BIGINT NOT NULL,
    repeated BIGINT NOT NULL,
    bytes BIGINT NOT NULL
);
-- Lists, and what goes first when there is too much.
CREATE INDEX sessions_updated ON sessions (updated, key);
CREATE INDEX sessions_fingerprint ON sessions (fingerprint, key);

CREATE TABLE turns (
    id {KEY},
    session BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    request TEXT NOT NULL,
    at BIGINT NOT NULL,
    outcome TEXT NOT NULL,
    model TEXT NOT NULL,
    upstream TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    policy TEXT NOT NULL,
    streamed BIGINT NOT NULL,
    status BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    first_byte_us BIGINT NOT NULL,
    total_us BIGINT NOT NULL,
    upstream_us BIGINT NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    repair_turns BIGINT NOT NULL,
    repair_tokens BIGINT NOT NULL,
    repairs BIGINT NOT NULL
);
CREATE UNIQUE INDEX turns_session ON turns (session, number);
-- Lists by what a turn was like, the youngest first.
CREATE INDEX turns_outcome ON turns (outcome, id);
CREATE INDEX turns_model ON turns (model, id);
CREATE INDEX turns_mode ON turns (mode, id);
CREATE INDEX turns_dialect ON turns (dialect, id);
CREATE INDEX turns_at ON turns (at);

CREATE TABLE nodes (
    id {KEY},
    session BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    turn BIGINT REFERENCES turns (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    version BIGINT NOT NULL,
    name TEXT,
    call TEXT,
    payload TEXT NOT NULL,
    body TEXT
);
CREATE UNIQUE INDEX nodes_session ON nodes (session, number);
-- Without it, deleting a turn would look at all nodes.
CREATE INDEX nodes_turn ON nodes (turn);

CREATE TABLE calls (
    id {KEY},
    turn BIGINT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    at BIGINT NOT NULL,
    tool TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    became TEXT NOT NULL
);
CREATE INDEX calls_turn ON calls (turn);
CREATE INDEX calls_at ON calls (at);

CREATE TABLE faults (
    id {KEY},
    turn BIGINT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    session BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    tool TEXT NOT NULL,
    place TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    policy TEXT NOT NULL,
    repeated BIGINT NOT NULL
);
CREATE INDEX faults_turn ON faults (turn);
CREATE INDEX faults_kind ON faults (kind, turn);
CREATE INDEX faults_session ON faults (session, kind, tool, place);
CREATE INDEX faults_at ON faults (at);

CREATE TABLE parts (
    session BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    hash TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (session, number)
);
CREATE UNIQUE INDEX parts_hash ON parts (session, hash);
