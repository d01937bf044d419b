-- Outcomes, and kinds of nodes, under the names that people read.
UPDATE sessions SET outcome = CASE outcome WHEN 'healed' THEN 'repaired' WHEN 'corrected' THEN 'retried' ELSE 'gave-up' END
    WHERE outcome IN ('healed', 'corrected', 'breaker');
UPDATE turns SET outcome = CASE outcome WHEN 'healed' THEN 'repaired' WHEN 'corrected' THEN 'retried' ELSE 'gave-up' END
    WHERE outcome IN ('healed', 'corrected', 'breaker');
UPDATE calls SET became = CASE became WHEN 'right' THEN 'passed' WHEN 'healed' THEN 'repaired' ELSE 'retried' END
    WHERE became IN ('right', 'healed', 'corrected');
UPDATE nodes SET kind = CASE kind WHEN 'healed' THEN 'repaired' ELSE 'gave_up' END WHERE kind IN ('healed', 'breaker');
