-- The words of a node under its number, as before but without places for the beginnings of words: those of a slice are few
-- enough to be walked, and five times as much was written for each word.
DROP TRIGGER nodes_search;
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '='"
);
CREATE TRIGGER nodes_search AFTER DELETE ON nodes BEGIN
    DELETE FROM search WHERE rowid = old.id;
END;
DELETE FROM unsearched;
INSERT INTO unsearched (below) SELECT MAX(id) + 1 FROM nodes HAVING MAX(id) IS NOT NULL;
