-- Postgres has had no places for the beginnings of words.
SELECT 1;
