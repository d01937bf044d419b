-- The words of a node under its number.
CREATE TABLE search (
    node BIGINT PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
    words tsvector NOT NULL
);
CREATE INDEX search_words ON search USING gin (words);
