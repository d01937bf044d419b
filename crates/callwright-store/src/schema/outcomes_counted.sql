-- The same names in what is counted and searched.
UPDATE profiles SET outcome = CASE outcome WHEN 'healed' THEN 'repaired' WHEN 'corrected' THEN 'retried' ELSE 'gave-up' END
    WHERE outcome IN ('healed', 'corrected', 'breaker');
UPDATE turn_sums SET outcome = CASE outcome WHEN 'healed' THEN 'repaired' WHEN 'corrected' THEN 'retried' ELSE 'gave-up' END
    WHERE outcome IN ('healed', 'corrected', 'breaker');
UPDATE call_sums SET became = CASE became WHEN 'right' THEN 'passed' WHEN 'healed' THEN 'repaired' ELSE 'retried' END
    WHERE became IN ('right', 'healed', 'corrected');

-- A node's mark in `search` is a hash of its outcome: all are put there once more, the youngest first.
{EMPTY_SEARCH};
DELETE FROM unsearched;
INSERT INTO unsearched (below) SELECT MAX(id) + 1 FROM nodes HAVING MAX(id) IS NOT NULL;
