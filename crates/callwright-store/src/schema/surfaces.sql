-- The API in which a turn was asked for is part of what turns have in common.
DROP TABLE profiles;
CREATE TABLE profiles (
    key {KEY},
    outcome TEXT NOT NULL,
    model TEXT NOT NULL,
    mode TEXT NOT NULL,
    dialect TEXT NOT NULL,
    surface TEXT NOT NULL,
    UNIQUE (outcome, model, mode, dialect, surface)
);
INSERT INTO profiles (outcome, model, mode, dialect, surface)
    SELECT DISTINCT outcome, model, mode, dialect, surface FROM turns;
UPDATE turns SET profile = (
    SELECT key FROM profiles p
    WHERE p.outcome = turns.outcome AND p.model = turns.model AND p.mode = turns.mode AND p.dialect = turns.dialect
        AND p.surface = turns.surface
);
UPDATE faults SET profile = (SELECT profile FROM turns WHERE turns.id = faults.turn);

-- The nodes of a turn have a mark for it: all are put into `search` once more, the youngest first.
{EMPTY_SEARCH};
DELETE FROM unsearched;
INSERT INTO unsearched (below) SELECT MAX(id) + 1 FROM nodes HAVING MAX(id) IS NOT NULL;
