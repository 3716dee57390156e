-- Reads; the one writer needs no lock: what a batch believes something about.
SELECT action_id, seq
FROM action
WHERE action_id IN (SELECT value FROM json_each($1))
ORDER BY action_id
