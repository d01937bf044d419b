-- The API in which a turn was asked for.
ALTER TABLE turns ADD COLUMN surface TEXT NOT NULL DEFAULT '';
