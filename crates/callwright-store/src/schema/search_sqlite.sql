-- The words of a node under its number. The table keeps no texts, only where words stand.
CREATE VIRTUAL TABLE search USING fts5(
    words, content='', contentless_delete=1, detail=none, tokenize="unicode61 remove_diacritics 0"
);
CREATE TRIGGER nodes_search AFTER DELETE ON nodes BEGIN
    DELETE FROM search WHERE rowid = old.id;
END;
