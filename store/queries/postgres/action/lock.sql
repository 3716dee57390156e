-- Reads and locks, lowest first: what a batch believes something about.
SELECT action_id, seq
FROM action
WHERE action_id = ANY ($1)
ORDER BY action_id
FOR NO KEY UPDATE
