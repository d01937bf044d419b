-- The words of a node under its number, each with the slice of nodes that it stands in before it: what is asked of the
-- youngest nodes looks at no others.
DELETE FROM search;
-- Nodes below this number are yet to be put into `search`, the youngest first.
CREATE TABLE unsearched (below BIGINT NOT NULL);
INSERT INTO unsearched (below) SELECT MAX(id) + 1 FROM nodes HAVING MAX(id) IS NOT NULL;
