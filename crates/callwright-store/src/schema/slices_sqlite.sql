-- The words of a node under its number, each with the slice of nodes that it stands in before it: what is asked of the
-- youngest nodes looks at no others. The table keeps no texts. Words come as they are to be found, between spaces.
-- The first three to six letters of words have places of their own: behind the eight of a slice, that is 11 to 14.
DROP TRIGGER nodes_search;
DROP TABLE search;
CREATE VIRTUAL TABLE search USING fts5(
    words, content='', contentless_delete=1, detail=none, prefix='11 12 13 14',
    tokenize="ascii tokenchars '='"
);
CREATE TRIGGER nodes_search AFTER DELETE ON nodes BEGIN
    DELETE FROM search WHERE rowid = old.id;
END;
-- Nodes below this number are yet to be put into `search`, the youngest first.
CREATE TABLE unsearched (below BIGINT NOT NULL);
INSERT INTO unsearched (below) SELECT MAX(id) + 1 FROM nodes HAVING MAX(id) IS NOT NULL;
