-- Errors that a model was told of, and after how many questions it had put them right; 0 while it has not. One that is
-- open may still be put right.
CREATE TABLE fixes (
    id {KEY},
    session BIGINT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    at BIGINT NOT NULL,
    model TEXT NOT NULL,
    policy TEXT NOT NULL,
    questions BIGINT NOT NULL,
    is_open BIGINT NOT NULL
);
CREATE INDEX fixes_session ON fixes (session, is_open);
CREATE INDEX fixes_at ON fixes (at, model, policy, questions);
